"""IREE's recordings of calls: how many dispatches were executed on each device, and how long they took."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from retarget.extension import DriverError
from retarget.support.text import first_line

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


_TIMEOUT = 60.0
_CALLS = 64
"""Calls at most: the tool keeps all dispatches of all calls in memory."""


def seconds_on_device(
    folder: Path, device: str, *, artifact: Path, function: str, inputs: Callable[[Path], Sequence[str]], calls: int
) -> tuple[float, ...]:
    """Return the seconds that the dispatches of each call took, of `calls` at most; none where the tools, which lie in
    `folder`, or the driver cannot say. `inputs` writes files to a folder and returns the flags of the arguments."""
    calls = min(calls, _CALLS)
    with tempfile.TemporaryDirectory(prefix="retarget-profile-") as place:
        profile = Path(place) / "calls.ireeprof"
        run = [str(folder / "iree-benchmark-module"), f"--device={device}", f"--module={artifact}"]
        run += [f"--function={function}", *inputs(Path(place)), f"--benchmark_min_time={calls + 1}x"]
        run += ["--device_profiling_mode=dispatch-events", f"--device_profiling_output={profile}"]
        show = [str(folder / "iree-profile"), "dispatch", "--format=jsonl", "--dispatch_events", str(profile)]
        try:
            for argv in (run, show):
                done = subprocess.run(
                    argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=_TIMEOUT
                )
        except (OSError, subprocess.SubprocessError):
            return ()
        return seconds_of_calls(done.stdout.splitlines(), calls + 1)


def seconds_of_calls(lines: Iterable[str], calls: int) -> tuple[float, ...]:
    """Return the seconds of each of so many calls but the first, from the events of all their dispatches, in order;
    nothing where events are missing or have no time."""
    events = [json.loads(line) for line in lines if '"dispatch_event"' in line]
    if not events or len(events) % calls or not all(one.get("valid") and "duration_ns" in one for one in events):
        return ()
    each = len(events) // calls
    times = [float(one["duration_ns"]) * 1e-9 for one in events]
    return tuple(sum(times[start : start + each]) for start in range(each, len(times), each))
