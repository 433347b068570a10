"""A complete extension in one file: a compiler, a driver and a case loader, for WebAssembly through Wasmtime.

`wasmtime` and NumPy are imported inside the methods only: this module is imported in every process, also in pytest's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import (
    BufferRange,
    Case,
    CaseLoader,
    CaseRequest,
    CheckSink,
    Compiled,
    Compiler,
    CompilerConfig,
    CompileRequest,
    CompilerError,
    CompileTarget,
    Device,
    DeviceInfo,
    Driver,
    DriverError,
    FunctionInfo,
    Program,
    Resolved,
    RunPlan,
    RuntimeConfig,
    TransferLimits,
    Transfers,
    UnavailableError,
    hookimpl,
)

if TYPE_CHECKING:
    from retarget.extension import Array


DTYPES = {"i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64"}


def version() -> str:
    try:
        return metadata.version("wasmtime")
    except metadata.PackageNotFoundError as error:
        raise UnavailableError("wasmtime is not installed", hint="pip install wasmtime") from error


class WatCompiler(Compiler):
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


class WasmtimeDriver(Driver):
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
        return WasmtimeDevice(self.probe())

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


class WasmtimeDevice(Device):
    def __init__(self, infos: Sequence[DeviceInfo]) -> None:
        self.infos = infos

    def load(self, artifact: bytes) -> WasmtimeProgram:
        return WasmtimeProgram(artifact)

    def transfers(self) -> LinearMemories:
        return LinearMemories()


class LinearMemory:
    """A buffer: a linear memory of its own, in whole pages of 64 KiB."""

    def __init__(self, size: int) -> None:
        import wasmtime

        pages = wasmtime.Limits(-(-size // 65536), None)
        self.size = size
        self.store = wasmtime.Store()
        try:
            self.memory = wasmtime.Memory(self.store, wasmtime.MemoryType(pages))
        except wasmtime.WasmtimeError as error:
            raise DriverError(str(error)) from error

    def view(self, offset: int, length: int) -> memoryview:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise DriverError(f"found {length} bytes at {offset} of a buffer of {self.size} bytes")
        return memoryview(self.memory.get_buffer_ptr(self.store, length, offset)).cast("B")


class Event:
    def __init__(self, *, is_complete: bool) -> None:
        self.is_complete = is_complete


class LinearMemories(Transfers):
    """What `retarget bringup driver wasmtime` checks. A submission is done when the call returns."""

    limits = TransferLimits(largest_allocation=1 << 30, asynchronous=False, in_order=True, moves_overlap=True)

    def allocate(self, size: int, mappable: bool) -> LinearMemory:
        if size > 1 << 30:
            raise DriverError(f"a buffer of {size} bytes is larger than 1 GiB")
        return LinearMemory(size)

    def free(self, buffer: LinearMemory) -> None:
        buffer.store.close()

    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        target.buffer.view(target.offset, target.length)[:] = data

    def read(self, source: BufferRange) -> bytes:
        return bytes(source.buffer.view(source.offset, source.length))

    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        yield mapped.buffer.view(mapped.offset, mapped.length)

    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Event]) -> Event:
        size = len(pattern)
        if size not in (1, 2, 4) or target.offset % size or target.length % size:
            raise DriverError(f"cannot fill {target.length} bytes at {target.offset} with a pattern of {size}")
        return self.update(target, pattern * (target.length // size), after)

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        return self.update(target, self.read(source), after)

    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[Event]) -> Event:
        if not all(event.is_complete for event in after):
            raise DriverError("a submission waits for an event that is not complete: nothing runs beside the host here")
        self.write(target, data)
        return Event(is_complete=True)

    def host_event(self) -> Event:
        return Event(is_complete=False)

    def signal(self, event: Event) -> None:
        event.is_complete = True

    def is_complete(self, event: Event) -> bool:
        return event.is_complete

    def wait(self, event: Event, seconds: float) -> bool:
        return event.is_complete


class WasmtimeProgram(Program):
    def __init__(self, artifact: bytes) -> None:
        import wasmtime

        self.functions = WasmtimeDriver().functions(artifact)
        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        try:
            instance = wasmtime.Instance(self._store, wasmtime.Module(engine, artifact), [])
        except wasmtime.WasmtimeError as error:
            raise DriverError(str(error)) from error
        self._exports = instance.exports(self._store)

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        import numpy as np
        import wasmtime

        exported = self._exports[function]
        try:
            result = exported(self._store, *(value.item() for value in inputs))
        except wasmtime.Trap as error:
            backtrace, _, cause = error.message.partition("Caused by:")
            raise DriverError(f"{cause.strip()}\n{backtrace}") from error
        types = [DTYPES[str(of)] for of in exported.type(self._store).results]
        values = result if len(types) > 1 else [result] * len(types)
        return [np.asarray(value, dtype) for value, dtype in zip(values, types, strict=True)]


class ReturnsZero(CaseLoader):
    """Kind `returns-zero`: every exported function without arguments must return 0 of type i32."""

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
