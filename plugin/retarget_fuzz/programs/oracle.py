"""What a program has to return: in binary64, with a bound of the absolute error of each element.

The bound covers any order of summation, fused multiplications, intermediate results kept in a wider type, subnormal
numbers flushed to zero, and functions within some units in the last place, as many as Vulkan allows. It is infinite
where a correct compiler may return anything else: where rounding decides a comparison, where a number may overflow,
where a NaN is made of other numbers (drivers of GPUs take `a*c + b*c` for `(a+b)*c`, which has another one if `c` is
infinite), and where the behaviour is undefined (integers divided by zero, shifts by the width). Integers are exact and
wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from retarget.model import ELEMENT_TYPES

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.operations import ELEMENTWISE, LIBRARY, OPERATIONS, Operation, unsigned

__all__ = ["Array", "Value", "apply", "argument", "dtype_of", "evaluate", "initial", "limits"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Of a floating-point type: a unit in the last place of 1 (two for f64, since the oracle rounds as well), the
    largest number and the least normal one."""

    eps: float
    largest: float
    tiny: float


@lru_cache
def dtype_of(element: str) -> np.dtype[Any]:
    """The type of NumPy, or ml_dtypes, of that element type."""
    name = ELEMENT_TYPES[element].dtype
    return np.dtype(getattr(ml_dtypes, name, name))


@lru_cache
def limits(element: str) -> Limits:
    """The limits of a floating-point type."""
    info = ml_dtypes.finfo(dtype_of(element))  # type: ignore[no-untyped-call]
    scale = 2.0 if element == "f64" else 1.0
    return Limits(eps=float(info.eps) * scale, largest=float(info.max), tiny=float(info.smallest_normal))


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor: `data` in binary64 if its elements are floating-point numbers, else in their own type, and `bound`."""

    data: Array
    bound: Array

    @property
    def is_certain(self) -> bool:
        """Whether a correct compiler has to return each element, within its bound."""
        return bool(np.isfinite(self.bound).all())

    def expected(self, kind: Type) -> tuple[Array, float, float]:
        """The value in its element type, with absolute and relative tolerances that hold every element's bound."""
        with np.errstate(all="ignore"):
            value = self.data.astype(dtype_of(kind.element))
            if not kind.is_float or not value.size:
                return value, 0.0, 0.0
            size = np.abs(np.where(np.isfinite(self.data), self.data, 0.0))
            bound = np.where(self.bound > 0, self.bound + limits(kind.element).eps * size, 0.0)
            typical = size > np.median(size) / 2
            rtol = float(np.max(bound[typical] / size[typical], initial=0.0))
            return value, float(np.max(bound - rtol * size, initial=0.0)), rtol


def argument(array: Array, kind: Type) -> Value:
    """An argument: exact, but that a subnormal number may be taken as zero."""
    if not kind.is_float:
        return Value(array, np.zeros(array.shape))
    data = array.astype(np.float64)
    tiny = limits(kind.element).tiny
    return Value(data, np.where((data != 0) & (np.abs(data) < tiny), tiny, 0.0))


def evaluate(region: Region, arguments: Sequence[Value]) -> list[Value]:
    """The results of a region; not certain if anything in it is not, since undefined behaviour is not undone later."""
    values = list(arguments)
    certain = True
    for node in region.nodes:
        values.append(apply(node, [values[at] for at in node.operands]))
        certain = certain and values[-1].is_certain
    results = [values[at] for at in region.results]
    return results if certain else [Value(one.data, np.full(one.data.shape, np.inf)) for one in results]


def apply(node: Node, operands: Sequence[Value]) -> Value:
    """The result of one operation on these operands."""
    op, _, rest = node.op.partition(".")
    with np.errstate(all="ignore"):
        if op in _STRUCTURAL:
            change = _STRUCTURAL[op]
            return Value(change(node, [one.data for one in operands]), change(node, [one.bound for one in operands]))
        if op in _OTHERS:
            return _OTHERS[op](node, operands, rest)
        elementwise = _float if node.type.is_float else _integer
        return elementwise(node, ELEMENTWISE[op], operands)


def _rounded(data: Array, bound: Array, rounding: Array | float, element: str, operands: Sequence[Array]) -> Value:
    """`data` with the bound that the operands' bounds give it, plus `rounding` in `limits.eps`, absolute."""
    of = limits(element)
    magnitude = np.abs(data) + bound
    total = bound + rounding * of.eps
    is_exact_zero = (data == 0) & (total == 0) & (element != "f64")
    total = total + np.where((np.abs(data) - bound < of.tiny) & ~is_exact_zero & (np.asarray(rounding) > 0), of.tiny, 0)
    total = np.where(magnitude + total > of.largest, np.inf, total)
    special = was_nan = np.zeros(data.shape, bool)
    for operand in operands:
        special, was_nan = special | ~np.isfinite(operand), was_nan | np.isnan(operand)
    certain = special & (was_nan | ~np.isnan(data)) & np.isfinite(np.where(np.isnan(bound), 0.0, bound))
    return Value(data, np.where(np.isfinite(data) & ~np.isnan(total), total, np.where(certain, 0.0, np.inf)))


