"""The views over the runs of a history, of which the results of the page are the last.

What each target was in them: `history`, a `Past`. What was measured of each target, the slowest, the largest changes,
the trend: `benchmarks`, a list of `Row`s. Targets are numbers: those of `retarget_report.views.matrix.numbered`; runs
count from 0, the oldest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins
from retarget.model import Metric
from retarget.results import History, Measurement, Outcome, State

from retarget_report.read import STATES, Report
from retarget_report.views.matrix import numbered

_SORTS = {
    "good": (State(Outcome.PASSED), State(Outcome.XFAILED, places=("other",))),
    "bad": (State(Outcome.FAILED, places=("one",)), State(Outcome.ERROR)),
    "none": (State(Outcome.SKIPPED), State(Outcome.BLOCKED)),
    "absent": (None, None),
}
"""Two examples of each sort of state: one before and one after a change. A pass mends a failure where it closes the
regression. The sort of a run that did not end, `killed`, is not here: it makes no change."""


class Kind(Struct, frozen=True, kw_only=True):
    """A state that occurs. Two states are one where their `settled` are equal; `sort` is one of `_SORTS`, or `killed`.

    `look` is the page's state, empty for none, `text` what happened, for people, `cases` those that failed.
    """

    look: str
    sort: str
    settled: int
    text: str
    cases: Sequence[str] = ()


class Pattern(Struct, frozen=True, kw_only=True):
    """The states of targets, run by run, as numbers; for all targets that were the same in every run.

    The rest is what `retarget.results.history` makes of it. `regressions` are pairs of runs: opened, closed or -1.
    """

    cells: Sequence[int]
    since: int
    ran: int
    flaky: int
    last_run: int
    regressions: Sequence[tuple[int, int]]


class Past(Struct, frozen=True, kw_only=True):
    """The data of the view. `of` has the pattern of each target, -1 for one that no run has.

    `states[0]` is that of a target which the run does not have. `gone` are the targets of earlier runs that the page
    does not have: id and pattern. `changes` says, by the sorts of the states before and after, what the change is
    called. Without a history there are no runs.
    """

    runs: Sequence[Mapping[str, Any]]
    states: Sequence[Kind]
    patterns: list[Pattern] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    gone: list[tuple[str, int]] = field(default_factory=list)
    changes: dict[str, dict[str, str]]
    damaged: Sequence[str] = ()


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view of states."""
    yield "history", past(report.history or History(), [target.id for target in numbered(report)])


def past(history: History, ids: Sequence[str]) -> Past:
    """Return what the runs of `history` say of the targets `ids`, and of those that are no longer among them."""
    settled: dict[State | None, int] = {}
    found = Past(
        runs=to_builtins(history.runs),
        states=[_kind(state, settled) for state in history.states],
        changes={
            before: {after: State.change(old, new) or "" for after, (_, new) in _SORTS.items()}
            for before, (old, _) in _SORTS.items()
        },
        damaged=history.damaged,
    )
    numbers: dict[tuple[int, ...], int] = {}
    of: dict[str, int] = {}
    for target, cells in zip(history.ids, zip(*history.cells, strict=True), strict=True):
        if (number := numbers.get(cells)) is None:
            number = numbers[cells] = len(found.patterns)
            found.patterns.append(_pattern(history, target, cells))
        of[target] = number
    found.of.extend(of.pop(target, -1) for target in ids)
    found.gone.extend(of.items())
    return found


def _kind(state: State | None, settled: dict[State | None, int]) -> Kind:
    known = state.settled.anywhere if state is not None else None
    number = settled.setdefault(known, len(settled))
    if state is None:
        return Kind(look="", sort="absent", settled=number, text="no result")
    sort = "good" if state.is_good else "bad" if state.is_bad else "none"
    if state.outcome is Outcome.NOT_RUN:
        sort = "killed"
    return Kind(look=STATES[state.outcome], sort=sort, settled=number, text=str(state), cases=state.cases)


def _pattern(history: History, target: str, cells: tuple[int, ...]) -> Pattern:
    known = history.timeline(target)
    assert known is not None  # noqa: S101  (it is one of the history's)
    regressions = [(one.opened, -1 if one.closed is None else one.closed) for one in known.regressions]
    same = {name: getattr(known, name) for name in ("since", "ran", "flaky", "last_run")}
    return Pattern(cells=cells, regressions=regressions, **same)


class Row(Struct, frozen=True, kw_only=True):
    """One metric of a target, all its cases together: `now`, and what the runs of the history had, oldest first and
    this one last; None where it was not measured. Values are in the unit of `quantity`: seconds (`time`), bytes
    (`size`) or a number (`count`)."""

    target: int
    metric: str
    quantity: str
    now: float
    past: Sequence[float | None] = ()


def has_benchmarks(report: Report) -> bool:
    """Return whether any target of a report was timed."""
    return any(case.times is not None for one in report.targets if one.record for case in one.record.cases)


def benchmark_data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view of benchmarks."""
    yield "benchmarks", rows(report)


def rows(report: Report) -> list[Row]:
    """Return what was measured of the targets of a report, in their order."""
    history = report.history or History()
    known: Sequence[Mapping[str, Mapping[str, float]]] = history.metrics
    found = []
    for number, target in enumerate(numbered(report)):
        if target.record is None:
            continue
        for metric, now in Measurement.totals(target.record).items():
            past = tuple(run.get(metric, {}).get(target.id) for run in known)
            row = Row(target=number, metric=metric, quantity=Metric(metric).quantity, now=now, past=past)
            found.append(row)
    return found
