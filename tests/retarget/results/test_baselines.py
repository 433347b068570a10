"""Which measurements of earlier benchmarks count, for each machine."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from retarget.model.metrics import Metric
from retarget.results.files import SessionResults
from retarget.results.measurements import Measurement
from retarget.results.record import CaseRecord, CompileRecord, Outcome, TimesRecord
from sample_results import compiled, passed, session

TIMES = TimesRecord(first=4.0, median=2.0, spread=0.1, calls=3, samples=(1.0, 2.0, 3.0), device=(0.5, 0.25, 0.75))
CASE = CaseRecord(name="f", outcome=Outcome.PASSED, times=TIMES)
LATENCY = ("t", Metric.LATENCY, "f")


def timed(number: int, *, host: str = "h", outcome: Outcome = Outcome.PASSED) -> SessionResults:
    case = replace(CASE, times=replace(TIMES, median=float(number)))
    return session(f"s{number}", passed("t", cases=(case,), outcome=outcome), day=number, host=host)


@pytest.mark.parametrize(
    ("known", "metrics"),
    [
        ({"seconds": 2.0, "size": 7, "dispatches": 0}, {"compile-time": 2.0, "artifact-size": 7, "dispatches": 0}),
        ({"seconds": 2.0, "dispatches": 1, "reused": True}, {"dispatches": 1}),
        ({"transient": 64, "dispatches": 2}, {"dispatches": 2, "transient-memory": 64}),
        ({"seconds": 2.0, "size": 7}, {}),  # no benchmark
        ({"dispatches": 2, "artifact": ""}, {}),
    ],
)
def test_a_compile_in_a_benchmark_has_its_time_and_sizes(known: dict[str, object], metrics: dict[str, float]) -> None:
    record = replace(compiled("t"), compile=CompileRecord(**{"key": "k", "artifact": "a", **known}))  # type: ignore[arg-type]
    assert Measurement.totals(record) == metrics


def test_the_last_benchmarks_of_each_machine_count_oldest_first() -> None:
    sessions = [timed(1), timed(2, host="other"), timed(3), timed(4, outcome=Outcome.FAILED), timed(5), timed(6)]
    sessions.append(session("no benchmark", passed("t"), day=9, host="h"))

    def values(last: int) -> dict[str, list[float]]:
        found = Measurement.baseline(sessions, last=last)[LATENCY]
        return {machine[0]: [one.value for one in measured] for machine, measured in found.items()}

    assert [*values(2).items()] == [("other", [2.0]), ("h", [5.0, 6.0])]
    assert values(0) == {"other": [2.0], "h": [1.0, 3.0, 5.0, 6.0]}
