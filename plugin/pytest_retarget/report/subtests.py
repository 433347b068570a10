"""A module's cases in pytest's terms: a subtest report for each.

Where reports are shown, the cases of a target's record become pytest's own subtest reports, ahead of the target's. They
are shown and handed to other plugins, and take no part in what counts tests: `--maxfail`, `--lf`, `--sw` and the junit
file, where the target has them as properties. A module with one case has no subtests: its target reports it all.
"""

from __future__ import annotations

import pytest
from retarget.results.record import CaseRecord, Outcome, TargetRecord

from pytest_retarget.internals import SubtestContext, junit_log

_CASE = "retarget_case"
"""The attribute of a subtest report that holds the case's outcome."""

_OUTCOMES = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.XFAILED: "skipped", Outcome.NOT_RUN: "skipped"}
"""Pytest's names of the outcomes of cases."""

_STATUS = {
    Outcome.PASSED: ("subtests passed", "u", "SUBPASSED", "green"),
    Outcome.FAILED: ("subtests failed", "u", "SUBFAILED", "red"),
    Outcome.XFAILED: ("subtests xfailed", "y", "SUBXFAIL", "yellow"),
    Outcome.NOT_RUN: ("subtests skipped", "-", "SUBSKIPPED", "yellow"),
}
"""Category, letter, word and colour of a case in the terminal."""

_COUNTS_TESTS = ("session", "lfplugin", "stepwiseplugin")
"""Names of pytest's plugins that count tests, or keep which failed."""


def log_cases(config: pytest.Config, report: pytest.TestReport, record: TargetRecord) -> None:
    """Report each case of a target that has several."""
    if len(record.cases) < 2:
        return
    plugins = config.pluginmanager
    counting = [plugins.get_plugin(name) for name in _COUNTS_TESTS] + [junit_log(config)]
    hook = plugins.subset_hook_caller("pytest_runtest_logreport", [one for one in counting if one is not None])
    for case in record.cases:
        hook(report=_subtest(report, case))


def _subtest(report: pytest.TestReport, case: CaseRecord) -> pytest.SubtestReport:
    is_skip = case.outcome is Outcome.NOT_RUN
    location = (str(report.location[0]), (report.location[1] or 0) + 1, f"Skipped: {case.reason}")
    one = pytest.SubtestReport(
        nodeid=report.nodeid,
        location=report.location,
        keywords=report.keywords,
        outcome=_OUTCOMES[case.outcome],  # type: ignore[arg-type]
        longrepr=location if is_skip else case.reason or None,
        when="call",
        duration=case.seconds,
        start=report.start,
        stop=report.start + case.seconds,
        user_properties=[
            ("retarget.case", case.name),
            ("retarget.outcome", str(case.outcome)),
            ("retarget.seconds", f"{case.seconds:.6f}"),
            *((f"retarget.{name}", text) for name in ("stage", "signature") if (text := getattr(case, name))),
        ],
    )
    one.context = SubtestContext(msg=case.name, kwargs={})
    if case.outcome is Outcome.XFAILED:
        one.wasxfail = case.reason
    if (node := getattr(report, "node", None)) is not None:  # the terminal names xdist's workers
        one.node = node  # type: ignore[attr-defined]
    setattr(one, _CASE, str(case.outcome))
    return one


def case_status(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    """The terminal's text for a case: nothing without `-v` or `verbosity_subtests`; None for any other report."""
    if not isinstance(report, pytest.SubtestReport) or not hasattr(report, _CASE):
        return None
    if config.get_verbosity(pytest.Config.VERBOSITY_SUBTESTS) <= 0:
        return "", "", ""
    category, letter, word, colour = _STATUS[Outcome(getattr(report, _CASE))]
    return category, letter, (f"{word}[{report.context.msg}]", {colour: True})
