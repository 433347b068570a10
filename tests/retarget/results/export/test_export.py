"""Results as CTRF, as Chrome's trace events, and as a junit file."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from retarget.results.export import Span, ctrf, junit, lanes, trace
from retarget.results.files import SessionResults
from retarget.results.record import CaseRecord, CompileRecord, DeviceRecord, Outcome, Result, RunRecord, TargetRecord
from sample_results import compiled, failed, passed, session

SCHEMA = json.loads((Path(__file__).parent / "ctrf-schema-0.0.json").read_text())
HOSTILE = "<script>alert(1)</script> ]]> \x00\x1b[31m\x07\ud800 " + "x" * 1_000_000

OUTCOMES = [
    passed(
        f"suites/a/suite.toml::a::m{number}_c_r",
        outcome=outcome,
        reason="why",
        started=100.0,
        ended=102.5,
        file="f",
        blocked_by="suites/a/suite.toml::a::m6_c_r",
    )
    for number, outcome in enumerate(Outcome)
]
ATTEMPTS = [failed("t", text="long", started=10.0, ended=11.0), passed("t", attempt=2, outcome=Outcome.FLAKY)]


def report(*records: TargetRecord, **known: Any) -> dict[str, Any]:
    """A report that follows the schema."""
    found = json.loads(ctrf([session("s1", *records, **known)]))
    jsonschema.validate(found, SCHEMA, format_checker=jsonschema.FormatChecker())
    results: dict[str, Any] = found["results"]
    return results


# CTRF


def test_ctrf_has_each_outcome_under_its_own_word_and_ctrfs() -> None:
    found = report(*OUTCOMES, revision="abc", platform="linux")
    assert {test["rawStatus"]: test["status"] for test in found["tests"]} == {
        "passed": "passed",
        "flaky": "passed",
        "intermittent": "other",
        "partial": "other",
        "xfailed": "other",
        "xpassed": "failed",
        "failed": "failed",
        "error": "failed",
        "blocked": "skipped",
        "skipped": "skipped",
        "not run": "pending",
    }
    counts = {name: found["summary"][name] for name in ("tests", "passed", "failed", "skipped", "pending", "other")}
    assert counts == {"tests": 11, "passed": 2, "failed": 3, "skipped": 2, "pending": 1, "other": 3}
    assert (found["environment"]["commit"], found["environment"]["healthy"]) == ("abc", True)


def test_ctrf_has_attempts_cases_digests_and_times() -> None:
    (test,) = report(*ATTEMPTS)["tests"]
    assert (test["retries"], test["flaky"], test["status"]) == (1, True, "passed")
    (attempt,) = test["retryAttempts"]
    assert (attempt["attempt"], attempt["status"], attempt["duration"], attempt["trace"]) == (1, "failed", 1000, "long")
    cases = (CaseRecord(name="x", outcome=Outcome.FAILED), CaseRecord(name="y", outcome=Outcome.PASSED))
    devices = (DeviceRecord(driver="d", uri="u", name="GPU 1", physical_id="p"),)
    (test,) = report(
        failed("t", cases=cases, devices=devices, case_digest="cd", tags=("a", "b"), started=1.5, ended=2.0)
    )["tests"]
    assert test["steps"] == [{"name": "x", "status": "failed"}, {"name": "y", "status": "passed"}]
    assert (test["device"], test["extra"], test["tags"]) == ("GPU 1", {"case_digest": "cd"}, ["a", "b"])
    assert (test["start"], test["stop"], test["duration"]) == (1500, 2000, 500)
    run = RunRecord(load_seconds=0.0, run_seconds=0.0, compare_seconds=0.0, notes=("GPU 1 was lost", "and again"))
    assert report(replace(passed("t"), run=run))["tests"][0]["extra"] == {"notes": "GPU 1 was lost\nand again"}
    assert test["labels"]["signature"] == "values differ"
    assert report(passed("t", 3.0, started=1.5, ended=1.5))["tests"][0]["duration"] == 3000


def test_ctrf_says_that_a_session_failed_although_no_target_did() -> None:
    assert report(passed("t"), status=1)["environment"]["healthy"] is False
    assert report(failed("t"), status=1)["environment"]["healthy"] is True


def test_ctrf_of_nothing_and_of_hostile_texts_follows_the_schema() -> None:
    assert report()["tests"] == []
    (test,) = report(failed(HOSTILE.replace("\ud800", ""), text=HOSTILE.replace("\ud800", "")))["tests"]
    assert test["trace"].startswith("<script>")


# Chrome's trace events


def events(*sessions: SessionResults, phase: str = "X") -> list[dict[str, Any]]:
    return [event for event in json.loads(trace(sessions))["traceEvents"] if event["ph"] == phase]


def test_a_trace_has_lanes_for_workers_devices_and_waiting() -> None:
    build = CompileRecord(key="k", seconds=2.0, started=1000.0, worker=2)
    run = RunRecord(load_seconds=0.5, run_seconds=1.0, compare_seconds=0.25, started=1003.0, wait_seconds=1.0)
    device = (DeviceRecord(driver="d", uri="u", name="GPU", physical_id="pci-1"),)
    shared = compiled("s::m_c", module="m", process="gw0")
    records = [
        TargetRecord(**{name: getattr(shared, name) for name in shared.__struct_fields__} | {"compile": build}),
        TargetRecord(
            nodeid="s::m_c_r",
            target="m_c_r",
            module="m",
            compiler="c",
            runtime="r",
            process="gw0",
            outcome=Outcome.PASSED,
            compile=build,
            run=run,
            devices=device,
        ),
    ]
    one = session("s1", *records)
    names = {
        (event["name"], event["pid"], event["tid"]): event["args"]["name"]
        for event in events(one, phase="M")
        if "name" in event["args"]
    }
    shown = [
        (names["process_name", event["pid"], 0], names["thread_name", event["pid"], event["tid"]], event["name"])
        for event in events(one)
    ]
    assert shown == [
        ("compile workers", "gw0 worker 2", "m_c"),
        ("devices", "pci-1", "m_c_r"),
        ("waiting for a device", "pci-1", "m_c_r"),
    ]
    assert [(event["ts"], event["dur"]) for event in events(one)] == [
        (1_000_000_000, 2_000_000),
        (1_003_000_000, 1_750_000),
        (1_002_000_000, 1_000_000),
    ]
    assert events(one)[1]["args"] == {
        "id": "s::m_c_r",
        "attempt": 1,
        "result": "passed",
        "load": 0.5,
        "run": 1.0,
        "compare": 0.25,
    }


def test_a_trace_names_the_legs_of_several_sessions() -> None:
    run = RunRecord(load_seconds=1.0, run_seconds=0.0, compare_seconds=0.0, started=5.0)
    sessions = [
        session(name, TargetRecord(nodeid="t", runtime="r", driver="d", run=run), leg=leg, day=day)
        for name, leg, day in (("s1", "cpu", 0), ("s2", "", 1))
    ]
    named = {
        event["args"]["name"]: event["pid"] for event in events(*sessions, phase="M") if event["name"] == "process_name"
    }
    assert named == {"devices, cpu": 1, "devices, session s2": 2}
    places = [
        (event["pid"], event["args"]) for event in events(*sessions, phase="M") if event["name"] == "process_sort_index"
    ]
    assert places == [(1, {"sort_index": 1}), (2, {"sort_index": 4})]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 50), st.integers(1, 20))))
def test_spans_of_one_lane_never_overlap_and_none_is_lost(drawn: list[tuple[str, int, int]]) -> None:
    found = [Span(group="devices", lane=lane, started=at, seconds=long, name="x") for lane, at, long in drawn]
    rows = lanes(found)
    assert sum(len(row) for _, _, row in rows) == len(found)
    assert len({(group, lane) for group, lane, _ in rows}) == len(rows)
    for _, _, row in rows:
        assert all(one.started + one.seconds <= two.started for one, two in pairwise(row))


# junit


def cases(*records: TargetRecord) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(junit([session("s1", *records)]))  # noqa: S314  it was written here
    return {case.attrib["name"]: case for case in root.iter("testcase")}


def test_junit_counts_and_words_outcomes_as_pytest_does() -> None:
    root = ElementTree.fromstring(junit([session("s1", *OUTCOMES)]))  # noqa: S314
    (suite,) = root
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "11", "failures": "2", "errors": "1", "skipped": "5"}
    words = [
        (child.tag, child.attrib.get("type"), child.attrib["message"])
        for case in suite
        for child in case
        if child.tag != "properties"
    ]
    assert ("skipped", "pytest.xfail", "why") in words
    assert ("skipped", "pytest.skip", "why") in words
    assert ("error", None, 'failed on setup with ""') in words


@pytest.mark.parametrize(
    ("known", "fault"),
    [
        ({"killed": True}, "it was killed, or still runs"),
        ({"status": 2}, "it ended with pytest's exit status 2, although no target failed"),
    ],
)
def test_junit_has_an_error_for_a_session_that_is_not_in_order(known: dict[str, Any], fault: str) -> None:
    root = ElementTree.fromstring(junit([session("s1", passed("t"), leg="gpu", **known)]))  # noqa: S314
    (error,) = root.iter("error")
    assert error.attrib["message"] == f"session s1: {fault}"
    assert [one.attrib["name"] for one in root.iter("testcase")] == ["t", "gpu"]
    assert (root[0].attrib["errors"], root[0].attrib["tests"]) == ("1", "2")


def test_a_target_that_no_failure_blocks_is_an_error_in_junit_and_failed_in_ctrf() -> None:
    blocked = {"outcome": Outcome.BLOCKED, "reason": "blocked by m_c", "module": "m"}
    for cause, status in (([], "failed"), ([passed("m_c")], "failed"), ([failed("m_c")], "skipped")):
        records = [*cause, passed("t", **blocked)]
        (suite,) = ElementTree.fromstring(junit([session("s1", *records, status=1)]))  # noqa: S314
        error = suite.find("testcase[@name='t']/error")
        said = error.attrib["message"] if error is not None else ""
        assert said == ("blocked by m_c, which did not fail in these results" if status == "failed" else "")
        (test,) = (one for one in report(*records)["tests"] if one["name"] == "t")
        assert (test["status"], test["rawStatus"]) == (status, "blocked")


def test_an_intermittent_failure_is_an_xfail_in_junit_and_a_pass_is_none() -> None:
    def children(result: Result) -> list[str]:
        (case,) = cases(passed("t", outcome=Outcome.INTERMITTENT, result=result, stage="")).values()
        return [child.attrib["type"] for child in case]

    assert children(Result.FAILED) == ["pytest.xfail"]
    assert children(Result.PASSED) == []


@pytest.mark.parametrize("where", ["text", "message", "reason"])
def test_junit_escapes_hostile_texts(where: str) -> None:
    record = passed("t", outcome=Outcome.FAILED if where != "reason" else Outcome.XFAILED)
    changed = {name: getattr(record, name) for name in record.__struct_fields__} | {where: HOSTILE}
    (case,) = cases(TargetRecord(**changed)).values()
    whole = ElementTree.tostring(case, encoding="unicode")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in whole
    assert "#x00" in whole
    assert "#x07#xD800" in whole


@pytest.mark.parametrize(("driver", "runtime", "lane"), [("d", "r", "d"), ("", "r", "r")])
def test_a_run_that_names_no_device_is_in_the_lane_of_its_driver(driver: str, runtime: str, lane: str) -> None:
    run = RunRecord(load_seconds=0.0, run_seconds=1.0, compare_seconds=0.0, started=1003.0)
    one = session("s1", TargetRecord(nodeid="s::m", driver=driver, runtime=runtime, outcome=Outcome.PASSED, run=run))
    names = [event["args"]["name"] for event in events(one, phase="M") if event["name"] == "thread_name"]
    assert names == [lane]
