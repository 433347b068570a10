"""The record of what happened to a target."""

from __future__ import annotations

import json

import pytest
from msgspec import convert, to_builtins
from msgspec.structs import fields, replace
from pytest_retarget.record import RECORD, record_of
from retarget.model import Observation, Stage
from retarget.results import CaseRecord, DeviceRecord, Outcome, Result, TargetRecord
from retarget.results.record import CompileRecord, GoldenRecord, ReusedRecord, RunRecord, Sibling

BARE = TargetRecord(file="f", suite="s", compiler="c")

FULL = TargetRecord(
    file="f",
    suite="s",
    compiler="c",
    runtime="r",
    driver="d",
    nodeid="f::s::m_c_r",
    target="m_c_r",
    module="m",
    module_file="m.mlir",
    line=3,
    position=4,
    tags=("x", "y"),
    marks=(("driver", (("name", "d"),)),),
    runs_external=True,
    requirements=(0, 2),
    toolchains=("c=/opt/c",),
    stage=Stage.COMPARE,
    rung="completes",
    outcome=Outcome.FAILED,
    result=Result.FAILED,
    observation=Observation(
        stage="compare", signature="values differ", case="a", also=(Observation(stage="crash", signature="SIGFPE"),)
    ),
    message="compare: no",
    reason="why",
    hint="do",
    unavailable=True,
    unsuitable=True,
    unchanged=True,
    reused=ReusedRecord(host="there", ended=1.5),
    blocked_by="f::s::m_c",
    excused=True,
    text="compare: no\n\nall of it",
    commands=("cd /here", "run it"),
    attempt=2,
    cases=(
        CaseRecord(name="a", outcome=Outcome.FAILED, seconds=0.5, stage="compare", signature="values differ"),
        CaseRecord(name="b", outcome=Outcome.NOT_RUN, reason="the run ended before it"),
    ),
    unselected_cases=("z",),
    goldens=(GoldenRecord(rule="latency at most 1 ms", verdict="kept", text="latency 1 us"),),
    compile=CompileRecord(key="k", reused=True, seconds=1.5, build="iree 3", artifact="ab", started=0.5, worker=2),
    run=RunRecord(
        load_seconds=0.25,
        run_seconds=0.5,
        compare_seconds=0.125,
        failed_cases=("a",),
        started=2.5,
        wait_seconds=0.5,
        opened=(("m/a.npy", "ab"),),
        notes=("n was lost: DEVICE_LOST; it came back, and m_c_r was run again",),
    ),
    devices=(DeviceRecord(driver="d", uri="d://p", name="n", physical_id="p", driver_version="1", runtime="rt 3"),),
    siblings=(Sibling(target="m_c_t", compiler="c", runtime="t", driver="d"),),
    case_digest="cd",
    trial_digest="td",
    started=2.0,
    ended=4.0,
    process="gw0",
    session="5e55",
    leg="run-0",
    plan="91a4",
)


@pytest.mark.parametrize("record", [BARE, FULL, replace(FULL, observation=None, result=Result.UNKNOWN)])
def test_a_record_survives_as_json(record: TargetRecord) -> None:
    assert convert(json.loads(json.dumps(to_builtins(record))), TargetRecord) == record


def test_each_field_is_tested_with_a_value_of_its_own() -> None:
    assert [one.name for one in fields(TargetRecord) if getattr(FULL, one.name) == getattr(BARE, one.name)] == [
        "file",
        "suite",
        "compiler",
    ]


def test_as_plain_data_it_holds_builtin_types_alone() -> None:
    def types(value: object) -> set[type]:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
        return {type(value)}.union(*map(types, inner))

    assert types(to_builtins(FULL)) == {dict, tuple, str, int, float, bool}


def test_a_report_from_another_process_gives_the_record_again() -> None:
    report = pytest.CollectReport("f::s::m_c_r", "passed", None, [])
    assert record_of(report) is None
    setattr(report, RECORD, to_builtins(FULL))
    found = record_of(report)
    assert found == FULL
    assert record_of(report) is found


def test_the_properties_tell_what_is_known_of_a_target_that_was_tried() -> None:
    assert list(BARE.properties()) == []
    assert list(FULL.properties()) == [
        ("retarget.nodeid", "f::s::m_c_r"),
        ("retarget.suite", "s"),
        ("retarget.module", "m"),
        ("retarget.compiler", "c"),
        ("retarget.runtime", "r"),
        ("retarget.stage", "compare"),
        ("retarget.compile_key", "k"),
        ("retarget.compiler_build", "iree 3"),
        ("retarget.reused", "true"),
        ("retarget.compile_seconds", "1.500000"),
        ("retarget.load_seconds", "0.250000"),
        ("retarget.run_seconds", "0.500000"),
        ("retarget.compare_seconds", "0.125000"),
        ("retarget.case.failed", "a"),
        ("retarget.note", "n was lost: DEVICE_LOST; it came back, and m_c_r was run again"),
        ("retarget.device", "n"),
        ("retarget.device_id", "p"),
        ("retarget.driver_version", "1"),
        ("retarget.runtime_build", "rt 3"),
        ("retarget.result_reused", "1970-01-01T00:00:01Z on there"),
        ("retarget.attempts", "2"),
        ("retarget.case_outcome.a", "failed"),
        ("retarget.case_seconds.a", "0.500000"),
        ("retarget.case_outcome.b", "not run"),
        ("retarget.case_seconds.b", "0.000000"),
    ]
    compiled = replace(BARE, stage=Stage.COMPILE, outcome=Outcome.INTERMITTENT)
    assert list(compiled.properties())[-1] == ("retarget.intermittent", "not compiled")
