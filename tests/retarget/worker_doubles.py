"""Test doubles for what a real compiler or driver cannot do on demand: crash, hang, leak, print, refuse.

An extension given to workers by its module name. The compiler `double` upper-cases a module's text; a line that begins
with `@` makes it do something else. The driver `double` reads that text as one function per line,
`<action> <name> <arguments>`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget import extension
from retarget.model import CompilerConfig, CompileTarget, RuntimeConfig, Toolchain
from retarget.model.outcomes import DeviceInfo


def note(text: str) -> None:
    """Append a line to the file that DOUBLE_LOG names: what happened, in all processes."""
    log = os.environ.get("DOUBLE_LOG")
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")


def die(name: str) -> None:
    """End this process by a signal, as native code would."""
    os.write(2, b"last words\n")
    number = signal.Signals[name]
    if number not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(60)


def hang(*, holding_interpreter: bool = False) -> None:
    """Sleep for an hour; in native code that does not release the interpreter, if requested."""
    if holding_interpreter:
        ctypes.PyDLL(None).sleep(3600)
    time.sleep(3600)


def build_file(toolchain: Toolchain | None = None) -> Path | None:
    """The file `build` of a toolchain, or else the module `double_build`, wherever it is imported from."""
    folder = os.environ.get("DOUBLE_TOOLCHAIN") if toolchain is None else str(toolchain.path)
    if folder is not None:
        return Path(folder) / "build"
    spec = importlib.util.find_spec("double_build")
    return Path(spec.origin) if spec is not None and spec.origin else None


def build_found(toolchain: Toolchain | None = None) -> str:
    """What the file says; empty without one."""
    file = build_file(toolchain)
    return file.read_text(encoding="utf-8") if file is not None else ""


def act(word: str, rest: str) -> None:
    """Do what a line asks for."""
    match word:
        case "crash":
            die(rest)
        case "hang":
            os.write(1, b"before the hang\n")
            hang(holding_interpreter=rest == "native")
        case "sleep":
            time.sleep(float(rest))
        case "exit":
            os._exit(int(rest))
        case "print":
            os.write(1, f"{rest} to 1\n".encode())
            os.write(2, f"{rest} to 2\n".encode())
            ctypes.CDLL(None).puts(f"{rest} by stdio".encode())
        case "raise":
            raise ZeroDivisionError(rest)
        case "write":
            path, _, text = rest.partition(" ")
            Path(path).write_text(text, encoding="utf-8")
        case "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
            Path(rest).write_text(str(child.pid), encoding="ascii")
            hang()


def half_of(request: extension.CompileRequest) -> str:
    """What a compile has to do with a front half."""
    return " begins-with-half" if request.front_half == b"half" else " keeps-half" if request.keeps_front_half else ""


class DoubleCompiler(extension.Compiler):
    """Upper-cases."""

    name = "double"
    artifact_suffix = ".up"
    build_has_code = True

    def fingerprint(self, config: CompilerConfig) -> str:
        if os.environ.get("DOUBLE_FINGERPRINT") == "crash":
            die("SIGSEGV")
        if os.environ.get("DOUBLE_FINGERPRINT") == "broken":
            reason = "double.so is missing"
            raise extension.UnavailableError(reason, "pip install double")
        return os.environ.get("DOUBLE_FINGERPRINT", "") or build_found(config.toolchain)

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> extension.Resolved:
        note(f"resolve {config.name}")
        for flag in flags:
            if flag == "--absent":
                reason = "compiler double is not installed"
                raise extension.UnavailableError(reason, "pip install double")
            if flag == "--wrong":
                summary = "unknown flag --wrong"
                raise extension.CompilerError(summary, "double: unknown flag --wrong\n", verdict=True)
            if flag.startswith("--do="):
                act(*flag.removeprefix("--do=").split(":"))
        not_inputs = tuple(flag for flag in flags if flag.startswith("--dump-to="))
        build = os.environ.get("DOUBLE_BUILD") or build_found() or "double 1"
        front_end = extension.Resolved(build_id="front 1", flags=flags) if "--front-end" in flags else None
        half = extension.Resolved(build_id="half 1", flags=("--half",)) if "--half" in flags else None
        if front_end is not None:
            front_end, half = replace(front_end, front_half=half), None
        return extension.Resolved(
            build_id=build,
            flags=flags,
            not_inputs=not_inputs,
            build=self.describe_build(None),
            front_end=front_end,
            front_half=half,
        )

    def describe_build(self, toolchain: Toolchain | None) -> str:
        file = build_file(toolchain)
        return f"double ({build_found(toolchain)}, {file})" if file is not None else "double (double 1)"

    def toolchain_environment(self, config: CompilerConfig | RuntimeConfig) -> Sequence[tuple[str, str]]:
        toolchain = config.toolchain
        assert toolchain is not None
        if not (file := build_file(toolchain)) or not file.is_file():
            reason = f"{toolchain.path} holds no double"
            raise extension.UnavailableError(reason)
        return (("DOUBLE_TOOLCHAIN", str(toolchain.path)),)

    def run_front_end(self, request: extension.CompileRequest) -> extension.Compiled:
        """Take the lines that begin with `@@` out, which are for this step."""
        note(f"front {request.source_name}{half_of(request)}")
        kept = []
        for line in request.source.decode().splitlines():
            if line.startswith("@@refuse"):
                summary = line.removeprefix("@@refuse ")
                raise extension.CompilerError(summary, f"error: {summary}\n", verdict=True)
            if line.startswith("@@"):
                act(*line[2:].split(" ", 1))
            else:
                kept.append(line)
        diagnostics = "" if "--half" in request.resolved.flags else "front end\n"
        return extension.Compiled(artifact="\n".join(kept).encode(), diagnostics=diagnostics, front_half=b"half")

    def compile(self, request: extension.CompileRequest) -> extension.Compiled:
        note(f"compile {request.source_name} pid {os.getpid()}{half_of(request)}")
        text = (request.source if request.front_end is None else request.front_end).decode()
        for line in text.splitlines():
            if line.startswith("@env"):
                text += f"print env {os.environ.get(line.split()[1], 'unset')}\n"
            elif line.startswith("@refuse"):
                summary = line.removeprefix("@refuse ")
                raise extension.CompilerError(summary, f"\x1b[31merror:\x1b[0m {summary}\n", verdict=True)
            elif line.startswith("@reject") and request.keeps_front_half:
                summary = "rejected"
                raise extension.CompilerError(summary, "error: rejected\n", verdict=True, in_front_half=True)
            elif line.startswith("@trouble"):
                raise extension.CompilerError(line.removeprefix("@trouble "))
            elif line == "@empty":
                return extension.Compiled(artifact=b"", diagnostics="last words\n")
            elif line.startswith("@"):
                act(*line[1:].split(" ", 1))
        kept = [line for line in text.splitlines() if not line.startswith("@")] or ["nothing"]
        return extension.Compiled(artifact="\n".join(kept).upper().encode(), front_half=b"half")

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        return ("double",)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        return ("tr", "a-z", "A-Z")


def functions_of(artifact: bytes) -> list[list[str]]:
    lines = [line.split() for line in artifact.decode().lower().splitlines() if line.strip()]
    if lines and lines[0][0] == "load-fail":
        msg = "it does not load\nnot at all"
        raise extension.DriverError(msg, "build it again")
    if lines and lines[0][0].startswith("load-"):
        act(lines[0][0].removeprefix("load-"), " ".join(lines[0][1:]).upper())
    return lines


class DoubleProgram(extension.Program):
    """Functions that check, fail, crash or hang. `poison` makes all later calls of the process fail."""

    poisoned = False

    def __init__(self, lines: list[list[str]]) -> None:
        self._lines = {line[1]: line for line in lines}
        self.functions = [extension.FunctionInfo(name=name, arguments=0) for name in self._lines]

    def call(self, function: str, inputs: Sequence[object], on_check: extension.CheckSink) -> Sequence[object]:
        import numpy as np

        action, _, *rest = self._lines[function]
        note(f"call {function} {time.monotonic()}")
        if self.poisoned:
            msg = "INTERNAL; the context is lost"
            raise extension.DriverError(msg)
        match action:
            case "eq":
                for actual, expected in zip(rest[::2], rest[1::2], strict=True):
                    on_check(extension.Check(kind="eq", actual=np.int32(actual), expected=np.int32(expected)))
            case "result":
                return [np.full(3, float(rest[0]), np.float32)]
            case "poison":
                type(self).poisoned = True
                msg = "INTERNAL; out of bounds"
                raise extension.DriverError(msg)
            case "fail":
                msg = f"INTERNAL; {' '.join(rest)}\nwhile invoking"
                raise extension.DriverError(msg, "look at the driver")
            case _:
                act(action, " ".join(rest).upper())
        return []


class DoubleDevice(extension.Device):
    """One device of the driver `double`."""

    def __init__(self, infos: Sequence[DeviceInfo]) -> None:
        self.infos = infos

    def load(self, artifact: bytes) -> DoubleProgram:
        return DoubleProgram(functions_of(artifact))

    def close(self) -> None:
        note("close")


class DoubleDriver(extension.Driver):
    """A driver with one device; flags make it fail. `acts` says what happens when its devices are looked for."""

    def __init__(self, name: str = "double", acts: str = "") -> None:
        self.name = name
        self.acts = acts

    def probe(self) -> Sequence[DeviceInfo]:
        os.write(2, b"driver chatter\n")
        if self.acts == "absent":
            reason = "no double here"
            raise extension.UnavailableError(reason, "plug one in")
        if self.acts:
            act(*(self.acts.split(" ", 1)))
        return [
            DeviceInfo(
                driver=self.name,
                uri=f"{self.name}://0",
                ordinal=0,
                name="Double Device",
                physical_id="double-hw",
                driver_version="1.2",
                capabilities=(("memory", "16 GiB"), ("fp64", "")),
                features=(("device_type", "accelerator"), ("double.fp64", True), ("memory", 2**34)),
                exclusive=not os.environ.get("DOUBLE_SHARED"),
            )
        ]

    def open(self, config: RuntimeConfig) -> DoubleDevice:
        note(f"open {config.name} pid {os.getpid()} mode {os.environ.get('DOUBLE_MODE', '')}")
        for flag in config.flags:
            if flag == "--absent":
                reason = "no double device"
                raise extension.UnavailableError(reason, "plug one in")
            if flag == "--broken":
                msg = "the device is broken"
                raise extension.DriverError(msg, "replace it")
            if flag.startswith("--do="):
                act(*flag.removeprefix("--do=").split(":"))
        return DoubleDevice(self.probe())

    def functions(self, artifact: bytes) -> Sequence[extension.FunctionInfo]:
        return DoubleProgram(functions_of(artifact)).functions

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        return ("double",)

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> extension.RunPlan | None:
        code = (
            "import os, sys, worker_doubles\n"
            "lines = {line[1]: line for line in worker_doubles.functions_of(open(sys.argv[1], 'rb').read())}\n"
            "action, name, *rest = lines[sys.argv[2]]\n"
            "print('outside', name, os.environ.get('WRAPPED', 'bare'), flush=True)\n"
            "worker_doubles.act(action, ' '.join(rest).upper())\n"
        )
        argv = (sys.executable, "-c", code, str(artifact), function)
        return extension.RunPlan(argv=argv, env=(("PYTHONPATH", str(Path(__file__).parent)),))


class DoubleCaseLoader(extension.CaseLoader):
    """One case per function; `must…` must check, `result` expects three ones, `agree` those of `other`.

    Reading `unreadable…` crashes.
    """

    kind = "double"

    def load(self, request: extension.CaseRequest) -> Sequence[extension.Case]:
        import numpy as np

        cases = []
        for function in request.functions:
            expected = (np.ones(3, np.float32),) if function.name.startswith("result") else None
            must = function.name.startswith("must")
            cases.append(
                extension.Case(
                    name=function.name,
                    function=function.name,
                    expected=expected,
                    must_check=must,
                    atol=0.25,
                    agree_with="other" if function.name.startswith("agree") else "",
                    read=self._crash if function.name.startswith("unreadable") else None,
                )
            )
        return cases

    def _crash(self) -> extension.CaseData:
        die("SIGSEGV")
        return extension.CaseData()


@extension.hookimpl
def retarget_compilers() -> Iterable[extension.Compiler]:
    return (DoubleCompiler(),)


@extension.hookimpl
def retarget_drivers() -> Iterable[extension.Driver]:
    return (
        DoubleDriver(),
        DoubleDriver("double-crash", acts="crash SIGSEGV"),
        DoubleDriver("double-hang", acts="hang -"),
        DoubleDriver("double-native-hang", acts="hang native"),
        DoubleDriver("double-absent", acts="absent"),
    )


@extension.hookimpl
def retarget_case_loaders() -> Iterable[DoubleCaseLoader]:
    return (DoubleCaseLoader(),)
