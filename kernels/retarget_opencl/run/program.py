"""Loaded programs: arguments to the device, calls, results to the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from retarget.extension import CheckSink, DriverError, Program

from retarget_opencl.artifact.element_types import element_dtype
from retarget_opencl.artifact.file import OpenClArtifact
from retarget_opencl.artifact.functions import function_info
from retarget_opencl.artifact.program import Export
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import ProgramError, driver_errors
from retarget_opencl.run.interpreter.loading import load_program
from retarget_opencl.run.memory import View

if TYPE_CHECKING:
    import pyopencl as cl
    from retarget.extension import Array

__all__ = ["OpenClProgram"]


class OpenClProgram(Program):
    """A loaded artifact: kernels built, initialisers run."""

    def __init__(
        self, artifact: OpenClArtifact, commands: Commands, device: str, parameters: Sequence[tuple[str, Path]]
    ) -> None:
        self._device, self._commands = device, commands
        self._started: Callable[[], None] | None = None
        self._exports = {export.name: export for export in artifact.program.exports}
        self.functions = tuple(map(function_info, self._exports.values()))
        try:
            self._machine = load_program(artifact, commands, parameters)
        except (ValueError, TypeError, IndexError) as error:
            msg = f"the artifact's program is malformed ({error}); compile it again"
            raise DriverError(msg) from error
        self._machine.initialize()

    @property
    def dispatches(self) -> int:
        """Number of kernels launched so far."""
        return self._commands.dispatches

    def report_work(self, started: Callable[[], None]) -> None:
        """Keep what is called before the first dispatch of each call."""
        self._started = started

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
        with driver_errors(f"calling {function}", self._device):
            try:
                arguments = self._arguments(export, inputs)
                commands.started = self._started
                results = self._machine.codes[export.function].run(arguments)
                arrays = [_result(commands, kind, value) for kind, value in zip(export.results, results, strict=True)]
                commands.finish()
            finally:
                commands.sink = commands.started = None
        return arrays

    def bind_call(self, function: str, inputs: Sequence[Array]) -> Callable[[], None]:
        """Return a call on arguments that are on the device."""
        call, wait = self.bind(function, inputs)

        def timed() -> None:
            with driver_errors(f"calling {function}", self._device):
                call()
                wait()

        return timed

    def device_seconds(self, function: str, inputs: Sequence[Array], calls: int, artifact: Path) -> Sequence[float]:
        """Return what the kernels of each call took."""
        del artifact
        call = self.bind_call(function, inputs)
        found = []
        with driver_errors(f"calling {function}", self._device), self._commands.profiled():
            for _ in range(calls + 1):
                events: list[tuple[str, cl.Event]] = []
                self._commands.events = events
                call()
                found.append(sum(event.profile.end - event.profile.start for _, event in events) * 1e-9)
        return found[1:]

    def bind(self, function: str, inputs: Sequence[Array]) -> tuple[Callable[[], Any], Callable[[], None]]:
        """Return a call on arguments that are on the device already, and what waits for it. For benchmarks."""
        export = self._exports[function]
        with driver_errors(f"calling {function}", self._device):
            arguments = self._arguments(export, inputs)
        code = self._machine.codes[export.function]
        return lambda: code.run(arguments), self._commands.finish

    def record_events(self, *, on: bool) -> list[tuple[str, cl.Event]]:
        """Start or stop recording dispatches; return (kernel name, event) of those recorded so far. For benchmarks.

        Events have times only on a device that was opened with `--opencl-profiling`.
        """
        recorded = self._commands.events or []
        self._commands.events = [] if on else None
        return recorded

    def _arguments(self, export: Export, inputs: Sequence[Array]) -> list[View | int | float]:
        arguments: list[View | int | float] = []
        for index, (kind, array) in enumerate(zip(export.arguments, map(np.asarray, inputs), strict=True)):
            if kind == "!hal.buffer_view":
                arguments.append(self._commands.to_device(array))
                continue
            dtype = element_dtype(kind)
            where = f"{export.name}: argument {index}"
            if dtype is None:
                msg = f"{where} has type {kind}, which arrays cannot be"
                raise ProgramError(msg)
            if array.size != 1:
                msg = f"{where} is a scalar of type {kind}, found an array of shape {array.shape}"
                raise ProgramError(msg)
            arguments.append(array.astype(dtype).item())
        return arguments


def _result(commands: Commands, kind: str, value: Any) -> Array:
    if isinstance(value, View):
        return commands.to_host(value)
    dtype = element_dtype(kind)
    if dtype is None:
        msg = f"a result has type {kind}, which arrays cannot be"
        raise ProgramError(msg)
    return np.asarray(value).astype(dtype)
