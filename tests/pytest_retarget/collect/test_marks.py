"""Tags as marks of pytest."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_retarget.collect.marks import Marks
from retarget.model import CompilerConfig, CompileTarget, Module, Origin


def test_a_device_with_a_colon_is_a_mark_that_pytest_does_not_warn_of(pytestconfig: pytest.Config) -> None:
    origin = Origin(file=Path("matrix.toml"), key_path="")
    target = CompileTarget(
        name="a_c",
        suite="s",
        kind="check",
        folder=Path(),
        module=Module(name="a", path=Path("a.mlir")),
        compiler=CompilerConfig(name="c", compiler="none", origin=origin),
        flags=(),
        timeout=None,
        tags=("vulkan://0", "vulkan"),
    )
    marks = Marks(pytestconfig)
    marks.register([target])
    assert [mark.name for mark in marks.of(target)][:2] == ["vulkan://0", "vulkan"]
    assert not any(line.startswith("vulkan://0") for line in pytestconfig.getini("markers"))
