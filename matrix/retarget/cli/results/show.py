"""`retarget results show`: outcomes by config, failures by signature, sessions that did not end."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import asdict

from retarget.cli.support import add_action, text_table
from retarget.results.files import SessionResults, faulty_sessions, read_results, results_of
from retarget.results.overview import by_config, by_outcome, failure_groups, is_unexplained, state_of
from retarget.results.record import BAD, INCOMPLETE, Outcome, TargetRecord
from retarget.support.errors import did_you_mean, display_path
from retarget.support.files import user_path
from retarget.support.text import counted, shown
from retarget.targets.selection import ExpressionError, compile_selector_of, mark_terms

_SHOWN_FILES = 3


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Declare where results are."""
    parser.add_argument("paths", nargs="+", metavar="DIR", help="folders or files of `pytest --retarget-results`")


def read_sessions(paths: Iterable[str]) -> tuple[SessionResults, ...]:
    """Read results. Raises `RetargetError` for what `read_results` refuses."""
    return read_results(user_path(path) for path in paths)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Declare what of them is meant, and how to print it."""
    parser.add_argument("-m", dest="mark", default="", metavar="EXPR", help="only what this selects, as in pytest")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")


def record_filter(arguments: argparse.Namespace) -> Callable[[TargetRecord], bool]:
    """Return what `-m` selects. Raises `argparse.ArgumentError` where it is no expression."""
    try:
        return compile_selector_of(arguments.mark, attrgetter("marks"))
    except ExpressionError as error:
        raise argparse.ArgumentError(None, str(error)) from error


def refuse_none(mark: str, records: Iterable[TargetRecord]) -> None:
    """Raise `argparse.ArgumentError` where `-m` selects none of all the records there are: it may be misspelt."""
    if known := [*records]:
        tags = {tag for record in known for tag in record.tags}
        hints = (did_you_mean(term.text, tags) for term in mark_terms(mark) if term.text not in tags)
        msg = f"-m {mark!r} selects none of {counted(len(known), 'target')}{next(filter(None, hints), '')}"
        raise argparse.ArgumentError(None, msg)


def add(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare `show`."""
    does = (
        "count outcomes by config and failures by signature; exit status 1 where a target or case failed or was not run"
    )
    parser = add_action(actions, "show", _show, does)
    add_paths(parser)
    add_selection(parser)
    parser.add_argument(
        "--outcome",
        action="append",
        default=[],
        choices=[str(outcome) for outcome in Outcome],
        metavar="OUTCOME",
        help=f"list the targets with this outcome; may be repeated: {', '.join(Outcome)}",
    )


def _show(arguments: argparse.Namespace) -> int:
    choose = record_filter(arguments)
    sessions = read_sessions(arguments.paths)
    known = results_of(sessions)
    results = {target: record for target, record in sorted(known.items()) if choose(record)}
    if not results:
        refuse_none(arguments.mark, known.values())
    missing = {one.start.session: one.lacking for one in sessions}
    listed = [record for record in results.values() if record.outcome in arguments.outcome]
    if arguments.format == "json":
        print(json.dumps(_content(sessions, results, missing, listed if arguments.outcome else None), indent=1))
    else:
        print("\n".join(_text(sessions, results, missing, listed)))
    bad = any(one.outcome in BAD | INCOMPLETE or is_unexplained(one, results) for one in results.values())
    return 1 if bad or faulty_sessions(sessions) else 0


def _text(
    sessions: Sequence[SessionResults],
    results: Mapping[str, TargetRecord],
    missing: Mapping[str, int],
    listed: Sequence[TargetRecord],
) -> Iterator[str]:
    outcomes = by_outcome(results.values())
    counts = [f"{count} {outcome}" for outcome, count in outcomes.items()]
    counts += [f"{sum(missing.values())} without a result"] if any(missing.values()) else []
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
    groups = failure_groups(results.values())
    if groups:
        yield ""
        yield "failures by signature, with the smallest module of each:"
    for group in groups:
        words = shown(": ".join(text for text in (group.stage, group.signature) if text))
        yield f"{len(group.records):5}  {words}"
        yield f"       {shown(group.records[0].nodeid)}"
    if lost := [record for record in results.values() if is_unexplained(record, results)]:
        first = f"{shown(lost[0].nodeid)}: {shown(lost[0].reason)}"
        yield ""
        yield f"{counted(len(lost), 'target')} blocked by what does not fail among these results, such as {first}"
    if listed:
        yield ""
        yield from (f"{shown(record.nodeid)}: {shown(str(state_of(record)))}" for record in listed)
    twice = sum(len(session.latest) for session in sessions) - len(results_of(sessions))
    if twice:
        yield ""
        yield f"{counted(twice, 'result')} of earlier sessions left out: of a target the last session counts"
    came = {record.nodeid: session.start.session for session in sessions for record in session.records}
    if old := [one for one in results.values() if one.outcome in BAD and one.session != came[one.nodeid]]:
        first = f"{shown(old[0].nodeid)}: no later session has it as expected on that device"
        yield ""
        yield f"{counted(len(old), 'failure')} of earlier sessions still counted, such as {first}"
    for session in faulty_sessions(sessions):
        yield ""
        yield f"{'failed' if session.is_complete and not session.lacking else 'incomplete'}: {_named(session)}"


def _named(session: SessionResults) -> str:
    leg = f" of the leg {shown(session.start.leg)}" if session.start.leg else ""
    files = ", ".join(map(display_path, session.files[:_SHOWN_FILES]))
    return f"session {session.start.session[:8]}{leg} in {files}: {session.fault}"


def _content(
    sessions: Sequence[SessionResults],
    results: Mapping[str, TargetRecord],
    missing: Mapping[str, int],
    listed: Sequence[TargetRecord] | None,
) -> dict[str, Any]:
    content: dict[str, Any] = {
        "targets": len(results),
        "without_result": sum(missing.values()),
        "outcomes": by_outcome(results.values()),
        "configs": [
            {"compiler": compiler, "runtime": runtime, "outcomes": found}
            for (compiler, runtime), found in by_config(results.values()).items()
        ],
        "failures": [
            {
                "stage": group.stage,
                "signature": group.signature,
                "count": len(group.records),
                "targets": [record.nodeid for record in group.records],
            }
            for group in failure_groups(results.values())
        ],
        "sessions": [
            {
                "session": one.start.session,
                "leg": one.start.leg,
                "plan": one.start.plan,
                "started": one.start.started,
                "complete": one.is_complete,
                "status": one.end.status if one.end is not None else None,
                "selected": one.start.selected,
                "without_result": missing[one.start.session],
                "fault": one.fault,
                "files": [display_path(path) for path in one.files],
            }
            for one in sessions
        ],
    }
    if listed is not None:
        content["listed"] = [{"target": record.nodeid} | asdict(state_of(record)) for record in listed]
    return content
