"""The types that a module's functions are declared with, and the names of element types. Needs no NumPy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["DTYPES", "ELEMENT_TYPES", "Declared", "element_dtype", "parse_type"]

ELEMENT_TYPES: Mapping[str, str] = {
    "i1": "bool",
    "index": "int64",
    **{f"{sign}{bits}": f"int{bits}" for sign in ("i", "si") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    "f8E5M2": "float8_e5m2",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
}
"""MLIR's name of an element type to the name that NumPy and ml_dtypes have for it."""

DTYPES = tuple(dict.fromkeys(ELEMENT_TYPES.values()))

_TENSOR = re.compile(r"tensor<(?P<shape>\*x|(?:(?:\d+|\?)x)*)(?P<element>[A-Za-z]\w*(?:<\w+>)?)(?:,.*)?>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A declared type. `dtype` is its element type's NumPy name, None in `shape` a dynamic size; each is None where the
    type does not say. `is_signless` tells that integers of either signedness fit."""

    text: str
    dtype: str | None
    shape: tuple[int | None, ...] | None
    is_signless: bool = False


def parse_type(text: str) -> Declared:
    """Return what a declared type (`tensor<2x?xf32>`, `i32`) says; nothing of its elements where it is another."""
    text = text.strip()
    if text in ELEMENT_TYPES:
        return _declared(text, text, ())
    match = _TENSOR.fullmatch(text)
    if match is None:
        return Declared(text=text, dtype=None, shape=None)
    if match["shape"] == "*x":
        return _declared(text, match["element"], None)
    sizes = match["shape"].removesuffix("x").split("x") if match["shape"] else []
    return _declared(text, match["element"], tuple(None if size == "?" else int(size) for size in sizes))


def element_dtype(name: str) -> str | None:
    """Return the NumPy name of an element type that is written either way (`f32`, `float32`); None for no such type."""
    return ELEMENT_TYPES.get(name, name if name in DTYPES else None)


def _declared(text: str, element: str, shape: tuple[int | None, ...] | None) -> Declared:
    is_signless = re.fullmatch(r"i(8|16|32|64)|index", element) is not None
    return Declared(text=text, dtype=ELEMENT_TYPES.get(element), shape=shape, is_signless=is_signless)
