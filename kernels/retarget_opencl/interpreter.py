# ruff: noqa: PLR0917 - an instruction's words are positional
"""Runs host programs.

Loading resolves each instruction into a closure over its registers' numbers, so that running is a loop of calls.
The table `_BUILDERS` is all that a program can ask for: an instruction that is not in it is refused at loading.
What touches the device is behind `Commands` (`retarget_opencl.commands`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .program.constants import element_dtype
from .scalars import affine_function, conversion, scalar_function

if TYPE_CHECKING:
    from .commands import Commands
    from .program.model import Function, Program

__all__ = ["Machine", "ProgramError"]

Registers = list[Any]
Step = Callable[[Registers], None]
Jump = Callable[[Registers], int]


class ProgramError(Exception):
    """The program itself reports a fault: an assertion, a wrong argument, unreachable code."""


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
            builder = _BUILDERS.get(name)
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


# ---------------------------------------------------------------- host buffers and lists


def _buffer_load(machine: Machine, result: int, source: int, offset: int, *rest: Any) -> Step:
    del machine
    dtype = _host_dtype(str(rest[-1]))

    def step(r: Registers) -> None:
        start = r[offset]
        r[result] = r[source][start : start + dtype.itemsize].view(dtype)[0].item()

    return step


def _buffer_store(machine: Machine, value: int, target: int, offset: int, kind: str) -> Step:
    del machine
    dtype = _host_dtype(kind)

    def step(r: Registers) -> None:
        start = r[offset]
        r[target][start : start + dtype.itemsize] = np.array([r[value]], dtype).view(np.uint8)

    return step


def _buffer_fill(machine: Machine, pattern: int, target: int, offset: int, length: int, kind: str) -> Step:
    del machine
    dtype = _host_dtype(kind)

    def step(r: Registers) -> None:
        start = r[offset]
        r[target][start : start + r[length]].view(dtype)[:] = r[pattern]

    return step


def _buffer_copy(
    machine: Machine, source: int, source_offset: int, target: int, target_offset: int, length: int
) -> Step:
    del machine

    def step(r: Registers) -> None:
        size = r[length]
        data = r[source][r[source_offset] : r[source_offset] + size]
        r[target][r[target_offset] : r[target_offset] + size] = data

    return step


def _buffer_compare(
    machine: Machine, result: int, left: int, left_offset: int, right: int, right_offset: int, length: int
) -> Step:
    del machine

    def step(r: Registers) -> None:
        size = r[length]
        first = r[left][r[left_offset] : r[left_offset] + size]
        second = r[right][r[right_offset] : r[right_offset] + size]
        r[result] = int(np.array_equal(first, second))

    return step


def _host_dtype(kind: str) -> np.dtype[np.generic]:
    dtype = element_dtype(kind)
    if dtype is None:
        msg = f"no host buffer of {kind}"
        raise ValueError(msg)
    return dtype


def _plain(function: Callable[..., Any]) -> Callable[..., Step]:
    """An instruction that computes its result from its operands' values."""

    def build(machine: Machine, result: int, *operands: int) -> Step:
        del machine

        def step(r: Registers) -> None:
            r[result] = function(*[r[operand] for operand in operands])

        return step

    return build


def _plain_effect(function: Callable[..., Any]) -> Callable[..., Step]:
    """An instruction without a result."""

    def build(machine: Machine, *operands: int) -> Step:
        del machine

        def step(r: Registers) -> None:
            function(*[r[operand] for operand in operands])

        return step

    return build


def _list_construct(machine: Machine, result: int, operands: Sequence[int]) -> Step:
    del machine

    def step(r: Registers) -> None:
        r[result] = [r[operand] for operand in operands]

    return step


def _resize(values: list[Any], size: int) -> None:
    del values[size:]
    values.extend([None] * (size - len(values)))


def _list_set(values: list[Any], index: int, value: Any) -> None:
    values[index] = value


_BUILDERS: dict[str, Callable[..., Step]] = {
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
    "buffer_alloc": _plain(lambda size: np.zeros(size, np.uint8)),
    "buffer_size": _plain(len),
    "buffer_slice": _plain(lambda source, offset, length: source[offset : offset + length].copy()),
    "buffer_subspan": _plain(lambda source, offset, length: source[offset : offset + length]),
    "buffer_load": _buffer_load,
    "buffer_store": _buffer_store,
    "buffer_fill": _buffer_fill,
    "buffer_copy": _buffer_copy,
    "buffer_compare": _buffer_compare,
    "list_create": _plain(lambda *capacity: []),  # noqa: ARG005
    "list_construct": _list_construct,
    "list_size": _plain(len),
    "list_resize": _plain_effect(_resize),
    "list_get": _plain(lambda values, index: values[index]),
    "list_set": _plain_effect(_list_set),
}
