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
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from retarget.model import ELEMENT_TYPES

from retarget_fuzz.programs.ir import Node, Region, Type

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
        data = [one.data for one in operands]
        if node.type.is_float and op in _FLOAT:
            result, bound, rounding = _FLOAT[op](*operands)
            return _rounded(result, bound, rounding, node.type.element, data)
        result, undefined = _INTEGER[op](*data)
        return Value(result, np.where(undefined, np.inf, 0.0) + np.zeros(result.shape))


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


# ---- floating-point operations, element by element: result, bound from the operands' bounds, rounding in eps -------

_Rounded = tuple[Any, Any, Any]


def _add(a: Value, b: Value) -> _Rounded:
    result = a.data + b.data
    return result, a.bound + b.bound, np.abs(result) + a.bound + b.bound


def _multiply(a: Value, b: Value) -> _Rounded:
    result = a.data * b.data
    bound = np.abs(a.data) * b.bound + np.abs(b.data) * a.bound + a.bound * b.bound
    either = np.isinf(a.data) | np.isinf(b.data)
    unsure = either & ((np.abs(a.data) <= a.bound) & (a.bound > 0) | (np.abs(b.data) <= b.bound) & (b.bound > 0))
    return result, np.where(unsure, np.inf, np.where(either, 0.0, bound)), np.abs(result)


def _divide(a: Value, b: Value) -> _Rounded:
    result = a.data / b.data
    away = np.abs(b.data) - b.bound
    bound = np.where(away > 0, (a.bound + np.abs(result) * b.bound) / away, np.inf)
    by_infinity = np.isinf(b.data) & ~np.isinf(a.data)
    return result, np.where(by_infinity | np.isnan(a.data + b.data), 0.0, bound), 4 * np.abs(result)


def _power(a: Value, b: Value) -> _Rounded:
    result = np.power(a.data, b.data)
    logarithm = np.log(a.data)
    error = np.abs(b.data) * a.bound / (a.data - a.bound) + (np.abs(logarithm) + 1) * b.bound
    bound = np.where((a.data - a.bound > 0) & (error < 0.5), np.abs(result) * np.expm1(error), np.inf)
    bound = np.where(np.isfinite(a.data + b.data), bound, np.inf)
    return result, bound, (16 + 8 * np.abs(b.data) * (np.abs(logarithm) + 1)) * np.abs(result)


def _exact(function: Callable[..., Array]) -> Callable[..., _Rounded]:
    """A function that rounds nothing, and lets no error grow."""
    return lambda *operands: (
        function(*(one.data for one in operands)),
        np.max([one.bound for one in operands], 0),
        0.0,
    )


def _step(function: Callable[[Array], Array]) -> Callable[..., _Rounded]:
    def stepped(a: Value) -> _Rounded:
        result = function(a.data)
        sure = (function(a.data - a.bound) == function(a.data + a.bound)) | (a.bound == 0)
        return result, np.where(sure, 0.0, np.inf), 0.0

    return stepped


def _monotone(function: Callable[[Array], Array], rounding: Callable[[Array, Array], Array]) -> Callable[..., _Rounded]:
    """A function that only grows or only falls: its values at both ends of the operand's interval give the bound."""

    def bounded(a: Value) -> _Rounded:
        result = function(a.data)
        ends = [np.abs(function(end) - result) for end in (a.data - a.bound, a.data + a.bound)]
        bound = np.where(np.isfinite(a.data), np.maximum(*ends), 0.0)
        invalid = np.isnan(result) & ~np.isnan(a.data)
        return result, np.where(invalid | np.isnan(bound), np.inf, bound), rounding(np.abs(a.data), np.abs(result))

    return bounded


def _wave(function: Callable[[Array], Array]) -> Callable[..., _Rounded]:
    """Sine and cosine, which Vulkan gives to 2^-11 for arguments up to pi in f32, and to 2^-7 in f16."""

    def bounded(a: Value) -> _Rounded:
        bound = np.where(np.abs(a.data) + a.bound < 100, a.bound + 2.0**-10, np.inf)
        return function(a.data), np.where(np.isnan(a.data), 0.0, bound), 16 + 4 * np.abs(a.data)

    return bounded


_erf = np.vectorize(math.erf, otypes=[np.float64])

