"""Hypothesis strategies of programs, valid by construction.

Each operation is evaluated by the oracle as it is drawn; one whose result is not certain is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import HypothesisProvider

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.operations import conversions, names, products
from retarget_fuzz.programs.oracle import Array, Value, apply, argument, dtype_of, limits
from retarget_fuzz.programs.program import ELEMENT_TYPES, Program

__all__ = ["by_seed_alone", "programs"]

_Draw = Callable[[st.SearchStrategy[Any]], Any]

_SIZES = (2, 3, 1, 4, 5, 7, 8, 0, 13, 16, 17, 31, 32, 33, 64, 65, 127, 128, 130, 255, 257, 1000, 1023)
_MOST_ELEMENTS = 4096
_MOST_PRODUCTS = 1 << 17
_MOST_ARGUMENTS = 4
_MOST_STEPS = 12
_NEW, _CONSTANT = -1, -2
_FILLS = ("small", "normal", "wide", "special")
_SECOND_OPERANDS = {
    **dict.fromkeys(("div", "rem", "div_u", "rem_u"), "divisor"),
    **dict.fromkeys(("shl", "shr", "shr_u"), "shift"),
}
_POSITIVE = ("log", "sqrt", "rsqrt", "pow", "log1p")
_MAY_OVERFLOW = ("add", "sub", "mul", "neg", "abs", "reduce.add")
_IN_BODIES = ("add", "sub", "mul", "max", "min", "and", "or", "xor")
_CONSTANTS = {True: (1.0, 0.0, -1.0, 0.5, 2.0, 3.5, -0.0, math.inf, -math.inf, math.nan), False: (1, 0, -1, 2, 7, -8)}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A value of the program that is being drawn. Its source is an array if it is an argument, or else an operation."""

    type: Type
    value: Value
    source: Array | Node


class _UncertainError(Exception):
    """A correct compiler may return more than one result."""


