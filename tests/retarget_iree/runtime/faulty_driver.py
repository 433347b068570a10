"""The driver `faulty`: local-sync that crashes, hangs, loses its device or returns garbage where its flags say.

    --fault=WHERE:WHAT   WHERE: probe, open, transfer, load, call (before its work starts), dispatch (when it has),
                         after (when it is done), values.
                         WHAT: crash, hang, lose (an error), die (lose and crash), garbage
    --also=WHERE:WHAT    another fault
    --in=FUNCTION        only in calls of that function
    --nth=N              only the Nth time, over all processes
    --opens=N            a lost device opens again after N times in vain (default: never)
    --state=DIR          the folder of what it remembers between processes, where each line of `opens` is an opening

A test double, because no real device does such a thing on demand; what it computes is real.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from retarget.extension import CheckSink, Device, Driver, DriverError, FunctionInfo, Program, Transfers, hookimpl
from retarget.model import DeviceInfo, RuntimeConfig
from retarget_iree.runtime.drivers import DRIVERS

REAL = next(driver for driver in DRIVERS if driver.name == "local-sync")


class Faults:
    """What is to go wrong, and where."""

    def __init__(self, flags: Sequence[str]) -> None:
        said = dict(flag.removeprefix("--").split("=", 1) for flag in flags)
        self.state = Path(said["state"])
        self._faults = dict(said[name].split(":") for name in ("fault", "also") if name in said)
        self._function = said.get("in", "")
        self._nth = int(said.get("nth", 0))
        self._opens = int(said.get("opens", 1_000_000))

    def at(self, where: str, function: str = "") -> bool:
        """Go wrong, if this is the place. Return whether values are to be garbage."""
        what = self._faults.get(where)
        if what is None or self._function not in {"", function}:
            return False
        if self._nth and self._count("times") != self._nth:
            return False
        if what in {"lose", "die"}:
            (self.state / "gone").write_text(str(self._opens))
        if what in {"crash", "die"}:
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "hang":
            time.sleep(600)
        if what == "lose":
            msg = "DEVICE_LOST; the device is gone"
            raise DriverError(msg)
        return True

    def expect_device(self) -> None:
        self._count("opens")
        gone = self.state / "gone"
        left = int(gone.read_text()) if gone.exists() else 0
        if left:
            gone.write_text(str(left - 1))
            msg = "NOT_FOUND; there is nothing on the bus"
            raise DriverError(msg)

    def _count(self, name: str) -> int:
        with (self.state / name).open("a+") as file:
            file.write("x\n")
            file.seek(0)
            return len(file.readlines())


class FaultyProgram(Program):
    def __init__(self, real: Any, faults: Faults) -> None:
        self._real, self._faults, self._function = real, faults, ""
        self.functions = real.functions

    def report_work(self, started: Callable[[], None]) -> None:
        def dispatch() -> None:
            started()
            self._faults.at("dispatch", self._function)

        self._real.report_work(dispatch)

    def call(self, function: str, inputs: Sequence[Any], on_check: CheckSink) -> Sequence[Any]:
        self._function = function
        self._faults.at("call", function)
        is_garbage = self._faults.at("values", function)
        results: Sequence[Any] = self._real.call(
            function,
            inputs,
            lambda check: on_check(dataclasses.replace(check, actual=check.actual + 1) if is_garbage else check),
        )
        self._faults.at("after", function)
        return results


class FaultyDevice(Device):
    def __init__(self, real: Any, faults: Faults, info: DeviceInfo) -> None:
        self._real, self._faults = real, faults
        self.infos = (info,)

    def load(self, artifact: bytes) -> FaultyProgram:
        is_garbage = self._faults.at("load")
        return FaultyProgram(self._real.load(b"garbage" if is_garbage else artifact), self._faults)

    def transfers(self) -> Transfers:
        """The memory of local-sync; reading goes wrong."""
        transfers: Any = self._real.transfers()
        real = transfers.read

        def read(source: Any) -> bytes:
            found: bytes = real(source)
            return bytes(len(found)) if self._faults.at("transfer") else found

        transfers.read = read
        return transfers

    def close(self) -> None:
        self._real.close()


class FaultyDriver(Driver):
    name = "faulty"
    artifact_suffixes = (".vmfb",)

    def probe(self) -> Sequence[DeviceInfo]:
        Faults(os.environ.get("FAULTY", "--state=.").split()).at("probe")
        return [
            dataclasses.replace(info, driver="faulty", name="Faulty 1", physical_id="faulty-1", exclusive=True)
            for info in REAL.probe()
        ]

    def open(self, config: RuntimeConfig) -> FaultyDevice:
        faults = Faults(config.flags)
        faults.expect_device()
        faults.at("open")
        real = REAL.open(replace(config, driver="local-sync", devices=(), flags=()))
        return FaultyDevice(real, faults, self.probe()[0])

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        return REAL.functions(artifact)


@hookimpl
def retarget_drivers() -> Sequence[FaultyDriver]:
    return [FaultyDriver()]
