"""`--lf` reruns targets that were blocked, or whose device was lost: to pytest's cache they count as failed, though
they are reported as skipped. So do those that failed before, and of which only some cases were run since."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from retarget.results import Outcome

from pytest_retarget.record import record_of


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