class _Drawing:
    """A program that grows while it is drawn.

    TOSA has no empty tensors and no strides, its reductions keep the rank, and it leaves open what integers that
    overflow become.
    """

    def __init__(self, draw: _Draw, dialect: str, element_types: Sequence[str]) -> None:
        self.draw = draw
        self.dialect = dialect
        self.element_types = element_types
        self.entries: list[_Entry] = []
        self.is_tosa = dialect == "tosa"
        self.is_dynamic = not self.is_tosa and self.number(0, 3) == 3
        self.has_shapes = not self.is_dynamic or dialect == "linalg"  # StableHLO's have to know all sizes

    def one_of(self, choices: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    def number(self, least: int, most: int) -> int:
        return int(self.draw(st.integers(least, most)))

    def size(self, most: int = _MOST_ELEMENTS) -> int:
        sizes = [size for size in _SIZES if size <= most and (size or not self.is_tosa)]
        return int(self.one_of(sizes))

    def shape(self, most_rank: int = 4) -> tuple[int, ...]:
        sizes: list[int] = []
        for _ in range(self.number(0, most_rank)):
            sizes.append(self.size(_MOST_ELEMENTS // max(1, math.prod(sizes))))
        return tuple(sizes)

    def argument(self, kind: Type, *fills: str) -> int:
        array = _filled(kind, self.one_of(fills or _FILLS), self.number(0, 999))
        return self._append(_Entry(kind, argument(array, kind), array))

    def operand(self, kind: Type, *fills: str) -> int:
        """A value of that type: one that exists, a new argument, or a constant."""
        known = [] if fills else [at for at, entry in enumerate(self.entries) if entry.type == kind]
        has_no_constant = fills or kind.element == "i1" or not self.has_shapes
        arguments = sum(not isinstance(entry.source, Node) for entry in self.entries)
        at = int(self.one_of([*known, _NEW, *([] if has_no_constant else [_CONSTANT])]))
        if at == _CONSTANT or (at == _NEW and arguments >= _MOST_ARGUMENTS and not has_no_constant):
            return self.add("constant", [], kind, values=(self.one_of(_CONSTANTS[kind.is_float]),))
        return self.argument(kind, *fills) if at == _NEW else at

    def add(self, op: str, operands: Sequence[int], kind: Type, **more: Any) -> int:
        """Add an operation. Raises `_UncertainError`, also where the result is too large, or empty in TOSA."""
        if kind.size > _MOST_ELEMENTS or (not kind.size and self.is_tosa):
            raise _UncertainError
        node = Node(op, tuple(operands), kind, **more)
        value = apply(node, [self.entries[at].value for at in operands])
        if not value.is_certain or (self.is_tosa and self._overflows(node, value)):
            raise _UncertainError
        return self._append(_Entry(kind, value, node))

    def _overflows(self, node: Node, value: Value) -> bool:
        """Whether integers of 64 bits would give another result."""
        if node.type.is_float or node.op not in _MAY_OVERFLOW:
            return False
        operands = [
            Value(one.data.astype(np.int64), one.bound) for one in (self.entries[at].value for at in node.operands)
        ]
        wide = apply(replace(node, type=Type("i64", node.type.shape)), operands)
        return bool((wide.data != value.data).any())

    def names(self, what: str, kind: Type) -> list[str]:
        return names(what, self.dialect, kind)

    def positive(self, op: str, at: int) -> int:
        """That value, or its absolute value if the operation is for positive numbers."""
        kind = self.entries[at].type
        return self.add("abs", [at], kind) if op in _POSITIVE else at

    def _append(self, entry: _Entry) -> int:
        self.entries.append(entry)
        return len(self.entries) - 1

    def step(self) -> None:
        """Draw one operation, on one of the latest values rather than on an early one, unless its result is not
        certain."""
        many = len(self.entries)
        at = many - 1 - self.number(0, min(many - 1, 3))
        steps = [*_STEPS, *(_STEPS_ON_SHAPES if self.has_shapes else ())]
        step = self.one_of(steps if self.dialect == "linalg" else [*steps, _reverse])
        try:
            step(self, at, self.entries[at].type)
        except _UncertainError:
            del self.entries[many:]

    def program(self) -> Program:
        """The program whose results are the values that nothing uses."""
        order = sorted(range(len(self.entries)), key=lambda at: isinstance(self.entries[at].source, Node))
        number = {at: new for new, at in enumerate(order)}
        sources = [self.entries[at].source for at in order]
        inputs = tuple(one for one in sources if not isinstance(one, Node))
        nodes = tuple(one.renumbered(number) for one in sources if isinstance(one, Node))
        used = {at for node in nodes for at in node.operands}
        results = tuple(at for at in range(len(inputs), len(order)) if at not in used) or (0,)
        function = Region(tuple(self.entries[at].type for at in order[: len(inputs)]), nodes, results)
        program = Program(self.dialect, function, inputs).part(results)
        return replace(program, dynamic=self._dynamic(program.function))

    def _dynamic(self, function: Region) -> frozenset[int]:
        """The sizes that the types of the module do not tell, if any."""
        sizes = sorted({size for kind in function.arguments for size in kind.shape if size != 1})
        return frozenset(int(self.one_of(sizes)) for _ in range(2) if sizes and self.is_dynamic)


# ---- operations ----------------------------------------------------------------------------------------------------


def _unary(drawing: _Drawing, at: int, kind: Type) -> None:
    choices = drawing.names("unary", kind)
    if choices:
        op = drawing.one_of(choices)
        drawing.add(op, [drawing.positive(op, at)], kind)


def _binary(drawing: _Drawing, at: int, kind: Type) -> None:
    op = drawing.one_of(drawing.names("binary", kind))
    if op in _SECOND_OPERANDS:
        drawing.add(op, [at, drawing.operand(kind, _SECOND_OPERANDS[op])], kind)
    else:
        operands = [drawing.positive(op, at), drawing.operand(kind)]
        drawing.add(op, operands[::-1] if drawing.number(0, 1) else operands, kind)


def _compare(drawing: _Drawing, at: int, kind: Type) -> None:
    predicates = drawing.names("compare", kind)
    if predicates and "i1" in drawing.element_types:
        op = f"compare.{drawing.one_of(predicates)}"
        drawing.add(op, [at, drawing.operand(kind)], Type("i1", kind.shape))


def _select(drawing: _Drawing, at: int, kind: Type) -> None:
    if "i1" in drawing.element_types:
        drawing.add("select", [drawing.operand(Type("i1", kind.shape)), at, drawing.operand(kind)], kind)


def _convert(drawing: _Drawing, at: int, kind: Type) -> None:
    choices = conversions(drawing.dialect, kind, drawing.element_types)
    if choices:
        op, element = drawing.one_of(choices)
        drawing.add(op, [at], Type(element, kind.shape))


def _broadcast(drawing: _Drawing, at: int, kind: Type) -> None:
    dims = list(range(len(kind.shape)))
    shape = [int(drawing.one_of([size, 3, 8, 33])) if size == 1 else size for size in kind.shape]
    for _ in range(drawing.number(0, max(0, 4 - len(shape)))):
        where = drawing.number(0, len(shape))
        shape.insert(where, drawing.one_of([2, 3, 1, 16, 65]))
        dims = [one + (one >= where) for one in dims]
    if tuple(shape) != kind.shape:
        drawing.add("broadcast", [at], Type(kind.element, tuple(shape)), attributes=(tuple(dims),))


def _transpose(drawing: _Drawing, at: int, kind: Type) -> None:
    order = tuple(drawing.draw(st.permutations(range(len(kind.shape)))))
    if len(order) > 1:
        drawing.add("transpose", [at], Type(kind.element, tuple(kind.shape[one] for one in order)), attributes=(order,))


def _reshape(drawing: _Drawing, at: int, kind: Type) -> None:
    shape = [kind.size] if drawing.number(0, 2) == 2 else list(kind.shape)
    for _ in range(min(drawing.number(1, 3), 5 - len(shape))):
        where = drawing.number(0, len(shape))
        factors = [one for one in (1, 2, 3, 5, 7, 13) if not any(size % one for size in shape[where : where + 1])]
        factor = drawing.one_of(factors if where < len(shape) else [1])
        shape[where : where + 1] = [factor, *(size // factor for size in shape[where : where + 1])]
    if 1 in shape and drawing.number(0, 1):
        shape.remove(1)
    drawing.add("reshape", [at], Type(kind.element, tuple(shape)))


def _slice(drawing: _Drawing, at: int, kind: Type) -> None:
    if 0 in kind.shape or not kind.shape:
        return
    ranges = []
    for size in kind.shape:
        start = drawing.number(0, max(0, min(3, size - 1)))
        stop = drawing.number(start, size) if drawing.number(0, 1) else size
        ranges.append((start, stop, 1 if drawing.is_tosa else drawing.one_of([1, 2, 3])))
    shape = tuple(len(range(*one)) for one in ranges)
    drawing.add("slice", [at], Type(kind.element, shape), attributes=tuple(zip(*ranges, strict=True)))


def _pad(drawing: _Drawing, at: int, kind: Type) -> None:
    if not kind.shape:
        return
    low, high, between = (
        tuple(drawing.number(0, most) for _ in kind.shape) for most in (3, 3, int(drawing.dialect == "stablehlo"))
    )
    shape = tuple(
        before + after + size + max(0, size - 1) * gap
        for before, after, gap, size in zip(low, high, between, kind.shape, strict=True)
    )
    value = drawing.operand(Type(kind.element))
    drawing.add("pad", [at, value], Type(kind.element, shape), attributes=(low, high, between))


def _concat(drawing: _Drawing, at: int, kind: Type) -> None:
    if kind.shape:
        where = drawing.number(0, len(kind.shape) - 1)
        others = [
            entry
            for entry, one in enumerate(drawing.entries)
            if one.type.element == kind.element
            and len(one.type.shape) == len(kind.shape)
            and all(at == where or a == b for at, (a, b) in enumerate(zip(one.type.shape, kind.shape, strict=True)))
        ]
        other = drawing.one_of(others)
        size = kind.shape[where] + drawing.entries[other].type.shape[where]
        shape = (*kind.shape[:where], size, *kind.shape[where + 1 :])
        drawing.add("concat", [at, other], Type(kind.element, shape), attributes=((where,),))


def _reverse(drawing: _Drawing, at: int, kind: Type) -> None:
    if kind.shape:
        drawing.add("reverse", [at], kind, attributes=((drawing.number(0, len(kind.shape) - 1),),))


def _reduce(drawing: _Drawing, at: int, kind: Type) -> None:
    choices = drawing.names("reduce", kind)
    if not choices or not kind.shape:
        return
    rank, stays = len(kind.shape), drawing.is_tosa
    most = 1 if stays else rank
    dims = tuple(sorted(drawing.draw(st.sets(st.integers(0, rank - 1), min_size=1, max_size=most))))
    shape = tuple(1 if one in dims else size for one, size in enumerate(kind.shape) if stays or one not in dims)
    drawing.add(f"reduce.{drawing.one_of(choices)}", [at], Type(kind.element, shape), attributes=(dims,))


def _dot(drawing: _Drawing, at: int, kind: Type) -> None:
    results = products(drawing.dialect, kind, drawing.element_types)
    if not results:
        return
    ranks = {"linalg": (2, 3), "stablehlo": (2, 3, 4), "tosa": (3,)}[drawing.dialect]
    if len(kind.shape) not in ranks:
        kind = Type(kind.element, tuple(drawing.size(16) for _ in range(ranks[0])))
        at = drawing.operand(kind)
    *batch, rows, inner = kind.shape
    columns = drawing.size(_MOST_PRODUCTS // max(1, kind.size) if inner * math.prod(batch) < 64 else 33)
    second = Type(kind.element, (*batch, inner, columns))
    if second.size <= _MOST_ELEMENTS and math.prod((*batch, rows, columns)) <= _MOST_ELEMENTS:
        result = Type(drawing.one_of(results), (*batch, rows, columns))
        drawing.add("dot", [at, drawing.operand(second)], result)


def _names_in_bodies(drawing: _Drawing, kind: Type) -> list[str]:
    wraps = not drawing.is_tosa or kind.is_float
    choices = [one for one in drawing.names("binary", kind) if one in _IN_BODIES]
    return [one for one in choices if wraps or one not in _MAY_OVERFLOW]


def _body(drawing: _Drawing, kind: Type) -> Region:
    """A region of one to three operations on two values of one type, each on the result of the one before."""
    choices = _names_in_bodies(drawing, kind)
    nodes: list[Node] = []
    for at in range(2, 2 + drawing.number(1, 3)):
        operands = (at - 1 if nodes else 0, drawing.number(0, at - 1))
        nodes.append(Node(drawing.one_of(choices), operands, kind))
    return Region((kind, kind), tuple(nodes), (len(nodes) + 1,))


def _if(drawing: _Drawing, at: int, kind: Type) -> None:
    if "i1" in drawing.element_types and _names_in_bodies(drawing, kind):
        operands = [drawing.operand(Type("i1")), at, drawing.operand(kind)]
        drawing.add("if", operands, kind, regions=(_body(drawing, kind), _body(drawing, kind)))


def _for(drawing: _Drawing, at: int, kind: Type) -> None:
    if "i32" in drawing.element_types and _names_in_bodies(drawing, kind):
        operands = [drawing.argument(Type("i32"), "count"), at, drawing.operand(kind)]
        drawing.add("for", operands, kind, regions=(_body(drawing, kind),))


_STEPS = (_binary, _unary, _binary, _compare, _select, _convert, _transpose, _reduce, _reduce, _dot, _if, _for)
_STEPS_ON_SHAPES = (_broadcast, _reshape, _slice, _pad, _concat)


# ---- arguments ------------------------------------------------------------------------------------------------------


def _filled(kind: Type, fill: str, seed: int) -> Array:
    """An array of that type. `fill` is one of `_FILLS`, or what makes an operation defined: `divisor` (neither 0 nor
    -1), `shift` (below the width), `count` (of a loop)."""
    random = np.random.default_rng(seed)
    array = (_floats if kind.is_float else _integers)(random, kind, fill)
    return array.astype(dtype_of(kind.element))


def _floats(random: np.random.Generator, kind: Type, fill: str) -> Array:
    if fill == "small":
        return random.integers(-4, 5, kind.shape).astype(np.float64)
    values = random.standard_normal(kind.shape)
    if fill == "wide":
        return values * 2.0 ** random.integers(-10, 10, kind.shape)
    if fill == "divisor":
        return np.copysign(np.abs(values) + 0.25, values)
    if fill == "special":
        of = limits(kind.element)
        special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, of.largest, -of.largest, of.tiny, of.tiny / 4, of.eps]
        return np.where(random.integers(0, 4, kind.shape) == 0, random.choice(special, kind.shape), values)
    return values


def _integers(random: np.random.Generator, kind: Type, fill: str) -> Array:
    if kind.element == "i1":
        return random.integers(0, 2, kind.shape)
    if fill == "small":
        return random.integers(-4, 5, kind.shape)
    if fill in {"shift", "count"}:
        return random.integers(0, kind.bits if fill == "shift" else 6, kind.shape)
    info = np.iinfo(dtype_of(kind.element))
    values = random.integers(info.min, info.max, kind.shape, dtype=info.dtype, endpoint=True)
    if fill == "divisor":
        values = values >> random.integers(0, kind.bits, kind.shape, dtype=info.dtype)
        return np.where((values == 0) | (values == -1), 3, values)
    if fill == "special":
        special = random.choice(np.array([info.min, info.max, -1, 0, 1], info.dtype), kind.shape)
        return np.where(random.integers(0, 2, kind.shape) == 0, special, values)
    return np.asarray(values)


# ---- programs -------------------------------------------------------------------------------------------------------


def by_seed_alone() -> AbstractContextManager[object]:
    """Let Hypothesis draw by its seed alone: it draws numbers of modules of a checkout, too, whichever are loaded."""
    return patch.object(HypothesisProvider, "_maybe_draw_constant", lambda *_, **__: None, create=True)


def programs(dialects: Sequence[str], element_types: Sequence[str]) -> st.SearchStrategy[Program]:
    """Programs in these dialects on these element types. Raises `ValueError` if a dialect has none of the types."""
    of_tosa = [one for one in ELEMENT_TYPES if not one.endswith("64")]
    known = {name: of_tosa if name == "tosa" else ELEMENT_TYPES for name in dialects}
    types = {name: [one for one in element_types if one in known[name]] for name in dialects}
    for name, usable in types.items():
        if not usable:
            msg = f"{name} has none of the element types {', '.join(element_types)}"
            raise ValueError(msg)

    @st.composite
    def step(draw: _Draw, drawing: _Drawing) -> bool:
        """One operation, or the end: drawn as one, so that what Hypothesis deletes is an operation."""
        drawing.draw = draw
        goes_on = len(drawing.entries) == 1 or drawing.number(0, 7) > 0
        if goes_on:
            drawing.step()
        return goes_on

    @st.composite
    def program(draw: _Draw) -> Program:
        dialect = draw(st.sampled_from(list(dialects)))
        drawing = _Drawing(draw, dialect, types[dialect])
        drawing.argument(Type(drawing.one_of(types[dialect]), drawing.shape()))
        for _ in range(_MOST_STEPS):
            if not draw(step(drawing)):
                break
        drawing.draw = draw
        return drawing.program()

    return program()
