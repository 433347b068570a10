"""Times warm, repeated calls of a loaded program. Their results are not compared."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import Program
from retarget.model.outcomes import CallTimes
from retarget.worker.messages import Timing

if TYPE_CHECKING:
    from retarget.extension import Array

_FEWEST, _MOST = 64, 20_000
"""The number of calls: fewer have no useful spread, more take memory and add nothing."""

_LEAST_SHARE = 0.25
"""The least share of the time to time calls for, so that a short disturbance is not in all of them."""

_WARM_SHARE = 0.1
"""The share of the time for warm-up calls, which are not counted."""

_GROUPS = 32
"""How many samples are kept."""

_DEVICE_CALLS = 256
_DEVICE_SHARE = 0.25
"""How many calls the device's clock times at most, and how much more wall time they may take."""

_Z95 = 1.959964
"""The quantile of the normal distribution for a confidence of 95 %."""


def call_times(
    program: Program, function: str, inputs: Sequence[Array], timing: Timing, first: float, *, artifact: Path = Path()
) -> CallTimes:
    """Time repeated calls of a function, for `timing.seconds`. `first` are the seconds of its first call, `artifact` is
    the program's file.

    Raises `DriverError`.
    """
    times = timed(program.bind_call(function, inputs), timing)
    device: tuple[float, ...] = ()
    if program.overrides("device_seconds"):
        affordable = int(_DEVICE_SHARE * timing.seconds / max(statistics.median(times), 1e-9))
        device = _samples(program.device_seconds(function, inputs, min(max(affordable, 1), _DEVICE_CALLS), artifact))
    return CallTimes(
        first=first,
        median=statistics.median(times),
        spread=median_spread(times),
        calls=len(times),
        samples=_samples(times),
        device=device,
    )


def timed(call: Callable[[], object], timing: Timing) -> list[float]:
    """Return the seconds of warm calls, in order; at least one. Python's garbage collection is off meanwhile."""
    clock = time.perf_counter
    start = clock()
    call()
    while clock() - start < _WARM_SHARE * timing.seconds:
        call()
    times: list[float] = []
    check, was_enabled = _FEWEST, gc.isenabled()
    gc.disable()
    try:
        while True:
            before = clock()
            call()
            now = clock()
            times.append(now - before)
            if now - start >= timing.seconds or len(times) >= _MOST:
                return times
            if len(times) >= check and now - start >= _LEAST_SHARE * timing.seconds:
                if median_spread(times) <= timing.spread:
                    return times
                check = math.ceil(1.3 * check)
    finally:
        if was_enabled:
            gc.enable()


def median_spread(times: Sequence[float]) -> float:
    """Return half the width of the 95 % confidence interval of the median, as a share of it; 1.0 of a single time.

    The interval lies between order statistics: the ranks n/2 -+ 1.96 sqrt(n)/2 (normal form of the sign test).
    """
    if len(times) < 2:
        return 1.0
    ordered, half = sorted(times), _Z95 * math.sqrt(len(times)) / 2
    low = max(math.floor(len(times) / 2 - half), 0)
    high = min(math.ceil(len(times) / 2 + half), len(times) - 1)
    median = statistics.median(ordered)
    return (ordered[high] - ordered[low]) / (2 * median) if median else 0.0


def _samples(times: Sequence[float]) -> tuple[float, ...]:
    size = max(len(times) // _GROUPS, 1)
    return tuple(min(times[start : start + size]) for start in range(0, len(times) - size + 1, size))
