"""Runs host programs.

Loading resolves each instruction into a closure over its registers' numbers, so that running is a loop of calls.
An instruction that is not in the table `BUILDERS` (`interpreter.instructions`) is refused at loading.
What touches the device is behind `Commands` (`retarget_opencl.run.commands`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from retarget_opencl.run.interpreter.instructions import BUILDERS, ProgramError, Registers, Step

if TYPE_CHECKING:
    from retarget_opencl.artifact.program import Function, Program
    from retarget_opencl.run.commands import Commands

__all__ = ["Machine", "ProgramError"]

Jump = Callable[[Registers], int]


class Code:
    """A function made ready to run."""

    __slots__ = ("blocks", "name", "parameters", "template")

    def __init__(self, name: str, parameters: tuple[int, ...], template: Registers) -> None:
        self.name, self.parameters, self.template = name, parameters, template
        self.blocks: list[tuple[tuple[Step, ...], Jump]] = []

    def run(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Run the function. Raises `ProgramError` and what `Commands` raises."""
        registers = self.template.copy()
        for register, argument in zip(self.parameters, arguments, strict=True):
            registers[register] = argument
        blocks, number = self.blocks, 0
        while number >= 0:
            steps, jump = blocks[number]
            for step in steps:
                step(registers)
            number = jump(registers)
        results: tuple[Any, ...] = registers[-1]
        return results


class Machine:
    """A loaded program: its functions, its globals, and the device's commands."""

    def __init__(self, program: Program, blobs: Sequence[bytes], commands: Commands) -> None:
        self.program, self.commands = program, commands
        self.globals: list[Any] = [value for _, value in program.globals]
        self.codes = [
            Code(function.name, function.parameters, _template(function, blobs)) for function in program.functions
        ]
        for code, function in zip(self.codes, program.functions, strict=True):
            code.blocks = [self._block(function, block) for block in function.blocks]

    def initialize(self) -> None:
        """Run the initialisers in order."""
        for number in self.program.initializers:
            self.codes[number].run(())

    def groups(self, function: int) -> Code:
        """Return the function that counts work-groups."""
        return self.codes[function]

    def _block(self, function: Function, block: Sequence[Sequence[Any]]) -> tuple[tuple[Step, ...], Jump]:
        *body, last = block
        steps = []
        for name, *words in body:
            builder = BUILDERS.get(name)
            if builder is None:
                msg = f"unknown instruction {name!r} in {function.name}"
                raise ValueError(msg)
            steps.append(builder(self, *words))
        name, *words = last
        jump = _JUMPS.get(name)
        if jump is None:
            msg = f"{function.name} has a block that ends in {name!r}, which is no jump"
            raise ValueError(msg)
        return tuple(steps), jump(*words)


def _template(function: Function, blobs: Sequence[bytes]) -> Registers:
    """Return the registers with their constants; one more holds the results."""
    registers: Registers = [None] * (function.registers + 1)
    for constant in function.constants:
        value: Any = constant.value
        if constant.kind == "float":
            value = float.fromhex(str(value))
        elif constant.kind == "blob":
            value = np.frombuffer(blobs[int(value)], np.uint8)
        registers[constant.register] = value
    return registers


# ---------------------------------------------------------------- jumps


def _copier(parameters: Sequence[int], sources: Sequence[int]) -> Step | None:
    """Return what copies block arguments, as if all at once."""
    pairs = [(parameter, source) for parameter, source in zip(parameters, sources, strict=True) if parameter != source]
    if not pairs:
        return None
    if len(pairs) == 1:
        to, source = pairs[0]

        def copy_one(r: Registers) -> None:
            r[to] = r[source]

        return copy_one
    targets, origins = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def copy_all(r: Registers) -> None:
        values = [r[origin] for origin in origins]
        for target, value in zip(targets, values, strict=True):
            r[target] = value

    return copy_all


def _br(block: int, parameters: Sequence[int], sources: Sequence[int]) -> Jump:
    copy = _copier(parameters, sources)
    if copy is None:
        return lambda r: block  # noqa: ARG005

    def jump(r: Registers) -> int:
        copy(r)
        return block

    return jump


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
