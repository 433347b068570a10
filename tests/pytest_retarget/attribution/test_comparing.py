"""The command that compares a failure with a target that passes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.attribution.reports import AttributionHooks
from pytest_retarget.options import SETTINGS, Settings
from retarget.results import TargetRecord


@pytest.mark.parametrize(
    ("file", "extensions", "words"),
    [
        ("", (), "compare m s.toml --configs c/x,c/y"),
        ("m.mlir", (), "compare m.mlir --configs c/x,c/y"),
        ("", ("known", "new"), "compare --retarget-extension new m s.toml --configs c/x,c/y"),
    ],
)
def test_it_names_the_module_both_targets_and_extensions_that_are_not_known(
    monkeypatch: pytest.MonkeyPatch, file: str, extensions: tuple[str, ...], words: str
) -> None:
    monkeypatch.setattr("pytest_retarget.attribution.reports.Commands.program", lambda _: "retarget")
    monkeypatch.setenv("RETARGET_EXTENSIONS", "known:other")
    config: Any = SimpleNamespace(stash=pytest.Stash())
    config.stash[SETTINGS] = Settings(extensions=extensions)
    failed, passing = (
        TargetRecord(file="s.toml", suite="s", compiler="c", runtime=runtime, module="m", module_file=file)
        for runtime in "xy"
    )
    assert AttributionHooks(config)._comparing("m", failed, passing) == f"retarget {words}"
