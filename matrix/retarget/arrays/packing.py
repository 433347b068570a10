"""Elements of less than a byte as devices and files of raw bytes hold them.

Elements of 2 and 4 bits share a byte, the first in the lowest bits; the bits that are left of the last byte are 0. All
others, Booleans and floats of 6 bits too, take whole bytes, little-endian. In NumPy's memory each element has a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from retarget.arrays.dtypes import bits_of, kind_of

if TYPE_CHECKING:
    from retarget.model.calls import Array

__all__ = ["is_packed", "pack", "packed_size", "unpack"]


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
