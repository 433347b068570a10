"""`retarget import-bazel`: take over check and lit test suites of BUILD.bazel files."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retarget.cli.support import input_path, output_folder
from retarget.declare.files import MATRIX_FILE, SUITE_FILE, fitted
from retarget.extension.registry import Registry, load_extensions
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path
from retarget.support.files import read_regular, write_files
from retarget.support.text import counted

from retarget_import.declarations import matrix_text, plan_suites, suite_text
from retarget_import.evaluate import BUILD_FILES, CHECK_RULES, LIT_RULES, BuildFile, read_build_file
from retarget_import.plan import Plan, plan_configs
from retarget_import.read import CheckTest, Folder, LeftOut, argument_errors, tests_of
from retarget_import.runlines import lit_tests_of
from retarget_import.verify import verify

__all__ = ["add_arguments", "run"]


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
        help=(
            f"write {MATRIX_FILE} to this folder and each {SUITE_FILE} below it. Where the BUILD files are below it "
            "already, their modules stay where they are; else they are copied"
        ),
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="then compare all tests with the targets of the result: module, backend, driver, flags and tags",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there with another content")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Imported:
    """What was read: BUILD files, the folders with check tests and then those with lit tests, what is left out."""

    builds: Sequence[BuildFile]
    folders: Sequence[Folder]
    left_out: Sequence[LeftOut]

    @property
    def notes(self) -> list[str]:
        """What was assumed of the files."""
        return [f"{display_path(build.path)}: {note}" for build in self.builds for note in build.notes]


def run(arguments: argparse.Namespace) -> int:
    """Write the declarations and print what became of the tests.

    Returns 0, or 1 for differences. Raises `RetargetError`, also where other files are there already, and
    `argparse.ArgumentError` for a path that is not there.
    """
    output: Path = arguments.output
    registry = load_extensions(arguments.retarget_extension)
    paths = _build_files(arguments.path)
    is_in_place = all(path.resolve().is_relative_to(output.resolve()) for path in paths)
    top = output.resolve() if is_in_place else Path(os.path.commonpath([path.resolve().parent for path in paths]))
    imported = _read(paths, top, registry, is_in_place=is_in_place)
    plan = plan_configs(imported.folders)
    suites = plan_suites(plan, imported.folders)
    texts = {output / folder.path / SUITE_FILE: suite_text(folder, suites[folder.path]) for folder in imported.folders}
    matrix = matrix_text(plan, [path.resolve().relative_to(top).as_posix() for path in paths])
    matrix, notes = fitted(output / MATRIX_FILE, matrix, beside=texts)
    texts = {output / MATRIX_FILE: matrix, **texts}
    copies = {} if is_in_place else _copies(output, imported)
    remedy = "import into another folder, or replace them with --force"
    written = write_files([*texts.items(), *copies.items()], force=arguments.force, remedy=remedy)
    for path in texts:
        sys.stdout.write(f"{display_path(path)}: {'written' if path in written else 'unchanged'}\n")
    sys.stdout.write("".join(f"note: {note}\n" for note in notes))
    _report(imported, plan, suites)
    return _verified(output, imported, registry) if arguments.verify else 0


def _build_files(paths: Iterable[Path]) -> list[Path]:
    """Return the BUILD files. Raises `argparse.ArgumentError` for a path that is not there or has none."""
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            files = []
            for folder, _, names in os.walk(path, onerror=_refuse):
                files += [Path(folder, name) for name in BUILD_FILES if name in names][:1]
            files.sort()
        else:
            files = [path] if path.is_file() else []
        if not files:
            what = "no BUILD.bazel in" if path.is_dir() else "no file or folder"
            msg = f"found {what} {display_path(path)}; expected BUILD.bazel files, or folders that hold some"
            raise argparse.ArgumentError(None, msg)
        found |= {file.resolve(): file for file in files}
    return list(found.values())


def _refuse(error: OSError) -> None:
    """Raise `argparse.ArgumentError` for a folder that cannot be read, which `os.walk` would pass over."""
    msg = f"cannot read {display_path(Path(error.filename))}: {error.strerror}; expected a folder of BUILD.bazel files"
    raise argparse.ArgumentError(None, msg)


def _read(paths: Sequence[Path], top: Path, registry: Registry, *, is_in_place: bool) -> _Imported:
    checks: list[Folder] = []
    lits: list[Folder] = []
    left_out: list[LeftOut] = []
    builds: list[BuildFile] = []
    errors: list[Diagnostic] = []
    for path in paths:
        try:
            build = read_build_file(path)
        except DiagnosticsError as error:
            errors += error.diagnostics
            continue
        if wrong := argument_errors(build):
            errors += wrong
            continue
        tests, not_checks = tests_of(build, [call for call in build.calls if call.rule in CHECK_RULES])
        lit_tests, not_lits = lit_tests_of(build, [call for call in build.calls if call.rule in LIT_RULES])
        builds.append(build)
        used = {test.module for test in (*tests, *lit_tests)}
        here = {file.name for file in path.parent.glob("*.mlir") if file.is_file()}
        folder = Folder(
            path=path.resolve().parent.relative_to(top).as_posix(),
            build=build,
            files=tuple(sorted(here if is_in_place else here & used)),
            tests=tests,
        )
        folder, without = _runnable(folder, registry)
        left_out += (*not_checks, *not_lits, *without)
        checks += [folder] if folder.tests else []
        lits += [replace(folder, kind="filecheck", tests=lit_tests)] if lit_tests else []
    if errors:
        raise DiagnosticsError(errors)
    imported = _Imported(builds=builds, folders=(*checks, *lits), left_out=left_out)
    if not imported.folders:
        msg = f"found no test to take over, expected calls of {', '.join((*CHECK_RULES, *LIT_RULES))}"
        raise RetargetError("\n".join([msg, *(f"note: {note}" for note in imported.notes), *_left_out_lines(left_out)]))
    return imported


def _runnable(folder: Folder, registry: Registry) -> tuple[Folder, list[LeftOut]]:
    """Return a folder whose tests for a driver that no extension has are only compiled, and what that leaves out."""
    unknown = sorted({test.driver for test in folder.tests if test.driver} - registry.drivers.keys())
    if not unknown:
        return folder, []
    left_out = []
    for driver in unknown:
        mine = [test for test in folder.tests if test.driver == driver]
        what = f"the runs of {counted(len(mine), 'test')} on {driver}"
        reason = "no extension here has this driver; they are compiled"
        left_out.append(LeftOut(path=folder.build.path, line=mine[0].calls[0][1], what=what, reason=reason))
    tests: dict[tuple[object, ...], CheckTest] = {}
    for test in folder.tests:
        one = replace(test, driver="", runner_flags=(), arch="") if test.driver in unknown else test
        tests.setdefault((one.module, one.backend, one.driver, one.flags, one.runner_flags, one.arch), one)
    return replace(folder, tests=tuple(tests.values())), left_out


def _copies(output: Path, imported: _Imported) -> dict[Path, bytes]:
    """Return the contents of the tested modules, by the files that they are copied to."""
    copies: dict[Path, bytes] = {}
    for folder in imported.folders:
        for module in {test.module for test in folder.tests}:
            source = folder.build.path.parent / module
            try:
                copies[output / folder.path / module] = read_regular(source)
            except OSError as error:
                msg = f"{display_path(source)}: cannot be read: {error.strerror or error}; expected a module"
                raise RetargetError(msg) from error
    return copies


# ---------------------------------------------------------------- what is printed


def _report(imported: _Imported, plan: Plan, suites: Mapping[str, Sequence[str]]) -> None:
    tests = sum(len(folder.tests) for folder in imported.folders)
    counts = (
        counted(len(plan.compilers), "compiler config"),
        counted(len(plan.runtimes), "runtime config"),
        counted(len(plan.targets), "target config"),
        counted(sum(len(group) for group in suites.values()), "suite"),
    )
    calls = Counter(call.rule for build in imported.builds for call in build.calls)
    lines = [f"calls: {', '.join(f'{count} of {rule}' for rule, count in calls.items())}"]
    lines.append(f"{counted(tests, 'test')} became {', '.join(counts[:-1])} and {counts[-1]}")
    lines += [f"note: {note}" for note in imported.notes]
    lines += _left_out_lines(imported.left_out)
    if others := sum((build.others for build in imported.builds), Counter()):
        named = ", ".join(f"{rule} ({count})" for rule, count in sorted(others.items()))
        lines.append(f"not taken over: calls of {named}")
    sys.stdout.write("\n".join(lines) + "\n")


def _left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    return [f"left out: {display_path(one.path)}:{one.line}: {one.what}: {one.reason}" for one in left_out]


def _verified(output: Path, imported: _Imported, registry: Registry) -> int:
    differences = verify(output, imported.folders, registry)
    tests = counted(sum(len(folder.tests) for folder in imported.folders), "test")
    last = (
        f"{counted(len(differences), 'difference')} from the original"
        if differences
        else f"verified: {tests} of the original, and the result has no other targets"
    )
    sys.stdout.write("\n".join([*differences, last]) + "\n")
    return 1 if differences else 0
