"""How a session with `--retarget-update-expectations` reports a target that itself passed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.update import UpdateExpectations
from retarget.results import Outcome, Result, TargetRecord


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        (Outcome.XPASSED, False),  # its rule goes
        (Outcome.FAILED, True),  # a golden rule is broken
        (Outcome.PASSED, True),  # another plugin made it a failure
    ],
)
def test_only_a_pass_against_a_rule_is_settled_by_the_update(outcome: Outcome, failed: bool) -> None:
    anything: Any = SimpleNamespace()
    report = pytest.TestReport("s.toml::s::a", ("s.toml", 0, "a"), {}, "failed", "why", "call")
    record = TargetRecord(result=Result.PASSED, outcome=outcome)
    UpdateExpectations(anything).adjust(anything, report, None, record)
    assert report.failed is failed
