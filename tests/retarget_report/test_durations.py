from __future__ import annotations

from page_targets import nodeid_of, record, session
from retarget.results import Outcome
from retarget.results.record import CompileRecord, ReusedRecord, RunRecord
from retarget_report.views.durations import durations


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
    assert (found.compiles.took, found.compile_of) == ([2000, 2000], [1])


def test_the_runs_of_all_attempts_count() -> None:
    run = RunRecord(load_seconds=0.1, run_seconds=1.0, compare_seconds=0.25, wait_seconds=3.0)
    attempts = [record("a_cpu_x", Outcome.FLAKY, run=run, attempt=attempt) for attempt in (1, 2)]
    runs = durations([session(*attempts)], {attempts[0].nodeid: 0}).runs
    assert (runs.row, runs.wait, runs.load, runs.run, runs.compare) == ([0], [6000], [200], [2000], [500])


def test_a_reused_result_took_no_time() -> None:
    run = RunRecord(load_seconds=0.1, run_seconds=1.0, compare_seconds=0.25)
    reused = record("a_cpu_x", Outcome.PASSED, run=run, reused=ReusedRecord(host="rack-1", ended=100.0))
    assert durations([session(reused)], {reused.nodeid: 0}).runs.row == []


def test_records_of_targets_that_the_page_does_not_have_are_left_out() -> None:
    one = record("a_cpu_x", compile=CompileRecord(key="k", seconds=4.0))
    assert durations([session(one)], {}).compiles.took == []
