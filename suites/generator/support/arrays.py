"""Arrays as MLIR text: types, constants, the formula of generated inputs.

A formula over the indices of an input gives its values, evaluated by both the module and NumPy:

    t = seed + 31*i0 + 17*i1 + 7*i2 + 5*i3        (in i32)
    value = (t*t mod modulus - shift) * scale

so that every element is a small integer times a power of two: products and sums of them are exact in f32, and any
order of summation gives the same result.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FACTORS = (31, 17, 7, 5)
WIDTH = 116
NEW_LINE = "\n      "

NAMES = {
    "float16": "f16", "float32": "f32", "float64": "f64", "bool": "i1",
    "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    **{f"float{name[1]}_{name[2:].lower()}": name for name in (
        "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E4M3", "f8E3M4",
        "f8E4M3B11FNUZ", "f8E8M0FNU",
    )},
}  # fmt: skip
_INFINITY_AND_NAN = {  # IEEE bit patterns: +infinity, -infinity, quiet NaN
    "f16": ("0x7C00", "0xFC00", "0x7E00"),
    "bf16": ("0x7F80", "0xFF80", "0x7FC0"),
    "f32": ("0x7F800000", "0xFF800000", "0x7FC00000"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate:
    """An expected value with the tolerances of its check: |actual - expected| <= atol + rtol * |expected|."""

    value: Array
    atol: float = 0.0
    rtol: float = 0.0
    element: str | None = None


def exactly(value: Array, dtype: npt.DTypeLike) -> Array:
    """Return `value` as `dtype`, having made sure that no element is rounded."""
    cast = value.astype(dtype)
    if not np.array_equal(cast.astype(value.dtype), value, equal_nan=value.dtype.kind == "f"):
        msg = f"a value is not exact in {np.dtype(dtype)}; use Approximate with a tolerance"
        raise ValueError(msg)
    return cast


def type_of(value: Array, element: str | None = None) -> str:
    """Return the tensor type of an array; `element` overrides the element type (bf16 has no NumPy dtype)."""
    return "tensor<" + "".join(f"{size}x" for size in value.shape) + (element or NAMES[value.dtype.name]) + ">"


def _scalar(value: Any, element: str) -> str:
    if element == "i1":
        return "true" if value else "false"
    if element.startswith("i"):
        return str(int(value))
    number = float(value)
    if not np.isfinite(number):
        if element in _INFINITY_AND_NAN:
            plus, minus, nan = _INFINITY_AND_NAN[element]
            return nan if np.isnan(number) else plus if number > 0 else minus
        return f"0x{np.asarray(value).tobytes().hex().upper()}"  # one byte
    # The shortest decimal that reads back as this value of this type.
    text = str(np.float32(number)) if element == "f32" else repr(number)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + "e" + exponent
    return text if "." in text else text + ".0"


def dense(value: Array, element: str | None = None) -> str:
    """Return `dense<...> : tensor<...>`, wrapped to readable lines."""
    kind = element or NAMES[value.dtype.name]
    if value.size == 0:
        return f"dense<> : {type_of(value, element)}"

    def write(part: Array, depth: int) -> str:
        if part.ndim == 0:
            return _scalar(part[()], kind)
        items = [write(item, depth + 1) for item in part]
        line = "[" + ", ".join(items) + "]"
        if "\n" not in line and len(line) <= WIDTH - 8 - depth:
            return line
        if part.ndim == 1:
            wrapped = textwrap.wrap(", ".join(items), WIDTH - 8 - depth, break_on_hyphens=False)
            return "[" + ("\n" + " " * (7 + depth)).join(wrapped) + "]"
        return "[" + (",\n" + " " * (7 + depth)).join(items) + "]"

    if value.size > 1 and not value.any():
        return f"dense<{_scalar(value.flat[0], kind)}> : {type_of(value, element)}"
    body = write(value, 0)
    short = len(body) < WIDTH - 40 and "\n" not in body
    return f"dense<{'' if short else NEW_LINE}{body}> : {type_of(value, element)}"


def source(value: Array, element: str | None = None) -> str:
    """Return an op that yields `value` and that the compiler cannot look through."""
    return f"util.unfoldable_constant {dense(value, element)}"


def pattern(shape: tuple[int, ...], *, seed: int, modulus: int = 11, shift: int = 5, scale: float = 1.0) -> Array:
    """Evaluate the formula in the module docstring, in float64."""
    t = np.full(shape, seed, np.int64)
    for axis, size in enumerate(shape):
        t = t + (FACTORS[axis] * np.arange(size)).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    if t.max() ** 2 >= 2**31:
        msg = f"shape {shape}: the square overflows i32"
        raise ValueError(msg)
    return ((t * t) % modulus - shift).astype(np.float64) * scale
