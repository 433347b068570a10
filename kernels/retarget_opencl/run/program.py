"""Loaded programs: each instruction becomes a closure, so that running is a loop of calls; arguments go to the device,
results to the host.

An instruction that is not in the table `BUILDERS` (`run.instructions`) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from retarget.extension import CheckSink, DriverError, Program

from retarget_opencl.artifact.file import Export, Function, OpenClArtifact
from retarget_opencl.artifact.show import function_info
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import ProgramError, driver_errors
from retarget_opencl.run.instructions import BUILDERS, Code, Jump, Machine, Registers, Step
from retarget_opencl.run.memory import HostData, View, host_data
from retarget_opencl.translation import element_dtype

if TYPE_CHECKING:
    from retarget.extension import Array


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
        export = self._exports[function]
        with driver_errors(f"calling {function}", self._device):
            arguments = self._arguments(export, inputs)

        def timed() -> None:
            with driver_errors(f"calling {function}", self._device):
                self._machine.codes[export.function].run(arguments)
                self._commands.finish()

        return timed

    def device_seconds(self, function: str, inputs: Sequence[Array], calls: int, artifact: Path) -> Sequence[float]:
        """Return what the kernels of each call took."""
        del artifact
        call = self.bind_call(function, inputs)
        found = []
        with driver_errors(f"calling {function}", self._device), self._commands.profiled() as events:
            for _ in range(calls + 1):
                events.clear()
                call()
                found.append(sum(event.profile.end - event.profile.start for _, event in events) * 1e-9)
        return found[1:]

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


def load_program(artifact: OpenClArtifact, commands: Commands, files: Sequence[tuple[str, Path]]) -> Machine:
    """Load a program. Raises `ValueError`, `TypeError` or `IndexError` for a malformed one."""
    program = artifact.program
    blobs = tuple(map(host_data, artifact.blobs))
    machine = Machine(
        program=program,
        commands=commands,
        files=files,
        blobs=blobs,
        digest=artifact.digest,
        globals=[value for _, value in program.globals],
        codes=[Code(function.parameters, _template(function, blobs)) for function in program.functions],
    )
    for code, function in zip(machine.codes, program.functions, strict=True):
        code.blocks = [_block(machine, function.name, block) for block in function.blocks]
    return machine


def _block(machine: Machine, function: str, block: Sequence[Sequence[Any]]) -> tuple[tuple[Step, ...], Jump]:
    *body, last = block
    steps = []
    for name, *words in body:
        builder = BUILDERS.get(name)
        if builder is None:
            msg = f"unknown instruction {name!r} in {function}"
            raise ValueError(msg)
        steps.append(builder(machine, *words))
    name, *words = last
    jump = _JUMPS.get(name)
    if jump is None:
        msg = f"{function} has a block that ends in {name!r}, which is no jump"
        raise ValueError(msg)
    return tuple(steps), jump(*words)


def _template(function: Function, blobs: Sequence[HostData]) -> Registers:
    """Return the registers with their constants; one more holds the results."""
    registers: Registers = [None] * (function.registers + 1)
    for constant in function.constants:
        value: Any = constant.value
        if constant.kind == "float":
            value = float.fromhex(str(value))
        elif constant.kind == "blob":
            value = blobs[int(value)].bytes
        registers[constant.register] = value
    return registers


def _br(block: int, parameters: Sequence[int], sources: Sequence[int]) -> Jump:
    """Copy block arguments, as if all at once, and go on in `block`."""
    pairs = [pair for pair in zip(parameters, sources, strict=True) if pair[0] != pair[1]]
    if not pairs:
        return lambda r: block  # noqa: ARG005
    if len(pairs) == 1:
        to, source = pairs[0]

        def copy_one(r: Registers) -> int:
            r[to] = r[source]
            return block

        return copy_one

    def copy_all(r: Registers) -> int:
        values = [r[source] for _, source in pairs]
        for (target, _), value in zip(pairs, values, strict=True):
            r[target] = value
        return block

    return copy_all


def _cond_br(condition: int, *sides: Any) -> Jump:
    yes, no = _br(*sides[:3]), _br(*sides[3:])
    return lambda r: yes(r) if r[condition] else no(r)


def _switch_br(flag: int, cases: Sequence[int], jumps: Sequence[Any], default: Any) -> Jump:
    table = {case: _br(*jump) for case, jump in zip(cases, jumps, strict=True)}
    otherwise = _br(*default)
    return lambda r: table.get(r[flag], otherwise)(r)


def _return(sources: Sequence[int]) -> Jump:
    def jump(r: Registers) -> int:
        r[-1] = tuple([r[source] for source in sources])
        return -1

    return jump


def _fail(message: str) -> Jump:
    def jump(r: Registers) -> int:  # noqa: ARG001
        raise ProgramError(message)

    return jump


_JUMPS: dict[str, Callable[..., Jump]] = {
    "br": _br,
    "cond_br": _cond_br,
    "switch_br": _switch_br,
    "return": _return,
    "fail": _fail,
}
