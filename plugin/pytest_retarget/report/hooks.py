"""The hooks that serve matrix items, brought in when the first suite is met.

In an xdist worker they run targets and decorate reports; in the controller they count and show; without xdist, both.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprExceptionInfo
from retarget.expect.verdict import excuse
from retarget.support.errors import display_path

from pytest_retarget.attribution.reports import Attribution
from pytest_retarget.cachedir import cache_dir
from pytest_retarget.collect.case_names import MISSED, CaseNames, plain_uses
from pytest_retarget.collect.unknown_words import unknown_words
from pytest_retarget.items.expected import INTERMITTENT, AsExpected
from pytest_retarget.items.skips import Blocked, Unavailable
from pytest_retarget.items.subtests import CASES, case_status, log_cases
from pytest_retarget.items.targets import CompileItem, MatrixItem
from pytest_retarget.lastfailed import BLOCKED, RememberBlocked
from pytest_retarget.options import SETTINGS
from pytest_retarget.report.failures import PlainWhereItMust, error_repr
from pytest_retarget.report.progress import Progress
from pytest_retarget.report.summary import Record, Tally
from pytest_retarget.session import SERVICES, Services

__all__ = ["Face", "activate"]

NAME = "retarget-face"
"""The name under which the hooks are registered."""

FILES_NAMED = 4
"""How many declaration files the header names; more are counted, unless -v asks for all."""

OUTPUT = "retarget"
"""Where an xdist worker's output has its compile statistics, notes and errors of expectations."""

BLOCKED_BY = "retarget_blocked_by"
"""The attribute that a blocked report has: the node id of the target that reports the failure; empty for none."""

CASE_USES = "retarget_case_uses"
"""Where an xdist worker's output has the rules that name cases."""

FLAKY = "retarget_flaky"
"""The attribute that the report of a flaky target has, which failed and then passed."""

RECORD = "retarget_record"
"""The attribute that a matrix item's report has, made of builtin types so that it crosses xdist's channel."""


def activate(config: pytest.Config) -> None:
    """Register the hooks, once per session."""
    if not config.pluginmanager.has_plugin(NAME):
        config.pluginmanager.register(Face(config), NAME)
        config.pluginmanager.register(RememberBlocked(config), f"{NAME}-lastfailed")
        config.pluginmanager.register(Attribution(config), f"{NAME}-attribution")
        if not hasattr(config, "workerinput"):
            from pytest_retarget.report.equal_failures import FoldAlike, Unfold

            config.pluginmanager.register(fold := FoldAlike(config), f"{NAME}-fold")
            config.pluginmanager.register(Unfold(fold), f"{NAME}-unfold")
        if config.stash[SETTINGS].update_expectations:
            from pytest_retarget.update import UpdateExpectations

            config.pluginmanager.register(UpdateExpectations(config), f"{NAME}-update")


def make_services(config: pytest.Config) -> Services:
    """The services of this pytest process."""
    from pytest_retarget.collect.suite_files import declared

    workerinput = getattr(config, "workerinput", {})
    return Services(
        settings=config.stash[SETTINGS],
        registry=declared(config).registry,
        folder=config.invocation_params.dir,
        cache_dir=cache_dir(config),
        processes=int(workerinput.get("workercount", 1)),
        progress=Progress(config),
        command=workerinput.get("mainargv", sys.argv),
        run_id=workerinput.get("testrunuid", ""),
    )


