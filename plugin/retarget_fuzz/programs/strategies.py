"""Hypothesis strategies of programs, valid by construction.

Each operation is evaluated by the oracle as it is drawn; one whose result is not certain is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from retarget_fuzz.programs.arrays import FILLS, filled
from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.oracle import Array, Value, apply, argument
from retarget_fuzz.programs.program import Program
from retarget_fuzz.programs.support import OPERATIONS, Operations

__all__ = ["programs"]

_Draw = Callable[[st.SearchStrategy[Any]], Any]

_SIZES = (2, 3, 1, 4, 5, 7, 8, 0, 13, 16, 17, 31, 32, 33, 64, 65, 127, 128, 130, 255, 257, 1000, 1023)
_MOST_ELEMENTS = 4096
_MOST_PRODUCTS = 1 << 17
_MOST_ARGUMENTS = 4
_MOST_STEPS = 12
_NEW, _CONSTANT = -1, -2
_SECOND_OPERANDS = {
    **dict.fromkeys(("div", "rem", "div_u", "rem_u"), "divisor"),
    **dict.fromkeys(("shl", "shr", "shr_u"), "shift"),
}
_POSITIVE = ("log", "sqrt", "rsqrt", "pow", "log1p")
_MAY_OVERFLOW = ("add", "sub", "mul", "neg", "abs", "reduce.add")
_IN_BODIES = ("add", "sub", "mul", "max", "min", "and", "or", "xor")
_OPERATIONS_ON_SHAPES = {"constant", "iota", "broadcast", "reshape", "slice", "pad", "concat", "take", "reverse"}
_CONSTANTS = {True: (1.0, 0.0, -1.0, 0.5, 2.0, 3.5, -0.0, math.inf, -math.inf, math.nan), False: (1, 0, -1, 2, 7, -8)}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A value of the program that is being drawn. Its source is an array if it is an argument, or else an operation."""

    type: Type
    value: Value
    source: Array | Node