_FLOAT: dict[str, Callable[..., _Rounded]] = {
    "add": _add,
    "sub": lambda a, b: _add(a, Value(-b.data, b.bound)),
    "mul": _multiply,
    "div": _divide,
    "pow": _power,
    "max": _exact(np.maximum),
    "min": _exact(np.minimum),
    "neg": _exact(np.negative),
    "abs": _exact(np.abs),
    "ceil": _step(np.ceil),
    "floor": _step(np.floor),
    "round_even": _step(np.rint),
    "exp": _monotone(np.exp, lambda x, y: (8 + 2 * x) * y),
    "expm1": _monotone(np.expm1, lambda x, y: (8 + 2 * x) * (y + 1)),
    "log": _monotone(np.log, lambda _, y: 8 + 4 * y),
    "log1p": _monotone(np.log1p, lambda _, y: 8 + 4 * y),
    "sqrt": _monotone(np.sqrt, lambda _, y: 4 * y),
    "rsqrt": _monotone(lambda x: 1 / np.sqrt(x), lambda _, y: 8 * y),
    "tanh": _monotone(np.tanh, lambda _, y: 16 + 8 * y),
    "erf": _monotone(lambda x: _erf(x) if x.size else x, lambda _, y: 16 + 8 * y),
    "logistic": _monotone(lambda x: 1 / (1 + np.exp(-x)), lambda x, y: (8 + 2 * x) * y),
    "sin": _wave(np.sin),
    "cos": _wave(np.cos),
}


# ---- integers and booleans, element by element: result, where the behaviour is undefined ---------------------------


def _unsigned(array: Array) -> Array:
    return array.view(np.dtype(f"u{array.dtype.name}")) if array.dtype != bool else array


def _plain(function: Callable[..., Any]) -> Callable[..., tuple[Array, Any]]:
    return lambda *operands: (np.asarray(function(*operands)).astype(operands[0].dtype), False)


def _on_unsigned(function: Callable[..., tuple[Array, Any]]) -> Callable[..., tuple[Array, Any]]:
    def applied(*operands: Array) -> tuple[Array, Any]:
        result, undefined = function(*(_unsigned(one) for one in operands))
        return result.view(operands[0].dtype), undefined

    return applied


def _quotient(a: Array, b: Array) -> tuple[Array, Any]:
    undefined = b == 0
    if a.dtype.kind == "i":
        undefined = undefined | (a == np.iinfo(a.dtype).min) & (b == -1)
    by = np.where(undefined, np.ones_like(b), b)
    quotient = a // by
    return quotient + ((a % by != 0) & ((a < 0) != (by < 0))).astype(a.dtype), undefined


def _remainder(a: Array, b: Array) -> tuple[Array, Any]:
    quotient, undefined = _quotient(a, b)
    return a - quotient * b, undefined


def _shift(function: Callable[..., Array]) -> Callable[..., tuple[Array, Any]]:
    def shifted(a: Array, b: Array) -> tuple[Array, Any]:
        undefined = (b < 0) | (b >= a.dtype.itemsize * 8)
        return function(a, np.where(undefined, np.zeros_like(b), b)), undefined

    return shifted


_NUMPY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "neg": np.negative,
    "abs": np.abs,
}
_INTEGER: dict[str, Callable[..., tuple[Array, Any]]] = {
    **{name: _plain(function) for name, function in _NUMPY.items()},
    **{f"{name}_u": _on_unsigned(_plain(_NUMPY[name])) for name in ("max", "min")},
    "div": _quotient,
    "rem": _remainder,
    **{f"{name}_u": _on_unsigned(function) for name, function in (("div", _quotient), ("rem", _remainder))},
    "shl": _shift(np.left_shift),
    "shr": _shift(np.right_shift),
    "shr_u": _on_unsigned(_shift(np.right_shift)),
    "popcnt": _plain(lambda a: np.vectorize(lambda one: int(one).bit_count(), otypes=[a.dtype])(_unsigned(a))),
}


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


def _iota(node: Node, _operands: Sequence[Value], _rest: str) -> Value:
    """`attributes`: the dimension whose index each element is."""
    at, shape = node.attributes[0][0], node.type.shape
    index = np.arange(shape[at]).reshape([-1 if one == at else 1 for one in range(len(shape))])
    return argument(np.broadcast_to(index, shape).astype(dtype_of(node.type.element)), node.type)


