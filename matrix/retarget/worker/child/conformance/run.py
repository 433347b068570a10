"""Runs one check on an opened device, and returns its outcome."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence

from retarget.extension import Device, DriverError
from retarget.model.driver_checks import CheckState, DriverCheck
from retarget.worker.child.conformance import commands, memory, queues
from retarget.worker.child.conformance.bench import Bench, Check, CheckFailedError, NotApplicableError
from retarget.worker.messages import CheckedDriver

CHECKS: tuple[Check, ...] = (*memory.CHECKS, *commands.CHECKS, *queues.CHECKS)
"""All checks, the simplest of each kind first."""


def driver_checks() -> Sequence[DriverCheck]:
    """Return what the checks are called, what they prove and their digests."""
    return [
        DriverCheck(name=one.name, proves=" ".join((inspect.getdoc(one.run) or "").split()), digest=_digest(one))
        for one in CHECKS
    ]


def _digest(check: Check) -> str:
    return hashlib.sha256(f"{check.name} {check.version}".encode()).hexdigest()[:12]


def run_check(device: Device | None, driver: str, name: str) -> CheckedDriver:
    """Run the check `name` on a device of a driver; none is open where a driver's programs are run by a tool."""
    transfers = None if device is None else device.transfers()
    if transfers is None:
        detail = f"the driver {driver} does not implement Device.transfers"
        return CheckedDriver(state=CheckState.NOT_TRIED, detail=detail)
    (check,) = (one for one in CHECKS if one.name == name)
    bench = Bench(transfers)
    try:
        check.run(bench)
        bench.release()
    except NotApplicableError as reason:
        return CheckedDriver(state=CheckState.NOT_APPLICABLE, detail=str(reason))
    except CheckFailedError as failure:
        detail = str(failure)
    except DriverError as error:
        detail = f"{bench.last}{bench.refused}: the driver refuses it: {error}"
    else:
        return CheckedDriver(state=CheckState.PASSED)
    bench.let_go()
    return CheckedDriver(state=CheckState.FAILED, detail=detail)
