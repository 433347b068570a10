"""`retarget results merge|show|diff|update|export`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import asdict

from retarget.cli.results import show
from retarget.cli.support import add_action
from retarget.extension.registry import load_extensions
from retarget.results.export.ctrf import ctrf
from retarget.results.export.junit import junit
from retarget.results.export.pytest_benchmark import pytest_benchmark
from retarget.results.export.trace import trace
from retarget.results.files import SessionResults, attempts_of, faulty_sessions, results_of
from retarget.results.merge import check_agreement, merge_into
from retarget.results.overview import (
    Change,
    Difference,
    State,
    differences,
    is_unexplained,
    is_worse,
    state_of,
    worse_cases,
)
from retarget.results.record import Outcome, TargetRecord
from retarget.results.rule_update import RuleUpdate
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import user_path, write_files
from retarget.support.text import counted, shown

_FORMATS = {"ctrf": ctrf, "junit": junit, "pytest-benchmark": pytest_benchmark, "trace": trace}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    does = "write the results of all sessions to one file, sorted; sessions that say different things are an error"
    merge = add_action(actions, "merge", _merge, does)
    show.add_paths(merge)
    merge.add_argument(
        "-o", dest="out", required=True, metavar="OUT", help="a file (*.jsonl) or folder; what it has stays"
    )
    show.add(actions)
    does = (
        "compare two sets of results; exit status 1 where a target is newly broken, no longer run, gone, or new and bad"
    )
    diff = add_action(actions, "diff", _diff, does)
    diff.add_argument("before", metavar="A", help="folder or file of results: before")
    diff.add_argument("after", metavar="B", help="folder or file of results: after")
    show.add_selection(diff)
    does = "change expectations to what results show, as pytest --retarget-update-expectations does for its own"
    epilog = "of several results of a target on one device the last counts; where devices differ, rules say on(…)"
    more = "; run it where pytest ran"
    show.add_paths(add_action(actions, "update", _update, does, more=more, epilog=epilog))
    does = "write results in the format of other tools: CTRF, junit, pytest-benchmark, or Chrome's trace events"
    export = add_action(actions, "export", _export, does)
    export.add_argument("as_format", choices=_FORMATS, metavar="|".join(_FORMATS), help="the format")
    show.add_paths(export)
    export.add_argument("-o", dest="out", required=True, metavar="FILE", help="the file to write")


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
    _say_faults(sessions)
    return 0


def _say_faults(sessions: Sequence[SessionResults]) -> bool:
    """Say which sessions have a fault; return whether one has."""
    for session in (found := faulty_sessions(sessions)):
        print(f"{', '.join(map(display_path, session.files))}: {session.fault}", file=sys.stderr)
    return bool(found)


def _diff(arguments: argparse.Namespace) -> int:
    choose = show.record_filter(arguments)
    (old, was_complete, was_at_fault), (new, is_complete, is_at_fault) = (
        _results(written) for written in (arguments.before, arguments.after)
    )
    before, after = (
        {target: state_of(record) for target, record in records.items() if choose(record)} for records in (old, new)
    )
    if not (before or after):
        show.refuse_none(arguments.mark, (old | new).values())
    if not was_complete:  # a killed session lacks targets that exist: they are not new
        before = dict.fromkeys(after, State(Outcome.NOT_RUN)) | before
    if not is_complete:  # and they are not gone
        after = dict.fromkeys(before, State(Outcome.NOT_RUN)) | after
    targets = sorted(before.keys() | after.keys())
    found = [*differences((target, before.get(target), after.get(target)) for target in targets)]
    changed = {one.target for one in found}
    worse = {one.target for one in found if is_worse(one)}
    for target in sorted((before.keys() & after.keys() & old.keys() & new.keys()) - worse):
        if cases := [*worse_cases(target, old[target], new[target])]:
            found += cases
            changed.add(target)
    same = len(targets) - len(changed)
    counts = {change: sum(one.change is change for one in found) for change in Change}
    if arguments.format == "json":
        content = {
            "counts": {str(change): count for change, count in counts.items()} | {"unchanged": same},
            "changes": [
                {
                    "target": one.target,
                    "change": one.change,
                    "before": asdict(one.before) if one.before is not None else None,
                    "after": asdict(one.after) if one.after is not None else None,
                }
                for one in found
            ],
        }
        print(json.dumps(content, indent=1))
    else:
        print("\n".join(_text_of(found, counts, same)))
    chosen = {target: record for target, record in new.items() if target in after}
    blocked = {target for target, record in chosen.items() if is_unexplained(record, chosen)}
    is_bad = any(is_worse(one) or one.target in blocked for one in found)
    return 1 if is_bad or (is_at_fault and not was_at_fault) else 0


def _results(written: str) -> tuple[dict[str, TargetRecord], bool, bool]:
    """Return the result of each target, whether all sessions are complete, and whether one has a fault, which is
    said."""
    sessions = show.read_sessions([written])
    faults = _say_faults(sessions)
    return results_of(sessions), all(session.is_complete and not session.lacking for session in sessions), faults


def _text_of(found: Sequence[Difference], counts: Mapping[Change, int], same: int) -> Iterator[str]:
    for change, count in counts.items():
        if not count:
            continue
        yield f"{change}: {count}"
        for one in found:
            if one.change is change:
                yield f"  {shown(one.target)}"
                yield f"    {' → '.join(shown(str(state)) for state in (one.before, one.after) if state is not None)}"
        yield ""
    words = [f"{count} {change}" for change, count in counts.items() if count]
    yield ", ".join([*words, f"{counted(same, 'target')} unchanged"])


def _update(arguments: argparse.Namespace) -> int:
    update = RuleUpdate()
    for session in sorted(show.read_sessions(arguments.paths), key=lambda one: (one.start.started, one.start.session)):
        if not session.is_complete:
            files = ", ".join(map(display_path, session.files))
            msg = f"{files}: found a session that did not end, which may say too little: run it again, or leave it out"
            raise RetargetError(msg)
        for _, records in sorted(attempts_of([session]).items()):
            update.add(records[-1])
    for line, _ in update.write(load_extensions((), folders=[Path.cwd()]), in_full=False):
        print(line)
    return 1 if update.left_over else 0
