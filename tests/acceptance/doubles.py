"""A compiler and a driver that do on demand what real ones cannot: crash, hang, differ, not be there.

A module is lines of `function: behaviour`; the line `compile: behaviour` is the compiler's own. Behaviours: `pass`,
`fail`, `crash`, `hang`, `raise`, `leave`, `unplug` (a crash, after which the device does not open), `trouble` (a
failed compile that is no verdict), `fail-2`, which fails the first two times, and `fail@9001`, which fails on the
device of that model: `DOUBLE_MODEL` says which one is here. What hangs writes its process id
beside the module first, as `<file>.pid`; what fails at first keeps count there, as `<file>.count`.
The line `needs: …` has what the artifact needs of the device. The device `slow`
hangs when it is closed, and writes `closing.pid` first.
Loaded by `--retarget-extension doubles`, in pytest's process as well as in the workers.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import (
    Case,
    CaseLoader,
    CaseRequest,
    Check,
    CheckSink,
    Compiled,
    Compiler,
    CompileRequest,
    CompilerError,
    Device,
    Driver,
    DriverError,
    FunctionInfo,
    Program,
    Resolved,
    RunPlan,
    UnavailableError,
    hookimpl,
)
from retarget.model import CompilerConfig, CompileTarget, DeviceInfo, RuntimeConfig

MODEL = os.environ.get("DOUBLE_MODEL", "9000")


def behave(behaviour: str, pid_file: Path) -> None:
    if behaviour == "crash":
        print("about to crash", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGFPE)
    if behaviour == "unplug":
        pid_file.with_name("unplugged").touch()
        os.kill(os.getpid(), signal.SIGSEGV)
    if behaviour == "leave":
        os._exit(3)
    if behaviour == "hang":
        beside = pid_file.with_name(pid_file.name + ".new")
        beside.write_text(str(os.getpid()))
        beside.replace(pid_file)
        time.sleep(600)


def settled(behaviour: str, count_file: Path) -> str:
    """What a behaviour comes to this time: `fail-2` is `fail` twice, and `pass` from then on."""
    behaviour, _, model = behaviour.partition("@")
    if model and model != MODEL:
        return "pass"
    word, _, times = behaviour.partition("-")
    if not times:
        return behaviour
    count = int(count_file.read_text()) if count_file.exists() else 0
    count_file.write_text(str(count + 1))
    return word if count < int(times) else "pass"


def behaviours(text: str) -> list[tuple[str, str]]:
    pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
    return [(name.strip(), behaviour.strip()) for name, _, behaviour in pairs]


class DoubleCompiler(Compiler):
    name = "double"
    artifact_suffix = ".double"

    def fingerprint(self, config: CompilerConfig) -> str:
        if "--not-installed" in config.flags:
            msg = "the double compiler is not installed"
            raise UnavailableError(msg, hint="hint: pip install double")
        return "double-1"

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        # Its artifacts name their source, so that what hangs can write beside it: they depend on where that lies.
        return Resolved(build_id="double-1", flags=flags, facts=(("folder", str(Path.cwd())),))

    def compile(self, request: CompileRequest) -> Compiled:
        lines = behaviours(request.source.decode())
        counted = request.source_path.with_name(request.source_path.name + ".count")
        behaviour = settled(dict(lines).get("compile", "pass"), counted)
        if behaviour == "fail":
            summary = "error: cannot fold the widget"
            text = f"{request.source_name}:1:1: \x1b[31merror\x1b[0m: cannot fold the widget\n"
            raise CompilerError(summary, text, verdict=True)
        if behaviour == "trouble":
            msg = "the folding tool is not there"
            raise CompilerError(msg)
        behave(behaviour, request.source_path.with_name(request.source_path.name + ".pid"))
        text = f"{request.source_path}\n" + "\n".join(f"{name}: {what}" for name, what in lines if name != "compile")
        return Compiled(artifact=text.encode())

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        return ("double-backend",)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        return ("double-compile", str(target.module.path), *flags, "-o", str(output))


class DoubleProgram(Program):
    def __init__(self, text: str) -> None:
        source, *lines = text.split("\n")
        self._source = Path(source)
        self._behaviours = dict(behaviours("\n".join(lines)))
        self.needs = self._behaviours.pop("needs", "")
        self.functions = [FunctionInfo(name=name, arguments=0) for name in self._behaviours]

    def call(self, function: str, inputs: Sequence[object], on_check: CheckSink) -> Sequence[object]:
        import numpy as np

        counted = self._source.with_name(self._source.name + ".count")
        behaviour = settled(self._behaviours[function], counted)
        behave(behaviour, self._source.with_name(self._source.name + ".pid"))
        if behaviour == "raise":
            msg = "the double device lost its way"
            raise DriverError(msg)
        actual = np.array([1.0, 2.0 if behaviour == "pass" else 3.0], np.float32)
        on_check(Check(kind="eq", actual=actual, expected=np.array([1.0, 2.0], np.float32)))
        return ()


class DoubleDevice(Device):
    def __init__(self, config: RuntimeConfig | None) -> None:
        self.infos = DoubleDriver().probe()
        self._is_slow = config is not None and "slow" in config.devices

    def load(self, artifact: bytes) -> DoubleProgram:
        return DoubleProgram(artifact.decode())

    def close(self) -> None:
        if self._is_slow:
            behave("hang", Path("closing.pid"))


class DoubleDriver(Driver):
    name = "double-device"

    def probe(self) -> Sequence[DeviceInfo]:
        return [
            DeviceInfo(
                driver=self.name,
                uri="double://0",
                ordinal=0,
                name=f"Double {MODEL}",
                physical_id="double-0",
                driver_version=f"doubles {MODEL[0]}.1",
                vendor="Acme",
                driver_name=f"doubles-{MODEL}",
                type="cpu",
                features=(("memory", 2**30), ("device_type", "cpu"), ("double-device.lanes", 4)),
            )
        ]

    def open(self, config: RuntimeConfig) -> DoubleDevice:
        if "absent" in config.devices:
            msg = "no double device is plugged in"
            raise UnavailableError(msg, hint="hint: plug one in")
        if Path("suites/unplugged").exists():
            msg = "the socket is empty"
            raise DriverError(msg)
        return DoubleDevice(config)

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        return DoubleProgram(artifact.decode()).functions

    def needs(self, artifact: bytes) -> Sequence[str]:
        return [one for one in DoubleProgram(artifact.decode()).needs.split(", ") if one]

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        return ("double-hal",)

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        return RunPlan(argv=("double-run", str(artifact), function))


class DoubleCases(CaseLoader):
    kind = "double"

    def load(self, request: CaseRequest) -> Sequence[Case]:
        return [Case(name=function.name, function=function.name, must_check=False) for function in request.functions]


@hookimpl
def retarget_compilers() -> Sequence[DoubleCompiler]:
    return [DoubleCompiler()]


@hookimpl
def retarget_drivers() -> Sequence[DoubleDriver]:
    return [DoubleDriver()]


@hookimpl
def retarget_case_loaders() -> Sequence[DoubleCases]:
    return [DoubleCases()]
