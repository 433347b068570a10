"""Element types as NumPy dtypes, arrays that must fit a declared type, and packed elements of less than a byte."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from retarget.model.element_types import ELEMENT_TYPES, DeclaredType, Kind, mlir_name
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.model.calls import Array

_LETTERS = {Kind.BOOLEAN: "b", Kind.SIGNLESS: "i", Kind.SIGNED: "i", Kind.UNSIGNED: "u", Kind.FLOAT: "f"}


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the NumPy type of that name, those of ml_dtypes among them. Raises `TypeError` for an unknown one."""
    return np.dtype(getattr(ml_dtypes, name, name))


def dtype_of(declared: DeclaredType) -> np.dtype[Any] | None:
    """Return the dtype of a declared type's elements; None where no dtype holds them or the type does not say."""
    return None if declared.dtype is None else dtype_named(declared.dtype)


@cache
def kind_of(dtype: np.dtype[Any]) -> str:
    """Return NumPy's letter for what the elements are, `b`, `i`, `u`, `f` or `c`. NumPy itself says `V`, elements
    without a type, of most types of ml_dtypes."""
    known = mlir_name(dtype.name)
    return _LETTERS.get(ELEMENT_TYPES[known].kind, dtype.kind) if known in ELEMENT_TYPES else dtype.kind


@cache
def bits_of(dtype: np.dtype[Any]) -> int:
    """Return the width of an element: 4 for `int4`, which takes a byte in NumPy's memory."""
    known = mlir_name(dtype.name)
    return ELEMENT_TYPES[known].bits if known in ELEMENT_TYPES else 8 * dtype.itemsize


def type_text(shape: Sequence[int], dtype: npt.DTypeLike) -> str:
    """Return shape and element type as compilers name them: `2x3xf32`, `f32` for rank 0, `4xi1` of Booleans."""
    return "x".join([*map(str, shape), mlir_name(np.dtype(dtype).name)])


def resigned(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return integers in the other signedness of their width if `dtype` is that; everything else as it is."""
    ours = array.dtype
    if {kind_of(ours), kind_of(dtype)} != {"i", "u"} or bits_of(ours) != bits_of(dtype):
        return array
    return array.view(dtype) if bits_of(dtype) >= 8 else array.astype(np.int8).astype(dtype)


def fit(array: Array, declared: DeclaredType, *, by_width: bool = False) -> Array:
    """Return `array` as the declared type sees it: elements without a type (`V2`, as NumPy stores bf16) fit what has
    their size, integers of the other signedness fit a signless type, and bytes fit integers of 2 and 4 bits if their
    numbers do.

    With `by_width`, all integers of a width fit each other, and bytes fit Booleans: true where they are not 0. Raises
    `RetargetError` for any other element type or shape.
    """
    dtype = dtype_of(declared)
    if dtype is not None and array.dtype != dtype and array.dtype.itemsize == dtype.itemsize:
        array = _seen_as(array, dtype, declared, by_width=by_width)
    if (dtype is not None and array.dtype != dtype) or not declared.fits(array.shape):
        msg = f"found {type_text(array.shape, array.dtype)}, expected {declared.text}"
        raise RetargetError(msg)
    return array


def _seen_as(array: Array, dtype: np.dtype[Any], declared: DeclaredType, *, by_width: bool) -> Array:
    """Return `array` in a type of the same size if it fits, else as it is."""
    ours, theirs, bits = kind_of(array.dtype), kind_of(dtype), bits_of(dtype)
    is_raw = array.dtype.type is np.void
    if is_raw and (bits >= 8 or theirs == "b"):
        return array.view(dtype)
    if by_width and theirs == "b" and ours in "iu":
        return np.asarray(array != 0)
    if is_raw or (ours in "iu" and theirs in "iu" and bits < bits_of(array.dtype)):
        numbers: npt.NDArray[Any] = array.view(np.int8) if is_raw else array
        low = 0 if theirs in "uf" else -(1 << (bits - 1))
        high = (1 << bits) - 1 if theirs in "uf" or declared.is_signless or is_raw else (1 << (bits - 1)) - 1
        outside = numbers[(numbers < low) | (numbers > high)]
        if outside.size:
            what = f"the byte 0x{int(outside[0]) & 0xFF:02x}" if is_raw else str(outside[0])
            msg = f"found {what} in {type_text(array.shape, array.dtype)}, expected {low} to {high} for {declared.text}"
            raise RetargetError(msg)
        return numbers.view(dtype) if theirs == "f" else numbers.astype(dtype)
    return resigned(array, dtype) if declared.is_signless or by_width else array


def is_packed(dtype: np.dtype[Any]) -> bool:
    """Whether several elements share a byte."""
    return bits_of(dtype) in {2, 4}


def packed_size(shape: Sequence[int], dtype: np.dtype[Any]) -> int:
    """Return the bytes that an array takes."""
    return -(-prod(shape) * bits_of(dtype) // 8) if is_packed(dtype) else prod(shape) * dtype.itemsize


def pack(array: Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of an array's elements, row-major."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if not is_packed(flat.dtype):
        return flat.view(np.uint8)
    bits = bits_of(flat.dtype)
    numbers = flat if kind_of(flat.dtype) == "f" else flat.astype(np.int8)
    padded = np.zeros((packed_size(flat.shape, flat.dtype), 8 // bits), np.uint8)
    padded.reshape(-1)[: flat.size] = numbers.view(np.uint8) & ((1 << bits) - 1)
    shifted = padded << np.arange(0, 8, bits, dtype=np.uint8)
    return np.asarray(np.bitwise_or.reduce(shifted, axis=1), np.uint8)


def unpack(content: npt.NDArray[np.uint8], dtype: np.dtype[Any], shape: Sequence[int]) -> Array:
    """Undo `pack`. Elements of whole bytes stay in `content`'s memory, but for Booleans, which are its bytes but 0."""
    if dtype == np.bool_:
        return np.asarray(content != 0).reshape(shape)
    if not is_packed(dtype):
        return content.view(dtype).reshape(shape)
    bits = bits_of(dtype)
    numbers = content[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
    elements = numbers.reshape(-1)[: prod(shape)]
    return (elements.view(dtype) if kind_of(dtype) == "f" else elements.astype(dtype)).reshape(shape)
