"""What IREE's replay recording says of a call: how many dispatches were executed on each device."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from retarget.extension import DriverError
from retarget.support.text import first_line

__all__ = ["RECORDING_FLAG", "count_dispatches", "recorded_dispatches"]

RECORDING_FLAG = "--device_replay_output"
"""The flag of `iree-run-module` that names the file to record to."""

_COUNTED = ('"kind":"object"', ".dispatch", ".queue_dispatch", ".queue_execute")


def recorded_dispatches(recording: Path, tool: Path) -> tuple[int, ...]:
    """Return the number of dispatches executed on each device, in the order of the devices. `tool` is
    `iree-dump-replay`. Raises `DriverError` for a recording that it cannot read."""
    argv = [str(tool), "--format=jsonl", str(recording)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        msg = f"what was executed on which device cannot be read: {tool} does not start: {error.strerror or error}"
        raise DriverError(msg) from error
    if done.returncode:
        msg = f"what was executed on which device cannot be read: {first_line(done.stderr, 'no message')}"
        raise DriverError(msg)
    return count_dispatches(done.stdout.splitlines())


def count_dispatches(lines: Iterable[str]) -> tuple[int, ...]:
    """Count the dispatches that each device executed, from the JSON lines of a recording.

    What is recorded into a command buffer counts once for each time that the device's queue executes it.
    """
    executed: Counter[int] = Counter()
    in_buffer: Counter[int] = Counter()
    devices: list[int] = []
    for line in lines:
        if not any(word in line for word in _COUNTED):
            continue
        record = json.loads(line)
        operation, device = record.get("operation"), record.get("device_id")
        if record["kind"] == "object" and record.get("object_type") == "device":
            devices.append(record["object_id"])
        elif operation == "command_buffer.dispatch":
            in_buffer[record["object_id"]] += 1
        elif operation == "device.queue_execute":
            executed[device] += in_buffer[record["payload"]["command_buffer_id"]]
        elif operation == "device.queue_dispatch":
            executed[device] += 1
    return tuple(executed[device] for device in devices)
