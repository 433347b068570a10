"""`--lf` reruns blocked targets: to pytest's cache they count as failed, though they are reported as skipped."""

from __future__ import annotations

import copy
from typing import Any

import pytest

__all__ = ["remember_blocked"]


def remember_blocked(config: pytest.Config, report: pytest.TestReport) -> None:
    """Let pytest's own record of failures take a blocked report for a failed one.

    Call it after that record has seen the report. Does nothing under `-p no:cacheprovider`.
    """
    record: Any = config.pluginmanager.getplugin("lfplugin")
    if record is None:
        return
    twin = copy.copy(report)
    twin.outcome = "failed"
    record.pytest_runtest_logreport(report=twin)
