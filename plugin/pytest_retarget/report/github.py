"""In a job of GitHub Actions: an annotation for each signature of failures, and long sections that are folded."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from retarget.support import counted, error_annotations, first_line, log_group

from pytest_retarget.internals import ExceptionRepr
from pytest_retarget.record import record_of
from pytest_retarget.report.terminal import TerminalHooks

_PLACED = re.compile(r"(?P<file>[^:\n]+\.toml):(?P<line>[1-9]\d*): ")
"""The beginning of an error of a declaration or an expectation."""

_NAMES = 10
"""How many of the targets that failed alike an annotation names."""

_OTHER_PLUGIN = "pytest_github_actions_annotate_failures"
"""A plugin that annotates every test that failed."""


class _Failure(Struct, frozen=True, kw_only=True):
    """Where something failed, and how."""

    path: Path
    line: int
    message: str


class GitHub:
    """The hooks of the process that reports."""

    def __init__(self, config: pytest.Config, terminal: TerminalHooks) -> None:
        self._config = config
        self._terminal = terminal
        self._failed: dict[object, dict[str, _Failure]] = {}
        self._section = ExitStack()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what failed. A case is reported by its target."""
        if report.failed and not isinstance(report, pytest.SubtestReport):
            self._take(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take what could not be collected: each error of a declaration that names its place."""
        if report.failed and not self._take_placed(report.longreprtext.splitlines()):
            self._take(report)

    def _take_placed(self, lines: Iterable[str]) -> bool:
        """Take the errors that name their place, such as `suites/suite.toml:3: …`; whether there was any."""
        found = [(match, line) for line in lines if (match := _PLACED.match(line)) is not None]
        for match, line in found:
            path, text = self._config.invocation_params.dir / match["file"], line[match.end() :]
            failure = _Failure(path=path, line=int(match["line"]), message=text)
            self._failed.setdefault(failure, {})[line[: match.end() - 2]] = failure
        return bool(found)

    def _take(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        record, root = record_of(report), self._config.rootpath
        crash = report.longrepr.reprcrash if isinstance(report.longrepr, ExceptionRepr) else None
        path, line, message = root / report.nodeid.partition("::")[0], 1, first_line(str(report.longrepr))
        if crash is not None:
            path, line, message = root / crash.path, crash.lineno, crash.message
        if record is not None and record.module_file and path == root / record.file:
            path, line = root / record.module_file, 1
        failure = _Failure(path=path, line=line, message=message)
        seen = record.observation if record is not None else None
        key = (seen.stage, seen.signature) if seen is not None else failure
        self._failed.setdefault(key, {})[report.nodeid] = failure

    # ------------------------------------------------------------ at the end

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None]:
        """Fold the failures that pytest is about to show; annotate where all is written."""
        options = self._config.option
        if self._failed and not options.no_summary and options.tbstyle != "no":
            title = f"failures: {counted(len(self._failed), 'signature')}"
            self._section.enter_context(log_group(title, terminalreporter.write_line))
        try:
            return (yield)
        finally:
            self._section.close()
            self._annotate(terminalreporter)

    @pytest.hookimpl(tryfirst=True, specname="pytest_terminal_summary")
    def pytest_after_failures(self) -> None:
        """End the section before others."""
        self._section.close()

    def _annotate(self, reporter: Any) -> None:
        self._take_placed(self._terminal.errors)
        if self._config.pluginmanager.has_plugin(_OTHER_PLUGIN):
            return
        found = sorted((sorted(ids.items(), key=itemgetter(0)) for ids in self._failed.values()), key=len, reverse=True)
        annotations = []
        for (first, failure), *others in found:
            title = f"{first} and {len(others)} more" if others else first
            names = [first, *(name for name, _ in others[: _NAMES - 1])] if others else []
            message = "\n".join([failure.message, *names])
            annotations.append((message, title, _in_repository(failure.path), failure.line))
        for line in error_annotations(annotations, "further signatures failed"):
            reporter.write_line(line)


def _in_repository(path: Path) -> str:
    """Return a path as annotations have it: relative to the checkout, where it is in there."""
    top = os.environ.get("GITHUB_WORKSPACE", "")
    path = Path(os.path.normpath(path))
    return path.relative_to(top).as_posix() if top and path.is_relative_to(top) else str(path)
