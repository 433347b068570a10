"""Opened OpenCL devices and loaded programs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import platformdirs
from retarget.extension import CheckSink, DriverError, FunctionInfo
from retarget.model.outcomes import DeviceInfo
from retarget.support.files import write_atomically

from retarget_opencl.artifact.element_types import element_dtype
from retarget_opencl.artifact.file import ArtifactError, OpenClArtifact, read_artifact
from retarget_opencl.artifact.functions import function_info
from retarget_opencl.artifact.program import Export
from retarget_opencl.device.devices import FoundDevice, info_of, profile_of
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.interpreter.machine import Machine, ProgramError
from retarget_opencl.run.memory import Pool, View

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["OpenClDevice", "OpenClProgram", "build_options"]

Array = npt.NDArray[np.generic]
_POOL_SHARE = 4  # the pool keeps at most a quarter of the device's memory

_HINTS = {
    "MEM_OBJECT_ALLOCATION_FAILURE": "the device is out of memory: run fewer targets at a time, or smaller ones",
    "OUT_OF_RESOURCES": "the device ran out of resources: fewer or smaller work-groups, or less local memory, may fit",
    "INVALID_WORK_GROUP_SIZE": "compile for this device's profile: --opencl-profile=<device URI>",
    "INVALID_BUFFER_SIZE": "a buffer is larger than the device allows",
    "OUT_OF_HOST_MEMORY": "the host is out of memory",
    "BUILD_PROGRAM_FAILURE": "look at the kernels with: retarget show <artifact>",
    "DEVICE_NOT_AVAILABLE": "the device was lost: look at the system's log, and reset it",
}


def build_options(artifact: OpenClArtifact) -> list[str]:
    """Return the OpenCL compiler's options. `docs/opencl.md` tells why these."""
    options = ["-cl-std=CL1.2"]
    if artifact.profile.subgroups == "khr" and "shuffle" in artifact.features:
        options = ["-cl-std=CL3.0"]
    if artifact.profile.correctly_rounded_division:
        options.append("-cl-fp32-correctly-rounded-divide-sqrt")
    return options


@contextmanager
def _translated_errors(what: str, device: str) -> Iterator[None]:
    """Turn OpenCL's errors and the program's own errors into `DriverError`."""
    import pyopencl as cl

    try:
        yield
    except ProgramError as diagnostic:
        raise DriverError(str(diagnostic)) from diagnostic
    except cl.Error as error:
        name = cl.status_code.to_string(error.code, "<unknown error %d>") if hasattr(error, "code") else "error"
        # The first line is what expectations tell failures by: it names neither function nor device.
        msg = f"CL_{name}: {error}\n{what} on {device}"
        raise DriverError(msg, _HINTS.get(name, "")) from error


class OpenClProgram:
    """A loaded artifact: kernels built, initialisers run."""

    def __init__(self, artifact: OpenClArtifact, commands: Commands, device: str) -> None:
        self._device, self._commands = device, commands
        self._exports = {export.name: export for export in artifact.program.exports}
        try:
            self._machine = Machine(artifact.program, artifact.blobs, commands)
        except (ValueError, TypeError, IndexError) as error:
            msg = f"the artifact's program is malformed ({error}); compile it again"
            raise DriverError(msg) from error
        self._machine.initialize()

    @property
    def functions(self) -> Sequence[FunctionInfo]:
        """The exported functions in the artifact's order."""
        return tuple(map(function_info, self._exports.values()))

    @property
    def dispatches(self) -> int:
        """Number of kernels launched so far."""
        return self._commands.dispatches

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        """Call a function on host arrays. Raises `DriverError` for wrong arguments, errors and device errors."""
        if function not in self._exports:
            known = ", ".join(self._exports) or "none"
            msg = f"there is no function {function!r}; the artifact's are: {known}"
            raise DriverError(msg)
        export = self._exports[function]
        if len(inputs) != len(export.arguments):
            declared = f" ({export.declaration})" if export.declaration else ""
            msg = f"{function}: expected {len(export.arguments)} arguments, found {len(inputs)}{declared}"
            raise DriverError(msg)
        commands = self._commands
        commands.sink = on_check
        with _translated_errors(f"calling {function}", self._device):
            try:
                arguments = [
                    self._argument(function, index, kind, array)
                    for index, (kind, array) in enumerate(zip(export.arguments, inputs, strict=True))
                ]
                results = self._machine.codes[export.function].run(arguments)
                arrays = [_result(commands, kind, value) for kind, value in zip(export.results, results, strict=True)]
                commands.finish()
            finally:
                commands.sink = None
        return arrays

    def bind(self, function: str, inputs: Sequence[Array]) -> tuple[Callable[[], Any], Callable[[], None]]:
        """Return a call on arguments that are on the device already, and what waits for it. For benchmarks."""
        export: Export = self._exports[function]
        with _translated_errors(f"calling {function}", self._device):
            arguments = [
                self._argument(function, index, kind, array)
                for index, (kind, array) in enumerate(zip(export.arguments, inputs, strict=True))
            ]
        code = self._machine.codes[export.function]
        return lambda: code.run(arguments), self._commands.finish

    def record_events(self, *, on: bool) -> list[tuple[str, cl.Event]]:
        """Start or stop recording dispatches; return (kernel name, event) of those recorded so far. For benchmarks.

        Events have times only on a device that was opened with `--opencl-profiling`.
        """
        recorded = self._commands.events or []
        self._commands.events = [] if on else None
        return recorded

    def _argument(self, function: str, index: int, kind: str, array: Array) -> View | int | float:
        if kind == "!hal.buffer_view" or kind.startswith("tensor<"):
            return self._commands.to_device(np.asarray(array))
        dtype = element_dtype(kind)
        if dtype is None:
            msg = f"{function}: argument {index} has type {kind}, which arrays cannot be"
            raise ProgramError(msg)
        if np.asarray(array).size != 1:
            msg = f"{function}: argument {index} is a scalar of type {kind}, found an array of shape {np.shape(array)}"
            raise ProgramError(msg)
        value: int | float = np.asarray(array).reshape(-1).astype(dtype)[0].item()
        return value


