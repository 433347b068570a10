"""The HAL driver `mychip`, which a fork of IREE has in its build of the runtime."""

from __future__ import annotations

from retarget.extension import hookimpl
from retarget_iree.runtime.drivers import IreeDriver


@hookimpl
def retarget_drivers() -> tuple[IreeDriver, ...]:
    return (
        IreeDriver(
            name="mychip",
            words=("npu",),
            missing=(("no devices", "the driver mychip finds no device on this machine"),),
            hint="load the kernel module mychip",
        ),
    )
