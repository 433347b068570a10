"""How a failure is compared with a target that passes, or how to do so by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.attribution.reports import _Comparer
from pytest_retarget.options import SETTINGS, Settings
from retarget.results import TargetRecord
from retarget.support import RetargetError

FAILED, PASSING = (
    TargetRecord(file="s.toml", suite="s", compiler="c", runtime=runtime, module="m") for runtime in "xy"
)
HINT = "to compare them by hand: retarget compare m s.toml --configs c/x,c/y"


def compared(limit: int, monkeypatch: pytest.MonkeyPatch, *answers: object, **settings: Any) -> list[str]:
    """Return what is said of one module after the other, as often as there are answers."""
    left = iter(answers)

    def compare(*_: object) -> str:
        if isinstance(answer := next(left), Exception):
            raise answer
        return ""

    monkeypatch.setattr(_Comparer, "_compare", compare)
    monkeypatch.setattr("pytest_retarget.attribution.reports.Commands.program", lambda _: "retarget")
    config: Any = SimpleNamespace(stash=pytest.Stash())
    config.stash[SETTINGS] = Settings(**settings)
    with _Comparer(config, limit) as comparer:
        return [comparer.compare((f"s.toml::s::{number}", "m"), FAILED, PASSING) for number in range(len(answers))]


def test_beyond_the_limit_and_where_it_fails_only_the_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(2, monkeypatch, RetargetError("no"), None, None) == [HINT] * 3
    assert compared(0, monkeypatch, None) == [HINT]
    monkeypatch.setenv("RETARGET_EXTENSIONS", "known:other")
    hint = HINT.replace("compare m", "compare --retarget-extension new m")
    assert compared(0, monkeypatch, None, extensions=("known", "new")) == [hint]


def test_where_nothing_is_compiled_no_command_is_said_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(1, monkeypatch, None, None, artifacts=Path("out")) == ["", ""]
