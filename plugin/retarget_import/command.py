"""`retarget import-bazel`: take over check and lit test suites of BUILD.bazel files, and check
that each of the original tests has a target."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from retarget.cli import input_path, output_folder
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.session import DeclarationLoader, FileName, Registry, expand_suite, load_extensions
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, counted, display_path, write_files

from retarget_import.declarations import declarations_of
from retarget_import.evaluate import BUILD_FILES, CHECK_RULES, LIT_RULES, BuildFile, read_build_file
from retarget_import.read import CheckTest, Folder, read_tests, sorted_flags, split_backend


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget import-bazel`."""
    parser.add_argument(
        "path", nargs="+", type=input_path, metavar="FILE|FOLDER", help="BUILD.bazel files, and folders that hold some"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_folder,
        required=True,
        metavar="DIR",
        help=f"write {FileName.MATRIX} to this folder, which has the BUILD files, and each {FileName.SUITE} beside one",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="then compare all tests with the targets of the result: module, backend, driver, flags and tags",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there with another content")


def run(arguments: argparse.Namespace) -> int:
    """Write the declarations and print a summary of the tests.

    Returns 0, or 1 for differences. Raises `RetargetError`, also where other files are there already, and
    `argparse.ArgumentError` for a path that is not there.
    """
    output: Path = arguments.output
    registry = load_extensions(arguments.retarget_extension)
    builds = _read([*_build_files(arguments.path)])
    folders, left_out = _folders(builds, output.resolve(), registry)
    tables = {output / path: tables for path, tables in declarations_of(folders).items()}
    head = "# Imported from BUILD.bazel by `retarget import-bazel`."
    texts = {path: "\n\n".join([head, *mine]) + "\n" for path, mine in tables.items()}
    written = write_files(texts.items(), force=arguments.force, remedy="replace them with --force")
    every = [table for mine in tables.values() for table in mine]
    sorts = ("compiler config", "runtime config", "target config", "module test suite")
    counts = [counted(sum(one.startswith(f"[[{sort.replace(' ', '_')}]]") for one in every), sort) for sort in sorts]
    tests = counted(sum(len(folder.tests) for folder in folders), "test")
    lines = [f"{display_path(path)}: {'written' if path in written else 'unchanged'}" for path in texts]
    lines += [f"{tests} became {', '.join(counts[:-1])} and {counts[-1]}", *left_out]
    sys.stdout.write("\n".join([*lines, ""]))
    if not arguments.verify:
        return 0
    differences = verify(output, folders, registry)
    last = f"verified: {tests} of the original, and the result has no other targets"
    if differences:
        last = f"{counted(len(differences), 'difference')} from the original"
    sys.stdout.write("\n".join([*differences, last, ""]))
    return 1 if differences else 0


def _build_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the BUILD files. Raises `argparse.ArgumentError` for a path that cannot be read or has none."""
    for path in paths:
        found = [path] if path.is_file() else []
        for folder, _, names in () if found else os.walk(path, onerror=_refuse):
            found += [Path(folder, name) for name in BUILD_FILES if name in names][:1]
        if not found:
            msg = f"found no BUILD.bazel in {display_path(path)}; expected BUILD.bazel files, or folders that hold some"
            raise argparse.ArgumentError(None, msg)
        yield from sorted(found)


def _refuse(error: OSError) -> None:
    msg = f"cannot read {display_path(Path(error.filename))}: {error.strerror}; expected a folder of BUILD.bazel files"
    raise argparse.ArgumentError(None, msg)


def _read(paths: Iterable[Path]) -> list[BuildFile]:
    builds: list[BuildFile] = []
    errors: list[Diagnostic] = []
    for path in {path.resolve(): path for path in paths}.values():
        try:
            builds.append(read_build_file(path))
        except DiagnosticsError as error:
            errors += error.diagnostics
    if errors:
        raise DiagnosticsError(errors)
    return builds


def _folders(builds: Sequence[BuildFile], output: Path, registry: Registry) -> tuple[list[Folder], list[str]]:
    """Return the folders with check tests, then those with lit tests; and what is left out. Raises
    `argparse.ArgumentError` where a BUILD file is not below the folder that is written to."""
    found: dict[str, list[Folder]] = {"check": [], "filecheck": []}
    left_out: list[str] = []
    for build in builds:
        *tests, more = read_tests(build, registry.drivers)
        place = build.path.resolve().parent
        if not place.is_relative_to(output):
            expected = "expected a folder that has it; copy the tests first where they are to be elsewhere"
            msg = f"-o {display_path(output)}: found {display_path(build.path)}, which is not below it; {expected}"
            raise argparse.ArgumentError(None, msg)
        files = frozenset(file.name for file in place.glob("*.mlir") if file.is_file())
        path = place.relative_to(output).as_posix()
        for kind, mine in zip(found, tests, strict=True):
            if mine:
                found[kind].append(Folder(path=path, kind=kind, build=build.path, files=files, tests=tuple(mine)))
        left_out += [f"left out: {one}" for one in (*build.left_out, *more)]
    others = sum((build.others for build in builds), Counter[str]())
    left_out += [f"left out: {counted(count, 'call')} of {rule}" for rule, count in sorted(others.items())]
    if not any(found.values()):
        msg = f"found no test to take over, expected calls of {', '.join((*CHECK_RULES, *LIT_RULES))}"
        raise RetargetError("\n".join([msg, *left_out]))
    return [folder for folders in found.values() for folder in folders], left_out


_Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...], str]
"""Module with its folder, backend, driver (empty: compile only), flags, flags of the runtime, architecture."""


def verify(output: Path, folders: Sequence[Folder], registry: Registry) -> list[str]:
    """Return the differences between tests of folders and the targets below `output`.

    Raises `DiagnosticsError` for errors of its declarations.
    """
    wanted: dict[_Key, CheckTest] = {}
    for folder in folders:
        for test in folder.tests:
            module = f"{folder.path}/{test.module}".removeprefix("./")
            flags, runner = sorted_flags(test.flags), sorted_flags(test.runner_flags)
            wanted[module, test.backend, test.driver, flags, runner, test.arch] = test
    vocabulary = {tag for test in wanted.values() for tag in test.tags}
    loader = DeclarationLoader(registry)
    found: dict[_Key, tuple[str, set[str]]] = {}
    for path in dict.fromkeys(output / folder.path / FileName.SUITE for folder in folders):
        suites, diagnostics = loader.read_suite_file(path)
        if diagnostics:
            raise DiagnosticsError(diagnostics)
        for suite in suites:
            vocabulary -= _words(suite)
            for target in expand_suite(suite, registry):
                found[_key_of_target(output, target)] = (f"{target.name} of suite {suite.name}", set(target.tags))
    runs = {key[:2] + key[3:4] for key in found if key[2]}
    differences = []
    for key, test in wanted.items():
        shown = f"{_shown(key)} ({', '.join(test.calls)})"
        place, tags = found.get(key, ("", set(test.tags)))
        if not place:
            differences.append(f"not in the result: {shown}")
        if missing := test.tags - tags:
            differences.append(f"without the tags {', '.join(sorted(missing))}: {shown} ({place})")
        if further := (vocabulary & tags) - test.tags:
            differences.append(f"with further tags {', '.join(sorted(further))}: {shown} ({place})")
    for key, (place, _) in found.items():
        if key not in wanted and (key[2] or key[:2] + key[3:4] not in runs):
            differences.append(f"not in the original: {_shown(key)} ({place})")
    return differences


def _key_of_target(output: Path, target: Target) -> _Key:
    compiled = target if isinstance(target, CompileTarget) else target.compile
    module = compiled.module.path.resolve().relative_to(output.resolve()).as_posix()
    is_opt = compiled.compiler.compiler == "iree-opt"
    backend, flags = ("iree-opt", compiled.flags) if is_opt else split_backend(compiled.flags)
    if isinstance(target, RunTarget):
        runtime = target.runtime
        arch = "".join(runtime.host_arch)
        return module, backend, runtime.driver, sorted_flags(flags), sorted_flags(runtime.flags), arch
    return module, backend, "", sorted_flags(flags), (), ""


def _words(suite: Suite) -> set[str]:
    """Return the words that targets have by the names of suite, configs and drivers."""
    words = {suite.name, *(target.name for target in suite.targets)}
    words |= {compiler.name for target in suite.targets for compiler in target.compilers}
    return words.union(*((one.name, one.driver) for target in suite.targets for one in target.runtimes))


def _shown(key: _Key) -> str:
    module, backend, driver, flags, runner, arch = key
    return " ".join(filter(None, [module, backend or "no backend", driver or "compile only", *flags, *runner, arch]))
