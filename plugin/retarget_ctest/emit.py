"""`retarget emit ctest`: a test of ctest for each target."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from retarget import cli
from retarget.cli import add_path_arguments, add_toolchain_argument, output_folder, read_declared
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, RunTarget, RuntimeConfig, Target
from retarget.session import CollectedSuite, Engine, FileName, RuleSet, Selection
from retarget.support import RetargetError, cmake_text, counted, display_path, listed, write_files

_HEADER = "# Written by `retarget emit ctest`: write it again where declarations change."
"""The first line, by which a later `retarget emit` knows its own file."""


class _Test(Struct, frozen=True, kw_only=True):
    """A test of ctest: of a target, or of all declarations.

    `timeout` is in seconds. `provides` and `requires` are fixtures, empty for none; `locks` are the resources that no
    other test uses meanwhile.
    """

    __test__ = False

    name: str
    command: tuple[str, ...]
    labels: tuple[str, ...]
    timeout: float
    provides: str = ""
    requires: str = ""
    locks: tuple[str, ...] = ()


def _ctest_file(tests: Iterable[_Test], root: Path) -> str:
    """Return the file, of `add_test` and `set_tests_properties` (cmake-properties(7), tests).

    `root` is the folder that the tests run in.
    """
    lines = [f"{_HEADER}\n"]
    lines += ["\n".join(_lines_of(test, root)) + "\n" for test in tests]
    return "\n".join(lines)


def _lines_of(test: _Test, root: Path) -> Iterator[str]:
    name = cmake_text(test.name)
    yield f"add_test({name} {' '.join(map(cmake_text, test.command))})"
    properties: list[tuple[str, str | tuple[str, ...]]] = [
        ("WORKING_DIRECTORY", str(root)),
        ("TIMEOUT", f"{test.timeout:.0f}"),
    ]
    properties += [("SKIP_RETURN_CODE", _SKIPPED), ("LABELS", test.labels)]
    properties += [("FIXTURES_SETUP", test.provides), ("FIXTURES_REQUIRED", test.requires)]
    properties += [("RESOURCE_LOCK", test.locks)]
    yield f"set_tests_properties({name} PROPERTIES"
    yield from (f"  {key} {cmake_text(value)}" for key, value in properties if value)
    yield ")"


CHECK = "retarget check"
"""The name of the test that checks the declarations: what is wrong with rules that no target has is an error of it."""

_CHECK_SECONDS = 600.0
_SKIPPED = "77"
"""The status of `retarget run` where its targets are skipped."""
_FILE = "CTestTestfile.cmake"
_SLACK = 60.0
"""Seconds that ctest allows a target beyond its own time limits: for start-up, opening devices, waiting for them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget emit`."""
    tools = parser.add_subparsers(dest="tool", required=True, metavar="tool")
    ctest = tools.add_parser("ctest", help=f"a {_FILE} with a test for each target")
    ctest.add_argument(
        "-o",
        dest="output",
        type=output_folder,
        required=True,
        metavar="DIR",
        help=f"the folder for {_FILE}, made if need be",
    )
    ctest.add_argument(
        "--check",
        action="store_true",
        help=f"write nothing; fail if {_FILE} is not as declared, or `retarget check` does",
    )
    add_path_arguments(ctest, expressions=True)
    add_toolchain_argument(ctest)
    ctest.add_argument(
        "--retarget-extension",
        action="append",
        default=[],
        metavar="MODULE",
        help="load an extension that no entry point names; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the file, or check it. Raises `DiagnosticsError`, `RetargetError`, `argparse.ArgumentError`."""
    if arguments.check and (status := cli.main(["check", *_options(arguments, Path.cwd())])):
        return status
    selection = read_declared(arguments, arguments.path)
    root = selection.root
    options = [f"--retarget-extension={name}" for name in arguments.retarget_extension]
    options += [f"--retarget-toolchain={_absolute(text)}" for text in arguments.retarget_toolchain]
    command = [sys.executable, "-m", "retarget.cli", "run", *options]
    tests: list[_Test] = []
    with Engine(registry=selection.registry, cache=selection.cache, extensions=selection.extensions) as engine:
        locks = _Locks(engine)
        for one in selection.suites:
            retries = _retries(one, selection)
            file = Path(os.path.relpath(one.suite.origin.file, root)).as_posix()
            selected = {target.name for target in one.selected}
            for target in one.selected:
                prefix = f"{file}::{one.suite.name}::"
                tests.append(
                    _test(
                        target,
                        prefix=prefix,
                        selected=selected,
                        locks=locks,
                        selection=selection,
                        retries=retries,
                        command=command,
                    )
                )
    if tests and all(Path(path).is_dir() or Path(path).name == FileName.SUITE for path in arguments.path):
        tests.append(_check(root, arguments))
    if not tests:
        msg = f"found no target in {', '.join(arguments.path)} that is selected; `retarget list` shows all"
        raise argparse.ArgumentError(None, msg)
    written = arguments.output / _FILE
    _expect_ours(written)
    if arguments.check:
        text = written.read_text(encoding="utf-8") if written.is_file() else ""
        problems = [*_differences(tests, text, root)]
        for what in problems:
            sys.stderr.write(f"{display_path(written)}: found {what}; write it again with `retarget emit ctest`\n")
        return 1 if problems else 0
    write_files([(written, _ctest_file(tests, root))], force=True)
    sys.stdout.write(f"{display_path(written)}: {counted(len(tests), 'test')}\n")
    return 0


def _differences(tests: Iterable[_Test], text: str, root: Path) -> Iterator[str]:
    """Yield the targets that a file has no test of, and the tests that are not as declared, whatever devices they lock:
    those are of the machine."""

    def properties(lines: Iterable[str]) -> tuple[str, ...]:
        return tuple(line for line in lines if not line.startswith(("  RESOURCE_LOCK ", "add_test(")))

    written = {properties(block.strip().splitlines()) for block in text.split("\n\n")}
    names = {block[0] for block in written if block}
    declared = {test.name: properties(_lines_of(test, root)) for test in tests}
    if lost := [name for name, block in declared.items() if block[0] not in names]:
        yield f"{counted(len(lost), 'target')} that no test runs: {listed(lost)}"
    if other := [name for name, block in declared.items() if block[0] in names and block not in written]:
        yield f"{counted(len(other), 'test')} whose labels, fixtures or limits are not as declared: {listed(other)}"


def _check(root: Path, arguments: argparse.Namespace) -> _Test:
    """Return the test of the declarations: no target reports a rule that is about none, nor that it is new."""
    selecting = [f"-m={arguments.mark}"] * bool(arguments.mark) + [f"-k={arguments.keyword}"] * bool(arguments.keyword)
    selecting += [f"--retarget-toolchain={_absolute(text)}" for text in arguments.retarget_toolchain]
    output = os.path.relpath(arguments.output, root)
    command = ("emit", "ctest", "--check", "-o", output, *selecting, *_options(arguments, root))
    command = (sys.executable, "-m", "retarget.cli", *command)
    return _Test(name=CHECK, command=command, labels=("check",), timeout=_CHECK_SECONDS)


def _options(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Return the arguments of `retarget check`, for a folder that it runs in."""
    options = [f"--retarget-extension={name}" for name in arguments.retarget_extension]
    options += [f"--ignore={os.path.relpath(path, folder)}" for path in arguments.ignore]
    return [*options, *(os.path.relpath(path, folder) for path in arguments.path)]


def _expect_ours(path: Path) -> None:
    """Raise `RetargetError` for a file that another tool or a person wrote, such as that of a build folder of CMake."""
    try:
        is_ours = not path.is_file() or path.read_bytes().startswith(_HEADER.encode())
    except OSError as error:
        msg = f"cannot read {display_path(path)}: {error.strerror or error}"
        raise RetargetError(msg) from error
    if not is_ours:
        msg = (
            f"{display_path(path)} was not written by `retarget emit ctest`, expected no such file; "
            "give -o a folder of its own, or move the file away"
        )
        raise RetargetError(msg)


def _test(
    target: Target,
    *,
    prefix: str,
    selected: Iterable[str],
    locks: _Locks,
    selection: Selection,
    retries: Mapping[str, int],
    command: list[str],
) -> _Test:
    compiled = target.compiled
    seconds = (compiled.timeout or selection.compile_timeout) + _SLACK
    if isinstance(target, RunTarget):
        seconds += target.timeout or selection.run_timeout
    needs = compiled.item if isinstance(target, RunTarget) and compiled.item in selected else ""
    return _Test(
        name=prefix + target.name,
        command=(*command, prefix + target.name),
        labels=tuple(dict.fromkeys(target.tags)),
        timeout=seconds * (1 + max(retries.get(one.name, 0) for one in (target, compiled))),
        provides=prefix + target.name if isinstance(target, CompileTarget) else "",
        requires=prefix + needs if needs else "",
        locks=locks.of(target.runtime) if isinstance(target, RunTarget) else (),
    )


def _retries(one: CollectedSuite, selection: Selection) -> Mapping[str, int]:
    """Return how many further attempts the targets of a suite have, those that have any."""
    assignment = RuleSet.of(one.suite, selection.registry).assign(one.targets)
    return {name: found.retries for name, found in assignment.rules.items() if found.retries}


def _absolute(text: str) -> str:
    """Return a `NAME=PATH` that holds in any folder."""
    name, equals, path = text.partition("=")
    return text if path == "PATH" else f"{name}{equals}{Path(path).expanduser().absolute()}"


class _Locks:
    """The devices of this machine that runs do not share, asked once for each config."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[RuntimeConfig, tuple[str, ...]] = {}

    def of(self, runtime: RuntimeConfig) -> tuple[str, ...]:
        """Return the names of the devices that runs of a config do not share; of devices that are not here, as they
        are declared."""
        if runtime not in self._known:
            try:
                infos = self._engine.devices(runtime)
                found = [info.physical_id for info in infos if info.exclusive or runtime.concurrency is not None]
            except (UnavailableError, RetargetError):
                found = [
                    f"{runtime.host.name if runtime.host else ''}{one}" for one in runtime.devices or runtime.drivers
                ]
            is_shared = (runtime.concurrency or 1) > 1  # the lease counts them
            self._known[runtime] = () if is_shared else tuple(dict.fromkeys(f"retarget:{one}" for one in found))
        return self._known[runtime]
