"""`retarget import-bazel`: take over check and lit test suites of BUILD.bazel files."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from retarget.cli import input_path, output_folder
from retarget.session import FileName, Registry, load_extensions
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, counted, display_path, write_files

from retarget_import.declarations import declarations_of
from retarget_import.evaluate import BUILD_FILES, CHECK_RULES, LIT_RULES, BuildFile, read_build_file
from retarget_import.read import Folder, read_tests


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
    parser.add_argument("--force", action="store_true", help="replace files that are there with another content")


def run(arguments: argparse.Namespace) -> int:
    """Write the declarations and print a summary of the tests. Returns 0.

    Raises `RetargetError`, also where other files are there already, and
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
    return 0


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
