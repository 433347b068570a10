"""What golden rules make of records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace
from retarget.model import Golden, Metric, Origin
from retarget.results import CaseRecord, DeviceRecord, Measurement, Outcome, SessionResults, TargetRecord, new_session
from retarget.results.golden import judge_goldens
from retarget.results.record import CompileRecord, ReusedRecord, TimesRecord

ORIGIN = Origin(file=Path("suite.toml"), key_path="golden[0]")
DEVICE = DeviceRecord(driver="d", uri="d://0", name="n", physical_id="p")


def ran(scale: float = 1.0, *, outcome: Outcome = Outcome.PASSED, device: DeviceRecord = DEVICE) -> TargetRecord:
    samples = tuple(scale * (0.001 + 1e-6 * (number % 7)) for number in range(40))
    times = TimesRecord(first=0.01, median=scale * 0.001, spread=0.001, calls=400, samples=samples)
    case = CaseRecord(name="f", outcome=outcome, times=times)
    return TargetRecord(nodeid="t", target="t", runtime="r", outcome=outcome, cases=(case,), devices=(device,))


def compiled(size: int = 100, seconds: float = 1.0, *, reused: bool = False) -> TargetRecord:
    compile_record = CompileRecord(key="k", artifact="a", size=size, seconds=seconds, dispatches=3, reused=reused)
    return TargetRecord(nodeid="t", target="t", outcome=Outcome.PASSED, compile=compile_record)


def judged(
    metric: Metric,
    now: TargetRecord,
    before: Sequence[TargetRecord] = (),
    *,
    host: str = "h",
    cpu: str = "",
    **bound: float | date,
) -> list[tuple[str, str]]:
    rule = Golden(match=("t",), metric=metric, reason="r", origin=ORIGIN, **bound)  # type: ignore[arg-type]
    sessions = [SessionResults(start=new_session(selected=1, digest="", host="h"), records=(one,)) for one in before]
    found = judge_goldens([rule], now, Measurement.baseline(sessions), host, cpu)
    return [(one.verdict, one.text) for _, one in found]


def test_a_maximum_needs_no_baseline() -> None:
    text = "latency 1 ms, expected at most"
    assert judged(Metric.LATENCY, ran(), most=0.002) == [("kept", f"{text} 2 ms")]
    assert judged(Metric.LATENCY, ran(), most=0.001) == [("kept", f"{text} 1 ms")]
    assert judged(Metric.LATENCY, ran(), most=0.0005) == [("broken", f"{text} 500 us")]
    close = "latency 1 ms -+ 0.1 %, expected at most 999.5 us: too close to judge"
    wide = TimesRecord(first=0.01, median=0.001, spread=0.001, calls=3, samples=(0.0009, 0.001, 0.0011))
    now = replace(ran(), cases=(CaseRecord(name="f", outcome=Outcome.PASSED, times=wide),))
    assert judged(Metric.LATENCY, now, most=0.0009995) == [("not judged", close)]
    few = replace(wide, spread=0.95, samples=())
    now = replace(ran(), cases=(CaseRecord(name="f", outcome=Outcome.PASSED, times=few),))
    close = "latency 1 ms -+ 95 %, expected at most 500 us: too close to judge"
    assert judged(Metric.LATENCY, now, most=0.0005) == [("not judged", close)]
    assert judged(Metric.DISPATCHES, compiled(), most=2.0) == [("broken", "dispatches 3, expected at most 2")]


def test_a_change_is_judged_by_the_rank_test_and_the_bound() -> None:
    text = "latency 1.103 ms, 10 % more than 1.003 ms (noise 0.16 %; Mann-Whitney p = 6e-15, level 0.001)"
    broken = ("broken", f"{text}; expected at most 5 % more")
    assert judged(Metric.LATENCY, ran(1.1), [ran()], within=0.05) == [broken]
    assert judged(Metric.LATENCY, ran(1.1), [ran()], within=0.2)[0][0] == "kept"
    assert judged(Metric.LATENCY, ran(0.5), [ran()], within=0.05)[0][0] == "kept"


def test_only_passed_targets_of_the_same_host_and_device_are_a_baseline() -> None:
    few = "latency 1.103 ms; 0 earlier sessions of this host and device have it, which is too few to judge"
    other = DeviceRecord(driver="d", uri="d://1", name="n", physical_id="q")
    for before, host in ((ran(outcome=Outcome.FAILED), "h"), (ran(device=other), "h"), (ran(), "elsewhere")):
        assert judged(Metric.LATENCY, ran(1.1), [before], host=host, within=0.05) == [("not judged", few)]
    assert judged(Metric.LATENCY, ran(1.1), [ran()], cpu="other", within=0.05) == [("not judged", few)]


def test_a_session_that_is_no_benchmark_is_no_baseline() -> None:
    large = compiled(200)
    assert large.compile is not None
    plain = replace(large, compile=replace(large.compile, dispatches=None))
    assert judged(Metric.ARTIFACT_SIZE, large, [compiled(100), plain], within=0.1)[0][0] == "broken"


@pytest.mark.parametrize(("samples", "spread"), [((10.0,), 1.0), ((6.0, 30.0, 5.0, 10.0), 1.3)])
def test_calls_so_slow_that_there_are_few_break_what_each_of_them_exceeds(
    samples: tuple[float, ...], spread: float
) -> None:
    times = TimesRecord(first=10.0, median=10.0, spread=spread, calls=len(samples), samples=samples)
    slow = replace(ran(), cases=(CaseRecord(name="f", outcome=Outcome.PASSED, times=times),))
    broken = ("broken", "latency 10 s, expected at most 1 ms")
    assert judged(Metric.LATENCY, slow, most=0.001) == [broken]
    assert judged(Metric.LATENCY, slow, [ran()], within=0.05)[0][0] == "broken"


def test_a_machine_that_is_too_noisy_is_not_judged() -> None:
    [(verdict, text)] = judged(Metric.LATENCY, ran(1.5), [ran(), ran(17)], within=0.05)
    assert verdict == "not judged"
    assert text.endswith("its noise here, 89 %, is larger than the bound of 5 %: not judged")


def test_sizes_have_no_noise() -> None:
    broken = "artifact-size 120 B, 20 % more than 100 B; expected at most 10 % more"
    assert judged(Metric.ARTIFACT_SIZE, compiled(120), [compiled(100)], within=0.1) == [("broken", broken)]
    kept = "artifact-size 100 B, 0 % more than 100 B; expected at most 10 % more"
    assert judged(Metric.ARTIFACT_SIZE, compiled(100), [compiled(100)], within=0.1) == [("kept", kept)]
    kept = "artifact-size 95 B, 5 % less than 100 B; expected at most 10 % more"
    assert judged(Metric.ARTIFACT_SIZE, compiled(95), [compiled(100)], within=0.1) == [("kept", kept)]


def test_sizes_are_those_of_the_same_machine_or_cpu_and_else_of_the_last_one_which_is_named() -> None:
    rule = Golden(match=("t",), metric=Metric.ARTIFACT_SIZE, reason="r", origin=ORIGIN, within=0.1)
    sessions = [
        SessionResults(start=new_session(selected=1, digest="", host=host, cpu=host.upper()), records=(compiled(size),))
        for host, size in (("a", 100), ("b", 200))
    ]
    baseline = Measurement.baseline(sessions)
    on = [("a", "A"), ("b", "B"), ("c", "C"), ("c", "A")]
    found = [next(judge_goldens([rule], compiled(150), baseline, *one))[1] for one in on]
    assert [one.verdict for one in found] == ["broken", "kept", "kept", "broken"]
    assert [one.text.partition("; of ")[2] for one in found] == ["", "", "another machine: b, the CPU B", ""]


def test_only_compiles_that_happened_have_a_compile_time() -> None:
    stored = "compile-time was not measured: the artifact is from the cache; --retarget-no-cache compiles"
    assert judged(Metric.COMPILE_TIME, compiled(reused=True), most=0.5) == [("not judged", stored)]
    broken = "compile-time 1 s, expected at most 500 ms"
    assert judged(Metric.COMPILE_TIME, compiled(), most=0.5) == [("broken", broken)]
    copies = [compiled(), *(compiled(reused=True) for _ in range(4))]
    few = "compile-time 2 s; 1 earlier sessions of this host and device have it, which is too few to judge"
    assert judged(Metric.COMPILE_TIME, compiled(seconds=2), copies, within=0.5) == [("not judged", few)]
    broken = "compile-time 2 s, 100 % more than 1 s (noise 0 %); expected at most 50 % more"
    assert judged(Metric.COMPILE_TIME, compiled(seconds=2), [compiled()] * 3, within=0.5) == [("broken", broken)]


def test_results_of_earlier_runs_are_not_measured_again() -> None:
    reused = replace(ran(), reused=ReusedRecord(host="h", ended=1.0))
    few = "latency 1.103 ms; 0 earlier sessions of this host and device have it, which is too few to judge"
    assert judged(Metric.LATENCY, ran(1.1), [reused], within=0.05) == [("not judged", few)]


def test_a_metric_that_was_not_measured_is_not_judged_nor_is_an_expired_rule() -> None:
    found = judged(Metric.TRANSIENT_MEMORY, compiled(), most=1.0)
    assert found == [("not judged", "transient-memory was not measured")]
    past = "dispatches at most 1: the rule is past its `until`, 2001-01-01"
    assert judged(Metric.DISPATCHES, compiled(), most=1.0, until=date(2001, 1, 1)) == [("not judged", past)]
