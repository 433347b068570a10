"""Dispatches counted from the JSON lines of a replay recording."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from retarget.extension import DriverError
from retarget_iree.runtime.tool import count_dispatches, recorded_dispatches


def line(operation: str, device: int, number: int, **payload: int) -> str:
    record = {"kind": "operation", "device_id": device, "object_id": number, "operation": operation}
    return json.dumps(record | {"payload": payload}, separators=(",", ":"))


def device(number: int) -> str:
    record = {"kind": "object", "device_id": 0, "object_id": number, "object_type": "device", "operation": "none"}
    return json.dumps(record, separators=(",", ":"))


def test_a_command_buffer_counts_as_often_as_the_queue_of_its_device_executes_it() -> None:
    lines = [
        device(1),
        device(3),
        line("command_buffer.dispatch", 3, 9),
        line("command_buffer.dispatch", 3, 9),
        line("command_buffer.dispatch", 1, 10),
        line("device.queue_execute", 3, 3, command_buffer_id=9),
        line("device.queue_execute", 3, 3, command_buffer_id=9),
        line("device.queue_execute", 1, 1, command_buffer_id=0),
    ]
    assert count_dispatches(lines) == (0, 4)


def test_what_goes_to_the_queue_without_a_command_buffer_counts_too() -> None:
    assert count_dispatches([device(1), line("device.queue_dispatch", 1, 1)]) == (1,)


def test_a_tool_that_is_missing_or_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"cannot be read: .*nothing does not start: No such file or directory"):
        recorded_dispatches(tmp_path / "a", tmp_path / "nothing")
    with pytest.raises(DriverError, match="what was executed on which device cannot be read: "):
        recorded_dispatches(tmp_path / "a", Path(sys.executable))
