"""`retarget bringup NAME`: run the targets of a ladder, or read results, and show how far they come."""

from __future__ import annotations

import argparse
from pathlib import Path

from retarget.cli import whole_number, words_for_pytest
from retarget.support import user_path

from retarget_bringup.ladder.check import add_arguments, apply_options, raised
from retarget_bringup.ladder.files import find_settings, read_settings
from retarget_bringup.status.assemble import Status, status_of
from retarget_bringup.status.gather import Found, read_found, run_found
from retarget_bringup.status.text import TOP, next_lines, status_lines


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "status",
        prog="retarget bringup",
        help="run the targets of a ladder, and show how far they come, and what blocks the most",
        description="Run the targets of bringup/NAME.toml. Show how far each target comes, what blocks the most, and "
        "what to do next.",
    )
    parser.add_argument("name", metavar="NAME", help="the ladder: bringup/NAME.toml")
    parser.add_argument("--results", nargs="+", metavar="DIR", help="read these results, and run nothing")
    parser.add_argument(
        "--runs",
        type=whole_number,
        default=1,
        metavar="N",
        help="run what matches N times in all, for the rung stable (1)",
    )
    parser.add_argument(
        "--pytest-args", default="", metavar="TEXT", help="further arguments of pytest: --pytest-args='-k matmul -n 4'"
    )
    parser.add_argument("--all", action="store_true", help=f"all blockers, not the first {TOP}")
    parser.add_argument("--reason", default="", metavar="TEXT", help="with --lower: why it may be lower")
    shape = parser.add_mutually_exclusive_group()
    add_arguments(shape)
    shape.add_argument("--next", action="store_true", help="print the one thing to do next, and why")
    parser.set_defaults(act=_status)


def _status(arguments: argparse.Namespace) -> int:
    settings = read_settings(find_settings(arguments.name, Path.cwd()))
    more = words_for_pytest(arguments.pytest_args)
    if arguments.results and (arguments.runs > 1 or more):
        msg = "--results: found it with an option that runs targets, expected one or the other: it only reads results"
        raise argparse.ArgumentError(None, msg)
    if bool(arguments.lower) != bool(arguments.reason.strip()) or not arguments.reason.isprintable():
        given = f"--lower {arguments.lower!r} and --reason {arguments.reason!r}"
        msg = f"found {given}, expected both, the reason in one line"
        raise argparse.ArgumentError(None, msg)
    extensions = arguments.retarget_extension
    if arguments.results:
        found = read_found(settings, [user_path(path) for path in arguments.results], extensions)
    else:
        found = run_found(settings, runs=arguments.runs, pytest_args=more, extensions=extensions)
    if arguments.check or arguments.raises or arguments.lower:
        lower = {"lower": arguments.lower, "reason": " ".join(arguments.reason.split())}
        return apply_options(settings, found.ladder, found.states, raises=arguments.raises, **lower)
    status = _status_of(found)
    print("\n".join(next_lines(status.next) if arguments.next else status_lines(status, everything=arguments.all)))
    return 0


def _status_of(found: Found) -> Status:
    settings = found.settings
    return status_of(
        settings.name,
        found.states,
        root=settings.root,
        stable_runs=settings.stable,
        is_raised=not raised(found.ladder, found.states).changes,
        reference=settings.reference,
        declared=found.declared,
    )