def _compare(_node: Node, operands: Sequence[Value], rest: str) -> Value:
    """Not sure where the bounds of two floating-point numbers meet."""
    name, _, unsigned = rest.partition("_")
    bound = operands[0].bound + operands[1].bound
    first, second = (_unsigned(one.data) if unsigned else one.data for one in operands)
    unsure = np.zeros(first.shape, bool)
    if first.dtype == np.float64:
        unsure = (bound > 0) & (np.abs(first - second) <= bound)
    return Value(getattr(operator, name)(first, second), np.where(unsure, np.inf, 0.0))


def _select(_node: Node, operands: Sequence[Value], _rest: str) -> Value:
    chosen, first, second = operands
    return Value(np.where(chosen.data, first.data, second.data), np.where(chosen.data, first.bound, second.bound))


def _convert(node: Node, operands: Sequence[Value], rest: str) -> Value:
    """To a floating-point type, or between integers, wrapping around; `rest` is `u` if the operand is unsigned, and how
    a floating-point number becomes an integer: `toward_zero` or `to_even`."""
    (operand,) = operands
    data, target = operand.data, dtype_of(node.type.element)
    if rest == "u":
        data = _unsigned(data)
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
    if not node.type.is_float:
        results = _NUMPY[rest].reduce(data, axes, dtype=data.dtype, initial=initial(rest, node.type))
        return Value(results.reshape(shape), np.zeros(shape))
    if rest == "add":
        finite = np.where(np.isfinite(data), data, 0.0)
        size = np.sum(np.abs(finite) + operand.bound, axes)
        count = data.size // max(1, math.prod(shape))
        bound = np.sum(operand.bound, axes) + np.where(size > limits(node.type.element).largest, np.inf, 0.0)
        total, bound, rounding = (one.reshape(shape) for one in (np.sum(data, axes), bound, (count + 1) * size))
        parts = [np.where(is_one(data), data, 0.0) for is_one in (np.isnan, np.isposinf, np.isneginf)]
        return _rounded(total, bound, rounding, node.type.element, [np.sum(one, axes).reshape(shape) for one in parts])
    chosen = _NUMPY[rest].reduce(data, axes, initial=initial(rest, node.type))
    return Value(chosen.reshape(shape), np.max(operand.bound, axes, initial=0.0).reshape(shape))


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
    the result's type are multiplied and added. `attributes`: for each operand, 1 if its last two are swapped."""
    first, second = operands = [
        Value(one.data.swapaxes(-1, -2), one.bound.swapaxes(-1, -2)) if swapped else one
        for one, swapped in zip(operands, node.attributes[0], strict=True)
    ]
    if not node.type.is_float:
        target = dtype_of(node.type.element)
        result = np.matmul(first.data.astype(target), second.data.astype(target))
        return Value(result, np.zeros(result.shape))
    of, count = limits(node.type.element), first.data.shape[-1]
    sizes = [np.abs(np.where(np.isfinite(one.data), one.data, 0.0)) for one in operands]
    total = np.matmul(*sizes)
    bound = np.matmul(sizes[0] + first.bound, second.bound) + np.matmul(first.bound, sizes[1])
    bound = bound + (count + 2) * (of.eps * total + np.where(total > 0, of.tiny, 0.0))
    result = np.matmul(first.data, second.data)
    was_nan = np.isnan(np.matmul(*(np.where(np.isnan(one.data), np.nan, 0.0) for one in operands)))
    is_exact = not first.bound.any() and not second.bound.any()
    special = np.where((was_nan | np.isinf(result)) & is_exact, 0.0, np.inf)
    bound = np.where(total + bound > of.largest, np.inf, np.where(np.isfinite(result), bound, special))
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


def _take(node: Node, operands: Sequence[Value], _rest: str) -> Value:
    """Of the first operand, along its first dimension, what the second operand's indices name."""
    source, at = operands
    outside = (at.data < 0) | (at.data >= source.data.shape[0])
    if outside.any():
        return Value(np.zeros(node.type.shape, source.data.dtype), np.full(node.type.shape, np.inf))
    return Value(source.data[at.data], source.bound[at.data])


_OTHERS: dict[str, Callable[[Node, Sequence[Value], str], Value]] = {
    "constant": _constant,
    "iota": _iota,
    "compare": _compare,
    "select": _select,
    "convert": _convert,
    "reduce": _reduce,
    "dot": _dot,
    "if": _if,
    "for": _for,
    "take": _take,
}
