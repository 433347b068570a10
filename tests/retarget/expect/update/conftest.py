"""The day on which rules are updated, or have expired."""

from __future__ import annotations

from datetime import date

import pytest


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.model.declared.today", lambda: date(2026, 5, 1))
