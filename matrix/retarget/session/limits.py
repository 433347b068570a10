"""Time limits in seconds, the same for pytest and for the commands; those of targets where they declare none."""

from __future__ import annotations

from msgspec import Struct


class Timeouts(Struct, frozen=True, kw_only=True):
    """How long one compile and one run may take. `open` is for opening a runtime config's devices, and for listing a
    driver's: a driver may first try its compilers, which takes a slow or busy machine a minute. `check` is for one
    check of a driver: on a device that works they take less than a second."""

    compile: float = 600.0
    run: float = 120.0
    open: float = 120.0
    check: float = 60.0


TIMEOUTS = Timeouts()


class CoolDowns(Struct, frozen=True, kw_only=True):
    """How a device that does not answer is probed again: after `first` seconds, then each time after twice as long, up
    to `longest`. The target that ran on it waits for the first `waits` of these probes. A probe may take `probe`
    seconds."""

    first: float = 2.0
    longest: float = 60.0
    waits: int = 2
    probe: float = 30.0


COOL_DOWNS = CoolDowns()
