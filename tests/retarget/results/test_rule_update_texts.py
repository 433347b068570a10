"""What is kept of cases for the rules, and what is said of rules that match nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.expect.update.plan import Kept
from retarget.results.rule_update import _kept_text


@pytest.mark.parametrize(
    ("count", "in_full", "said"),
    [
        (1, False, "1 entry of `match` matches nothing here and stays in suite.toml: 'm0'; it is dear"),
        (
            5,
            False,
            "5 entries of `match` match nothing here and stay in suite.toml: 'm0', 'm1', 'm2', 'm3', "
            "… (-vv shows all); it is dear",
        ),
        (
            5,
            True,
            "5 entries of `match` match nothing here and stay in suite.toml: 'm0', 'm1', 'm2', 'm3', 'm4'; it is dear",
        ),
    ],
)
def test_what_stays_is_said_with_the_reason(count: int, in_full: bool, said: str) -> None:
    kept = Kept(file=Path("suite.toml"), entries=tuple(f"m{number}" for number in range(count)), doubt="it is dear")
    rest = ", so they may be missing rather than gone: remove by hand what is gone"
    assert _kept_text(kept, in_full=in_full) == f"expectations: {said}{rest}"