class Face:
    """The hooks of one session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._tally = Tally()
        self._collected = 0
        self._hints: list[str] = []
        self._diagnostics: dict[str, None] = {}
        self._on_interrupt: Any = None
        self._blocked: dict[str, str] = {}
        self._failed: set[str] = set()
        self._cases = CaseNames(config.stash[SETTINGS].cases)
        self._unselected: list[str] = []

    # ------------------------------------------------------------ before anything runs

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """A target reached through its suite file and through its module is one item. Nothing is deselected yet."""
        from pytest_retarget.collect.suite_files import declared

        if declared(config).by_module and not config.getoption("keepduplicates"):
            items[:] = {item.nodeid: item for item in reversed(items)}.values()
            items.reverse()
        self._collected = sum(isinstance(item, MatrixItem) for item in items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Where nothing is left, a word that no target has may be why."""
        text = session.config.getoption("markexpr")
        if text and self._collected and not session.items:
            known = (line.partition(":")[0].partition("(")[0] for line in session.config.getini("markers"))
            self._hints += unknown_words(text, known)

    def pytest_report_collectionfinish(self, config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
        """Say what was declared, and where."""
        from pytest_retarget.collect.suite_files import declared

        mine = [item for item in items if isinstance(item, MatrixItem)]
        if not mine or config.get_verbosity() < 0:
            return []
        compiles = sum(isinstance(item, CompileItem) for item in mine)
        suites = len({item.parent for item in mine})
        files = [display_path(path) for path in declared(config).files]
        shown = ", ".join(files) if len(files) <= FILES_NAMED or config.get_verbosity() > 0 else f"{len(files)} files"
        return [
            f"retarget: {_count(suites, 'suite')}, {_count(compiles, 'compile target')}, "
            f"{_count(len(mine) - compiles, 'run target')}, declared in {shown}"
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Queue the compiles of the selection, ahead of need."""
        config = session.config
        failed = session.testsfailed and not config.getoption("continue_on_collection_errors")
        items = [item for item in session.items if isinstance(item, MatrixItem)]
        if not items or failed or config.getoption("collectonly"):
            return
        config.stash[SERVICES] = services = make_services(config)
        if not config.getoption("setuponly", False):
            services.start(items)

    # ------------------------------------------------------------ where targets run

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give a report the words, and the data for the summary."""
        report = yield
        if not isinstance(item, MatrixItem):
            return report
        error = call.excinfo.value if call.excinfo is not None else None
        path, line, _ = item.reportinfo()
        reason = ""
        if isinstance(error, pytest.skip.Exception):
            reason = str(error.msg)
            blocked = isinstance(error, Blocked)
            setattr(report, BLOCKED, blocked)
            setattr(report, BLOCKED_BY, error.by if isinstance(error, Blocked) else "")
            report.longrepr = (str(path), (line or 0) + 1, reason if blocked else f"Skipped: {reason}")
        elif isinstance(error, AsExpected):
            report.outcome = "skipped"
            report.wasxfail = reason = error.reason
            report.longrepr = error_repr(error.error, path, line) if error.error is not None else None
            if error.by_chance:
                setattr(report, INTERMITTENT, True)
                reason = item.by_chance
        elif report.passed and item.by_chance and report.when == "call":
            setattr(report, INTERMITTENT, True)
            reason = item.by_chance
        elif report.passed and item.flaky and report.when == "call":
            setattr(report, FLAKY, True)
            reason = f"{item.flaky} ({excuse(rule)})" if (rule := item.rule or item.compile_rule) else item.flaky
        elif report.failed and error is not None and (words := error_repr(error, path, line)) is not None:
            report.longrepr = words
        if report.when == "call" and item.case_results:
            setattr(report, CASES, [result.to_plain() for result in item.case_results])
        if report.when == "call" and item.cases_missed:
            setattr(report, MISSED, list(item.cases_missed))
        if report.when == "call" or not report.passed:
            hint = error.hint if isinstance(error, Unavailable) else ""
            setattr(report, RECORD, replace(item.record(reason), hint=hint).to_plain())
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the workers and hand in their statistics. Errors of expectations are no success."""
        services = session.config.stash.get(SERVICES, None)
        statistics = services.statistics() if services is not None else {}
        notes = (*self._hints, *(services.engine.notes if services is not None else ()))
        diagnostics = self._expectation_diagnostics(session)
        if self._is_worker:
            output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]  # set by xdist
            output[OUTPUT] = (statistics, notes, diagnostics)
            output[CASE_USES] = self._case_uses(session)
        else:
            self._cases.add_uses(self._case_uses(session))
            diagnostics += self._cases.diagnostics()
            self._tally.add_compiles(statistics, notes)
            self._diagnostics.update(dict.fromkeys((*diagnostics, *self._blocked_by_none())))
            if self._diagnostics and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            self._unselected = self._cases.unselected()
            if self._unselected and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if services is not None:
            services.close()

    def _expectation_diagnostics(self, session: pytest.Session) -> list[str]:
        """The errors of expectations, where targets were run."""
        from pytest_retarget.collect.suite_files import declared

        settings = session.config.stash[SETTINGS]
        if session.config.getoption("collectonly") or settings.ignore_expectations or settings.update_expectations:
            return []
        items = [item for item in getattr(session, "items", ()) if isinstance(item, MatrixItem)]
        found = declared(session.config)
        found.ledger.use(rule for item in items for rule in (item.rule, item.compile_rule) if rule is not None)
        return found.expectation_diagnostics(session.config)

    def _blocked_by_none(self) -> list[str]:
        """Targets that are blocked by one that did not fail: tried twice, a compile may fail and then pass."""
        if self._config.stash[SETTINGS].update_expectations:  # its failures are reported as rules
            return []
        return [
            f"{nodeid}: blocked by {by}, which did not fail when it was tried itself; run both again"
            for nodeid, by in self._blocked.items()
            if by not in self._failed
        ]

    def pytest_keyboard_interrupt(self) -> None:
        """Let a second Ctrl-C end at once what is left to end, and not interrupt that: it would leave a traceback."""

        def hurry(*_: object) -> None:
            if services := self._config.stash.get(SERVICES, None):
                services.engine.kill()

        if threading.current_thread() is threading.main_thread() and self._on_interrupt is None:
            self._on_interrupt = signal.signal(signal.SIGINT, hurry)

    def _case_uses(self, session: pytest.Session) -> list[dict[str, object]]:
        """The rules that name cases, where targets were run and rules are to hold."""
        from pytest_retarget.collect.suite_files import declared

        settings = session.config.stash[SETTINGS]
        if session.config.getoption("collectonly") or settings.ignore_expectations or settings.update_expectations:
            return []
        return plain_uses(declared(session.config).case_uses(session.config))

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """End the workers where the session did not come to its end."""
        if services := config.stash.get(SERVICES, None):
            services.close()
        if self._on_interrupt is not None:
            signal.signal(signal.SIGINT, self._on_interrupt)
            self._on_interrupt = None

    # ------------------------------------------------------------ where reports are shown

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a target; and show colours only where there are some."""
        if self._is_worker or not hasattr(report, RECORD):
            return
        if by := getattr(report, BLOCKED_BY, ""):
            self._blocked[report.nodeid] = by
        elif report.failed:
            self._failed.add(report.nodeid)
        log_cases(self._config, report)
        self._cases.add(Record.from_plain(getattr(report, RECORD)), report)
        if isinstance(report.longrepr, ReprExceptionInfo):
            traceback = report.longrepr.reprtraceback
            one_line = self._config.getoption("tbstyle", "auto") == "line" and report.when == "call"
            shown = [] if one_line else traceback.reprentries  # pytest adds the one line to calls only
            traceback.reprentries = [PlainWhereItMust(entry.lines) for entry in shown]
        status = self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        if status and status[0]:  # without pytest's terminal nobody knows one
            self._tally.add(Record.from_plain(getattr(report, RECORD)), status[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport, config: pytest.Config
    ) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
        """Blocked, flaky and intermittent are categories of their own; so are cases."""
        if (of_case := case_status(report, config)) is not None:
            return of_case
        if getattr(report, BLOCKED, False):
            return "blocked", "b", ("BLOCKED", {"yellow": True})
        if getattr(report, FLAKY, False):
            return "flaky", "f", ("FLAKY", {"yellow": True})
        if getattr(report, INTERMITTENT, False):
            return "intermittent", "i", ("INTERMITTENT", {"yellow": True})
        return None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take an xdist worker's statistics."""
        statistics, notes, diagnostics = getattr(node, "workeroutput", {}).get(OUTPUT, ({}, (), ()))
        self._tally.add_compiles(statistics, notes)
        self._diagnostics.update(dict.fromkeys(diagnostics))
        self._cases.add_uses(getattr(node, "workeroutput", {}).get(CASE_USES, ()))

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """The table, the reasons, the figures; what was ill said even where nothing ran."""
        if config.option.no_summary:
            return
        if self._diagnostics:
            terminalreporter.write_sep("=", "expectations", red=True)
            for diagnostic in self._diagnostics:
                terminalreporter.write_line(diagnostic, red=True)
        for missing in self._unselected:
            terminalreporter.write_line(f"ERROR: {missing}", red=True)
        if config.getoption("collectonly") or not self._tally.cells:
            for note in self._tally.notes:
                terminalreporter.write_line(f"note: {note}", yellow=True)
            return
        verbosity = config.get_verbosity()
        if verbosity < -1:
            return
        if verbosity >= 0:
            terminalreporter.write_sep("=", "target matrix")
        for line in self._tally.lines(width=terminalreporter._tw.fullwidth, verbosity=verbosity):  # noqa: SLF001
            markup = {"red": True} if line.bad else {"green": True} if line.fine else {}
            terminalreporter.write_line(line.text, **markup)
        if compiles := self._tally.compile_line():
            where = "" if config.stash[SETTINGS].no_cache else f" (cache: {_home(cache_dir(config))})"
            terminalreporter.write_line(compiles + where)
        export = config.stash[SETTINGS].export
        if export is not None and self._tally.keys:
            terminalreporter.write_line(f"artifacts exported to {_home(export)}, for --retarget-artifacts")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _home(path: Path) -> str:
    """`~/.cache/retarget`, as people write it."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)
