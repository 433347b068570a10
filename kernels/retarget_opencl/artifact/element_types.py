"""Element types as IREE numbers them and as NumPy holds them.

A code is `(kind << 24) | bits`, as in IREE's `iree/hal/buffer_view.h`. Elements of less than a byte are packed.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
from retarget.arrays.dtypes import dtype_named
from retarget.model.element_types import ELEMENT_TYPES

__all__ = ["ELEMENT_NAMES", "element_dtype", "element_type_code", "pack_small", "unpack_small"]

_KINDS = {"i": 0x10, "si": 0x11, "ui": 0x12, "f": 0x21}
_CODES = {
    "i1": 0x13000008,  # booleans are a byte each
    "bf16": 0x22000010,
    "f8E5M2": 0x24000008,
    "f8E4M3FN": 0x25000008,
    "f8E5M2FNUZ": 0x26000008,
    "f8E4M3FNUZ": 0x27000008,
    "f8E8M0FNU": 0x28000008,
    "complex<f32>": 0x23000040,
    "complex<f64>": 0x23000080,
    "index": 0x10000040,
}


def element_type_code(name: str) -> int:
    """Return the code of an MLIR element type. Raises `ValueError` for one without."""
    match = re.fullmatch(r"(si|ui|i|f)(\d+)", name)
    if name not in _CODES and match is None:
        msg = f"no element type code for {name}"
        raise ValueError(msg)
    return _CODES[name] if match is None or name in _CODES else _KINDS[match[1]] << 24 | int(match[2])


ELEMENT_NAMES = {element_type_code(name): name for name in ("i2", "i4", *ELEMENT_TYPES) if name != "index"}


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
    """Undo `pack_small`; values come out signed, as `int8`."""
    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    values = (data[:, None] >> shifts).reshape(-1)[:count] & np.uint8((1 << bits) - 1)
    lift = 8 - bits
    return (values << lift).view(np.int8) >> lift
