"""`retarget results merge|show|diff|update|export`."""

from __future__ import annotations

import argparse

from retarget.cli.results import diff, show, update
from retarget.results.export.ctrf import ctrf
from retarget.results.export.junit import junit
from retarget.results.export.pytest_benchmark import pytest_benchmark
from retarget.results.export.trace import trace
from retarget.results.merge import check_agreement, merge_into
from retarget.support.errors import display_path
from retarget.support.files import user_path, write_files
from retarget.support.text import counted

_FORMATS = {"ctrf": ctrf, "junit": junit, "pytest-benchmark": pytest_benchmark, "trace": trace}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    does = "write the results of all sessions to one file, sorted; sessions that say different things are an error"
    merge = actions.add_parser("merge", help=does, description=f"{does}.")
    show.add_paths(merge)
    merge.add_argument(
        "-o", dest="out", required=True, metavar="OUT", help="a file (*.jsonl) or folder; what it has stays"
    )
    merge.set_defaults(act=_merge)
    show.add(actions)
    diff.add(actions)
    update.add(actions)
    does = "write results in the format of other tools: CTRF, junit, pytest-benchmark, or Chrome's trace events"
    export = actions.add_parser("export", help=does, description=f"{does}.")
    export.add_argument("as_format", choices=_FORMATS, metavar="|".join(_FORMATS), help="the format")
    show.add_paths(export)
    export.add_argument("-o", dest="out", required=True, metavar="FILE", help="the file to write")
    export.set_defaults(act=_export)


def run(arguments: argparse.Namespace) -> int:
    """Run one of them."""
    status: int = arguments.act(arguments)
    return status


def _merge(arguments: argparse.Namespace) -> int:
    merged = merge_into([user_path(path) for path in arguments.paths], user_path(arguments.out))
    records = sum(len(session.records) for session in merged.sessions)
    killed = sum(not session.is_complete for session in merged.sessions)
    held = f"{counted(len(merged.sessions), 'session')}, {counted(records, 'record')}"
    notes = [*([f"{killed} incomplete"] if killed else []), *([] if merged.changed else ["nothing new"])]
    print(f"{display_path(merged.path)}: {', '.join([held, *notes])}")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    sessions = show.read_sessions(arguments.paths)
    check_agreement(sessions)
    out = user_path(arguments.out)
    write_files([(out, _FORMATS[arguments.as_format](sessions))], force=True)
    print(f"{display_path(out)}: {arguments.as_format} of {counted(len(sessions), 'session')}")
    return 0
