"""In a job of GitHub Actions: an annotation for each signature of failures, and long sections that are folded."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ExceptionRepr
from retarget.support.github import MAX_ANNOTATIONS, group, workflow_command
from retarget.support.text import counted, first_line

from pytest_retarget.record import record_of

__all__ = ["EndOfFailures", "GitHub"]

_OTHER_PLUGIN = "pytest_github_actions_annotate_failures"
"""A plugin that annotates every test that failed."""


@dataclass(slots=True, kw_only=True)
class _Failures:
    """What failed alike: where the first did, how, and the ids of all."""

    path: Path
    line: int
    message: str
    ids: dict[str, None] = field(default_factory=dict)


class GitHub:
    """The hooks of the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: dict[object, _Failures] = {}
        self._section = ExitStack()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what failed. A case is reported by its target."""
        if report.failed and not isinstance(report, pytest.SubtestReport):
            self._take(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take what could not be collected."""
        if report.failed:
            self._take(report)

    def _take(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        record, root = record_of(report), self._config.rootpath
        crash = report.longrepr.reprcrash if isinstance(report.longrepr, ExceptionRepr) else None
        path, line, message = root / report.nodeid.partition("::")[0], 1, first_line(report.longreprtext)
        if crash is not None:
            path, line, message = root / crash.path, crash.lineno, crash.message
        key: object = (path, line, message)
        if record is not None:
            if crash is not None and path == root / record.file and record.module_file:
                path, line = root / record.module_file, 1
            if (seen := record.observation) is not None:
                key = (seen.stage, seen.signature)
        self._failed.setdefault(key, _Failures(path=path, line=line, message=message)).ids[report.nodeid] = None

    # ------------------------------------------------------------ at the end

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None]:
        """Fold the failures that pytest is about to show; annotate where all is written."""
        options = self._config.option
        if self._failed and not options.no_summary and options.tbstyle != "no":
            title = f"failures: {counted(len(self._failed), 'signature')}"
            self._section.enter_context(group(title, terminalreporter.write_line))
        try:
            return (yield)
        finally:
            self.end_section()
            self._annotate(terminalreporter)

    def end_section(self) -> None:
        """The failures have been shown."""
        self._section.close()

    def _annotate(self, reporter: Any) -> None:
        """Write the annotations; a leg of a plan leaves them to `retarget ci summary`, which knows all legs."""
        if self._config.getoption("retarget_plan", None) or self._config.pluginmanager.has_plugin(_OTHER_PLUGIN):
            return
        found = sorted(self._failed.values(), key=lambda one: -len(one.ids))
        shown = found if len(found) <= MAX_ANNOTATIONS else found[: MAX_ANNOTATIONS - 1]
        for one in shown:
            first, *others = one.ids
            title = f"{first} and {len(others)} more" if others else first
            message = "\n".join([one.message, *list(one.ids)[:MAX_ANNOTATIONS]]) if others else one.message
            place = _in_repository(one.path)
            reporter.write_line(workflow_command("error", message, file=place, line=one.line, title=title))
        if len(shown) < len(found):
            reporter.write_line(workflow_command("error", f"{len(found) - len(shown)} further signatures failed"))


class EndOfFailures:
    """Comes after the failures and before other sections."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self) -> None:
        """End the section."""
        self._github.end_section()


def _in_repository(path: Path) -> str:
    """Return a path as annotations have it: relative to the checkout, where it is in there."""
    top = os.environ.get("GITHUB_WORKSPACE", "")
    path = Path(os.path.normpath(path))
    return path.relative_to(top).as_posix() if top and path.is_relative_to(top) else str(path)
