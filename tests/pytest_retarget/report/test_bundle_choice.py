"""Which failures of a session `--retarget-repro` packs."""

from __future__ import annotations

from pytest_retarget.report.bundles import to_pack
from retarget.model import Observation
from retarget.results import Outcome, Result, TargetRecord
from retarget.results.record import CompileRecord


def _record(name: str, outcome: Outcome, signature: str = "", seconds: float = 1.0, **more: object) -> TargetRecord:
    values: dict[str, object] = {
        "nodeid": f"s.toml::s::{name}",
        "outcome": outcome,
        "result": Result.FAILED if signature else Result.PASSED,
        "observation": Observation(stage="compile", signature=signature) if signature else None,
        "compile": CompileRecord(key="k", seconds=seconds),
    }
    return TargetRecord(**(values | more))  # type: ignore[arg-type]


RECORDS = [
    _record("one", Outcome.FAILED, "alone"),
    _record("slow", Outcome.FAILED, "shared", 9.0),
    _record("quick", Outcome.FAILED, "shared", 2.0),
    _record("known", Outcome.XFAILED, "known"),
    _record("mended", Outcome.XPASSED),
    _record("fine", Outcome.PASSED),
    _record("dead", Outcome.FAILED, "the worker left", result=Result.UNKNOWN),
    _record("setup", Outcome.ERROR),
    _record("behind", Outcome.BLOCKED),
]


def _chosen(*, expected: bool) -> list[tuple[str, list[str]]]:
    groups = to_pack(RECORDS, expected=expected)
    return [(group.signature, [record.nodeid.rpartition("::")[2] for record in group.records]) for group in groups]


def test_it_is_the_failures_that_no_rule_excuses_by_signature_the_smallest_first() -> None:
    assert _chosen(expected=False) == [("shared", ["quick", "slow"]), ("alone", ["one"])]


def test_expected_failures_are_packed_where_that_is_asked_for() -> None:
    assert _chosen(expected=True) == [("shared", ["quick", "slow"]), ("alone", ["one"]), ("known", ["known"])]