# ---- operations on elements ----------------------------------------------------------------------------------------


def _float(node: Node, operation: Operation, operands: Sequence[Value]) -> Value:
    """The bound is the largest difference at the ends of the operands' intervals, and at zero between them: functions
    only grow or only fall on either side, but for sine and cosine, which change no more than their operand."""
    eps, data = limits(node.type.element).eps, [one.data for one in operands]
    units = operation.units * eps if operation.units >= LIBRARY else 0.0
    off = [one.bound + np.where(np.isfinite(one.data), units * np.abs(one.data), 0.0) for one in operands]
    result = operation.compute(*data)
    bound = np.zeros(result.shape)
    for point in product(*(_interval(one, by) for one, by in zip(data, off, strict=True))):
        there = operation.compute(*point)
        same = (there == result) | np.isnan(there) & np.isnan(result)
        change = np.where(np.isnan(there - result), np.inf, np.abs(there - result))
        bound = np.maximum(bound, np.where(same, 0.0, change))
    if node.op in {"sin", "cos"}:  # which Vulkan gives to 2^-11 for arguments up to pi
        bound = np.where(np.abs(data[0]) + off[0] >= 100, np.inf, off[0] + 2.0**-10)
    if node.op in {"ceil", "floor", "round_even"}:
        bound = np.where(bound > 0, np.inf, 0.0)
    if node.op == "pow":  # a NaN to the power of zero is one
        bound = np.where(np.isnan(result), np.inf, bound)
    rounding = operation.units * (np.abs(result) + bound) + operation.absolute
    return _rounded(result, bound, rounding, node.type.element, data)


def _interval(data: Array, off: Array) -> list[Array]:
    low, high = data - off, data + off
    return [low, high, np.clip(0.0, low, high)] if off.any() else [data]


def _integer(node: Node, operation: Operation, operands: Sequence[Value]) -> Value:
    """Not certain where the behaviour is undefined."""
    name, _, sign = node.op.partition("_")
    first, last = operands[0].data, operands[-1].data
    result = operation.compute(*(unsigned(one.data) if sign else one.data for one in operands))
    undefined = np.zeros(first.shape, bool)
    if name in {"div", "rem"}:
        overflows = (first == np.iinfo(first.dtype).min) & (last == -1)
        undefined = (last == 0) | (overflows & (not sign))
    elif name in {"shl", "shr"}:
        undefined = (last < 0) | (last >= first.dtype.itemsize * 8)
    return Value(result.astype(first.dtype), np.where(undefined, np.inf, 0.0))


# ---- operations that move elements: the same for data and bounds ---------------------------------------------------


def _broadcast(node: Node, operands: Sequence[Array]) -> Array:
    """`attributes`: for each dimension of the operand, the one of the result."""
    shape = [1] * len(node.type.shape)
    for size, at in zip(operands[0].shape, node.attributes[0], strict=True):
        shape[at] = size
    return np.broadcast_to(operands[0].reshape(shape), node.type.shape)


def _slice(node: Node, operands: Sequence[Array]) -> Array:
    """`attributes`: starts, limits, strides."""
    return operands[0][tuple(slice(*one) for one in zip(*node.attributes, strict=True))]


def _pad(node: Node, operands: Sequence[Array]) -> Array:
    """`attributes`: elements added before, after, and between those of each dimension; the second operand is added."""
    low, _, between = node.attributes
    result = np.broadcast_to(operands[1], node.type.shape).copy()
    where = zip(low, between, operands[0].shape, strict=True)
    result[tuple(slice(at, at + size * (gap + 1) - gap if size else at, gap + 1) for at, gap, size in where)] = (
        operands[0]
    )
    return result


_STRUCTURAL: dict[str, Callable[[Node, Sequence[Array]], Array]] = {
    "broadcast": _broadcast,
    "transpose": lambda node, operands: operands[0].transpose(node.attributes[0]),
    "reshape": lambda node, operands: operands[0].reshape(node.type.shape),
    "reverse": lambda node, operands: np.flip(operands[0], node.attributes[0]),
    "concat": lambda node, operands: np.concatenate(operands, node.attributes[0][0]),
    "slice": _slice,
    "pad": _pad,
}


# ---- the rest ------------------------------------------------------------------------------------------------------


def _constant(node: Node, _operands: Sequence[Value], _rest: str) -> Value:
    """`values`: one for all elements, or one for each."""
    array = np.array(node.values[0] if len(node.values) == 1 else node.values).astype(dtype_of(node.type.element))
    shaped = np.broadcast_to(array, node.type.shape) if not array.shape else array.reshape(node.type.shape)
    return argument(shaped, node.type)


def _compare(_node: Node, operands: Sequence[Value], rest: str) -> Value:
    """Not sure where the bounds of two floating-point numbers meet."""
    bound = operands[0].bound + operands[1].bound
    first, second = (unsigned(one.data) if rest.endswith("_u") else one.data for one in operands)
    unsure = (bound > 0) & (np.abs(first - second) <= bound) if first.dtype == np.float64 else bound > 0
    return Value(OPERATIONS["compare"][rest].compute(first, second), np.where(unsure, np.inf, 0.0))


