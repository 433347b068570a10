from __future__ import annotations

from page_targets import nodeid_of, record, session
from retarget.results import DeviceRecord, Outcome
from retarget.results.record import CompileRecord, ReusedRecord, RunRecord
from retarget_report.views.durations import COMPILE, RUN, WAIT, Durations, durations


def device(physical: str) -> DeviceRecord:
    return DeviceRecord(driver="d", uri="d://0", name="a device", physical_id=physical)


def spans_of(found: Durations) -> list[tuple[str, str, int, int, int, int]]:
    """Session and name of the lane, kind, start, duration, target."""
    spans = found.spans
    columns = zip(spans.lane, spans.kind, spans.start, spans.took, spans.row, strict=True)
    return sorted((found.sessions[found.lanes[lane].session], found.lanes[lane].name, *rest) for lane, *rest in columns)


def test_a_compile_counts_once_however_many_targets_share_it() -> None:
    compiled = CompileRecord(key="k", seconds=2.0)
    names = ["a_cpu_x", "a_cpu_y", "a_cpu", "b_cpu"]
    records = [record(name, Outcome.PASSED, compile=compiled) for name in names[:3]]
    records.append(record("b_cpu", Outcome.PASSED, compile=CompileRecord(key="other", seconds=9.0, reused=True)))
    found = durations([session(*records)], {nodeid_of(name): number for number, name in enumerate(names)})
    assert (found.compiles.first, found.compiles.took) == ([2], [2000])
    assert found.compile_of == [0, 0, 0, -1]
    assert found.reused == [3]


def test_two_sessions_that_compile_the_same_count_both() -> None:
    one = record("a_cpu", Outcome.PASSED, compile=CompileRecord(key="k", seconds=2.0))
    found = durations([session(one, leg="first"), session(one, leg="second")], {one.nodeid: 0})
    assert (found.compiles.took, found.compile_of, found.sessions) == ([2000, 2000], [1], ["first", "second"])


def test_the_runs_of_all_attempts_count() -> None:
    run = RunRecord(load_seconds=0.1, run_seconds=1.0, compare_seconds=0.25, wait_seconds=3.0)
    attempts = [record("a_cpu_x", Outcome.FLAKY, run=run, attempt=attempt) for attempt in (1, 2)]
    runs = durations([session(*attempts)], {attempts[0].nodeid: 0}).runs
    assert (runs.row, runs.wait, runs.load, runs.run, runs.compare) == ([0], [6000], [200], [2000], [500])


def test_a_reused_result_took_no_time() -> None:
    run = RunRecord(load_seconds=0.1, run_seconds=1.0, compare_seconds=0.25)
    reused = record("a_cpu_x", Outcome.PASSED, run=run, reused=ReusedRecord(host="rack-1", ended=100.0))
    assert durations([session(reused)], {reused.nodeid: 0}).runs.row == []


def test_the_timeline_has_a_lane_per_compile_worker_and_per_device_of_a_process() -> None:
    run = RunRecord(load_seconds=0.5, run_seconds=1.0, compare_seconds=0.5, started=112.0, wait_seconds=2.0)
    found = durations(
        [
            session(
                record("a_cpu", compile=CompileRecord(key="k", seconds=4.0, started=98.0, worker=10), process="gw0"),
                record("b_cpu", compile=CompileRecord(key="l", seconds=4.0, started=99.0, worker=2), process="gw0"),
                record("a_cpu_x", run=run, devices=(device("gpu-1"), device("gpu-2")), process="gw0"),
                record("b_cpu_x", run=run, process="gw1"),
                started=100.0,
                leg="gpu",
            )
        ],
        {nodeid_of(name): number for number, name in enumerate(["a_cpu", "a_cpu_x", "b_cpu", "b_cpu_x"])},
    )
    names = ["gw0 worker 2", "gw0 worker 10", "gw0 gpu-1", "gw0 gpu-2", "gw1 x"]
    assert [(lane.kind, lane.name) for lane in found.lanes] == list(
        zip(["compile"] * 2 + ["device"] * 3, names, strict=True)
    )
    assert spans_of(found) == [
        ("gpu", "gw0 gpu-1", RUN, 14000, 2000, 1),
        ("gpu", "gw0 gpu-1", WAIT, 12000, 2000, 1),
        ("gpu", "gw0 gpu-2", RUN, 14000, 2000, 1),
        ("gpu", "gw0 gpu-2", WAIT, 12000, 2000, 1),
        ("gpu", "gw0 worker 10", COMPILE, 0, 4000, 0),
        ("gpu", "gw0 worker 2", COMPILE, 1000, 4000, 2),
        ("gpu", "gw1 x", RUN, 14000, 2000, 3),
        ("gpu", "gw1 x", WAIT, 12000, 2000, 3),
    ]


def test_records_of_targets_that_the_page_does_not_have_are_left_out() -> None:
    one = record("a_cpu_x", compile=CompileRecord(key="k", seconds=4.0))
    assert durations([session(one)], {}).compiles.took == []
