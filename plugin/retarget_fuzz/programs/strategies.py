"""Hypothesis strategies of programs, valid by construction.

Each operation is evaluated by the oracle as it is drawn; one whose result is not certain is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.oracle import Array, Value, apply, argument, dtype_of, limits
from retarget_fuzz.programs.program import Program

__all__ = ["programs"]

_Draw = Callable[[st.SearchStrategy[Any]], Any]

_SIZES = (2, 3, 1, 4, 5, 7, 8, 0, 13, 16, 17, 31, 32, 33, 64, 65, 127, 128, 130, 255, 257, 1000, 1023)
_MOST_ELEMENTS = 4096
_MOST_ARGUMENTS = 4
_MOST_NODES = 40
_NEW = -1


@dataclass(slots=True)
class _Entry:
    """A value of the program that is being drawn: an argument has an array, a node its operation."""

    type: Type
    value: Value
    array: Array | None = None
    node: Node | None = None


class _Drawing:
    """A program that grows while it is drawn."""

    def __init__(self, draw: _Draw, dialect: str, element_types: Sequence[str]) -> None:
        self.draw = draw
        self.dialect = dialect
        self.element_types = element_types
        self.entries: list[_Entry] = []

    def one_of(self, choices: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    def shape(self, most_rank: int = 4) -> tuple[int, ...]:
        """Of at most some 4,000 elements."""
        sizes: list[int] = []
        for _ in range(self.draw(st.integers(0, most_rank))):
            left = _MOST_ELEMENTS // max(1, math.prod(sizes))
            sizes.append(self.one_of([size for size in _SIZES if size <= left]))
        return tuple(sizes)

    def argument(self, kind: Type) -> int:
        array = self.draw(st.builds(_array, st.just(kind), st.sampled_from(_FILLS), st.integers(0, 999)))
        self.entries.append(_Entry(kind, argument(array, kind), array=array))
        return len(self.entries) - 1

    def operand(self, kind: Type) -> int:
        """A value of that type: one that exists, a new argument, or a constant."""
        known = [at for at, entry in enumerate(self.entries) if entry.type == kind]
        arguments = sum(entry.array is not None for entry in self.entries)
        at = self.one_of([*known, _NEW])
        if at != _NEW:
            return int(at)
        if arguments < _MOST_ARGUMENTS:
            return self.argument(kind)
        return known[0] if known else self.argument(kind)

    def add(self, op: str, operands: Sequence[int], kind: Type, **more: Any) -> int | None:
        """Add an operation if its result is certain."""
        node = Node(op, tuple(operands), kind, **more)
        value = apply(node, [self.entries[at].value for at in operands])
        if not value.is_certain:
            return None
        self.entries.append(_Entry(kind, value, node=node))
        return len(self.entries) - 1

    def step(self) -> None:
        """Draw one operation."""
        at = self.draw(st.integers(0, len(self.entries) - 1).map(lambda back: len(self.entries) - 1 - back))
        kind = self.entries[at].type
        self.one_of([_binary, _unary, _broadcast])(self, at, kind)

    def program(self) -> Program:
        """The program whose results are the values that nothing uses."""
        used = {at for entry in self.entries if entry.node for at in entry.node.operands}
        results = [at for at, entry in enumerate(self.entries) if entry.node and at not in used][-3:]
        results = results or [len(self.entries) - 1]
        needed, pending = set[int](), list(results)
        while pending:
            at = pending.pop()
            needed.add(at)
            node = self.entries[at].node
            pending += [one for one in (node.operands if node else ()) if one not in needed]
        arguments = [at for at in sorted(needed) if self.entries[at].node is None]
        nodes = [at for at in sorted(needed) if self.entries[at].node is not None]
        number = {at: new for new, at in enumerate((*arguments, *nodes))}
        function = Region(
            tuple(self.entries[at].type for at in arguments),
            tuple(_renumbered(self.entries[at].node, number) for at in nodes),
            tuple(number[at] for at in results),
        )
        return Program(self.dialect, function, tuple(_given(self.entries[at].array) for at in arguments))


def _given(array: Array | None) -> Array:
    assert array is not None  # noqa: S101
    return array


def _renumbered(node: Node | None, number: dict[int, int]) -> Node:
    assert node is not None  # noqa: S101
    operands = tuple(number[at] for at in node.operands)
    return Node(node.op, operands, node.type, node.attributes, node.values, node.regions)


_FILLS = ("small", "normal", "wide", "special")


def _array(kind: Type, fill: str, seed: int) -> Array:
    """The elements of an argument."""
    random = np.random.default_rng(seed)
    dtype, shape = dtype_of(kind.element), kind.shape
    if kind.element == "i1":
        return random.integers(0, 2, shape).astype(bool)
    if kind.is_float:
        of = limits(kind.element)
        values = random.integers(-4, 5, shape).astype(np.float64)
        if fill == "normal":
            values = random.standard_normal(shape)
        elif fill == "wide":
            values = random.standard_normal(shape) * 2.0 ** random.integers(-10, 10, shape)
        elif fill == "special":
            specials = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, of.largest, -of.largest, of.tiny, of.eps]
            chosen = random.choice(specials, shape)
            values = np.where(random.integers(0, 4, shape) == 0, chosen, random.standard_normal(shape))
        return values.astype(dtype)
    info = np.iinfo(dtype)
    if fill == "small":
        return random.integers(-4, 5, shape).astype(dtype)
    values = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    if fill == "special":
        chosen = random.choice(np.array([info.min, info.max, -1, 0, 1], dtype), shape)
        values = np.where(random.integers(0, 2, shape) == 0, chosen, values)
    return np.asarray(values)


# ---- operations --------------------------------------------------------------------------------------------------------

_BINARY_FLOAT = ("add", "sub", "mul", "max", "min", "div")
_BINARY_INTEGER = ("add", "sub", "mul", "max", "min", "and", "or", "xor", "div", "rem")
_UNARY_FLOAT = ("neg", "abs", "exp", "tanh", "sqrt", "ceil", "floor", "log")
_UNARY_INTEGER = ("abs",)


def _binary(drawing: _Drawing, at: int, kind: Type) -> None:
    op = drawing.one_of(_BINARY_FLOAT if kind.is_float else _BINARY_INTEGER)
    operands = [at, drawing.operand(kind)]
    drawing.add(op, operands if drawing.draw(st.booleans()) else operands[::-1], kind)


def _unary(drawing: _Drawing, at: int, kind: Type) -> None:
    drawing.add(drawing.one_of(_UNARY_FLOAT if kind.is_float else _UNARY_INTEGER), [at], kind)


def _broadcast(drawing: _Drawing, at: int, kind: Type) -> None:
    shape, dims = [], []
    for size in kind.shape:
        dims.append(len(shape))
        shape.append(drawing.one_of([size, 3, 8, 33]) if size == 1 else size)
    for _ in range(drawing.draw(st.integers(0, 4 - len(shape)))):
        where = drawing.draw(st.integers(0, len(shape)))
        shape.insert(where, drawing.one_of([2, 3, 1, 16, 65]))
        dims = [one + (one >= where) for one in dims]
    if math.prod(shape) <= _MOST_ELEMENTS:
        drawing.add("broadcast", [at], Type(kind.element, tuple(shape)), attributes=(tuple(dims),))


def programs(dialects: Sequence[str], element_types: Sequence[str]) -> st.SearchStrategy[Program]:
    """Programs in these dialects on these element types."""

    @st.composite
    def program(draw: _Draw) -> Program:
        drawing = _Drawing(draw, draw(st.sampled_from(list(dialects))), list(element_types))
        drawing.argument(Type(drawing.one_of(element_types), drawing.shape()))
        for _ in range(draw(st.integers(1, 8))):
            drawing.step()
        return drawing.program()

    return program()
