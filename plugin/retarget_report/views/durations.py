"""The time view: where the time of each target went, and when each worker and device was busy.

Its data, `time`, is a `Durations`. Targets are numbers: those of `retarget_report.views.matrix.numbered`. Times are in
milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from retarget.results import SessionResults, TargetRecord

from retarget_report.read import Report
from retarget_report.views.matrix import numbered

COMPILE, RUN, WAIT = range(3)
"""The work that a span of the timeline shows."""


class Compiles(Struct, frozen=True, kw_only=True):
    """The compiles that the sessions did, each once, however many targets share it.

    `first` are the targets that stand for them: the compile target, or the first run target that needed it.
    """

    first: list[int] = field(default_factory=list)
    took: list[int] = field(default_factory=list)


class Runs(Struct, frozen=True, kw_only=True):
    """The targets that ran, all attempts together."""

    row: list[int] = field(default_factory=list)
    wait: list[int] = field(default_factory=list)
    load: list[int] = field(default_factory=list)
    run: list[int] = field(default_factory=list)
    compare: list[int] = field(default_factory=list)


class Lane(Struct, frozen=True, kw_only=True):
    """A row of the timeline: a compile worker, or a device as one process used it, in the session numbered so."""

    session: int
    kind: str
    name: str


class Spans(Struct, frozen=True, kw_only=True):
    """The work of a lane over time: columns of equal length. `start` counts from when the lane's session began."""

    lane: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    took: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)


class Durations(Struct, frozen=True, kw_only=True):
    """The data of the view. `compile_of` has, for each target, the number of its compile, -1 where no session did it.

    `reused` are the targets whose artifact was there before. `sessions` are names for people.
    """

    compiles: Compiles
    compile_of: list[int]
    reused: list[int]
    runs: Runs
    sessions: list[str]
    lanes: list[Lane]
    spans: Spans


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view."""
    yield "time", durations(report.sessions, {target.id: number for number, target in enumerate(numbered(report))})


def durations(sessions: Sequence[SessionResults], rows: Mapping[str, int]) -> Durations:
    """Return where the time went, in the attempts of all sessions. `rows` has the number of each target by id."""
    found = _Collected(rows)
    for number, session in enumerate(sessions):
        started = [record.compile.started for record in session.records if record.compile is not None]
        began = min([session.start.started, *filter(None, started)])  # compiles are ahead of the first target
        done: dict[str, int] = {}
        for record in sorted(session.records, key=lambda one: bool(one.runtime)):  # compile targets first
            if record.nodeid in rows:
                found.add_compile(record, number, began, done)
                found.add_run(record, number, began)
    order = sorted(found.lanes, key=lambda lane: (lane.session, lane.kind, _natural(lane.name)))
    places = {found.lanes[lane]: place for place, lane in enumerate(order)}
    found.spans.lane[:] = [places[lane] for lane in found.spans.lane]
    return Durations(
        compiles=found.compiles,
        compile_of=found.compile_of,
        reused=sorted(found.reused),
        runs=found.runs,
        sessions=[_name(session) for session in sessions],
        lanes=order,
        spans=found.spans,
    )


class _Collected:
    """The totals of the records so far."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        self.rows = rows
        self.compiles, self.runs, self.spans = Compiles(), Runs(), Spans()
        self.compile_of = [-1] * len(rows)
        self.reused: set[int] = set()
        self.lanes: dict[Lane, int] = {}
        self._ran: dict[int, int] = {}

    def add_compile(self, record: TargetRecord, session: int, began: float, done: dict[str, int]) -> None:
        """Add the compile of a record. `done` are the compiles of its session by their keys."""
        if (compiled := record.compile) is None:
            return
        row = self.rows[record.nodeid]
        if compiled.reused:
            self.reused.add(row)
            return
        if compiled.key not in done:
            done[compiled.key] = len(self.compiles.took)
            self.compiles.first.append(row)
            self.compiles.took.append(_ms(compiled.seconds))
            if compiled.started:
                lane = Lane(session=session, kind="compile", name=f"{record.process} worker {compiled.worker}".strip())
                self._add_span(lane, COMPILE, compiled.started - began, compiled.seconds, row)
        self.compile_of[row] = done[compiled.key]

    def add_run(self, record: TargetRecord, session: int, began: float) -> None:
        """Add the run of a record, to each of its devices."""
        if (run := record.run) is None or record.reused is not None:  # then it took no time in this session
            return
        row = self.rows[record.nodeid]
        if row not in self._ran:
            self._ran[row] = len(self.runs.row)
            self.runs.row.append(row)
            for column in (self.runs.wait, self.runs.load, self.runs.run, self.runs.compare):
                column.append(0)
        place = self._ran[row]
        self.runs.wait[place] += _ms(run.wait_seconds)
        self.runs.load[place] += _ms(run.load_seconds)
        self.runs.run[place] += _ms(run.run_seconds)
        self.runs.compare[place] += _ms(run.compare_seconds)
        if not run.started:
            return
        names = dict.fromkeys(device.physical_id for device in record.devices) or (record.runtime,)
        for name in names:
            lane = Lane(session=session, kind="device", name=f"{run.host or record.process} {name}".strip())
            if _ms(run.wait_seconds):
                self._add_span(lane, WAIT, run.started - run.wait_seconds - began, run.wait_seconds, row)
            took = run.load_seconds + run.run_seconds + run.compare_seconds
            self._add_span(lane, RUN, run.started - began, took, row)

    def _add_span(self, lane: Lane, kind: int, start: float, took: float, row: int) -> None:
        spans = self.spans
        spans.lane.append(self.lanes.setdefault(lane, len(self.lanes)))
        spans.kind.append(kind)
        spans.start.append(max(_ms(start), 0))
        spans.took.append(_ms(took))
        spans.row.append(row)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _name(session: SessionResults) -> str:
    start = session.start
    return start.leg or f"{start.host or 'session'} {start.session[:8]}"


def _natural(name: str) -> list[tuple[int, str]]:
    """`worker 2` before `worker 10`."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in name.split()]
