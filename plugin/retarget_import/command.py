"""`retarget import-bazel`: take over check and lit test suites of BUILD.bazel files."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from retarget.cli.support import input_path, output_folder, refuse_collisions
from retarget.declare.files import MATRIX_FILE, SUITE_FILE
from retarget.extension.registry import Registry, load_extensions
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path
from retarget.support.files import read_regular, write_files
from retarget.support.text import counted

from retarget_import.declarations import declarations_of
from retarget_import.evaluate import BUILD_FILES, CHECK_RULES, LIT_RULES, BuildFile, read_build_file
from retarget_import.read import Folder, read_tests
from retarget_import.verify import verify


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
    remedy = "import into another folder, or replace them with --force"
    written = write_files([*texts.items(), *_copies(output, folders).items()], force=arguments.force, remedy=remedy)
    every = [table for mine in tables.values() for table in mine]
    sorts = ("compiler config", "runtime config", "target config", "module test suite")
    counts = [counted(sum(one.startswith(f"[[{sort.replace(' ', '_')}]]") for one in every), sort) for sort in sorts]
    tests = counted(sum(len(folder.tests) for folder in folders), "test")
    lines = [f"{display_path(path)}: {'written' if path in written else 'unchanged'}" for path in texts]
    lines += [f"{tests} became {', '.join(counts[:-1])} and {counts[-1]}", *left_out]
    sys.stdout.write("\n".join([*lines, ""]))
    refuse_collisions(output)
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
    """Return the folders with check tests, then those with lit tests; and what is left out.

    Modules stay where they are if all BUILD files are below the folder that is written to.
    """
    places = [build.path.resolve().parent for build in builds]
    is_in_place = all(place.is_relative_to(output) for place in places)
    top = output if is_in_place else Path(os.path.commonpath(places))
    found: dict[str, list[Folder]] = {"check": [], "filecheck": []}
    left_out: list[str] = []
    for build, place in zip(builds, places, strict=True):
        *tests, more = read_tests(build, registry.drivers)
        here = {file.name for file in place.glob("*.mlir") if file.is_file()}
        used = {test.module for group in tests for test in group}
        files = frozenset(here if is_in_place else here & used)
        path = place.relative_to(top).as_posix()
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


def _copies(output: Path, folders: Iterable[Folder]) -> dict[Path, bytes]:
    """Return the contents of the tested modules, by the files that they are copied to if they are elsewhere."""
    copies: dict[Path, bytes] = {}
    for folder in folders:
        for module in {test.module for test in folder.tests}:
            source, copy = folder.build.parent / module, output / folder.path / module
            if copy.resolve() == source.resolve():
                continue
            try:
                copies[copy] = read_regular(source)
            except OSError as error:
                msg = f"{display_path(source)}: cannot be read: {error.strerror or error}; expected a module"
                raise RetargetError(msg) from error
    return copies
