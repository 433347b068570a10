"""A loaded host program, and what each of its instructions does.

Functions have instructions that are closures over their registers' numbers. `BUILDERS` is all that a program can
contain. A builder takes the machine and an instruction's words, and returns a closure over its registers' numbers;
everything that can be looked up beforehand is.

Parameters of a loaded program: where they are in their archives, and what is read and written of them.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

import iree.runtime as rt
import numpy as np
from msgspec import Struct, field
from retarget.support import did_you_mean, display_path
from retarget_iree.runtime.elements import element_type_code, element_type_name
from retarget_iree.runtime.exports import NO_PARAMETERS, load_archive

from retarget_opencl.artifact.file import Program
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import ProgramError
from retarget_opencl.run.memory import Bytes, HostData, Span, View
from retarget_opencl.run.scalars import conversion, scalar_function


class _Archive(Struct):
    """A mapped file. `identity` tells its content from all others; None once a program has written into it."""

    path: Path
    mapping: mmap.mmap
    entries: dict[str, Any]
    identity: tuple[int, ...] | None


def _open(path: Path) -> _Archive:
    index = rt.ParameterIndex()
    mapping = load_archive(index, path)
    status = path.stat()
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _Archive(path, mapping, dict(index.items()), identity)


class Parameters:
    """The archives by scope, and the program's commands on them. Writes stay in this process."""

    def __init__(self, commands: Commands, files: Sequence[tuple[str, Path]]) -> None:
        self._commands = commands
        self._scopes: dict[str, list[_Archive]] = {}
        for scope, path in files:
            self._scopes.setdefault(scope, []).append(_open(path))

    def load(
        self, scope: Bytes | None, keys: Sequence[Bytes], offsets: Sequence[int], sizes: Sequence[int], kinds: str
    ) -> list[Span]:
        """Return parameters in device memory: constants once for all programs of the device, others each time anew."""
        return [
            self._load(_text(scope), _text(key), offset, size, is_constant=kind == "constant")
            for key, offset, size, kind in zip(keys, offsets, sizes, kinds.split(), strict=True)
        ]

    def read(self, *ranges: Any) -> None:
        """Copy parameters into ranges of a span."""
        for _, (_, data), span, start in self._ranges(*ranges):
            self._commands.pool.write_host_data(span, start, data)

    def write(self, *ranges: Any) -> None:
        """Copy ranges of a span into parameters. Raises `ProgramError` for one that is no bytes of a file."""
        for key, (archive, data), span, start in self._ranges(*ranges):
            if data.mapping is None:
                where = f"the parameter {key!r} of {display_path(archive.path)}"
                msg = f"{where} is one value repeated, and cannot be written"
                raise ProgramError(msg)
            archive.identity = None
            data.bytes[:] = self._commands.read(span, start, len(data.bytes))

    def _ranges(
        self,
        scope: Bytes | None,
        keys: Sequence[Bytes],
        offsets: Sequence[int],
        span: Span,
        starts: Sequence[int],
        lengths: Sequence[int],
    ) -> Iterator[tuple[str, tuple[_Archive, HostData], Span, int]]:
        """Yield keys of parameters, ranges of them in their archives, and where in a span these belong."""
        for key, offset, start, length in zip(keys, offsets, starts, lengths, strict=True):
            yield _text(key), self._find(_text(scope), _text(key), offset, length), span, start

    def _load(self, scope: str, key: str, offset: int, size: int, *, is_constant: bool) -> Span:
        archive, data = self._find(scope, key, offset, size)
        if is_constant and archive.identity is not None:
            return self._commands.pool.upload((archive.identity, key, offset, size), data)
        span = self._commands.allocate(size)
        self._commands.pool.write_host_data(span, 0, data)
        return span

    def _find(self, scope: str, key: str, offset: int, length: int) -> tuple[_Archive, HostData]:
        """Return a range of a parameter, and where it is. Raises `ProgramError` where there is none."""
        archives = self._scopes.get(scope, [])
        archive = next((one for one in archives if key in one.entries), None)
        if archive is None:
            raise ProgramError(self._missing(scope, key))
        entry = archive.entries[key]
        if not 0 <= offset <= entry.length - length:
            where = f"the parameter {key!r} of the scope {scope!r}, of {display_path(archive.path)},"
            msg = f"{where} has {entry.length} bytes, expected at least {offset + length}"
            raise ProgramError(msg)
        if entry.is_splat:
            pattern = np.frombuffer(entry.splat_pattern, np.uint8)
            return archive, HostData(np.resize(np.roll(pattern, -offset), length))
        start = entry.file_storage[1] + offset
        mapping = archive.mapping
        data = np.frombuffer(mapping, np.uint8, length, start) if length else np.empty(0, np.uint8)
        return archive, HostData(data, mapping, start, is_dropped=archive.identity is not None)

    def _missing(self, scope: str, key: str) -> str:
        wanted = f"the module takes the parameter {key!r} of the scope {scope!r}"
        if not self._scopes:
            return f"{wanted}, and no parameter files are given; {NO_PARAMETERS}"
        if scope not in self._scopes:
            given = ", ".join(
                f"{name!r} ({display_path(archive.path)})" for name, found in self._scopes.items() for archive in found
            )
            return f"{wanted}; files are given for the scopes {given}{did_you_mean(scope, self._scopes)}"
        files = ", ".join(display_path(archive.path) for archive in self._scopes[scope])
        known = [name for archive in self._scopes[scope] for name in archive.entries]
        return f"{wanted}, which {files} with {len(known)} keys does not hold{did_you_mean(key, known)}"


