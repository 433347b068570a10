"""Failures that have one cause."""

from __future__ import annotations

from msgspec.structs import replace
from retarget.results.overview import failure_groups
from retarget.results.record import CompileRecord, Outcome, TargetRecord
from sample_results import failed, passed


def compiled_in(seconds: float, record: TargetRecord) -> TargetRecord:
    return replace(record, compile=CompileRecord(key="k", seconds=seconds, artifact="a"))


def test_the_largest_group_comes_first_and_of_a_group_the_module_that_compiles_fastest() -> None:
    records = [
        passed("good"),
        failed("alone", "b"),
        failed("other", "a"),
        compiled_in(2.0, failed("slow", "x")),
        failed("unknown", "x"),
        compiled_in(1.0, failed("fast", "x")),
        passed("expected", outcome=Outcome.XFAILED),
    ]
    found = [(one.stage, one.signature, [of.nodeid for of in one.records]) for one in failure_groups(records)]
    assert found == [
        ("compare", "x", ["fast", "slow", "unknown"]),
        ("compare", "a", ["other"]),
        ("compare", "b", ["alone"]),
    ]
