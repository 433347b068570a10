"""Results in short: groups of failures, states, and what changed between two."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from retarget.model.outcomes import Observation
from retarget.results.overview import FailureGroup, State, by_config, by_outcome
from retarget.results.record import CompileRecord, Outcome, TargetRecord
from sample_results import failed, passed

PASSED, FAILED, SKIPPED = (
    State(Outcome.PASSED),
    State(Outcome.FAILED, "run", "lost"),
    State(Outcome.SKIPPED, "", "no GPU"),
)


def compiled_in(seconds: float, record: TargetRecord) -> TargetRecord:
    return replace(record, compile=CompileRecord(key="k", seconds=seconds, artifact="a"))


def test_failures_are_grouped_the_largest_group_first_and_in_it_what_compiles_fastest() -> None:
    records = [
        compiled_in(3.0, failed("slow", "lost", "run")),
        failed("alone", "values differ"),
        compiled_in(1.0, failed("fast", "lost", "run")),
        failed("unknown", "lost", "run"),
        compiled_in(0.0, failed("reused", "lost", "run")),
        passed("fine"),
        failed("other", "a crash", "crash"),
    ]
    found = [
        (one.stage, one.signature, [record.target for record in one.records]) for one in FailureGroup.among(records)
    ]
    assert found == [
        ("run", "lost", ["fast", "slow", "reused", "unknown"]),
        ("compare", "values differ", ["alone"]),
        ("crash", "a crash", ["other"]),
    ]


def test_outcomes_are_counted_by_config() -> None:
    records = [passed("a"), failed("b"), passed("c", compiler="b"), passed("d")]
    assert by_outcome(records)[Outcome.PASSED] == 3
    found = {config: {key: value for key, value in one.items() if value} for config, one in by_config(records).items()}
    assert list(found.items()) == [
        (("b", "r"), {Outcome.PASSED: 1}),
        (("c", "r"), {Outcome.PASSED: 2, Outcome.FAILED: 1}),
    ]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (passed("a"), "passed"),
        (passed("a", outcome=Outcome.FLAKY), "flaky"),
        (failed("a"), "failed at compare: values differ"),
        (failed("a", outcome=Outcome.XFAILED), "xfailed at compare: values differ"),
        (replace(failed("a"), observation=None, message="", reason="why"), "failed at compare: why"),
        (replace(failed("a"), observation=None, message=""), "failed at compare: failed without a message"),
        (replace(failed("a"), observation=Observation(stage="run", signature=""), message="m"), "failed at run: m"),
        (passed("a", outcome=Outcome.SKIPPED, reason="no GPU"), "skipped: no GPU"),
        (passed("a", outcome=Outcome.BLOCKED, reason="no compile"), "blocked: no compile"),
        (passed("a", outcome=Outcome.XPASSED), "xpassed: passed, but a rule expects a failure"),
        (passed("a", outcome=Outcome.PARTIAL, unselected_cases=("f", "g")), "partial: no outcome of f, g"),
    ],
)
def test_a_state_is_the_outcome_and_what_tells_it_from_others(record: TargetRecord, text: str) -> None:
    assert str(State.of(record)) == text