def _text(name: Bytes | None) -> str:
    return "" if name is None else name.tobytes().decode()


Registers = list[Any]
Step = Callable[[Registers], None]
Jump = Callable[[Registers], int]
"""Ends a block: returns the number of the next one, or -1 when the function's results are in the last register."""


class Code(Struct):
    """A function that can be run. `template` is its registers with their constants."""

    parameters: tuple[int, ...]
    template: Registers
    blocks: list[tuple[tuple[Step, ...], Jump]] = field(default_factory=list)

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


class Machine(Struct):
    """A loaded program: its functions, its globals, and the device's commands."""

    program: Program
    commands: Commands
    globals: list[Any]
    codes: list[Code]
    blobs: Sequence[HostData]
    digest: str
    files: Sequence[tuple[str, Path]]
    _parameters: Parameters | None = None

    def constant(self, blob: int, offset: int, size: int) -> Span:
        """Return a range of constant bytes in device memory."""
        data = self.blobs[blob].part(offset, size)
        return self.commands.pool.upload((self.digest, blob, offset, size), data)

    @property
    def parameters(self) -> Parameters:
        """The program's parameters, in the archives `files`. Raises `DriverError` for files that are none."""
        if self._parameters is None:
            self._parameters = Parameters(self.commands, self.files)
        return self._parameters

    def initialize(self) -> None:
        """Run the initialisers in order."""
        for number in self.program.initializers:
            self.codes[number].run(())


# ruff: noqa: PLR0917 - an instruction's words are positional


Builder = Callable[..., Step]

# ---------------------------------------------------------------- functions as instructions


def _reader(words: Sequence[Any]) -> Callable[[Registers], Iterable[Any]]:
    """Return what reads operands: numbers are registers, tuples are lists of registers, other words are constants."""
    if len(words) > 1 and all(isinstance(word, int) for word in words):
        return itemgetter(*words)
    getters = [_getter(word) for word in words]
    return lambda r: [get(r) for get in getters]


def _getter(word: Any) -> Callable[[Registers], Any]:
    if isinstance(word, int):
        return itemgetter(word)
    if isinstance(word, tuple):
        return lambda r: [r[register] for register in word]
    return lambda r: word  # noqa: ARG005


def _assign(result: int, function: Callable[..., Any], words: Sequence[Any]) -> Step:
    read = _reader(words)

    def step(r: Registers) -> None:
        r[result] = function(*read(r))

    return step


def _do(function: Callable[..., Any], words: Sequence[Any]) -> Step:
    read = _reader(words)

    def step(r: Registers) -> None:
        function(*read(r))

    return step


def _value(function: Callable[..., Any]) -> Builder:
    """An instruction that computes its result from its operands' values."""
    return lambda machine, result, *words: _assign(result, function, words)  # noqa: ARG005


def _effect(function: Callable[..., Any]) -> Builder:
    """An instruction without a result."""
    return lambda machine, *words: _do(function, words)  # noqa: ARG005


def _alone(builder: Callable[..., Step]) -> Builder:
    """An instruction that needs nothing of the machine."""
    return lambda machine, *words: builder(*words)  # noqa: ARG005


def _command(name: str) -> Builder:
    """A command of the device that returns something."""
    return lambda machine, result, *words: _assign(result, getattr(machine.commands, name), words)


def _command_effect(name: str) -> Builder:
    return lambda machine, *words: _do(getattr(machine.commands, name), words)


# ---------------------------------------------------------------- scalars


def _scalar(name: str, kind: str, result: int, *operands: int) -> Step:
    function = scalar_function(name, kind)
    if len(operands) != 2:
        return _assign(result, function, operands)
    left, right = operands

    def binary(r: Registers) -> None:
        r[result] = function(r[left], r[right])

    return binary


def _convert(name: str, source: str, target: str, result: int, operand: int) -> Step:
    return _assign(result, conversion(name, source, target), (operand,))


# ---------------------------------------------------------------- functions and globals


def _call(machine: Machine, function: int, results: Sequence[int], operands: Sequence[int]) -> Step:
    code = machine.codes[function]

    def step(r: Registers) -> None:
        values = code.run([r[operand] for operand in operands])
        for result, value in zip(results, values, strict=True):
            r[result] = value

    return step


