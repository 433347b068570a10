"""`retarget results merge|show|diff|update|export`.

`show` prints outcomes by config, failures by signature, sessions that did not end.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from retarget.cli.support import add_action, print_note, text_table
from retarget.results.files import SessionResults, Sessions
from retarget.results.merge import check_agreement, merge_into
from retarget.results.overview import (
    Change,
    Difference,
    FailureGroup,
    State,
    by_config,
    by_outcome,
    differences,
    is_worse,
    worse_cases,
)
from retarget.results.record import Outcome, TargetRecord
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.files import user_path, write_files
from retarget.support.text import counted, shown
from retarget.targets.selection import ExpressionError, Selector

_FORMATS = ("ctrf", "junit", "trace")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    does = "write the results of all sessions to one file, sorted; sessions that say different things are an error"
    merge = add_action(actions, "merge", _merge, does)
    add_paths(merge)
    merge.add_argument(
        "-o", dest="out", required=True, metavar="OUT", help="a file (*.jsonl) or folder; what it has stays"
    )
    does = (
        "count outcomes by config and failures by signature; exit status 1 where a target or case failed or was not run"
    )
    show = add_action(actions, "show", _show, does)
    add_paths(show)
    add_selection(show)
    show.add_argument(
        "--outcome",
        action="append",
        default=[],
        choices=[str(outcome) for outcome in Outcome],
        metavar="OUTCOME",
        help=f"list the targets with this outcome; may be repeated: {', '.join(Outcome)}",
    )
    does = (
        "compare two sets of results; exit status 1 where a target is newly broken, no longer run, gone, or new and bad"
    )
    diff = add_action(actions, "diff", _diff, does)
    diff.add_argument("before", metavar="A", help="folder or file of results: before")
    diff.add_argument("after", metavar="B", help="folder or file of results: after")
    add_selection(diff)
    diff.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")
    does = "change expectations to what results show, as pytest --retarget-update-expectations does for its own; "
    does += "run it where pytest ran"
    epilog = "of several results of a target on one device the last counts; where devices differ, rules say on(…)"
    add_paths(add_action(actions, "update", _update, does, epilog=epilog))
    does = "write results in the format of other tools: CTRF, junit, or Chrome's trace events"
    export = add_action(actions, "export", _export, does)
    export.add_argument("as_format", choices=_FORMATS, metavar="|".join(_FORMATS), help="the format")
    add_paths(export)
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
    sessions = read_sessions(arguments.paths)
    check_agreement(sessions)
    from retarget.results import export

    out, made = user_path(arguments.out), getattr(export, arguments.as_format)
    write_files([(out, made(sessions))], force=True)
    print(f"{display_path(out)}: {arguments.as_format} of {counted(len(sessions), 'session')}")
    _say_faults(sessions)
    return 0


def _say_faults(sessions: Sessions) -> bool:
    """Say which sessions have a fault; return whether one has."""
    for session in (found := sessions.faulty):
        print(f"{', '.join(map(display_path, session.files))}: {session.fault}", file=sys.stderr)
    return bool(found)


def _diff(arguments: argparse.Namespace) -> int:
    (was, is_whole, was_at_fault), (now, is_complete, is_at_fault) = map(_read, (arguments.before, arguments.after))
    old, new = was.results, now.results
    selected = select_records(arguments.mark, old | new)
    before, after = ({one: state for one, state in _diffed(found) if one in selected} for found in (was, now))
    if not is_whole:  # a killed session lacks targets that exist: they are not new
        before = dict.fromkeys(after, State(Outcome.NOT_RUN)) | before
    if not is_complete:  # and they are not gone
        after = dict.fromkeys(before, State(Outcome.NOT_RUN)) | after
    for target, state in after.items():
        breaks = target in before and before[target].is_bad and state.is_good
        if breaks and not {*state.goldens}.isdisjoint(before[target].goldens):
            after[target] = State(Outcome.PARTIAL, "", "its golden rule was not judged")
    if not (targets := sorted(before.keys() | after.keys())):
        msg = f"found no target in {arguments.before} and {arguments.after}, expected results to compare"
        raise RetargetError(msg)
    found = [*differences((target, before.get(target), after.get(target)) for target in targets)]
    changed = {one.target for one in found}
    worse = {one.target for one in found if is_worse(one)}
    was_on, now_on = was.on_devices, now.on_devices
    for target in sorted((selected.keys() & old.keys() & new.keys()) - worse):
        one, two = was_on[target], now_on[target]
        added = two.keys() - one.keys() if one.keys() & two.keys() else ()  # a device of its own: its failures count
        told = (device for device, record in two.items() if device not in added or record.outcome.is_bad)
        pairs = [(one.get(device, old[target]), two[device]) for device in told]
        if cases := dict.fromkeys(case for pair in pairs for case in worse_cases(target, *pair)):
            found += cases
            changed.add(target)
    same = len(targets) - len(changed)
    counts = {change: sum(one.change is change for one in found) for change in Change}
    if arguments.format == "json":
        content = {
            "counts": {str(change): count for change, count in counts.items()} | {"unchanged": same},
            "changes": [
                {"target": one.target, "change": one.change, "before": _fields(one.before), "after": _fields(one.after)}
                for one in found
            ],
        }
        print(json.dumps(content, indent=1))
    else:
        print("\n".join(_text_of(found, counts, same)))
    blocked = TargetRecord.unexplained({target: record for target, record in new.items() if target in after})
    is_bad = any(is_worse(one) or one.target in blocked for one in found)
    return 1 if is_bad or (is_at_fault and not was_at_fault) else 0


def _diffed(sessions: Sessions) -> Iterator[tuple[str, State]]:
    """Yield the state of each target; of one that is blocked by what did not fail, it says so."""
    blocked = TargetRecord.unexplained(sessions.results)
    for target, (_, state) in sessions.states().items():
        yield target, replace(state, signature=f"{state.signature}, which did not fail") if target in blocked else state


def _fields(state: State | None) -> dict[str, str] | None:
    return {name: getattr(state, name) for name in ("outcome", "stage", "signature")} if state is not None else None


def _read(written: str) -> tuple[Sessions, bool, bool]:
    """Return results, whether all sessions are complete, and whether one has a fault, which is said."""
    sessions = read_sessions([written])
    faults = _say_faults(sessions)
    return sessions, all(session.is_complete and not session.lacking for session in sessions), faults


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
    from retarget.extension.registry import load_extensions
    from retarget.results.rule_update import RuleUpdate  # it reads and writes declarations

    update = RuleUpdate()
    for session in read_sessions(arguments.paths):
        if not session.is_complete:
            files = ", ".join(map(display_path, session.files))
            msg = f"{files}: found a session that did not end, which may say too little: run it again, or leave it out"
            raise RetargetError(msg)
        for _, records in sorted(Sessions([session]).attempts.items()):
            update.add(records[-1], session.start.cpu)
    for line, _ in update.write(load_extensions((), folders=[Path.cwd()])):
        print(line)
    return 1 if update.left_over else 0


_SHOWN_FILES = 3
_LONGEST = 1000
"""Characters of a command that are shown."""


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Declare where results are."""
    parser.add_argument("paths", nargs="+", metavar="DIR", help="folders or files of `pytest --retarget-results`")


