"""The driver `guarded`: IREE's local-sync, on a device that one run may use at a time, and that notices when two do.

A run locks the file that GUARDED_BY names; whoever finds it locked writes a line beside it. The kernel frees the lock
when a process ends, however it ends. Loaded by `--retarget-extension guarded`.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from retarget.extension import CheckSink, Device, Driver, FunctionInfo, Program, hookimpl
from retarget.model import DeviceInfo, RuntimeConfig
from retarget_iree.runtime.drivers import IreeDriver

_SECONDS = 0.03
"""How long a run uses the device beyond its call."""


class GuardedProgram(Program):
    def __init__(self, program: Program) -> None:
        self._program = program
        self.functions = program.functions

    def call(self, function: str, inputs: Sequence[Any], on_check: CheckSink) -> Sequence[Any]:
        guard = Path(os.environ["GUARDED_BY"])
        with guard.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with guard.with_suffix(".two").open("a") as found:
                    found.write(f"{os.getpid()} at {time.time()}\n")
            time.sleep(_SECONDS)
            return self._program.call(function, inputs, on_check)


class GuardedDevice(Device):
    def __init__(self, device: Device) -> None:
        self._device = device
        self.infos = [_guarded(info) for info in device.infos]

    def load(self, artifact: bytes) -> Program:
        return GuardedProgram(self._device.load(artifact))

    def close(self) -> None:
        self._device.close()


class GuardedDriver(Driver):
    name = "guarded"

    def __init__(self) -> None:
        self._iree = IreeDriver(name="local-sync")

    def probe(self) -> Sequence[DeviceInfo]:
        return [_guarded(info) for info in self._iree.probe()]

    def open(self, config: RuntimeConfig) -> Device:
        return GuardedDevice(self._iree.open(replace(config, driver="local-sync")))

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        return self._iree.functions(artifact)

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        return (self.name,)


def _guarded(info: DeviceInfo) -> DeviceInfo:
    return dataclasses.replace(info, driver="guarded", physical_id="guarded", exclusive=True)


@hookimpl
def retarget_drivers() -> Sequence[GuardedDriver]:
    return (GuardedDriver(),)