def _assert(condition: int, message: str) -> None:
    if not condition:
        _fail(f"assertion failed: {message}")


def _fail(message: str) -> None:
    raise ProgramError(message)


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


# ---------------------------------------------------------------- commands and views


def _same_element(given: int, expected: int) -> bool:
    """Integers match whatever their signedness, and a byte matches a boolean."""
    if given == expected:
        return True
    kinds = {given >> 24, expected >> 24}
    return (given & 0xFF) == (expected & 0xFF) and kinds <= {0x10, 0x11, 0x12, 0x13}


def _shape(sizes: Sequence[int]) -> str:
    return "x".join(str(size) for size in sizes) or "scalar"


def _view_assert(view: View, element: int, shape: Sequence[int], label: str) -> None:
    """Raise `ProgramError` if a view has another type or shape than the function expects."""
    if not _same_element(view.element, element):
        found, expected = element_type_name(view.element), element_type_name(element)
        msg = f"{label}: expected elements of type {expected}, found {found}"
        raise ProgramError(msg)
    if list(view.shape) != list(shape):
        msg = f"{label}: expected shape {_shape(shape)}, found {_shape(view.shape)}"
        raise ProgramError(msg)


def _free(resource: int) -> Step:
    """The resource is not used again; its memory is released once nothing else refers to it."""

    def step(r: Registers) -> None:
        r[resource] = None

    return step


def _dispatch(machine: Machine, kernel: int, workloads: Any, resources: Any, offsets: Any, uniforms: Any) -> Step:
    called = machine.program.kernels[kernel]
    members = [machine.program.kernels[number] for number in called.members] or [called]
    counted = [(machine.codes[member.groups].run, len(one)) for member, one in zip(members, workloads, strict=True)]

    def count_groups(workload: Sequence[Any]) -> list[Sequence[int]]:
        words = iter(workload)
        return [count(tuple(islice(words, length))) for count, length in counted]

    launch = machine.commands.launcher(called, members, count_groups)
    words = [word for workload in workloads for word in workload]
    pairs = [
        (spans[ordinal], starts[ordinal])
        for member, spans, starts in zip(members, resources, offsets, strict=True)
        for ordinal in member.bindings
    ]
    constants = [
        given[ordinal] for member, given in zip(members, uniforms, strict=True) for ordinal in member.constants
    ]

    def step(r: Registers) -> None:
        launch(
            tuple([r[word] for word in words]),
            [(r[resource], r[offset]) for resource, offset in pairs],
            [r[constant] for constant in constants],
        )

    return step


def _parameter_load(machine: Machine, results: Sequence[int], *words: Any) -> Step:
    read, load = _reader(words), machine.parameters.load

    def step(r: Registers) -> None:
        for result, span in zip(results, load(*read(r)), strict=True):
            r[result] = span

    return step


def _constant(machine: Machine, result: int, blob: int, offset: int, size: int) -> Step:
    machine.blobs[blob]  # `IndexError` for one that there is not

    def step(r: Registers) -> None:
        r[result] = machine.constant(blob, r[offset], r[size])

    return step


def _export(result: int, source: int, size: int, element: str, shape: Any, dynamic: Any) -> Step:
    code = element_type_code(element)

    def export(span: Span, length: int, sizes: Sequence[int]) -> View:
        known = iter(sizes)
        dimensions = tuple([next(known) if dimension < 0 else dimension for dimension in shape])
        return View(span.part(0, length), dimensions, code)

    return _assign(result, export, (source, size, dynamic))


def _view_dim(result: int, view: int, index: int) -> Step:
    def size(value: View) -> int:
        if index >= len(value.shape):
            msg = f"an argument has rank {len(value.shape)}, but its dimension {index} is needed"
            raise ProgramError(msg)
        return value.shape[index]

    return _assign(result, size, (view,))


BUILDERS: dict[str, Builder] = {
    "scalar": _alone(_scalar),
    "convert": _alone(_convert),
    "select": _value(lambda condition, yes, no: yes if condition else no),
    "call": _call,
    "assert": _effect(_assert),
    "fail": _effect(_fail),
    "global_load": _global_load,
    "global_store": _global_store,
    "buffer_slice": _value(lambda source, offset, length: source[offset : offset + length].copy()),
    "allocate": _command("allocate"),
    **{name: _command_effect(name) for name in ("resource_store", "upload", "fill", "copy", "flush", "check")},
    "free": _alone(_free),
    "resource_size": _value(attrgetter("length")),
    "subview": _value(Span.part),
    "resource_load": _command("resource_load"),
    "constant": _constant,
    "parameter_load": _parameter_load,
    "parameter_read": lambda machine, *words: _do(machine.parameters.read, words),
    "parameter_write": lambda machine, *words: _do(machine.parameters.write, words),
    "dispatch": _dispatch,
    "import": _value(lambda view, size: view.span.part(0, size)),
    "export": _alone(_export),
    "view_dim": _alone(_view_dim),
    "view_assert": _effect(_view_assert),
}
