"""The time view: where the time of each target went. `retarget results export trace` has when it did.

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


class Durations(Struct, frozen=True, kw_only=True):
    """The data of the view. `compile_of` has, for each target, the number of its compile, -1 where no session did it.

    `reused` are the targets whose artifact was there before.
    """

    compiles: Compiles
    compile_of: list[int]
    reused: list[int]
    runs: Runs


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view."""
    yield "time", durations(report.sessions, {target.id: number for number, target in enumerate(numbered(report))})


def durations(sessions: Sequence[SessionResults], rows: Mapping[str, int]) -> Durations:
    """Return where the time went, in the attempts of all sessions. `rows` has the number of each target by id."""
    compiles, compile_of, reused = Compiles(), [-1] * len(rows), set[int]()
    runs: dict[int, list[TargetRecord]] = {}
    for session in sessions:
        done: dict[str, int] = {}
        for record in sorted(session.records, key=lambda one: bool(one.runtime)):  # compile targets first
            if (row := rows.get(record.nodeid)) is None:
                continue
            if record.run is not None and record.reused is None:  # a reused result took no time in this session
                runs.setdefault(row, []).append(record)
            if (compiled := record.compile) is None:
                continue
            if compiled.reused:
                reused.add(row)
                continue
            if compiled.key not in done:
                done[compiled.key] = len(compiles.took)
                compiles.first.append(row)
                compiles.took.append(_ms(compiled.seconds))
            compile_of[row] = done[compiled.key]
    return Durations(compiles=compiles, compile_of=compile_of, reused=sorted(reused), runs=_runs(runs))


def _runs(records: Mapping[int, Sequence[TargetRecord]]) -> Runs:
    parts = {
        part: [sum(_ms(getattr(one.run, f"{part}_seconds")) for one in found) for found in records.values()]
        for part in ("wait", "load", "run", "compare")
    }
    return Runs(row=[*records], **parts)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
