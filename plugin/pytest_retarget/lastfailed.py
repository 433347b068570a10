"""`--lf` reruns blocked targets: to pytest's cache they count as failed, though they are reported as skipped."""

from __future__ import annotations

import copy
from typing import Any

import pytest

__all__ = ["BLOCKED", "RememberBlocked"]

BLOCKED = "retarget_blocked"
"""The attribute that a blocked report has."""


class RememberBlocked:
    """A plugin that lets pytest's own record of failures take a blocked report for a failed one.

    Its hook comes after that record's, which forgets what was skipped. It does nothing under `-p no:cacheprovider`.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record: Any = self._plugins.getplugin("lfplugin")
        if record is not None and getattr(report, BLOCKED, False):
            twin = copy.copy(report)
            twin.outcome = "failed"
            record.pytest_runtest_logreport(report=twin)
