"""The record of what happened to a target, as its report carries it: see `retarget.results.record`."""

from __future__ import annotations

import pytest
from retarget.results.record import TargetRecord, from_plain

__all__ = ["RECORD", "record_of"]

RECORD = "retarget_record"
"""The attribute of a target's report that holds the record."""


def record_of(report: pytest.CollectReport | pytest.TestReport) -> TargetRecord | None:
    """Return the record that a report carries; None where it is not a target's, or says nothing yet."""
    if isinstance(plain := getattr(report, RECORD, None), dict):  # it came from a worker of xdist
        setattr(report, RECORD, from_plain(plain))
    found: TargetRecord | None = getattr(report, RECORD, None)
    return found
