"""What the scalar instructions of a host program compute, with MLIR's semantics.

Integers are Python integers in the signed range of their type (booleans 0 or 1); `index` has 64 bits. Floats are Python
floats that are exact in their type: each result is rounded to it.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any

import ml_dtypes
import numpy as np

Number = int | float
ScalarFunction = Callable[..., Number]


def integer_bits(kind: str) -> int:
    """Return the width of an integer type's name. Raises `ValueError` for another type."""
    if kind == "index":
        return 64
    if kind.startswith("i") and kind[1:].isdigit():
        return int(kind[1:])
    msg = f"expected an integer type, found {kind}"
    raise ValueError(msg)


def _wrapper(bits: int) -> Callable[[int], int]:
    """Return a function that wraps an integer around into the type's range."""
    if bits == 1:
        return lambda value: value & 1
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda value: ((value + half) & mask) - half


def _rounder(kind: str) -> Callable[[float], float]:
    if kind == "f64":
        return float
    if kind == "f32":
        single = ctypes.c_float
        return lambda value: single(value).value
    narrow = np.float16 if kind == "f16" else ml_dtypes.bfloat16

    def rounded(value: float) -> float:
        with np.errstate(all="ignore"):
            return float(narrow(value))

    return rounded


def _truncating_division(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_ORDERS = {"lt": lt, "le": le, "gt": gt, "ge": ge}


def _integer_functions(bits: int) -> dict[str, ScalarFunction]:
    wrap, mask = _wrapper(bits), (1 << bits) - 1

    def shift(amount: int) -> int:
        return amount & mask if 0 <= amount < bits else bits

    return {
        "addi": lambda a, b: wrap(a + b),
        "subi": lambda a, b: wrap(a - b),
        "muli": lambda a, b: wrap(a * b),
        "divsi": lambda a, b: wrap(_truncating_division(a, b)),
        "divui": lambda a, b: wrap((a & mask) // (b & mask)),
        "remsi": lambda a, b: wrap(a - b * _truncating_division(a, b)),
        "remui": lambda a, b: wrap((a & mask) % (b & mask)),
        "ceildivsi": lambda a, b: wrap(-(-a // b)),
        "ceildivui": lambda a, b: wrap(-(-(a & mask) // (b & mask))),
        "floordivsi": lambda a, b: wrap(a // b),
        "andi": lambda a, b: a & b,
        "ori": lambda a, b: a | b,
        "xori": lambda a, b: a ^ b,
        "shli": lambda a, b: wrap(a << shift(b)),
        "shrsi": lambda a, b: a >> shift(b),
        "shrui": lambda a, b: wrap((a & mask) >> shift(b)),
        "minsi": min,
        "maxsi": max,
        "minui": lambda a, b: wrap(min(a & mask, b & mask)),
        "maxui": lambda a, b: wrap(max(a & mask, b & mask)),
        "align": lambda a, b: -(-a // b) * b,
        "cmpi_eq": lambda a, b: int(a == b),
        "cmpi_ne": lambda a, b: int(a != b),
        **{f"cmpi_s{name}": lambda a, b, is_so=is_so: int(is_so(a, b)) for name, is_so in _ORDERS.items()},
        **{
            f"cmpi_u{name}": lambda a, b, is_so=is_so: int(is_so(a & mask, b & mask)) for name, is_so in _ORDERS.items()
        },
        "math_absi": lambda a: wrap(abs(a)),
        # Below 1 and above -1 a negative power rounds to 0; of 0 it is undefined.
        "math_ipowi": lambda a, b: wrap(pow(a, b, 1 << bits) if b >= 0 else {1: 1, -1: 1 - 2 * (b & 1)}.get(a, 0)),
        "math_ctpop": lambda a: wrap((a & mask).bit_count()),
        "math_ctlz": lambda a: wrap(bits - (a & mask).bit_length()),
        "math_cttz": lambda a: wrap(((a & -a) & mask).bit_length() - 1 if a & mask else bits),
    }


def _computed(function: Callable[..., Any]) -> Callable[..., float]:
    """Compute by NumPy in double precision, without warnings."""

    def call(*operands: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, operands)))

    return call


def _round_away(value: float) -> float:
    if not math.isfinite(value):
        return value
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


_SAME_NAME = (
    *("ceil", "floor", "trunc", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
)
"""Functions that MLIR and NumPy name alike."""
_FLOATS: dict[str, Callable[..., float]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": _computed(np.divide),
    "remf": _computed(np.fmod),
    "negf": lambda a: -a,
    "minimumf": _computed(np.minimum),
    "maximumf": _computed(np.maximum),
    "minnumf": _computed(np.fmin),
    "maxnumf": _computed(np.fmax),
    **{f"math_{name}": _computed(getattr(np, name)) for name in _SAME_NAME},
    **{f"math_a{name}": _computed(getattr(np, f"arc{name}")) for name in ("sin", "cos", "tan", "tan2")},
    "math_absf": abs,
    "math_round": _round_away,
    "math_roundeven": _computed(np.rint),
    "math_rsqrt": _computed(lambda a: 1.0 / np.sqrt(a)),
    "math_erf": math.erf,
    "math_powf": _computed(np.power),
    "math_copysign": math.copysign,
    "math_fma": lambda a, b, c: a * b + c,
}

_FLOAT_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "cmpf_false": lambda a, b: False,  # noqa: ARG005
    "cmpf_oeq": lambda a, b: a == b,
    "cmpf_ogt": lambda a, b: a > b,
    "cmpf_oge": lambda a, b: a >= b,
    "cmpf_olt": lambda a, b: a < b,
    "cmpf_ole": lambda a, b: a <= b,
    "cmpf_one": lambda a, b: a < b or a > b,
    "cmpf_ord": lambda a, b: a == a and b == b,  # noqa: PLR0124  (that is what a NaN is not)
    "cmpf_ueq": lambda a, b: not (a < b or a > b),
    "cmpf_ugt": lambda a, b: not a <= b,
    "cmpf_uge": lambda a, b: not a < b,
    "cmpf_ult": lambda a, b: not a >= b,
    "cmpf_ule": lambda a, b: not a > b,
    "cmpf_une": lambda a, b: a != b,
    "cmpf_uno": lambda a, b: a != a or b != b,  # noqa: PLR0124
    "cmpf_true": lambda a, b: True,  # noqa: ARG005
}


def scalar_function(name: str, kind: str) -> ScalarFunction:
    """Return what `name` computes on operands of type `kind`. Raises `ValueError` if there is none."""
    if name in _FLOAT_COMPARISONS:
        compare = _FLOAT_COMPARISONS[name]
        return lambda a, b: int(compare(a, b))
    if name in _FLOATS:
        compute, rounded = _FLOATS[name], _rounder(kind)
        return lambda *operands: rounded(compute(*operands))
    functions = _integer_functions(integer_bits(kind))
    if name not in functions:
        msg = f"unknown scalar instruction {name}"
        raise ValueError(msg)
    return functions[name]


_FLOAT_CODES = {"f16": "<e", "f32": "<f", "f64": "<d"}
_INTEGER_CODES = {"i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q"}


def _bit_cast(source: str, target: str) -> ScalarFunction:
    codes = {**_FLOAT_CODES, **_INTEGER_CODES}
    if source not in codes or target not in codes:
        msg = f"no bit cast from {source} to {target} on the host"
        raise ValueError(msg)
    return lambda value: struct.unpack(codes[target], struct.pack(codes[source], value))[0]


def conversion(  # noqa: PLR0911 - one return per kind of conversion
    name: str, source: str, target: str
) -> ScalarFunction:
    """Return the conversion `name` from one type to another. Raises `ValueError` if there is none."""
    if name == "bitcast":
        return _bit_cast(source, target)
    if name in {"extf", "truncf"}:
        return _rounder(target)
    if name == "sitofp":
        rounded = _rounder(target)
        return lambda value: rounded(float(value))
    if name == "uitofp":
        rounded, mask = _rounder(target), (1 << integer_bits(source)) - 1
        return lambda value: rounded(float(value & mask))
    wrap = _wrapper(integer_bits(target))
    if name in {"fptosi", "fptoui"}:
        return lambda value: wrap(int(value)) if math.isfinite(value) else 0
    if name in {"trunci", "extsi", "index_cast"}:
        # A boolean's only bit is its sign.
        if integer_bits(source) == 1 and name != "trunci":
            return lambda value: wrap(-value)
        return wrap
    if name in {"extui", "index_castui"}:
        mask = (1 << integer_bits(source)) - 1
        return lambda value: wrap(value & mask)
    msg = f"unknown conversion {name}"
    raise ValueError(msg)