def read_sessions(paths: Iterable[str]) -> Sessions:
    """Read results. Raises `RetargetError` for what `Sessions.read` refuses."""
    return Sessions.read(user_path(path) for path in paths)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Declare what of them is meant."""
    parser.add_argument("-m", dest="mark", default="", metavar="EXPR", help="only what this selects, as in pytest")


def select_records(mark: str, records: Mapping[str, TargetRecord]) -> dict[str, TargetRecord]:
    """Return the records that `-m` selects, and note its words that are no tag of any but resemble one.

    Raises `argparse.ArgumentError` where it is no expression or selects none of those there are.
    """
    try:
        selector = Selector(mark)
    except ExpressionError as error:
        raise argparse.ArgumentError(None, str(error)) from error
    found = {target: record for target, record in records.items() if selector(record)}
    tags = {tag for record in records.values() for tag in record.tags}
    hints = {term.text: did_you_mean(term.text, tags) for term in selector.terms if term.text not in tags}
    if records and not found:
        msg = f"-m {mark!r} selects none of {counted(len(records), 'target')}{next(filter(None, hints.values()), '')}"
        raise argparse.ArgumentError(None, msg)
    for word in filter(hints.get, hints):
        print_note(f"note: -m {mark!r}: no target has the tag {word!r}{hints[word]}")
    return found


def _show(arguments: argparse.Namespace) -> int:
    sessions = read_sessions(arguments.paths)
    results = dict(sorted(select_records(arguments.mark, sessions.results).items()))
    listed = [record for record in results.values() if record.outcome in arguments.outcome]
    print("\n".join(_text(sessions, results, listed)))
    bad = any(one.outcome.is_bad or one.outcome.is_incomplete for one in results.values())
    return 1 if bad or TargetRecord.unexplained(results) or sessions.faulty else 0


def _text(sessions: Sessions, results: Mapping[str, TargetRecord], listed: Sequence[TargetRecord]) -> Iterator[str]:
    outcomes = by_outcome(results.values())
    counts = [f"{count} {outcome}" for outcome, count in outcomes.items()]
    counts += [f"{lacking} without a result"] if (lacking := sum(one.lacking for one in sessions)) else []
    unchanged = sum(record.unchanged for record in results.values())
    counts += [f"{unchanged} of them unchanged since an earlier run"] if unchanged else []
    heading = f"{counted(len(results), 'target')} of {counted(len(sessions), 'session')}"
    yield f"{heading}: {', '.join(counts)}" if counts else heading
    if results:
        rows = [
            (compiler, runtime or "-", str(sum(found.values())), *(str(found.get(one, "")) for one in outcomes))
            for (compiler, runtime), found in by_config(results.values()).items()
        ]
        yield ""
        yield text_table(("compiler", "runtime", "targets", *map(str, outcomes)), rows)
    groups = FailureGroup.among(results.values())
    if groups:
        yield ""
        yield "failures by signature, with the smallest module of each:"
    for group in groups:
        words = shown(": ".join(text for text in (group.stage, group.signature) if text))
        yield f"{len(group.records):5}  {words}"
        yield f"       {shown(group.records[0].nodeid)}"
    if listed:
        yield ""
        yield from (f"{shown(record.nodeid)}: {shown(str(State.of(record)))}" for record in listed)
    if noted := _noted(results):
        yield ""
        yield "devices that were lost or gone, and came back:"
        yield from (f"  {shown(target)}: {shown(line)}" for target, lines in noted.items() for line in lines)
    twice = sum(len(session.latest) for session in sessions) - len(sessions.results)
    if twice:
        yield ""
        yield f"{counted(twice, 'result')} of earlier sessions left out: of a target the last session counts"
    came = {record.nodeid: session.start.session for session in sessions for record in session.records}
    if old := [one for one in results.values() if one.outcome.is_bad and one.session != came[one.nodeid]]:
        where = (
            "in a benchmark" if old[0].breaks_golden else "in each case that failed, on that device, host and toolchain"
        )
        first = f"{shown(old[0].nodeid)}: no later session has it as expected {where}"
        yield ""
        yield f"{counted(len(old), 'failure')} of earlier sessions still counted, such as {first}"
    for session in sessions.faulty:
        yield ""
        yield f"{'failed' if session.is_complete and not session.lacking else 'incomplete'}: {_named(session)}"
        again = shlex.join(["pytest", *session.start.arguments])
        where = f" in {shlex.quote(session.start.cwd)}" if session.start.cwd else ""
        clears = (
            "it counts until a later one ends well:" if session.is_complete else "run it again, then remove its file:"
        )
        yield shown(f"  {clears} {again}{where}", _LONGEST)


def _named(session: SessionResults) -> str:
    leg = f" of the leg {shown(session.start.leg)}" if session.start.leg else ""
    files = ", ".join(map(display_path, session.files[:_SHOWN_FILES]))
    return f"session {session.start.session[:8]}{leg} in {files}: {session.fault}"


def _noted(results: Mapping[str, TargetRecord]) -> dict[str, tuple[str, ...]]:
    return {target: one.run.notes for target, one in results.items() if one.run is not None and one.run.notes}