class _Drawing:
    """A program that grows while it is drawn."""

    def __init__(self, draw: _Draw, dialect: str, element_types: Sequence[str]) -> None:
        self.draw = draw
        self.dialect = dialect
        self.element_types = element_types
        self.operations: Operations = OPERATIONS[dialect]
        self.entries: list[_Entry] = []
        self.is_dynamic = dialect != "tosa" and self.number(0, 3) == 3
        self.steps = self.operations.steps
        if self.is_dynamic and dialect == "stablehlo":  # what gives a shape has to know all sizes
            self.steps = [one for one in self.steps if one not in _OPERATIONS_ON_SHAPES]

    def one_of(self, choices: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    def number(self, least: int, most: int) -> int:
        return int(self.draw(st.integers(least, most)))

    def size(self, most: int = _MOST_ELEMENTS) -> int:
        sizes = [size for size in _SIZES if size <= most and (size or self.operations.has_empty)]
        return int(self.one_of(sizes))

    def shape(self, most_rank: int = 4) -> tuple[int, ...]:
        sizes: list[int] = []
        for _ in range(self.number(0, most_rank)):
            sizes.append(self.size(_MOST_ELEMENTS // max(1, math.prod(sizes))))
        return tuple(sizes)

    def argument(self, kind: Type, *fills: str, below: int = 0) -> int:
        array = filled(kind, self.one_of(fills or FILLS), self.number(0, 999), below)
        return self._append(_Entry(kind, argument(array, kind), array))

    def operand(self, kind: Type, *fills: str) -> int:
        """A value of that type: one that exists, a new argument, or a constant."""
        known = [] if fills else [at for at, entry in enumerate(self.entries) if entry.type == kind]
        has_no_constant = fills or kind.element == "i1" or self.steps is not self.operations.steps
        arguments = sum(not isinstance(entry.source, Node) for entry in self.entries)
        at = int(self.one_of([*known, _NEW, *([] if has_no_constant else [_CONSTANT])]))
        if at == _CONSTANT or (at == _NEW and arguments >= _MOST_ARGUMENTS and not has_no_constant):
            added = self.add("constant", [], kind, values=(self.one_of(_CONSTANTS[kind.is_float]),))
            return self.argument(kind) if added is None else added
        return self.argument(kind, *fills) if at == _NEW else at

    def add(self, op: str, operands: Sequence[int], kind: Type, **more: Any) -> int | None:
        """Add an operation if its result is certain."""
        if kind.size > _MOST_ELEMENTS or (not kind.size and not self.operations.has_empty):
            return None
        node = Node(op, tuple(operands), kind, **more)
        value = apply(node, [self.entries[at].value for at in operands])
        if not value.is_certain or (not self.operations.wraps and self._overflows(node, value)):
            return None
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

    def positive(self, op: str, at: int) -> int:
        """That value, or its absolute value if the operation is for positive numbers."""
        kind = self.entries[at].type
        return (self.add("abs", [at], kind) if op in _POSITIVE else None) or at

    def _append(self, entry: _Entry) -> int:
        self.entries.append(entry)
        return len(self.entries) - 1

    def step(self) -> None:
        """Draw one operation, on one of the latest values rather than on an early one."""
        at = len(self.entries) - 1 - self.number(0, min(len(self.entries) - 1, 3))
        _STEPS[self.one_of(self.steps)](self, at, self.entries[at].type)

    def program(self) -> Program:
        """The program whose results are the values that nothing uses, the last three of them."""
        order = sorted(range(len(self.entries)), key=lambda at: isinstance(self.entries[at].source, Node))
        number = {at: new for new, at in enumerate(order)}
        sources = [self.entries[at].source for at in order]
        nodes = tuple(one.renumbered(number) for one in sources if isinstance(one, Node))
        inputs = tuple(one for one in sources if not isinstance(one, Node))
        used = {at for node in nodes for at in node.operands}
        results = [at for at in range(len(inputs), len(order)) if at not in used][-3:] or [0]
        function = Region(tuple(self.entries[at].type for at in order[: len(inputs)]), nodes, tuple(results))
        program = Program(self.dialect, function, inputs).part(results)
        return replace(program, dynamic=self._dynamic(program.function))

    def _dynamic(self, function: Region) -> frozenset[int]:
        """The sizes that the types of the module do not tell, if any."""
        sizes = sorted({size for kind in function.arguments for size in kind.shape if size != 1})
        return frozenset(int(self.one_of(sizes)) for _ in range(2) if sizes and self.is_dynamic)


# ---- operations ----------------------------------------------------------------------------------------------------


def _unary(drawing: _Drawing, at: int, kind: Type) -> None:
    names = drawing.operations.names("unary", kind)
    if names:
        op = drawing.one_of(names)
        drawing.add(op, [drawing.positive(op, at)], kind)


def _binary(drawing: _Drawing, at: int, kind: Type) -> None:
    op = drawing.one_of(drawing.operations.names("binary", kind))
    if op in _SECOND_OPERANDS:
        drawing.add(op, [at, drawing.operand(kind, _SECOND_OPERANDS[op])], kind)
    else:
        operands = [drawing.positive(op, at), drawing.operand(kind)]
        drawing.add(op, operands[::-1] if drawing.number(0, 1) else operands, kind)


def _compare(drawing: _Drawing, at: int, kind: Type) -> None:
    predicates = drawing.operations.names("compare", kind)
    if predicates and "i1" in drawing.element_types:
        op = f"compare.{drawing.one_of(predicates)}"
        drawing.add(op, [at, drawing.operand(kind)], Type("i1", kind.shape))


def _select(drawing: _Drawing, at: int, kind: Type) -> None:
    if "i1" in drawing.element_types:
        drawing.add("select", [drawing.operand(Type("i1", kind.shape)), at, drawing.operand(kind)], kind)


def _convert(drawing: _Drawing, at: int, kind: Type) -> None:
    choices = drawing.operations.conversions(kind, drawing.element_types)
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
    shape = [math.prod(kind.shape)] if drawing.number(0, 2) == 2 else list(kind.shape)
    for _ in range(drawing.number(1, 3)):
        factors = [one for one in (2, 3, 5, 7, 13) for size in shape if size and size % one == 0]
        where = drawing.number(0, len(shape))
        if len(shape) < 5 and (not factors or drawing.number(0, 1)):
            shape.insert(where, 1)
        elif factors and len(shape) < 5:
            factor = drawing.one_of(factors)
            where = next(at for at, size in enumerate(shape) if size and size % factor == 0)
            shape[where : where + 1] = [shape[where] // factor, factor]
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
        ranges.append((start, stop, drawing.one_of([1, 2, 3]) if drawing.operations.has_strides else 1))
    shape = tuple(len(range(*one)) for one in ranges)
    drawing.add("slice", [at], Type(kind.element, shape), attributes=tuple(zip(*ranges, strict=True)))


def _pad(drawing: _Drawing, at: int, kind: Type) -> None:
    if not kind.shape:
        return
    low, high, between = (
        tuple(drawing.number(0, most) for _ in kind.shape) for most in (3, 3, int(drawing.operations.has_interior))
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
    names = drawing.operations.names("reduce", kind)
    if not names or not kind.shape:
        return
    rank, stays = len(kind.shape), drawing.operations.keeps_rank
    most = 1 if stays else rank
    dims = tuple(sorted(drawing.draw(st.sets(st.integers(0, rank - 1), min_size=1, max_size=most))))
    shape = tuple(1 if one in dims else size for one, size in enumerate(kind.shape) if stays or one not in dims)
    drawing.add(f"reduce.{drawing.one_of(names)}", [at], Type(kind.element, shape), attributes=(dims,))


def _dot(drawing: _Drawing, at: int, kind: Type) -> None:
    results = drawing.operations.products(kind, drawing.element_types)
    if not results:
        return
    if len(kind.shape) not in drawing.operations.ranks_of_dot:
        kind = Type(kind.element, tuple(drawing.size(16) for _ in range(drawing.operations.ranks_of_dot[0])))
        at = drawing.operand(kind)
    can_swap = int(drawing.operations.has_swapped_dot)
    swaps = (drawing.number(0, can_swap), drawing.number(0, can_swap))
    *batch, rows, inner = (*kind.shape[:-2], *(kind.shape[-2:] if not swaps[0] else kind.shape[:-3:-1]))
    columns = drawing.size(_MOST_PRODUCTS // max(1, kind.size) if inner * math.prod(batch) < 64 else 33)
    second = (*batch, columns, inner) if swaps[1] else (*batch, inner, columns)
    result = Type(drawing.one_of(results), (*batch, rows, columns))
    if result.size <= _MOST_ELEMENTS and math.prod(second) <= _MOST_ELEMENTS:
        drawing.add("dot", [at, drawing.operand(Type(kind.element, second))], result, attributes=(swaps,))


def _take(drawing: _Drawing, at: int, kind: Type) -> None:
    if kind.shape and kind.shape[0] and "i32" in drawing.element_types:
        shape = tuple(drawing.size(33) for _ in range(drawing.number(0, 2)))
        if len(shape) + len(kind.shape) <= 5:
            indices = drawing.argument(Type("i32", shape), "index", below=kind.shape[0])
            drawing.add("take", [at, indices], Type(kind.element, (*shape, *kind.shape[1:])))


def _iota(drawing: _Drawing, _at: int, kind: Type) -> None:
    elements = [one for one in drawing.element_types if one in {"i32", "f32"}]
    if kind.shape and elements:
        where = (drawing.number(0, len(kind.shape) - 1),)
        drawing.add("iota", [], Type(drawing.one_of(elements), kind.shape), attributes=(where,))


def _names_in_bodies(drawing: _Drawing, kind: Type) -> list[str]:
    wraps = drawing.operations.wraps or kind.is_float
    names = [one for one in drawing.operations.names("binary", kind) if one in _IN_BODIES]
    return [one for one in names if wraps or one not in _MAY_OVERFLOW]


def _body(drawing: _Drawing, kind: Type, arguments: int) -> Region:
    """A region of one to three operations on values of one type, each on the result of the one before."""
    names = _names_in_bodies(drawing, kind)
    nodes: list[Node] = []
    for at in range(arguments, arguments + drawing.number(1, 3)):
        operands = (at - 1 if nodes else 0, drawing.number(0, at - 1))
        nodes.append(Node(drawing.one_of(names), operands, kind))
    return Region((kind,) * arguments, tuple(nodes), (arguments + len(nodes) - 1,))


def _if(drawing: _Drawing, at: int, kind: Type) -> None:
    if "i1" in drawing.element_types and _names_in_bodies(drawing, kind):
        operands = [drawing.operand(Type("i1")), at, drawing.operand(kind)]
        drawing.add("if", operands, kind, regions=(_body(drawing, kind, 2), _body(drawing, kind, 2)))


def _for(drawing: _Drawing, at: int, kind: Type) -> None:
    if "i32" in drawing.element_types and _names_in_bodies(drawing, kind):
        operands = [drawing.argument(Type("i32"), "index", below=6), at, drawing.operand(kind)]
        drawing.add("for", operands, kind, regions=(_body(drawing, kind, 2),))


_STEPS: dict[str, Callable[[_Drawing, int, Type], None]] = {
    function.__name__[1:]: function
    for function in (
        *(_unary, _binary, _compare, _select, _convert, _broadcast, _transpose, _reshape, _slice, _pad, _concat),
        *(_reverse, _reduce, _dot, _take, _iota, _if, _for),
    )
}


def programs(dialects: Sequence[str], element_types: Sequence[str]) -> st.SearchStrategy[Program]:
    """Programs in these dialects on these element types. Raises `ValueError` if a dialect has none of the types."""
    types = {name: [one for one in element_types if one in OPERATIONS[name].element_types] for name in dialects}
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
