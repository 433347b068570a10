"""The hooks that count targets as they are reported, and show the summary at the end.

At its end each process has findings: what it compiled, notes, errors of expectations. Workers of xdist send theirs to
the controller, which shows them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from retarget.engine.trial.session import PlainUse, SessionErrors, plain_uses
from retarget.results.record import Outcome, TargetRecord
from retarget.support.github import group, on_github

from pytest_retarget.collect.hooks import CollectionHooks
from pytest_retarget.internals import ReprExceptionInfo, terminal_writer
from pytest_retarget.items.targets import MatrixItem, PlainWhereItMust
from pytest_retarget.options.settings import SETTINGS, Settings
from pytest_retarget.record import record_of
from pytest_retarget.report.subtests import case_status, log_cases
from pytest_retarget.report.summary import NOT_RUN, Tally, moment
from pytest_retarget.session.cachedir import cache_dir
from pytest_retarget.session.declared import declared
from pytest_retarget.session.services import SERVICES

OUTPUT = "retarget"
"""Where an xdist worker's output has its findings."""

_STATUS: dict[Outcome, tuple[str, str, tuple[str, dict[str, bool]]]] = {
    Outcome.BLOCKED: ("blocked", "b", ("BLOCKED", {"yellow": True})),
    Outcome.FLAKY: ("flaky", "f", ("FLAKY", {"yellow": True})),
    Outcome.NOT_RUN: ("not run", "n", ("NOT RUN", {"yellow": True})),
    Outcome.INTERMITTENT: ("intermittent", "i", ("INTERMITTENT", {"yellow": True})),
}
"""Category, letter and word of the outcomes that pytest does not know."""


class TerminalHooks:
    """The hooks of one process."""

    def __init__(self, config: pytest.Config, collection: CollectionHooks) -> None:
        self._config = config
        self._settings = config.stash[SETTINGS]
        self._is_worker = hasattr(config, "workerinput")
        self._collection = collection
        self._tally = Tally()
        self._judged = SessionErrors(self._settings.cases)
        self.errors: Sequence[str] = ()
        """What is wrong besides targets, once the session has finished."""
        self.unselected: list[str] = []
        """The values of `--retarget-case` that match no case, once the session has finished."""

    @property
    def notes(self) -> Sequence[str]:
        """The notes of collecting and running targets, once the session has finished."""
        return tuple(self._tally.notes)

    # ------------------------------------------------------------ as targets are reported

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a target; and show colours only where there are some."""
        record = record_of(report)
        if self._is_worker or record is None:
            return
        was_compiled_elsewhere = self._settings.artifacts is not None and record.compile is not None
        is_blocked = bool(record.blocked_by) and not (was_compiled_elsewhere or self._settings.update_expectations)
        self._judged.add(record, has_failed=report.failed, is_blocked=is_blocked)
        if report.when == "call":
            log_cases(self._config, report, record)
        if isinstance(report.longrepr, ReprExceptionInfo):
            traceback = report.longrepr.reprtraceback
            one_line = self._config.getoption("tbstyle", "auto") == "line" and report.when == "call"
            shown = [] if one_line else traceback.reprentries  # pytest adds the one line to calls only
            traceback.reprentries = [PlainWhereItMust(entry.lines) for entry in shown]
        status = self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        if status and status[0]:  # without pytest's terminal nobody knows one
            self._tally.add(record, status[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport, config: pytest.Config
    ) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
        """Blocked, flaky, intermittent, unchanged and not run are categories of their own; so are cases."""
        record = record_of(report)
        if record is None:
            return case_status(report, config)
        if report.failed:
            return None
        return not_run_again(record, self._settings) if record.unchanged else _STATUS.get(record.outcome)

    # ------------------------------------------------------------ at the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand in the findings. Errors of expectations are no success."""
        findings = self._findings(session)
        if self._is_worker:
            output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]  # set by xdist
            output[OUTPUT] = findings
            return
        self._take(findings)
        self.errors, self.unselected = self._judged.errors(), self._judged.unselected()
        if session.exitstatus == pytest.ExitCode.OK:
            if self.errors or self._tally.reasons.get(NOT_RUN):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            elif self.unselected:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take an xdist worker's findings."""
        if findings := getattr(node, "workeroutput", {}).get(OUTPUT):
            self._take(findings)

    def _findings(self, session: pytest.Session) -> dict[str, Any]:
        """The state of this process at its end, as builtin types. Expectations are checked where targets were run."""
        services = self._config.stash.get(SERVICES, None)
        if services is not None and session.exitstatus != pytest.ExitCode.INTERRUPTED:
            services.engine.flush()
        errors: list[str] = []
        uses: list[PlainUse] = []
        ignores_rules = self._settings.ignore_expectations or self._settings.update_expectations
        if not ignores_rules and not self._config.getoption("collectonly"):
            items = [item for item in getattr(session, "items", ()) if isinstance(item, MatrixItem)]
            found = declared(self._config)
            found.usage.use(rule for item in items for rule in item.in_force.wholes)
            errors = found.expectation_diagnostics(self._config)
            uses = plain_uses(found.case_uses(self._config))
        return {
            "compiles": services.statistics() if services is not None else {},
            "notes": [*self._collection.notes, *(services.engine.notes if services is not None else ())],
            "errors": errors,
            "case_uses": uses,
        }

    def _take(self, findings: Mapping[str, Any]) -> None:
        self._tally.add_compiles(findings["compiles"], findings["notes"])
        self._judged.add_rules(findings["errors"], findings["case_uses"])

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """The table, the reasons, the figures; errors even where nothing ran."""
        if config.option.no_summary:
            return
        if self.errors:
            terminalreporter.write_sep("=", "expectations", red=True)
            for error in self.errors:
                terminalreporter.write_line(error, red=True)
        for missing in self.unselected:
            terminalreporter.write_line(f"ERROR: {missing}", red=True)
        if config.getoption("collectonly") or not self._tally.cells:
            for note in self._tally.notes:
                terminalreporter.write_line(f"note: {note}", yellow=True)
            return
        verbosity = config.get_verbosity()
        if verbosity < -1:
            return
        folded = group("target matrix", terminalreporter.write_line) if on_github() else nullcontext()
        with folded:
            if verbosity >= 0:
                terminalreporter.write_sep("=", "target matrix")
            for line in self._tally.lines(width=terminal_writer(terminalreporter).fullwidth, verbosity=verbosity):
                markup = {"red": True} if line.bad else {"green": True} if line.fine else {}
                terminalreporter.write_line(line.text, **markup)
        if compiles := self._tally.compile_line():
            where = "" if self._settings.no_cache else f" (cache: {_home(cache_dir(config))})"
            terminalreporter.write_line(compiles + where)
        if shared := self._tally.shared_line():
            terminalreporter.write_line(shared)
        export = self._settings.export
        if export is not None and self._tally.keys:
            terminalreporter.write_line(f"artifacts exported to {_home(export)}, for --retarget-artifacts")


def not_run_again(record: TargetRecord, settings: Settings) -> tuple[str, str, tuple[str, dict[str, bool]]]:
    """Return category, letter and word of a target whose result is that of an earlier run."""
    outcome = str(record.outcome)
    if not settings.changed:
        word = {Outcome.XFAILED: "XFAIL"}.get(record.outcome, outcome.upper())
        return "reused", "r", (f"{word} (reused)", {"green": True})
    when = f" {moment(record.reused.ended)}" if record.reused is not None else ""
    return "unchanged", "u", (f"UNCHANGED ({outcome}{when})", {"cyan": True})


def _home(path: Path) -> str:
    """`~/.cache/retarget`, as people write it."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)
