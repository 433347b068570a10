"""What a cell of the matrix shows: one state per target, from its record or from the plan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from retarget.results.record import Outcome, TargetRecord

__all__ = ["LOOKS", "STATES", "Look", "State", "stage_of", "state_of"]


class State(StrEnum):
    """The outcomes of records, and what only a plan or the machine tells. The value is the word in the address."""

    OK = "ok"
    PARTIAL = "partial"
    XFAIL = "xfail"
    FAIL = "fail"
    XPASS = "xpass"
    ERROR = "error"
    FLAKY = "flaky"
    INTERMITTENT = "intermittent"
    BLOCKED = "blocked"
    UNAVAILABLE = "unavailable"
    SKIPPED = "skipped"
    NOT_RUN = "not-run"
    MISSING = "missing"
    WAIVED = "waived"
    UNPLANNED = "unplanned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a state is shown: `code` is its letter in the data, `sort` is what it counts as in totals: `good` (as
    expected), `bad`, or `none` (it says nothing of the target)."""

    code: str
    glyph: str
    label: str
    sort: str
    meaning: str


LOOKS = {
    State.OK: Look(code="p", glyph="✓", label="ok", sort="good", meaning="passed"),
    State.XFAIL: Look(code="x", glyph="≈", label="xfail", sort="good", meaning="failed as its expectation says"),
    State.FAIL: Look(code="f", glyph="✗", label="fail", sort="bad", meaning="failed, at the stage named in the cell"),
    State.XPASS: Look(code="u", glyph="!", label="xpass", sort="bad", meaning="passed, but was expected to fail"),
    State.ERROR: Look(code="e", glyph="‼", label="error", sort="bad", meaning="its setup or teardown failed"),
    State.MISSING: Look(code="m", glyph="?", label="missing", sort="bad", meaning="planned, but has no result"),
    State.FLAKY: Look(code="k", glyph="↻", label="flaky", sort="good", meaning="failed, was tried again, and passed"),
    State.INTERMITTENT: Look(
        code="i", glyph="∿", label="chance", sort="good", meaning="passes or fails by chance, as its rule allows"
    ),
    State.BLOCKED: Look(
        code="b", glyph="⊘", label="blocked", sort="none", meaning="not run because another target failed"
    ),
    State.UNAVAILABLE: Look(
        code="n", glyph="∅", label="no device", sort="none", meaning="something that it needs is not on the machine"
    ),
    State.SKIPPED: Look(code="s", glyph="-", label="skipped", sort="none", meaning="skipped, with a reason"),
    State.NOT_RUN: Look(
        code="o", glyph="…", label="not run", sort="none", meaning="its session ended before it, or lost its device"
    ),
    State.PARTIAL: Look(
        code="h", glyph="◐", label="partial", sort="none", meaning="as expected in its cases that ran; others did not"
    ),
    State.WAIVED: Look(code="w", glyph="◌", label="waived", sort="none", meaning="a waiver lets it stay without a run"),
    State.UNPLANNED: Look(
        code=".", glyph="·", label="not planned", sort="none", meaning="no leg of the plan runs it, no waiver names it"
    ),
}
"""Every state, in the order of the legend."""

STATES = {
    Outcome.PASSED: State.OK,
    Outcome.PARTIAL: State.PARTIAL,
    Outcome.FLAKY: State.FLAKY,
    Outcome.INTERMITTENT: State.INTERMITTENT,
    Outcome.XFAILED: State.XFAIL,
    Outcome.XPASSED: State.XPASS,
    Outcome.FAILED: State.FAIL,
    Outcome.ERROR: State.ERROR,
    Outcome.BLOCKED: State.BLOCKED,
    Outcome.SKIPPED: State.SKIPPED,
    Outcome.NOT_RUN: State.NOT_RUN,
}
"""What each outcome is; but a skip where something is missing is `UNAVAILABLE`."""


def state_of(record: TargetRecord) -> State:
    """Return what a record makes of its target."""
    if record.outcome is Outcome.SKIPPED and record.unavailable:
        return State.UNAVAILABLE
    return STATES[record.outcome]


def stage_of(record: TargetRecord) -> str:
    """Return where a target failed, in the words of expectations; empty where it did not fail."""
    if record.observation is not None:
        return record.observation.stage
    return record.stage if record.outcome in {Outcome.FAILED, Outcome.XFAILED} else ""
