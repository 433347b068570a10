"""What an IREE device does where its runtime refuses something, or has several devices. The runtime's are doubles."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from retarget.extension import DriverError
from retarget_iree.checks import CheckCaseLoader
from retarget_iree.flagfile.loader import RunModuleCaseLoader
from retarget_iree.runtime import program
from retarget_iree.runtime.program import IreeDevice, IreeProgram


def device_of(*devices: Any) -> IreeDevice:
    made = IreeDevice.__new__(IreeDevice)
    made._devices = list(devices)
    return made


VISIBLE, MAPPABLE = int(program.rt.MemoryType.HOST_VISIBLE), int(program.rt.BufferUsage.MAPPING_SCOPED)


@pytest.mark.parametrize(
    ("memory", "usage", "content"), [(VISIBLE, MAPPABLE, [1]), (0, MAPPABLE, [2]), (VISIBLE, 0, [2])]
)
def test_a_buffer_is_staged_where_it_cannot_be_mapped(
    monkeypatch: pytest.MonkeyPatch, memory: int, usage: int, content: list[int]
) -> None:
    monkeypatch.setattr(program, "_staged", lambda *_: np.array([2], np.uint8))
    buffer = SimpleNamespace(
        memory_type=lambda: memory, allowed_usage=lambda: usage, map=lambda: np.array([1], np.uint8)
    )
    assert device_of("d")._content(buffer).tolist() == content


def test_a_buffer_is_read_by_the_device_that_owns_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def staged(device: str, _: object) -> str:
        if device != "owner":
            msg = f"{device} cannot"
            raise RuntimeError(msg)
        return "its bytes"

    monkeypatch.setattr(program, "_staged", staged)
    buffer = SimpleNamespace(memory_type=lambda: 0, allowed_usage=lambda: 0)
    assert device_of("a", "owner", "b")._content(buffer) == "its bytes"
    with pytest.raises(DriverError, match=r"^reading a buffer back from the device failed: a cannot; b cannot$"):
        device_of("a", "b")._content(buffer)


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("NOT_FOUND; no module 'io_parameters'", "the module needs parameters"),
        ("no entry in parameters/x", "the module needs parameters"),
        ("required module 'other' not registered", "the module imports a module that this runtime does not have"),
        ("no executable", "the module holds no code for this device"),
        ("NOT_FOUND; x", "the module holds no code for this device"),
        ("UNAVAILABLE; x", "the module holds no code for this device"),
        ("INCOMPATIBLE; x", "the module holds no code for this device"),
        ("INTERNAL; x", ""),
    ],
)
def test_an_artifact_that_is_refused_has_a_hint_where_the_message_says_why(
    monkeypatch: pytest.MonkeyPatch, message: str, hint: str
) -> None:
    monkeypatch.setattr(program, "parameters_hint", lambda _: "the module needs parameters")
    found = program._load_hint(message, {})
    assert found.startswith(hint)
    assert bool(found) is bool(hint)


@pytest.mark.parametrize(
    ("known", "seconds"),
    [
        ({}, (1.0,)),
        ({"exclusive": False}, ()),
        ({"devices": 2}, ()),
        ({"tool": None}, ()),
        ({"has_parameters": True}, ()),
    ],
)
def test_the_clock_of_one_device_of_its_own_times_calls(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], seconds: tuple[float, ...]
) -> None:
    asked = []

    def measure(folder: Path, uri: str, **given: Any) -> tuple[float, ...]:
        asked.append((folder, uri, given.pop("inputs")(Path("/inputs")), given))
        return (1.0,)

    tool = known.get("tool", Path("/tools/iree-benchmark-module"))
    monkeypatch.setattr("retarget_iree.toolchain.find_runtime", lambda: SimpleNamespace(tool=tool))
    monkeypatch.setattr("retarget_iree.runtime.tool.seconds_on_device", measure)
    monkeypatch.setattr("retarget_iree.runtime.tool.input_flag", lambda array, *rest: (array.tolist(), *rest))
    info = SimpleNamespace(uri="vulkan://0", exclusive=known.get("exclusive", True))
    made = IreeProgram.__new__(IreeProgram)
    made._device = SimpleNamespace(infos=[info] * known.get("devices", 1))  # type: ignore[assignment]
    made._has_parameters = known.get("has_parameters", False)
    made._signatures = {"f": SimpleNamespace(passed=lambda name, count: [("r", f"{name} {count}")])}  # type: ignore[dict-item]
    assert made.device_seconds("f", [np.array([1, 2])], 7, Path("a.vmfb")) == seconds
    given = {"artifact": Path("a.vmfb"), "function": "f", "calls": 7}
    inputs = [([1, 2], "r", "f 1", Path("/inputs/input0"))]
    assert asked == ([(Path("/tools"), "vulkan://0", inputs, given)] if seconds else [])


def test_the_kinds_are_asked_in_the_documented_order() -> None:
    assert (RunModuleCaseLoader.precedence, CheckCaseLoader.precedence) == (40, 30)
