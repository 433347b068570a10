"""`--retarget-update-expectations`: rules are written from what a run showed.

Where targets run, observations are reported as the new rules will judge them: a failure as an expected one, a pass as a
pass. These stay failures and are never written: inconclusive ones, those of a flaky target, those of an intermittent
target that its rule does not describe, and those whose rule has expired. At the end the process that shows the reports
writes the rules.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from retarget.model import Expectation, Stage
from retarget.results import Outcome, Result, RuleUpdate, TargetRecord
from retarget.support import DiagnosticsError, RetargetError

from pytest_retarget.items.targets import MatrixItem
from pytest_retarget.record import fail_session, record_of
from pytest_retarget.session.declared import declared


class UpdateExpectations:
    """The hooks of one session that updates its expectations."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._update = RuleUpdate()
        self._crashed = ""
        self._lines: list[tuple[str, dict[str, bool]]] = []

    # ------------------------------------------------------------ where targets run

    def adjust(
        self, item: MatrixItem, report: pytest.TestReport, _: BaseException | None, record: TargetRecord
    ) -> TargetRecord:
        """Report an outcome as the rules to be written will judge it."""
        if report.when != "call":
            return record
        if record.result is Result.UNKNOWN:
            seen, compile_rule = item.trial.compile_observation, item.trial.in_force.compile_rule
            if record.outcome is not Outcome.BLOCKED or seen is None or not _is_written(compile_rule):
                return record
            report.wasxfail = f"{item.target.compiled.name} is expected to fail: {seen.text}"
            report.longrepr = None
            return replace(record, outcome=Outcome.XFAILED)
        failed = [one for one in record.cases if one.outcome is Outcome.FAILED and one.stage]
        record = _as_written(item, record)
        if record.result is Result.PASSED:
            if record.outcome is Outcome.XPASSED:
                report.outcome, report.longrepr = "passed", None
                record = replace(record, outcome=Outcome.PASSED)
            return record
        if item.target.runtime is not None and record.stage == Stage.COMPILE:
            rules = [item.trial.in_force.compile_rule]
        else:
            in_force = item.trial.rules
            rules = [in_force.of(one.name) or in_force.whole for one in failed] or [in_force.whole]
        if all(map(_is_written, rules)):
            report.outcome = "skipped"
            report.wasxfail = record.observation.text if record.observation is not None else "passed"
            record = replace(record, outcome=Outcome.XFAILED)
        return record

    # ------------------------------------------------------------ where reports are shown

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what was observed."""
        record = record_of(report)
        if self._is_worker or record is None:
            return
        self._update.add(record)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A pytest worker that died leaves the run incomplete."""
        if error:
            self._crashed = f"the pytest worker {node.gateway.id} died"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the rules, if the run came to its end."""
        if self._is_worker or self._config.getoption("collectonly") or not self._update.files:
            return
        if why := self._unfinished(session):
            self._say(f"expectations: nothing was written, because {why}", yellow=True)
            return
        try:
            registry = declared(self._config).registry
            for line, colour in self._update.write(registry):
                self._say(line, **({colour: True} if colour else {}))
            if self._update.left_over:
                fail_session(session)
        except RetargetError as error:
            for line in str(error).splitlines():
                self._say(line, red=True)
            if isinstance(error, DiagnosticsError):
                self._say("expectations: nothing was written, because of these errors", yellow=True)
            fail_session(session)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show what was written."""
        if self._lines:
            terminalreporter.write_sep("=", "expectations")
        for line, markup in self._lines:
            terminalreporter.write_line(line, **markup)

    # ------------------------------------------------------------ the update

    def _unfinished(self, session: pytest.Session) -> str:
        """Why the run is incomplete; empty if it completed."""
        stopped = session.shouldfail or session.shouldstop
        if stopped:
            return f"the run ended early: {stopped}" if isinstance(stopped, str) else "the run ended early"
        if session.exitstatus in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR}:
            return "the run was interrupted"
        return self._crashed

    def _say(self, line: str, **markup: bool) -> None:
        self._lines.append((line, markup))


def _as_written(item: MatrixItem, record: TargetRecord) -> TargetRecord:
    """Return a record with its cases as the rules to be written will judge them."""
    cases = list(record.cases)
    for at, case in enumerate(cases):
        if case.outcome is Outcome.FAILED and not case.stage:
            cases[at] = replace(case, outcome=Outcome.PASSED, reason="")
        elif case.outcome is Outcome.FAILED:
            rules = item.trial.rules
            if _is_written(rules.of(case.name) or rules.whole):
                cases[at] = replace(case, outcome=Outcome.XFAILED)
    return replace(record, cases=tuple(cases))


def _is_written(rule: Expectation | None) -> bool:
    """Return whether a failure becomes a rule where this one is in force: not where only a person can decide."""
    return rule is None or not (rule.outcome in {"flaky", "intermittent"} or rule.is_expired)
