"""The history of one target: since when it is as it is, what changed, and how often chance decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from retarget.results.history import History
from retarget.results.overview import Change, State, differences
from retarget.results.record import INCOMPLETE, Outcome

_CHANCE = frozenset({Outcome.FLAKY, Outcome.INTERMITTENT})
_NO_VERDICT = frozenset({Outcome.SKIPPED, Outcome.BLOCKED, *INCOMPLETE})


class Regression(Struct, frozen=True, kw_only=True):
    """A target failed from the run `opened` on, until it was as expected in the run `closed`; None while it is open.

    A run that gives no verdict closes nothing. One that is open from the target's first run on has no run before.
    """

    opened: int
    closed: int | None = None


class Timeline(Struct, frozen=True, kw_only=True):
    """One target over all runs of a history. Numbers of runs count from 0, the oldest; -1 is no run.

    `states` has an entry per run: None where the run does not have the target. `since` is the run since which it is as
    it is now, a `flaky` counted as `passed`; runs without it, or in which its session was killed before it, neither
    begin nor end anything. `ran` counts the runs with a verdict; in `flaky` of them chance decided: it passed at a
    further attempt, or its rule says intermittent. `last_run` is the last with a verdict, `idle` how many runs there
    were after it, all without one.
    """

    id: str
    states: tuple[State | None, ...]
    milliseconds: tuple[int, ...]
    since: int = -1
    regressions: tuple[Regression, ...] = ()
    ran: int = 0
    flaky: int = 0
    last_run: int = -1

    @property
    def idle(self) -> int:
        """How many runs have gone by without a verdict since the last one, or since the first run."""
        return len(self.states) - 1 - self.last_run

    @property
    def now(self) -> State | None:
        """The state in the last run; None where that does not have the target."""
        return self.states[-1] if self.states else None

    @property
    def is_open(self) -> bool:
        """Whether a regression is open."""
        return bool(self.regressions) and self.regressions[-1].closed is None


def timeline_of(history: History, target: str) -> Timeline | None:
    """Return one target's; None where no run has it."""
    number = history.numbers.get(target)
    if number is None:
        return None
    cells = tuple(column[number] for column in history.cells)
    return _timeline(target, cells, tuple(column[number] for column in history.milliseconds), history.states)


def timelines(history: History) -> Iterator[Timeline]:
    """Yield that of each target, sorted by id."""
    cells, milliseconds = zip(*history.cells, strict=True), zip(*history.milliseconds, strict=True)
    for name, row, taken in zip(history.ids, cells, milliseconds, strict=True):
        yield _timeline(name, row, taken, history.states)


def _timeline(
    target: str, cells: Sequence[int], milliseconds: tuple[int, ...], states: Sequence[State | None]
) -> Timeline:
    found = tuple([states[cell] for cell in cells])
    since = last_run = -1
    ran = flaky = 0
    regressions: list[Regression] = []
    known: State | None = None
    previous = 0
    for run, (cell, state) in enumerate(zip(cells, found, strict=True)):
        if state is None or state.outcome is Outcome.NOT_RUN:
            continue
        if state.outcome not in _NO_VERDICT:
            last_run, ran = run, ran + 1
            flaky += state.outcome in _CHANCE
        if cell == previous:
            continue
        previous, settled = cell, state.settled
        if settled == known:
            continue
        since, known = run, settled
        is_open = bool(regressions) and regressions[-1].closed is None
        if settled.is_bad and not is_open:
            regressions.append(Regression(opened=run))
        elif settled.is_good and is_open:
            regressions[-1] = Regression(opened=regressions[-1].opened, closed=run)
    return Timeline(
        id=target,
        states=found,
        milliseconds=milliseconds,
        since=since,
        regressions=tuple(regressions),
        ran=ran,
        flaky=flaky,
        last_run=last_run,
    )


def changes_between(history: History, before: int, after: int = -1) -> dict[str, Change]:
    """Return how each target's state in the run `after` differs from that in `before`, where it does; sorted by id.

    A run in which a session was killed says nothing of the targets that it lacks. `flaky` counts as `passed`. Numbers
    count from 0, the oldest run; negative ones from the end.
    """
    silent = {Change.GONE: history.runs[after], Change.NEW: history.runs[before]}
    unsaid = {change for change, run in silent.items() if not run.complete}
    table = [
        state.settled if state is not None and state.outcome is not Outcome.NOT_RUN else None
        for state in history.states
    ]
    cells = zip(history.ids, history.cells[before], history.cells[after], strict=True)
    states = ((name, table[old], table[new]) for name, old, new in cells if old != new)
    return {one.target: one.change for one in differences(states) if one.change not in unsaid}
