"""The hook that makes a target's report: its words, its outcome, its record, and a subtest report for each case.

Where reports are shown, the cases of a target's record become pytest's own subtest reports, ahead of the target's. They
are shown and handed to other plugins, and take no part in what counts tests: `--maxfail`, `--lf`, `--sw` and the junit
file, where the target has them as properties. A module with one case has no subtests: its target reports it all.

`--lf` reruns targets that were blocked, or whose device was lost: to pytest's cache they count as failed, though
they are reported as skipped. So do those that failed before, and of which only some cases were run since.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace
from retarget.results import Outcome, TargetRecord
from retarget.session import End

from pytest_retarget.internals import SubtestContext, junit_log
from pytest_retarget.items.targets import MatrixItem, end_of, error_repr
from pytest_retarget.record import EARLIER, RECORD, record_of

Adjustment = Callable[[MatrixItem, pytest.TestReport, BaseException | None, TargetRecord], TargetRecord]
"""The changes of a report by an option: it may change the report, and returns the record that goes with it."""


class Recorder:
    """The hooks of one process in which targets run. `adjustments` are applied to each report, in order. `with_digests`
    says whether case digests are recorded, which the files of the cases are read for."""

    def __init__(self, adjustments: Sequence[Adjustment], *, with_digests: bool = False) -> None:
        self._adjustments = adjustments
        self._with_digests = with_digests

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Record what happened, once per target: at its call, or where anything else did not pass."""
        report = yield
        if not isinstance(item, MatrixItem) or (report.when != "call" and report.passed):
            return report
        error = end_of(call.excinfo.value) if call.excinfo is not None else None
        outcome, reason = _worded(item, report, error)
        record = item.trial.finished(
            error, outcome, reason, started=call.start, ended=call.stop, with_digests=self._with_digests
        )
        others = [pair for pair in item.user_properties if not pair[0].startswith("retarget.")]
        item.user_properties[:] = [*others, *record.properties()]
        report.user_properties = list(item.user_properties)
        for adjustment in self._adjustments:
            record = adjustment(item, report, error, record)
        if isinstance(error, End) and error.elsewhere and record.outcome is Outcome.BLOCKED:
            record = replace(record, blocked_by=error.elsewhere)
        setattr(report, RECORD, record)
        if item.trial.earlier and report.when == "call":
            setattr(report, EARLIER, item.trial.earlier)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> Generator[None, Any, Any]:
        """Hand the record on as builtin types, which cross xdist's channel."""
        data = yield
        if data is not None and isinstance(record := getattr(report, RECORD, None), TargetRecord):
            data[RECORD] = to_builtins(record)
            if earlier := getattr(report, EARLIER, ()):
                data[EARLIER] = [to_builtins(one) for one in earlier]
        return data


def _worded(item: MatrixItem, report: pytest.TestReport, error: BaseException | None) -> tuple[Outcome, str]:
    """Give a report its words; return the target's outcome and the reason for it."""
    path, line, _ = item.reportinfo()
    if isinstance(error, pytest.skip.Exception):  # of another plugin
        report.longrepr = (str(path), (line or 0) + 1, f"Skipped: {error.msg}")
        return Outcome.SKIPPED, str(error.msg)
    outcome_and_reason = item.trial.outcome(error, was_tried=report.when == "call")
    if isinstance(error, End) and not error.as_expected:
        reason = error.reason if error.blocked else f"Skipped: {error.reason}"
        report.longrepr = (str(path), (line or 0) + 1, reason)
    elif isinstance(error, End):
        report.outcome = "skipped"
        report.wasxfail = error.reason
        report.longrepr = error_repr(error.error, path, line) if error.error is not None else None
    elif report.skipped:  # by another plugin
        return Outcome.XFAILED if hasattr(report, "wasxfail") else Outcome.SKIPPED, ""
    elif error is not None and (words := error_repr(error, path, line)) is not None:
        report.longrepr = words
    return outcome_and_reason


_CASE = "retarget_case"
"""The attribute of a subtest report that holds the case's outcome."""

_STATUS = {
    Outcome.PASSED: ("passed", "subtests passed", "u", "SUBPASSED", "green"),
    Outcome.FAILED: ("failed", "subtests failed", "u", "SUBFAILED", "red"),
    Outcome.XFAILED: ("skipped", "subtests xfailed", "y", "SUBXFAIL", "yellow"),
    Outcome.NOT_RUN: ("skipped", "subtests skipped", "-", "SUBSKIPPED", "yellow"),
}
"""Pytest's outcome of a case; category, letter, word and colour in the terminal."""

_COUNTS_TESTS = ("session", "lfplugin", "stepwiseplugin")
"""Names of pytest's plugins that count tests, or keep which failed."""


def log_cases(config: pytest.Config, report: pytest.TestReport, record: TargetRecord) -> None:
    """Report each case of a target that has several."""
    if len(record.cases) < 2:
        return
    plugins = config.pluginmanager
    counting = [plugins.get_plugin(name) for name in _COUNTS_TESTS] + [junit_log(config)]
    hook = plugins.subset_hook_caller("pytest_runtest_logreport", [one for one in counting if one is not None])
    for one in _subtests(report, record):
        hook(report=one)


def _subtests(report: pytest.TestReport, record: TargetRecord) -> Iterator[pytest.SubtestReport]:
    for case in record.cases:
        is_skip = case.outcome is Outcome.NOT_RUN
        location = (str(report.location[0]), (report.location[1] or 0) + 1, f"Skipped: {case.reason}")
        one = pytest.SubtestReport(
            nodeid=report.nodeid,
            location=report.location,
            keywords=report.keywords,
            outcome=_STATUS[case.outcome][0],  # type: ignore[arg-type]
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
        yield one


def case_status(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    """The terminal's text for a case: nothing without `-v` or `verbosity_subtests`; None for any other report."""
    if not isinstance(report, pytest.SubtestReport) or not hasattr(report, _CASE):
        return None
    if config.get_verbosity(pytest.Config.VERBOSITY_SUBTESTS) <= 0:
        return "", "", ""
    _, category, letter, word, colour = _STATUS[Outcome(getattr(report, _CASE))]
    return category, letter, (f"{word}[{report.context.msg}]", {colour: True})


class RememberBlocked:
    """A plugin that lets pytest's own record of failures take a report of what has no result for a failed one.

    Its hook comes after that record's, which forgets what was skipped. It does nothing under `-p no:cacheprovider`.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        last_failed: Any = self._plugins.getplugin("lfplugin")
        record = record_of(report)
        if last_failed is None or record is None:
            return
        is_due = record.outcome in {Outcome.BLOCKED, Outcome.NOT_RUN}
        if record.outcome is Outcome.PARTIAL:
            is_due = report.nodeid in last_failed.config.cache.get("cache/lastfailed", {})
        if is_due:
            as_failed = copy.copy(report)
            as_failed.outcome = "failed"
            last_failed.pytest_runtest_logreport(report=as_failed)
