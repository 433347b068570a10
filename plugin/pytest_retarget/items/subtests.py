"""A module's cases in pytest's terms: what its target's report says of them, and a subtest report for each.

Where a target runs, its report gets the outcome and the duration of each case, as builtin types. Where reports are
shown, these become pytest's own subtest reports, ahead of the target's. They are shown and handed to other plugins, and
take no part in what counts tests: `--maxfail`, `--lf`, `--sw` and the junit file, where the target has them as
properties. A module with one case is its target, which says all that there is to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.junitxml import xml_key
from _pytest.subtests import SubtestContext
from retarget.expect.cases import TargetRules, TargetVerdict
from retarget.expect.verdict import Ruling, excuse
from retarget.model.outcomes import CaseOutcome, Failure
from retarget.model.signatures import observe
from retarget.support.text import strip_colour

__all__ = ["CASES", "NOT_RUN", "CaseResult", "case_results", "case_status", "log_cases"]

CASES = "retarget_cases"
"""The attribute of a target's report that has what became of its cases, made of builtin types."""

NOT_RUN = "not run"
"""The outcome of a case that was skipped, that was not selected, or that the run did not come to."""

_OUTCOMES = {"passed": "passed", "failed": "failed", "xfailed": "skipped", NOT_RUN: "skipped"}
"""What pytest calls the outcomes of cases."""

_STATUS = {
    "passed": ("subtests passed", "u", "SUBPASSED", "green"),
    "failed": ("subtests failed", "u", "SUBFAILED", "red"),
    "xfailed": ("subtests xfailed", "y", "SUBXFAIL", "yellow"),
    NOT_RUN: ("subtests skipped", "-", "SUBSKIPPED", "yellow"),
}
"""Category, letter, word and colour of a case in the terminal."""

_COUNTS_TESTS = ("session", "lfplugin", "stepwiseplugin")
"""Names of pytest's plugins that count tests, or keep which failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What became of a case: `passed`, `failed`, `xfailed` or `not run`, after how many seconds.

    `stage` and `signature` tell how it failed, as expectations do; empty where it did not. `reason` says in one line
    why it is not simply `passed`. What `is_silent` lacks the results of another config, and says nothing of its own.
    """

    name: str
    outcome: str
    seconds: float = 0.0
    stage: str = ""
    signature: str = ""
    reason: str = ""
    is_silent: bool = False

    def to_plain(self) -> dict[str, str | float | bool]:
        """As builtin types, which cross xdist's channel."""
        return {
            "name": self.name,
            "outcome": self.outcome,
            "seconds": self.seconds,
            "stage": self.stage,
            "signature": self.signature,
            "reason": self.reason,
            "is_silent": self.is_silent,
        }


def case_results(
    rules: TargetRules, verdict: TargetVerdict, cases: Sequence[CaseOutcome], names: Sequence[str], why_not: str
) -> Iterator[CaseResult]:
    """Yield what became of all cases of a target, in order. `why_not` says why some were not run that no rule skips."""
    ran = {case.name: case for case in cases}
    for name in names or ran:
        case = ran.get(name)
        if case is None:
            rule = rules.of(name)
            reason = excuse(rule) if rule is not None and rule.outcome == "skip" else why_not
            yield CaseResult(name=name, outcome=NOT_RUN, reason=reason)
        else:
            yield _result(case, verdict)


def _result(case: CaseOutcome, verdict: TargetVerdict) -> CaseResult:
    one, failure = verdict.of(case.name), case.failure
    if failure is None:
        is_unexpected = one is not None and one.case and one.ruling is Ruling.PASSED
        if one is not None and is_unexpected:
            return CaseResult(name=case.name, outcome="failed", seconds=case.seconds, reason=one.headline)
        return CaseResult(name=case.name, outcome="passed", seconds=case.seconds)
    seen = observe(failure)
    is_expected = case.name in verdict.expected
    rule = one.rule if one is not None and is_expected else None
    return CaseResult(
        name=case.name,
        outcome="xfailed" if is_expected else "failed",
        seconds=case.seconds,
        stage=seen.stage,
        signature=seen.signature,
        reason=excuse(rule) if rule is not None else _line(failure),
        is_silent=failure.no_verdict,
    )


def _line(failure: Failure) -> str:
    return f"{failure.stage}: {' '.join(strip_colour(failure.summary).split())}"


def log_cases(config: pytest.Config, report: pytest.TestReport) -> None:
    """Report each case of a target whose report has several."""
    results: Sequence[Mapping[str, Any]] = getattr(report, CASES, ())
    if len(results) < 2:
        return
    plugins = config.pluginmanager
    counting = [plugins.get_plugin(name) for name in _COUNTS_TESTS] + [config.stash.get(xml_key, None)]
    hook = plugins.subset_hook_caller("pytest_runtest_logreport", [one for one in counting if one is not None])
    for result in results:
        hook(report=_subtest(report, CaseResult(**result)))


def _subtest(report: pytest.TestReport, result: CaseResult) -> pytest.SubtestReport:
    is_skip = result.outcome == NOT_RUN
    location = (str(report.location[0]), (report.location[1] or 0) + 1, f"Skipped: {result.reason}")
    one = pytest.SubtestReport(
        nodeid=report.nodeid,
        location=report.location,
        keywords=report.keywords,
        outcome=_OUTCOMES[result.outcome],  # type: ignore[arg-type]
        longrepr=location if is_skip else result.reason or None,
        when="call",
        duration=result.seconds,
        start=report.start,
        stop=report.start + result.seconds,
        user_properties=[
            ("retarget.case", result.name),
            ("retarget.outcome", result.outcome),
            ("retarget.seconds", f"{result.seconds:.6f}"),
            *((f"retarget.{name}", text) for name in ("stage", "signature") if (text := getattr(result, name))),
        ],
    )
    one.context = SubtestContext(msg=result.name, kwargs={})
    if result.outcome == "xfailed":
        one.wasxfail = result.reason
    if (node := getattr(report, "node", None)) is not None:  # the terminal names xdist's workers
        one.node = node  # type: ignore[attr-defined]
    setattr(one, CASES, result.outcome)
    return one


def case_status(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    """What the terminal shows of a case: nothing without `-v` or `verbosity_subtests`; None for any other report."""
    if not isinstance(report, pytest.SubtestReport) or not isinstance(outcome := getattr(report, CASES, None), str):
        return None
    if config.get_verbosity(pytest.Config.VERBOSITY_SUBTESTS) <= 0:
        return "", "", ""
    category, letter, word, colour = _STATUS[outcome]
    return category, letter, (f"{word}[{report.context.msg}]", {colour: True})
