# ruff: noqa: PLR0917 - an instruction's words are positional
"""What each instruction of a host program does.

`BUILDERS` is all that a program can ask for. A builder takes the machine and an instruction's words, and returns a
closure over its registers' numbers; everything that can be looked up beforehand is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from retarget_opencl.run.interpreter.host_instructions import HOST_BUILDERS
from retarget_opencl.run.interpreter.scalars import affine_function, conversion, scalar_function

if TYPE_CHECKING:
    from retarget_opencl.run.interpreter.machine import Machine

__all__ = ["BUILDERS", "ProgramError", "Registers", "Step"]

Registers = list[Any]
Step = Callable[[Registers], None]


class ProgramError(Exception):
    """The program itself reports an error: an assertion, a wrong argument, unreachable code."""


# ---------------------------------------------------------------- scalars


def _scalar(machine: Machine, name: str, kind: str, result: int, *operands: int) -> Step:
    del machine
    function = scalar_function(name, kind)
    if len(operands) == 2:
        left, right = operands

        def binary(r: Registers) -> None:
            r[result] = function(r[left], r[right])

        return binary

    def step(r: Registers) -> None:
        r[result] = function(*[r[operand] for operand in operands])

    return step


def _convert(machine: Machine, name: str, source: str, target: str, result: int, operand: int) -> Step:
    del machine
    function = conversion(name, source, target)

    def step(r: Registers) -> None:
        r[result] = function(r[operand])

    return step


def _affine(machine: Machine, name: str, result: int, operands: Sequence[int], expressions: Any, dims: int) -> Step:
    del machine
    functions = [affine_function(expression, dims) for expression in expressions]
    combine = max if name == "max" else min

    def step(r: Registers) -> None:
        values = [r[operand] for operand in operands]
        r[result] = combine([function(values) for function in functions])

    return step


def _select(machine: Machine, result: int, condition: int, yes: int, no: int) -> Step:
    del machine

    def step(r: Registers) -> None:
        r[result] = r[yes] if r[condition] else r[no]

    return step


def _select_nth(machine: Machine, result: int, index: int, default: int, values: Sequence[int]) -> Step:
    del machine

    def step(r: Registers) -> None:
        number = r[index]
        r[result] = r[values[number]] if 0 <= number < len(values) else r[default]

    return step


def _same(machine: Machine, result: int, left: int, right: int) -> Step:
    del machine

    def step(r: Registers) -> None:
        r[result] = int(r[left] is r[right] or (isinstance(r[left], int) and r[left] == r[right]))

    return step


def _different(machine: Machine, result: int, left: int, right: int) -> Step:
    same = _same(machine, result, left, right)

    def step(r: Registers) -> None:
        same(r)
        r[result] = 1 - r[result]

    return step


def _range_extents(machine: Machine, low: int, high: int, offsets: Sequence[int], lengths: Sequence[int]) -> Step:
    del machine

    def step(r: Registers) -> None:
        starts = [r[offset] for offset in offsets]
        r[low] = min(starts)
        # The last byte of the range, as IREE defines it.
        r[high] = max(start + r[length] for start, length in zip(starts, lengths, strict=True)) - 1

    return step


# ---------------------------------------------------------------- functions and globals


def _call(machine: Machine, function: int, results: Sequence[int], operands: Sequence[int]) -> Step:
    codes = machine.codes

    def step(r: Registers) -> None:
        values = codes[function].run([r[operand] for operand in operands])
        for result, value in zip(results, values, strict=True):
            r[result] = value

    return step


def _assert(machine: Machine, condition: int, message: str) -> Step:
    del machine

    def step(r: Registers) -> None:
        if not r[condition]:
            msg = f"assertion failed: {message}"
            raise ProgramError(msg)

    return step


def _fail_step(machine: Machine, message: str) -> Step:
    del machine

    def step(r: Registers) -> None:  # noqa: ARG001
        raise ProgramError(message)

    return step


def _global_load(machine: Machine, result: int, number: int) -> Step:
    values = machine.globals

    def step(r: Registers) -> None:
        r[result] = values[number]

    return step


def _global_store(machine: Machine, number: int, value: int) -> Step:
    values = machine.globals

    def step(r: Registers) -> None:
        values[number] = r[value]

    return step


def _global_load_indirect(machine: Machine, result: int, address: int) -> Step:
    values = machine.globals

    def step(r: Registers) -> None:
        r[result] = values[r[address]]

    return step


def _global_store_indirect(machine: Machine, address: int, value: int) -> Step:
    values = machine.globals

    def step(r: Registers) -> None:
        values[r[address]] = r[value]

    return step


# ---------------------------------------------------------------- commands and views


def _free(machine: Machine, resource: int) -> Step:
    """The resource is not used again; its memory goes back once nothing else refers to it."""
    del machine

    def step(r: Registers) -> None:
        r[resource] = None

    return step


def _command(name: str, *, result: bool) -> Callable[..., Step]:
    """An instruction whose words are registers, then constants, handed to the command of the same name."""

    def build(machine: Machine, *words: Any) -> Step:
        command = getattr(machine.commands, name)
        target, operands = (words[0], words[1:]) if result else (None, words)
        registers = [word for word in operands if isinstance(word, int)]
        constants = [word for word in operands if not isinstance(word, int)]
        if target is None:

            def run(r: Registers) -> None:
                command(*[r[register] for register in registers], *constants)

            return run

        def run_and_keep(r: Registers) -> None:
            r[target] = command(*[r[register] for register in registers], *constants)

        return run_and_keep

    return build


def _dispatch(machine: Machine, kernel: int, workload: Any, resources: Any, offsets: Any, uniforms: Any) -> Step:
    launch = machine.commands.launcher(machine, machine.program.kernels[kernel])
    bound = machine.program.kernels[kernel].bindings
    pairs = [(resources[ordinal], offsets[ordinal]) for ordinal in bound]
    constants = [uniforms[ordinal] for ordinal in machine.program.kernels[kernel].constants]

    def step(r: Registers) -> None:
        launch(
            tuple([r[word] for word in workload]),
            [(r[resource], r[offset]) for resource, offset in pairs],
            [r[constant] for constant in constants],
        )

    return step


def _export(machine: Machine, result: int, source: int, size: int, element: str, shape: Any, dynamic: Any) -> Step:
    export = machine.commands.export

    def step(r: Registers) -> None:
        sizes = iter([r[word] for word in dynamic])
        dimensions = tuple([next(sizes) if dimension < 0 else dimension for dimension in shape])
        r[result] = export(r[source], r[size], element, dimensions)

    return step


def _view_dim(machine: Machine, result: int, view: int, index: int) -> Step:
    dim = machine.commands.view_dim

    def step(r: Registers) -> None:
        r[result] = dim(r[view], index)

    return step


def _view_assert(machine: Machine, view: int, element: int, shape: Sequence[int], label: str) -> Step:
    check = machine.commands.view_assert

    def step(r: Registers) -> None:
        check(r[view], r[element], [r[size] for size in shape], label)

    return step


def _view_create(machine: Machine, result: int, *words: Any) -> Step:
    create: Callable[..., Any] = machine.commands.view_create
    *operands, shape = words

    def step(r: Registers) -> None:
        r[result] = create(*[r[operand] for operand in operands], [r[size] for size in shape])

    return step


def _check(machine: Machine, kind: str, operands: Sequence[int], atol: float, rtol: float) -> Step:
    commands = machine.commands

    def step(r: Registers) -> None:
        commands.check(kind, [r[operand] for operand in operands], atol, rtol)

    return step


BUILDERS: dict[str, Callable[..., Step]] = {
    "scalar": _scalar,
    "convert": _convert,
    "affine": _affine,
    "select": _select,
    "select_nth": _select_nth,
    "same": _same,
    "different": _different,
    "range_extents": _range_extents,
    "call": _call,
    "assert": _assert,
    "fail": _fail_step,
    "global_load": _global_load,
    "global_store": _global_store,
    "global_load_indirect": _global_load_indirect,
    "global_store_indirect": _global_store_indirect,
    "allocate": _command("allocate", result=True),
    "free": _free,
    "resource_size": _command("resource_size", result=True),
    "subview": _command("subview", result=True),
    "resource_load": _command("resource_load", result=True),
    "resource_store": _command("resource_store", result=False),
    "upload": _command("upload", result=False),
    "fill": _command("fill", result=False),
    "copy": _command("copy", result=False),
    "flush": _command("flush", result=False),
    "dispatch": _dispatch,
    "import": _command("import_view", result=True),
    "export": _export,
    "view_dim": _view_dim,
    "view_rank": _command("view_rank", result=True),
    "view_element_type": _command("view_element_type", result=True),
    "view_buffer": _command("view_buffer", result=True),
    "view_assert": _view_assert,
    "view_create": _view_create,
    "check": _check,
    **HOST_BUILDERS,
}
