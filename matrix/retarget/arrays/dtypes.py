"""Element types as NumPy dtypes, arrays that must fit a declared type, and packed elements of less than a byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from retarget.model.element_types import ELEMENT_TYPES, DeclaredType, mlir_name
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.model.calls import Array


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of arrays, by their NumPy type, and the bytes that they take: those of 2 and 4 bits are packed.

    `kind` is NumPy's letter for what they are, `b`, `i`, `u`, `f` or `c`: NumPy itself says `V`, elements without a
    type, of most types of ml_dtypes. `bits` is the width of one: 4 for `int4`, which takes a byte in NumPy's memory.
    """

    dtype: np.dtype[Any]
    kind: str
    bits: int

    @classmethod
    @cache
    def of(cls, dtype: np.dtype[Any]) -> Elements:
        """Describe the elements of a NumPy type."""
        if (known := ELEMENT_TYPES.get(mlir_name(dtype.name))) is None:
            return cls(dtype, dtype.kind, 8 * dtype.itemsize)
        return cls(dtype, known.kind, known.bits)

    @classmethod
    def named(cls, name: str) -> Elements:
        """Describe those of the NumPy type of that name, also of ml_dtypes. Raises `TypeError` for an unknown one."""
        return cls.of(np.dtype(getattr(ml_dtypes, name, name)))

    @classmethod
    def declared(cls, declared: DeclaredType) -> Elements | None:
        """Describe those of a declared type; None where no NumPy type holds them or the type does not say."""
        return None if declared.dtype is None else cls.named(declared.dtype)

    @property
    def is_packed(self) -> bool:
        """Whether several share a byte."""
        return self.bits in {2, 4}

    def size(self, shape: Sequence[int]) -> int:
        """Return the bytes that an array takes."""
        return -(-prod(shape) * self.bits // 8) if self.is_packed else prod(shape) * self.dtype.itemsize

    def text(self, shape: Sequence[int] = ()) -> str:
        """Return shape and element type as compilers name them: `2x3xf32`, `f32` for rank 0, `4xi1` of Booleans."""
        return "x".join([*map(str, shape), mlir_name(self.dtype.name)])

    def resigned(self, array: Array) -> Array:
        """Return integers of the other signedness and the same width in this type, everything else as it is."""
        ours = Elements.of(array.dtype)
        if {ours.kind, self.kind} != {"i", "u"} or ours.bits != self.bits:
            return array
        return array.view(self.dtype) if self.bits >= 8 else array.astype(np.int8).astype(self.dtype)

    @staticmethod
    def pack(array: Array) -> npt.NDArray[np.uint8]:
        """Return the bytes of an array's elements, row-major."""
        flat = np.ascontiguousarray(array).reshape(-1)
        elements = Elements.of(flat.dtype)
        if not elements.is_packed:
            return flat.view(np.uint8)
        bits = elements.bits
        numbers = flat if elements.kind == "f" else flat.astype(np.int8)
        padded = np.zeros((elements.size(flat.shape), 8 // bits), np.uint8)
        padded.reshape(-1)[: flat.size] = numbers.view(np.uint8) & ((1 << bits) - 1)
        shifted = padded << np.arange(0, 8, bits, dtype=np.uint8)
        return np.asarray(np.bitwise_or.reduce(shifted, axis=1), np.uint8)

    def unpack(self, content: npt.NDArray[np.uint8], shape: Sequence[int]) -> Array:
        """Undo `pack`. Elements of whole bytes stay in `content`'s memory, but for Booleans, its bytes that are not
        0."""
        if self.dtype == np.bool_:
            return np.asarray(content != 0).reshape(shape)
        if not self.is_packed:
            return content.view(self.dtype).reshape(shape)
        numbers = content[:, None] >> np.arange(0, 8, self.bits, dtype=np.uint8) & np.uint8((1 << self.bits) - 1)
        elements = numbers.reshape(-1)[: prod(shape)]
        return (elements.view(self.dtype) if self.kind == "f" else elements.astype(self.dtype)).reshape(shape)


def fit(array: Array, declared: DeclaredType, *, by_width: bool = False) -> Array:
    """Return `array` as the declared type sees it: elements without a type (`V2`, as NumPy stores bf16) fit what has
    their size, integers of the other signedness fit a signless type, and bytes fit integers of 2 and 4 bits if their
    numbers do.

    With `by_width`, all integers of a width fit each other, and bytes fit Booleans: true where they are not 0. Raises
    `RetargetError` for any other element type or shape.
    """
    wanted = Elements.declared(declared)
    if wanted is not None and array.dtype != wanted.dtype and array.dtype.itemsize == wanted.dtype.itemsize:
        array = _seen_as(array, wanted, declared, by_width=by_width)
    if (wanted is not None and array.dtype != wanted.dtype) or not declared.fits(array.shape):
        msg = f"found {Elements.of(array.dtype).text(array.shape)}, expected {declared.text}"
        raise RetargetError(msg)
    return array


def _seen_as(array: Array, wanted: Elements, declared: DeclaredType, *, by_width: bool) -> Array:
    """Return `array` in a type of the same size if it fits, else as it is."""
    elements, dtype = Elements.of(array.dtype), wanted.dtype
    ours, theirs, bits = elements.kind, wanted.kind, wanted.bits
    is_raw = array.dtype.type is np.void
    if is_raw and (bits >= 8 or theirs == "b"):
        return array.view(dtype)
    if by_width and theirs == "b" and ours in "iu":
        return np.asarray(array != 0)
    if is_raw or (ours in "iu" and theirs in "iu" and bits < elements.bits):
        numbers: npt.NDArray[Any] = array.view(np.int8) if is_raw else array
        low = 0 if theirs in "uf" else -(1 << (bits - 1))
        high = (1 << bits) - 1 if theirs in "uf" or declared.is_signless or is_raw else (1 << (bits - 1)) - 1
        outside = numbers[(numbers < low) | (numbers > high)]
        if outside.size:
            what = f"the byte 0x{int(outside[0]) & 0xFF:02x}" if is_raw else str(outside[0])
            msg = f"found {what} in {elements.text(array.shape)}, expected {low} to {high} for {declared.text}"
            raise RetargetError(msg)
        return numbers.view(dtype) if theirs == "f" else numbers.astype(dtype)
    return wanted.resigned(array) if declared.is_signless or by_width else array
