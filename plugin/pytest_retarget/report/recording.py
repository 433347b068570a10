"""The one hook that makes a target's report: its words, its outcome, and the record of what happened."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.expect.verdict import excuse
from retarget.results.properties import properties
from retarget.results.record import Outcome, Sibling, TargetRecord, to_plain

from pytest_retarget.items.base import MatrixItem
from pytest_retarget.items.expected import AsExpected, UnexpectedPassError
from pytest_retarget.items.failures import error_repr, failure_fields
from pytest_retarget.items.run_item import RunItem
from pytest_retarget.items.skips import Blocked, ExcusedByRule, NotTried, Unavailable
from pytest_retarget.record import EARLIER, RECORD

__all__ = ["Adjustment", "Recorder"]

Adjustment = Callable[[MatrixItem, pytest.TestReport, BaseException | None, TargetRecord], TargetRecord]
"""What an option changes in a report: it may change the report, and returns the record that goes with it."""


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
        error = call.excinfo.value if call.excinfo is not None else None
        outcome, reason = _worded(item, report, error)
        failure = error.error if isinstance(error, AsExpected) and error.error is not None else error
        record = replace(
            item.record,
            outcome=outcome,
            reason=reason,
            hint=error.hint if isinstance(error, Unavailable) else "",
            unavailable=isinstance(error, Unavailable),
            unsuitable=isinstance(error, Unavailable) and error.unsuitable,
            blocked_by=error.by if isinstance(error, Blocked) else "",
            excused=isinstance(error, ExcusedByRule),
            unchanged=item.record.unchanged and outcome in {Outcome.PASSED, Outcome.XFAILED},
            siblings=_siblings(item) if report.failed and isinstance(item, RunItem) else (),
            **(item.digests if self._with_digests else {}),
            started=item.record.started or call.start,
            ended=call.stop,
            **(failure_fields(failure) if failure is not None else {}),
        )
        others = [pair for pair in item.user_properties if not pair[0].startswith("retarget.")]
        item.user_properties[:] = [*others, *properties(record)]
        report.user_properties = list(item.user_properties)
        for adjustment in self._adjustments:
            record = adjustment(item, report, error, record)
        if isinstance(error, Blocked) and error.elsewhere and record.outcome is Outcome.BLOCKED:
            record = replace(record, blocked_by=error.elsewhere)
        setattr(report, RECORD, record)
        if item.earlier and report.when == "call":
            setattr(report, EARLIER, item.earlier)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> Generator[None, Any, Any]:
        """Hand the record on as builtin types, which cross xdist's channel."""
        data = yield
        if data is not None and isinstance(record := getattr(report, RECORD, None), TargetRecord):
            data[RECORD] = to_plain(record)
            if earlier := getattr(report, EARLIER, ()):
                data[EARLIER] = [to_plain(one) for one in earlier]
        return data


def _worded(item: MatrixItem, report: pytest.TestReport, error: BaseException | None) -> tuple[Outcome, str]:
    """Give a report its words; return the target's outcome and the reason for it."""
    path, line, _ = item.reportinfo()
    if isinstance(error, pytest.skip.Exception):
        reason, is_blocked = str(error.msg), isinstance(error, Blocked)
        report.longrepr = (str(path), (line or 0) + 1, reason if is_blocked else f"Skipped: {reason}")
        unblocked = Outcome.NOT_RUN if isinstance(error, NotTried) else Outcome.SKIPPED
        return Outcome.BLOCKED if is_blocked else unblocked, reason
    if isinstance(error, AsExpected):
        report.outcome = "skipped"
        report.wasxfail = error.reason
        report.longrepr = error_repr(error.error, path, line) if error.error is not None else None
        return (Outcome.INTERMITTENT, item.record.reason) if error.by_chance else (Outcome.XFAILED, error.reason)
    if report.passed:
        return _passed(item)
    if report.skipped:  # by another plugin
        return Outcome.XFAILED if hasattr(report, "wasxfail") else Outcome.SKIPPED, ""
    if error is not None and (words := error_repr(error, path, line)) is not None:
        report.longrepr = words
    if isinstance(error, UnexpectedPassError):
        return Outcome.XPASSED, ""
    return Outcome.FAILED if report.when == "call" else Outcome.ERROR, ""


def _passed(item: MatrixItem) -> tuple[Outcome, str]:
    record = item.record
    if record.outcome is Outcome.INTERMITTENT:
        return record.outcome, record.reason
    if record.attempt == 1:
        return Outcome.PASSED, ""
    rule = item.rule or item.compile_rule
    reason = f"{item.nodeid} passed at attempt {record.attempt}"
    return Outcome.FLAKY, f"{reason} ({excuse(rule)})" if rule is not None else reason


def _siblings(item: RunItem) -> tuple[Sibling, ...]:
    others = item.home.run_targets(item.target.compile.module.name)
    return tuple(
        Sibling(
            target=other.name,
            compiler=other.compile.compiler.name,
            runtime=other.runtime.name,
            driver=other.runtime.driver,
        )
        for other in others
        if other.name != item.target.name
    )
