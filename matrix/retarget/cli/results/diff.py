"""`retarget results diff`: how the result of each target differs between two sets of results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping

from retarget.cli.results.show import add_selection, read_sessions, selected
from retarget.results.files import results_of
from retarget.results.overview import Change, State, changes, state_of
from retarget.results.record import Outcome, TargetRecord
from retarget.support.text import counted, shown

_WORSE = (Change.BROKEN, Change.STOPPED, Change.GONE)
"""What the exit status tells."""

_Changed = tuple[str, Change, State | None, State | None]


def add(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare `diff`."""
    does = "compare two sets of results; exit status 1 where a target is newly broken, no longer run, or gone"
    parser = actions.add_parser("diff", help=does, description=f"{does}.")
    parser.add_argument("before", metavar="A", help="folder or file of results: before")
    parser.add_argument("after", metavar="B", help="folder or file of results: after")
    add_selection(parser)
    parser.set_defaults(act=_diff)


def _diff(arguments: argparse.Namespace) -> int:
    choose = selected(arguments)
    before, _ = _states(arguments.before, choose)
    after, is_complete = _states(arguments.after, choose)
    if not is_complete:  # what a killed session lacks is not gone
        after = dict.fromkeys(before, State(Outcome.NOT_RUN)) | after
    found = [*changes(before, after)]
    same = len(before.keys() | after.keys()) - len(found)
    counts = {change: sum(one[1] is change for one in found) for change in Change}
    if arguments.format == "json":
        print(json.dumps(_content(found, counts, same), indent=1))
    else:
        print("\n".join(_text(found, counts, same)))
    return 1 if any(counts[change] for change in _WORSE) else 0


def _states(written: str, choose: Callable[[TargetRecord], bool]) -> tuple[dict[str, State], bool]:
    """Return the state of each target, and whether all sessions are complete."""
    sessions = read_sessions([written])
    states = {target: state_of(record) for target, record in results_of(sessions).items() if choose(record)}
    return states, all(session.is_complete for session in sessions)


def _text(found: list[_Changed], counts: Mapping[Change, int], same: int) -> Iterator[str]:
    for change in Change:
        if counts[change]:
            yield f"{change}: {counts[change]}"
        for target, how, before, after in found:
            if how is change:
                states = " → ".join(shown(str(state)) for state in (before, after) if state is not None)
                yield f"  {shown(target)}"
                yield f"    {states}"
        if counts[change]:
            yield ""
    words = [f"{count} {change}" for change, count in counts.items() if count]
    yield ", ".join([*words, f"{counted(same, 'target')} unchanged"])


def _content(found: list[_Changed], counts: Mapping[Change, int], same: int) -> dict[str, object]:
    return {
        "counts": {str(change): count for change, count in counts.items()} | {"unchanged": same},
        "changes": [
            {"target": target, "change": change, "before": _state(before), "after": _state(after)}
            for target, change, before, after in found
        ],
    }


def _state(state: State | None) -> dict[str, str] | None:
    if state is None:
        return None
    return {"outcome": state.outcome, "stage": state.stage, "signature": state.signature}
