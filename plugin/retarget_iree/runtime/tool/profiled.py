"""How long dispatches take by the device's own clock: `iree-benchmark-module` records them, `iree-profile` tells."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

__all__ = ["seconds_of_calls", "seconds_on_device"]

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
