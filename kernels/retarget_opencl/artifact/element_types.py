"""Elements in memory: NumPy's dtypes of MLIR's element types, and packed elements of less than a byte."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from retarget.arrays.dtypes import dtype_named
from retarget.model.element_types import ELEMENT_TYPES

__all__ = ["element_dtype", "pack_small", "unpack_small"]


@cache
def element_dtype(name: str) -> np.dtype[np.generic] | None:
    """Return the NumPy dtype of an MLIR element type; None where it has none."""
    known = ELEMENT_TYPES.get(name)
    return None if known is None else dtype_named(known.dtype)


def pack_small(values: npt.NDArray[np.int8], bits: int) -> bytes:
    """Pack integers of 2 or 4 bits, the first in the lowest bits, as IREE stores them."""
    per_byte = 8 // bits
    padded = np.zeros(-(-len(values) // per_byte) * per_byte, np.uint8)
    padded[: len(values)] = values.view(np.uint8) & ((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return bytes(np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8))


def unpack_small(data: npt.NDArray[np.uint8], bits: int, count: int) -> npt.NDArray[np.int8]:
    """Undo `pack_small`; the values are signed, as `int8`."""
    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    values = (data[:, None] >> shifts).reshape(-1)[:count] & np.uint8((1 << bits) - 1)
    lift = 8 - bits
    return (values << lift).view(np.int8) >> lift