def _select(_node: Node, operands: Sequence[Value], _rest: str) -> Value:
    chosen, first, second = operands
    return Value(np.where(chosen.data, first.data, second.data), np.where(chosen.data, first.bound, second.bound))


def _convert(node: Node, operands: Sequence[Value], rest: str) -> Value:
    """To a floating-point type, or between integers, wrapping around; `rest` is `u` if the operand is unsigned, and how
    a floating-point number becomes an integer: `toward_zero` or `to_even`."""
    (operand,) = operands
    data, target = operand.data, dtype_of(node.type.element)
    if rest == "u":
        data = unsigned(data)
    if node.type.is_float:
        rounding = np.abs(data.astype(np.float64))
        return _rounded(data.astype(np.float64), operand.bound, rounding, node.type.element, [data.astype(np.float64)])
    if data.dtype != np.float64:
        return Value((data != 0) if target.kind == "b" else data.astype(target), operand.bound)
    rounded = np.rint if rest == "to_even" else np.trunc
    result = rounded(data)
    sure = (rounded(data - operand.bound) == rounded(data + operand.bound)) | (operand.bound == 0)
    info = np.iinfo(target)
    sure = sure & (result > float(info.min)) & (result < float(info.max))
    return Value(np.where(sure, result, 0.0).astype(target), np.where(sure, 0.0, np.inf))


def _reduce(node: Node, operands: Sequence[Value], rest: str) -> Value:
    """`attributes`: the dimensions that go; they stay, of size 1, if the result has the operand's rank."""
    (operand,) = operands
    data, axes, shape = operand.data, node.attributes[0], node.type.shape
    if node.type.is_float and rest == "add":
        kept = [at for at in range(data.ndim) if at not in axes]
        rows = math.prod(shape), data.size // max(1, math.prod(shape))
        flat = [one.transpose(*kept, *axes).reshape(rows) for one in (data, operand.bound)]
        total = _sum_of_products(Value(*flat), Value(*(np.full((rows[1], 1), one) for one in (1.0, 0.0))), node.type)
        return Value(total.data.reshape(shape), total.bound.reshape(shape))
    compute: Any = OPERATIONS["reduce"][rest].compute
    result = compute.reduce(data, axes, dtype=data.dtype, initial=initial(rest, node.type))
    return Value(result.reshape(shape), np.max(operand.bound, axes, initial=0.0).reshape(shape))


def initial(name: str, kind: Type) -> float:
    """What a reduction of elements of that type starts from."""
    if kind.is_float:
        return {"max": -math.inf, "min": math.inf}.get(name, 0.0)
    if kind.element == "i1":
        return int(name == "and")
    info = np.iinfo(dtype_of(kind.element))
    return {"mul": 1, "and": -1, "max": int(info.min), "min": int(info.max)}.get(name, 0)


def _dot(node: Node, operands: Sequence[Value], _rest: str) -> Value:
    """Of the last dimension of the first with the last but one of the second, batched over those before; elements of
    the result's type are multiplied and added."""
    if node.type.is_float:
        return _sum_of_products(operands[0], operands[1], node.type)
    result = np.matmul(*(one.data.astype(dtype_of(node.type.element)) for one in operands))
    return Value(result, np.zeros(result.shape))


def _sum_of_products(first: Value, second: Value, kind: Type) -> Value:
    of, count = limits(kind.element), first.data.shape[-1]
    sizes = [np.abs(np.where(np.isfinite(one.data), one.data, 0.0)) for one in (first, second)]
    total = np.matmul(*sizes)
    bound = np.matmul(sizes[0] + first.bound, second.bound) + np.matmul(first.bound, sizes[1])
    bound = bound + (count + 2) * (of.eps * (total + bound) + np.where(total > 0, of.tiny, 0.0))
    result = np.matmul(first.data, second.data)
    was_nan = np.isnan(np.matmul(*(np.where(np.isnan(one.data), np.nan, 0.0) for one in (first, second))))
    is_sure = (was_nan | np.isinf(result)) & (not first.bound.any() and not second.bound.any())
    bound = np.where(total + bound > of.largest, np.inf, np.where(np.isfinite(result), bound, np.inf))
    bound = np.where(is_sure, 0.0, bound)
    return Value(result, bound)


def _if(node: Node, operands: Sequence[Value], _rest: str) -> Value:
    """The first operand chooses the first region, or else the second; the others are the regions' arguments."""
    return evaluate(node.regions[0 if operands[0].data.item() else 1], operands[1:])[0]


def _for(node: Node, operands: Sequence[Value], _rest: str) -> Value:
    """The region, as often as the first operand says; its result becomes its first argument, the others stay."""
    count, carried, *rest = operands
    for _ in range(count.data.item()):
        (carried,) = evaluate(node.regions[0], [carried, *rest])
    return carried


_OTHERS: dict[str, Callable[[Node, Sequence[Value], str], Value]] = {
    "constant": _constant,
    "compare": _compare,
    "select": _select,
    "convert": _convert,
    "reduce": _reduce,
    "dot": _dot,
    "if": _if,
    "for": _for,
}
