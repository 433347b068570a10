"""A complete extension in one file: a compiler, a driver and a case loader, for WebAssembly through Wasmtime.

`wasmtime` and NumPy are imported inside the methods only: this module is imported in every process, also in pytest's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import (
    Case,
    CaseLoader,
    CaseRequest,
    CheckSink,
    Compiled,
    Compiler,
    CompileRequest,
    CompilerError,
    Driver,
    DriverError,
    FunctionInfo,
    Resolved,
    RunPlan,
    UnavailableError,
    hookimpl,
)
from retarget.model import CompilerConfig, CompileTarget, RuntimeConfig
from retarget.model.outcomes import DeviceInfo

if TYPE_CHECKING:
    from retarget.extension import Array


def version() -> str:
    try:
        return metadata.version("wasmtime")
    except metadata.PackageNotFoundError as error:
        raise UnavailableError("wasmtime is not installed", hint="pip install wasmtime") from error


class WatCompiler:
    """Assembles WebAssembly text. Takes no flags."""

    name = "wat"
    artifact_suffix = ".wasm"

    def fingerprint(self, config: CompilerConfig) -> str:
        return f"wasmtime {version()}"

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        if flags:
            raise CompilerError(f"the compiler 'wat' takes no flags, found {flags[0]!r}", verdict=True)
        return Resolved(build_id=f"wasmtime {version()}", flags=())

    def compile(self, request: CompileRequest) -> Compiled:
        import wasmtime

        try:
            return Compiled(artifact=bytes(wasmtime.wat2wasm(request.source)))
        except wasmtime.WasmtimeError as error:
            text = str(error).replace("<anon>", request.source_name)
            raise CompilerError(f"error: {text.splitlines()[0]}", diagnostics=text, verdict=True) from error

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        return ("wasm",)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        program = "import sys, wasmtime; open(sys.argv[2], 'wb').write(wasmtime.wat2wasm(open(sys.argv[1]).read()))"
        return (sys.executable, "-c", program, str(target.module.path), str(output))


class WasmtimeDriver:
    """Runs WebAssembly on this CPU."""

    name = "wasmtime"

    def probe(self) -> Sequence[DeviceInfo]:
        engine = DeviceInfo(
            driver=self.name,
            uri="wasmtime://0",
            ordinal=0,
            name="Wasmtime on the CPU",
            physical_id="cpu",
            driver_version=version(),
            exclusive=False,
        )
        return (engine,)

    def open(self, config: RuntimeConfig) -> WasmtimeDevice:
        return WasmtimeDevice(tuple(self.probe()))

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        import wasmtime

        try:
            module = wasmtime.Module(wasmtime.Engine(), artifact)
        except wasmtime.WasmtimeError as error:
            raise DriverError(str(error), hint="compile the module again") from error
        exports = [export for export in module.exports if isinstance(export.type, wasmtime.FuncType)]
        return [FunctionInfo(name=export.name, arguments=len(export.type.params)) for export in exports]

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        return ("wasmtime",)

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        return RunPlan(argv=(sys.executable, "-m", "retarget_wasmtime", str(artifact), function))


@dataclass(frozen=True, slots=True)
class WasmtimeDevice:
    infos: tuple[DeviceInfo, ...]

    def load(self, artifact: bytes) -> WasmtimeProgram:
        return WasmtimeProgram(artifact)

    def close(self) -> None:
        """Nothing is held open."""


class WasmtimeProgram:
    def __init__(self, artifact: bytes) -> None:
        import wasmtime

        self.functions = WasmtimeDriver().functions(artifact)
        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        self._exports = wasmtime.Instance(self._store, wasmtime.Module(engine, artifact), []).exports(self._store)

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        import numpy as np
        import wasmtime

        try:
            result = self._exports[function](self._store, *(value.item() for value in inputs))
        except wasmtime.Trap as error:
            raise DriverError(str(error)) from error
        return (np.asarray(result, dtype=np.int32),)


class ReturnsZero:
    """Kind `returns-zero`: every exported function without arguments must return 0."""

    kind = "returns-zero"

    def load(self, request: CaseRequest) -> Sequence[Case]:
        import numpy as np

        names = [function.name for function in request.functions if function.arguments == 0]
        return [Case(name=name, function=name, expected=(np.zeros((), dtype=np.int32),)) for name in names]


@hookimpl
def retarget_compilers() -> Iterable[Compiler]:
    return (WatCompiler(),)


@hookimpl
def retarget_drivers() -> Iterable[Driver]:
    return (WasmtimeDriver(),)


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    return (ReturnsZero(),)


if __name__ == "__main__":  # what run_outside names: exit status 0 means that the function returned 0
    [returned] = WasmtimeProgram(Path(sys.argv[1]).read_bytes()).call(sys.argv[2], (), lambda _: None)
    print(f"{sys.argv[2]} returned {returned.item()}")
    sys.exit(1 if returned.item() else 0)