def _result(commands: Commands, kind: str, value: Any) -> Array:
    if isinstance(value, View):
        return commands.to_host(value)
    dtype = element_dtype(kind)
    if dtype is None:
        msg = f"a result has type {kind}, which arrays cannot be"
        raise ProgramError(msg)
    return np.asarray(value).astype(dtype)


class OpenClDevice:
    """An opened device: a context and an in-order queue. Programs built once stay built."""

    def __init__(self, found: FoundDevice, *, profiling: bool = False, cache: Path | None = None) -> None:
        import pyopencl as cl

        self._cl, self._found = cl, found
        self._info = info_of(found)
        self.profile = profile_of(found)
        with _translated_errors("opening the device", found.device.name):
            self._context = cl.Context([found.device])
            flags = cl.command_queue_properties.PROFILING_ENABLE if profiling else 0
            self._queue = cl.CommandQueue(self._context, found.device, properties=flags)
        self._pool = Pool(self._context, found.device.global_mem_size // _POOL_SHARE)
        self._built: dict[str, cl.Program] = {}
        self._cache = cache if cache is not None else platformdirs.user_cache_path("retarget") / "opencl"

    @property
    def infos(self) -> Sequence[DeviceInfo]:
        """The one device."""
        return (self._info,)

    @property
    def queue(self) -> cl.CommandQueue:
        """The in-order queue."""
        return self._queue

    @property
    def pool_buffers(self) -> int:
        """Number of buffers that wait to be used again."""
        return self._pool.waiting

    def load(self, artifact: bytes) -> OpenClProgram:
        """Build an artifact's kernels and run its initialisers. Raises `DriverError`."""
        try:
            read = read_artifact(artifact)
        except ArtifactError as error:
            raise DriverError(str(error)) from error
        lacking = self.profile.lacks(read.features)
        if lacking:
            msg = (
                f"the artifact's kernels need {' and '.join(lacking)}, which {self._info.name} does not have; "
                f"it was compiled for the profile {read.profile.name}"
            )
            raise DriverError(msg, f"compile with --opencl-profile={self._info.uri}")
        with _translated_errors("loading", self._info.name):
            program = self._build(read) if read.source else None
            return OpenClProgram(read, Commands(self._queue, self._pool, program), self._info.name)

    def close(self) -> None:
        """Wait for the device and release what it holds."""
        with suppress(self._cl.Error):
            self._queue.finish()
        self._pool.clear()
        self._built.clear()

    def _build(self, artifact: OpenClArtifact) -> cl.Program:
        """Build the kernels, or take them from this process or from the cache of binaries."""
        options = build_options(artifact)
        device = self._found.device
        words = (
            artifact.source,
            " ".join(options),
            self._found.platform,
            device.name,
            device.driver_version,
            device.version,
        )
        key = hashlib.sha256("\0".join(words).encode()).hexdigest()
        if key in self._built:
            return self._built[key]
        program = self._from_cache(key) or self._from_source(artifact.source, options, key)
        self._built[key] = program
        return program

    def _from_cache(self, key: str) -> cl.Program | None:
        path = self._cache / f"{key}.bin"
        try:
            binary = path.read_bytes()
        except OSError:
            return None
        try:
            return self._cl.Program(self._context, [self._found.device], [binary]).build(cache_dir=False)
        except self._cl.Error:
            # A binary that the driver no longer takes is as good as none.
            with suppress(OSError):
                path.unlink()
            return None

    def _from_source(self, source: str, options: list[str], key: str) -> cl.Program:
        cl = self._cl
        program = cl.Program(self._context, source)
        try:
            with warnings.catch_warnings():
                # What compilers merely remark about generated code is of no use to its user.
                warnings.simplefilter("ignore", cl.CompilerWarning)
                program.build(options=options, cache_dir=False)
        except cl.RuntimeError as error:
            log = program.get_build_info(self._found.device, cl.program_build_info.LOG).strip()
            name = cl.status_code.to_string(error.code, "<unknown error %d>")
            msg = f"building the kernels failed with CL_{name}\non {self._info.name}:\n{log or error}"
            raise DriverError(msg, _HINTS["BUILD_PROGRAM_FAILURE"]) from error
        with suppress(OSError, cl.Error):
            binary = program.get_info(cl.program_info.BINARIES)[0]
            write_atomically(self._cache / f"{key}.bin", binary)
        return program
