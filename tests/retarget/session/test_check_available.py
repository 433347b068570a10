"""What a target needs of a machine is looked for in turn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.session.engine import Engine


@pytest.mark.parametrize(
    ("artifacts", "asked"),
    [
        (None, ["kind check", "driver vulkan", "driver cuda", "compiler c", "devices m_c_r"]),
        ("folder", ["kind check", "driver vulkan", "driver cuda", "devices m_c_r"]),
    ],
)
def test_kind_drivers_compiler_and_devices_are_asked_for(artifacts: str | None, asked: list[str]) -> None:
    found: list[str] = []
    engine: Any = SimpleNamespace(
        registry=SimpleNamespace(
            case_loader=lambda kind: found.append(f"kind {kind}"), driver=lambda name: found.append(f"driver {name}")
        ),
        _artifact_folder=artifacts,
        check_compiler=lambda config: found.append(f"compiler {config.name}"),
        devices_of=lambda target: found.append(f"devices {target.name}"),
    )
    Engine.check_available(engine, run_target(compile_target(), driver="vulkan", devices=("vulkan://0", "cuda://0")))
    assert found == asked
