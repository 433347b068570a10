"""`retarget run`: targets compiled, run and judged in a session of pytest, one line for each."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from pathlib import Path

from retarget.cli.support import add_path_arguments, add_toolchain_argument, output_folder, run_targets, seconds_above_0
from retarget.declare.sources import FileName


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget run`."""
    parser.add_argument(
        "target",
        nargs="*",
        help="targets: ids as pytest shows them, names or globs as `retarget list` shows them, or the front of a name "
        "that no other has; and folders and files to look in (the current folder)",
    )
    add_path_arguments(parser, positional=False, expressions=True)
    add_toolchain_argument(parser)
    parser.add_argument(
        "--retarget-case",
        "--case",
        dest="case",
        action="append",
        default=[],
        metavar="GLOB",
        help="run only these cases; may be repeated",
    )
    parser.add_argument(
        "--retarget-require",
        action="append",
        default=[],
        metavar="EXPR",
        help="a target that EXPR selects fails where it would be skipped; may be repeated",
    )
    parser.add_argument(
        "--ignore-expectations", action="store_true", help="show each target's own outcome, as if there were no rules"
    )
    parser.add_argument(
        "--artifact", type=Path, metavar="FILE", help="compile nothing: run this artifact, which was compiled by hand"
    )
    parser.add_argument(
        "--results", type=output_folder, metavar="DIR", help="write results there, as --retarget-results does"
    )
    parser.add_argument("--compile-timeout", type=seconds_above_0, metavar="SECONDS", help="end a compile after this")
    parser.add_argument("--run-timeout", type=seconds_above_0, metavar="SECONDS", help="end a run after this")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all failed cases in full")


def run(arguments: argparse.Namespace) -> int:
    """Run the targets. Returns the exit status, of those that `retarget run --help` names.

    Raises `DiagnosticsError` and `RetargetError`, `argparse.ArgumentError` for what names no target.
    """
    words: list[str] = list(dict.fromkeys(arguments.target))
    if "" in words:
        msg = "found an empty target; expected an id, a name, a glob or a folder ('.' for the current one)"
        raise argparse.ArgumentError(None, msg)
    selects = bool(arguments.mark or arguments.keyword)
    if not words and not selects:
        msg = "expected targets: ids, names or globs as `retarget list` shows them, folders, or -m or -k"
        raise argparse.ArgumentError(None, msg)
    paths = [word for word in words if "::" in word or Path(word).exists()] or ["."]
    is_ids = bool(words) and not selects and all(map(_is_id, words))
    if is_ids:
        gc.disable()  # a tenth of the CPU time of one target, which leaves no garbage worth it
    try:
        return run_targets(
            arguments,
            paths,
            names=tuple(word for word in words if word not in paths),
            is_ids=is_ids,
            requires=tuple(arguments.retarget_require),
            artifact=arguments.artifact,
            options=tuple(_options(arguments)),
        )
    finally:
        gc.enable()


def _options(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the options of pytest that have the same names and values."""
    yield from (f"--retarget-case={case}" for case in arguments.case)
    for name in ("results", "compile_timeout", "run_timeout"):
        if (value := getattr(arguments, name)) is not None:
            yield f"--retarget-{name.replace('_', '-')}={value}"
    if arguments.ignore_expectations:
        yield "--retarget-ignore-expectations"
    if arguments.verbose:
        yield "-vv"


def _is_id(word: str) -> bool:
    file, *rest = word.split("::")
    return len(rest) == 2 and Path(file).name == FileName.SUITE and Path(file).is_file()
