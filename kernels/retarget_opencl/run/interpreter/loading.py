"""Loads host programs: each instruction becomes a closure, so that running is a loop of calls.

An instruction that is not in the table `BUILDERS` (`interpreter.instructions`) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from retarget_opencl.artifact.file import OpenClArtifact
from retarget_opencl.artifact.program import Function
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import ProgramError
from retarget_opencl.run.interpreter.instructions import BUILDERS
from retarget_opencl.run.interpreter.machine import Code, Jump, Machine, Registers, Step
from retarget_opencl.run.uploads import HostData, host_data

__all__ = ["load_program"]


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
