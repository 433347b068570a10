"""What becomes of a required target that did not run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.collect.requirements import Requirements
from pytest_retarget.internals import Skipped
from pytest_retarget.options import SETTINGS, Settings
from retarget.results import Outcome, TargetRecord
from retarget.session.trial.failures import Skip, SkipKind
from retarget.support import RetargetError

LEG = {"plan": Path("p"), "leg": "l"}
ELSEWHERE = {"elsewhere": "s::t"}


@pytest.mark.parametrize(
    ("error", "when", "settings", "outcome"),
    [
        (Skip(SkipKind.UNAVAILABLE, "no device", "install it"), "setup", {}, Outcome.ERROR),
        (Skip(SkipKind.UNAVAILABLE, "no device", "install it"), "call", {}, Outcome.FAILED),
        (Skip(SkipKind.LOST, "no device", "install it"), "call", {}, Outcome.SKIPPED),
        (Skip(SkipKind.BLOCKED, "blocked: no device", "install it", by="s::other"), "call", {}, Outcome.FAILED),
        (Skip(SkipKind.BLOCKED, "no device", "install it", by="s::t"), "call", {}, Outcome.FAILED),
        (Skip(SkipKind.BLOCKED, "no device", "install it", **ELSEWHERE), "call", {}, Outcome.FAILED),
        (Skip(SkipKind.BLOCKED, "no device", "install it"), "call", LEG, Outcome.FAILED),
        (Skipped("no device\ninstall it"), "setup", {}, Outcome.ERROR),
    ],
)
def test_it_is_an_error_with_what_kept_it_from_running(
    error: BaseException, when: str, settings: dict[str, Any], outcome: Outcome
) -> None:
    record, report = adjusted(error, when, **settings)
    assert (report.outcome, record.outcome, record.requirements) == ("failed", outcome, (0, 2))
    lines = ["no device", "--retarget-require 'a' does not let this target be skipped", "install it"]
    if isinstance(error, Skipped):
        lines[1], lines[2] = lines[2], lines[1]
    assert str(report.longrepr).splitlines() == lines
    assert (report.longrepr.reprcrash.path, report.longrepr.reprcrash.lineno) == ("s.toml", 5)


@pytest.mark.parametrize(
    ("error", "settings", "known"),
    [
        (Skip(SkipKind.RULE, "a rule"), {}, {}),
        (Skip(SkipKind.NOT_COMPILED, "artifacts"), {}, {}),
        (Skip(SkipKind.BLOCKED, "elsewhere", **ELSEWHERE), LEG, {}),
        (Skip(SkipKind.BLOCKED, "x"), {}, {"blocked_by": "s::other"}),
        (RetargetError("it failed"), {}, {}),
        (None, {}, {}),
    ],
)
def test_what_was_asked_for_what_another_reports_and_what_has_run_stays(
    error: BaseException | None, settings: dict[str, Any], known: dict[str, Any]
) -> None:
    record, report = adjusted(error, "call", known, **settings)
    assert (report.outcome, record.outcome, record.requirements) == ("skipped", Outcome.SKIPPED, (0, 2))
    assert report.longrepr is None


def test_what_a_required_target_blocks_is_blocked() -> None:
    record, report = adjusted(Skip(SkipKind.BLOCKED, "x", by="s::compile"), "setup")
    assert (report.outcome, report.longrepr) == ("skipped", ("f", 4, "blocked by s::compile"))
    assert (record.outcome, record.blocked_by, record.reason) == (
        Outcome.BLOCKED,
        "s::compile",
        "blocked by s::compile",
    )


def test_what_is_not_required_stays() -> None:
    record, report = adjusted(Skip(SkipKind.UNAVAILABLE, "x"), "setup", required="s::compile")
    assert (report.outcome, record.outcome, record.requirements) == ("skipped", Outcome.SKIPPED, ())


def adjusted(
    error: BaseException | None, when: str, known: dict[str, Any] | None = None, required: str = "s::t", **settings: Any
) -> tuple[TargetRecord, Any]:
    config: Any = SimpleNamespace(stash=pytest.Stash())
    config.stash[SETTINGS] = Settings(require=("a", "b", "c"), **settings)
    requirements = Requirements(config)
    requirements._required = {"s::compile": [1]} | {required: [0, 2]}
    item: Any = SimpleNamespace(nodeid="s::t", reportinfo=lambda: ("s.toml", 4, "s: t"))
    report: Any = SimpleNamespace(when=when, location=("f", 3, "t"), outcome="skipped", longrepr=None)
    record = TargetRecord(nodeid="s::t", outcome=Outcome.SKIPPED, **(known or {}))
    return requirements.adjust(item, report, error, record), report
