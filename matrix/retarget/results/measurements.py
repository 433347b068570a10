"""The measurements in records: a value, and the samples behind it, for each metric and case of a target."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from retarget.model.metrics import Metric
from retarget.results.files import SessionResults
from retarget.results.record import CaseRecord, Outcome, TargetRecord

MeasurementKey = tuple[str, Metric, str]
"""A target's id, a metric, and a case; empty for what is of the target as a whole."""

_GOOD = frozenset({Outcome.PASSED, Outcome.PARTIAL, Outcome.FLAKY, Outcome.INTERMITTENT})


class Measurement(Struct, frozen=True, kw_only=True):
    """One metric of a case, or of a target. `samples` are those of a series, none where there is one value alone; in
    seconds, bytes, or dispatches. `spread` is as in `CallTimes`."""

    metric: Metric
    case: str
    value: float
    samples: tuple[float, ...] = ()
    spread: float = 0.0
    calls: int = 0

    @classmethod
    def of(cls, record: TargetRecord) -> Iterator[Measurement]:
        """Yield what a record has: of a compile target its sizes and time, of a run target the times of each case.

        Measurements of an earlier session are left out: results that are reused, and the time of a compile that did not
        happen.
        """
        if record.reused is not None:
            return
        if record.runtime:
            for case in record.cases:
                yield from measurements_of_case(case)
            return
        compiled = record.compile
        if compiled is None or not compiled.artifact:
            return
        if compiled.seconds and not compiled.reused:
            yield cls(metric=Metric.COMPILE_TIME, case="", value=compiled.seconds)
        exact = {
            Metric.ARTIFACT_SIZE: compiled.size or None,
            Metric.DISPATCHES: compiled.dispatches,
            Metric.TRANSIENT_MEMORY: compiled.transient,
        }
        for metric, value in exact.items():
            if value is not None:
                yield cls(metric=metric, case="", value=value)

    @classmethod
    def totals(cls, record: TargetRecord) -> dict[str, float]:
        """Return the metrics of a target in a benchmark, by their names, all its cases together; nothing of other runs,
        nor of a part of its cases."""
        found: dict[str, float] = {}
        if record.missing_cases:
            return found
        is_benchmark = record.compile is not None and record.compile.dispatches is not None
        if record.runtime or is_benchmark:
            for one in cls.of(record):
                found[str(one.metric)] = found.get(str(one.metric), 0.0) + one.value
        return found

    @classmethod
    def baseline(cls, sessions: Sequence[SessionResults], *, last: int = 5) -> Baseline:
        """Return the measurements of the `last` benchmarks (0: all) of each machine that have some of a target.

        Only targets that passed in a benchmark count: what was too slow, or what no rule has judged, is no measure.
        """
        found: dict[MeasurementKey, dict[tuple[str, ...], Sequence[Measurement]]] = {}
        for session in (one for one in sessions if one.is_benchmark):
            for target, record in session.latest.items():
                for one in cls.of(record) if record.outcome in _GOOD else ():
                    machines = found.setdefault((target, one.metric, one.case), {})
                    machine = record.machine(session.start.host, session.start.cpu)
                    machines[machine] = [*machines.pop(machine, ()), one][-last:]
        return found


Baseline = Mapping[MeasurementKey, Mapping[tuple[str, ...], Sequence[Measurement]]]
"""Measurements by machine, oldest first; the machine that has the last one comes last."""


def measurements_of_case(case: CaseRecord) -> Iterator[Measurement]:
    """Yield the times of a case, if it was timed."""
    if (times := case.times) is None:
        return
    yield Measurement(
        metric=Metric.LATENCY,
        case=case.name,
        value=times.median,
        samples=times.samples,
        spread=times.spread,
        calls=times.calls,
    )
    if times.device:
        yield Measurement(
            metric=Metric.DEVICE_TIME,
            case=case.name,
            value=statistics.median(times.device),
            samples=times.device,
            calls=len(times.device),
        )
    yield Measurement(metric=Metric.FIRST_CALL, case=case.name, value=times.first)
