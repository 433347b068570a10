"""The checks of a driver without any compiler (rung 2 of a bring-up), and their outcomes."""

from __future__ import annotations

from enum import StrEnum, auto

from msgspec import Struct

from retarget.model.outcomes import DeviceInfo, Rung


class DriverCheck(Struct, frozen=True, kw_only=True):
    """A check: its name (`fill.ranges`), and what it proves in one sentence."""

    name: str
    proves: str


class CheckState(StrEnum):
    """The outcome of a check.

    NOT_APPLICABLE: what the device announces leaves nothing to check. NOT_TRIED: the device was not opened, or it does
    have no `Transfers`.
    """

    PASSED = auto()
    FAILED = auto()
    CRASHED = auto()
    TIMED_OUT = "timed out"
    NOT_APPLICABLE = "not applicable"
    NOT_TRIED = "not tried"


class DriverCheckOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of one check on one device.

    `config` is the runtime config, which has the driver's name where none was declared. `rung` is how far the check
    shows the driver to be. `detail` is one line, empty if it passed; `text` all that is known: what the check did, to
    the last thing before a crash.
    """

    config: str
    driver: str
    check: str
    proves: str
    state: CheckState
    rung: Rung
    detail: str = ""
    text: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """True where the driver did what it must not."""
        return self.state in {CheckState.FAILED, CheckState.CRASHED, CheckState.TIMED_OUT}


class DriverReport(Struct, frozen=True, kw_only=True):
    """How far a driver comes without a compiler: at most `Rung.TRANSFERS`, which takes that no check fails.

    `reason` says why the rung is below `TRANSFERS` where no check does, and `hint` what to do about it. A driver or
    device that is `unavailable` is not on this machine.
    """

    config: str
    driver: str
    devices: tuple[DeviceInfo, ...]
    rung: Rung
    outcomes: tuple[DriverCheckOutcome, ...]
    reason: str = ""
    hint: str = ""
    unavailable: bool = False
