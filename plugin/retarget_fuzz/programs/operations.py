"""The operations on elements: what each computes, how far off it may be, and its name in each dialect, by element type.

The names stand behind letters for the types: `f` floating-point numbers, `i` integers, `w` those of 32 bits, `b` `i1`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from retarget_fuzz.programs.ir import Type

__all__ = [
    "ELEMENTWISE",
    "LIBRARY",
    "OPERATIONS",
    "Operation",
    "conversions",
    "names",
    "operation_of",
    "products",
    "unsigned",
]


@dataclass(frozen=True, slots=True)
class Operation:
    """`compute` is its function in NumPy, of unsigned elements if its name ends in `_u`. A result is off by `units` in
    the last place and by `absolute` units of 1; a function of `LIBRARY` units takes its operands to be as far off."""

    compute: Callable[..., Any]
    linalg: str = ""
    stablehlo: str = ""
    tosa: str = ""
    units: int = 0
    absolute: int = 0

    def name(self, dialect: str, kind: Type) -> str:
        """Its name in a dialect, on elements of that type; nothing if it has none."""
        words = getattr(self, dialect).split()
        letters = {"i1": "b", "i32": "iw"}.get(kind.element, "f" if kind.is_float else "i")
        return next(
            (name for types, name in zip(words[::2], words[1::2], strict=True) if set(types) & set(letters)), ""
        )


LIBRARY = 8


def unsigned(array: Any) -> Any:
    """The same bits as unsigned integers; booleans as they are."""
    return array.view(f"u{array.dtype.name}") if array.dtype != bool else array


def _quotient(a: Any, b: Any) -> Any:
    return a / b if a.dtype.kind == "f" else (a - np.fmod(a, b)) // b


def _power(a: Any, b: Any) -> Any:
    """Of a positive number: compilers take its logarithm. What they make of infinities is open as well."""
    return np.where((a > 0) & np.isfinite(a + b), np.power(a, b), np.nan)


_bits = np.vectorize(lambda one: int(one).bit_count(), otypes=[np.int64])
_erf = np.vectorize(math.erf, otypes=[np.float64])

OPERATIONS: Mapping[str, Mapping[str, Operation]] = {
    "unary": {
        "neg": Operation(np.negative, "f arith.negf", "fi negate", "fw negate"),
        "abs": Operation(np.abs, "f math.absf i math.absi", "fi abs", "fw abs"),
        "not": Operation(np.invert, "", "ib not", "i bitwise_not b logical_not"),
        "popcnt": Operation(lambda a: _bits(unsigned(a)), "i math.ctpop", "i popcnt"),
        "ceil": Operation(np.ceil, "f math.ceil", "f ceil", "f ceil"),
        "floor": Operation(np.floor, "f math.floor", "f floor", "f floor"),
        "round_even": Operation(np.rint, "f math.roundeven", "f round_nearest_even"),
        "exp": Operation(np.exp, "f math.exp", "f exponential", "f exp", LIBRARY),
        "log": Operation(np.log, "f math.log", "f log", "f log", LIBRARY, 16),
        "sqrt": Operation(np.sqrt, "f math.sqrt", "f sqrt", "", LIBRARY),
        "rsqrt": Operation(lambda a: 1 / np.sqrt(a), "f math.rsqrt", "f rsqrt", "f rsqrt", LIBRARY),
        "tanh": Operation(np.tanh, "f math.tanh", "f tanh", "f tanh", LIBRARY, 16),
        "sin": Operation(np.sin, "f math.sin", "f sine", "f sin", LIBRARY, 16),
        "cos": Operation(np.cos, "f math.cos", "f cosine", "f cos", LIBRARY, 16),
        "erf": Operation(_erf, "f math.erf", "", "f erf", LIBRARY, 16),
        "expm1": Operation(np.expm1, "f math.expm1", "f exponential_minus_one", "", LIBRARY, 16),
        "log1p": Operation(np.log1p, "f math.log1p", "f log_plus_one", "", LIBRARY, 16),
        "logistic": Operation(lambda a: 1 / (1 + np.exp(-a)), "", "f logistic", "f sigmoid", LIBRARY),
    },
    "binary": {
        "add": Operation(np.add, "f arith.addf i arith.addi", "fi add", "fw add", 1),
        "sub": Operation(np.subtract, "f arith.subf i arith.subi", "fi subtract", "fw sub", 1),
        "mul": Operation(np.multiply, "f arith.mulf i arith.muli", "fi multiply", "fw mul", 1),
        "max": Operation(np.maximum, "f arith.maximumf i arith.maxsi", "fi maximum", "fw maximum"),
        "min": Operation(np.minimum, "f arith.minimumf i arith.minsi", "fi minimum", "fw minimum"),
        "div": Operation(_quotient, "f arith.divf i arith.divsi", "fi divide", "w intdiv", 4),
        "pow": Operation(_power, "f math.powf", "f power", "f pow", LIBRARY),
        "rem": Operation(np.fmod, "i arith.remsi", "i remainder"),
        "and": Operation(np.bitwise_and, "ib arith.andi", "ib and", "i bitwise_and b logical_and"),
        "or": Operation(np.bitwise_or, "ib arith.ori", "ib or", "i bitwise_or b logical_or"),
        "xor": Operation(np.bitwise_xor, "ib arith.xori", "ib xor", "i bitwise_xor b logical_xor"),
        "shl": Operation(np.left_shift, "i arith.shli", "i shift_left", "i logical_left_shift"),
        "shr": Operation(np.right_shift, "i arith.shrsi", "i shift_right_arithmetic", "i arithmetic_right_shift"),
        "shr_u": Operation(np.right_shift, "i arith.shrui", "i shift_right_logical", "i logical_right_shift"),
        "div_u": Operation(_quotient, "i arith.divui"),
        "rem_u": Operation(np.fmod, "i arith.remui"),
        "max_u": Operation(np.maximum, "i arith.maxui"),
        "min_u": Operation(np.minimum, "i arith.minui"),
    },
    "compare": {
        "lt": Operation(np.less, "f olt i slt", "fi LT", "fw greater"),
        "eq": Operation(np.equal, "f oeq ib eq", "fib EQ", "fw equal"),
        "le": Operation(np.less_equal, "f ole i sle", "fi LE", "fw greater_equal"),
        "gt": Operation(np.greater, "f ogt i sgt", "fi GT", "fw greater"),
        "ge": Operation(np.greater_equal, "f oge i sge", "fi GE", "fw greater_equal"),
        "ne": Operation(np.not_equal, "f une ib ne", "fib NE"),
        "lt_u": Operation(np.less, "i ult"),
        "le_u": Operation(np.less_equal, "i ule"),
        "gt_u": Operation(np.greater, "i ugt"),
        "ge_u": Operation(np.greater_equal, "i uge"),
    },
    "reduce": {
        "add": Operation(np.add, "f arith.addf i arith.addi", "fi add", "fw reduce_sum"),
        "max": Operation(np.maximum, "f arith.maximumf i arith.maxsi", "fi maximum", "fi reduce_max"),
        "min": Operation(np.minimum, "f arith.minimumf i arith.minsi", "fi minimum", "fi reduce_min"),
        "mul": Operation(np.multiply, "i arith.muli", "i multiply"),
        "and": Operation(np.bitwise_and, "ib arith.andi", "ib and", "b reduce_all"),
        "or": Operation(np.bitwise_or, "ib arith.ori", "ib or", "b reduce_any"),
        "xor": Operation(np.bitwise_xor, "i arith.xori", "i xor"),
    },
}
ELEMENTWISE = {**OPERATIONS["unary"], **OPERATIONS["binary"]}


def operation_of(op: str) -> Operation | None:
    """The operation of a node, by its `op`: `add`, `compare.lt` or `reduce.max`; none if it is not on elements."""
    what, _, name = op.partition(".")
    return OPERATIONS[what].get(name) if what in OPERATIONS else ELEMENTWISE.get(op)


def names(what: str, dialect: str, kind: Type) -> list[str]:
    """The operations, comparisons or reductions that a dialect has on elements of that type."""
    return [name for name, operation in OPERATIONS[what].items() if operation.name(dialect, kind)]


def conversions(dialect: str, kind: Type, element_types: Sequence[str]) -> list[tuple[str, str]]:
    """The conversions: the operation, and the element type that it gives."""
    choices: list[tuple[str, str]] = []
    for target in map(Type, element_types):
        floats = kind.is_float + target.is_float
        if target.element == kind.element or (target.element == "i1" and (dialect == "linalg" or floats)):
            continue
        if dialect == "linalg" and floats == 2 and kind.bits == target.bits:
            continue
        if dialect == "tosa" and kind.element == "i1" and floats:
            continue
        if dialect == "linalg" and not kind.is_float and (floats or kind.bits < target.bits):
            choices.append(("convert.u", target.element))
        choices.append(("convert.to_even" if dialect == "tosa" else "convert", target.element))
    return choices


def products(dialect: str, kind: Type, element_types: Sequence[str]) -> list[str]:
    """The element types of a matrix product's result."""
    wider = {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(kind.element)
    same = kind.element not in (("i1",) if dialect != "tosa" else ("i1", "i8", "i16", "i32", "bf16"))
    return [*([kind.element] if same else []), *(one for one in element_types if one == wider)]
