"""The codes that buffer views have for element types, and the dtypes of their host copies.

A code has the numerical type in its top byte and the bit count in its low byte (`iree/hal/buffer_view.h`). Signless
integers, which is what MLIR's `i32` becomes, read as signed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from retarget.arrays.dtypes import dtype_named
from retarget.extension import DriverError
from retarget.model.element_types import ELEMENT_TYPES

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["dtype_of_code", "element_type_code", "element_type_name", "element_type_of"]

_BOOLEAN = 0x13000008  # a byte each
_NUMERICAL_TYPES = {"i": 0x10, "si": 0x11, "ui": 0x12, "f": 0x21, "bf": 0x22}
_FLOAT8 = {"f8E5M2": 0x24, "f8E4M3FN": 0x25, "f8E5M2FNUZ": 0x26, "f8E4M3FNUZ": 0x27, "f8E8M0FNU": 0x28}


def element_type_code(name: str) -> int:
    """Return the code of an MLIR element type. Raises `ValueError` for one without."""
    if name in {"i1", "index"}:
        return _BOOLEAN if name == "i1" else element_type_code("i64")
    if name in _FLOAT8:
        return _FLOAT8[name] << 24 | 8
    if match := re.fullmatch(r"(si|ui|i|f|bf)(\d+)", name):
        return _NUMERICAL_TYPES[match[1]] << 24 | int(match[2])
    if match := re.fullmatch(r"complex<f(\d+)>", name):
        return 0x23 << 24 | 2 * int(match[1])
    msg = f"no element type code for {name}"
    raise ValueError(msg)


_NAMES = {element_type_code(name): name for name in (*ELEMENT_TYPES, "i2", "i4", "i64")}
_DTYPES: dict[int, np.dtype[np.generic]] = {
    element_type_code(name): dtype_named(element.dtype) for name, element in ELEMENT_TYPES.items()
}
_CODES = {dtype: code for code, dtype in reversed(_DTYPES.items())}
# An int32 array goes in as signless, which comes first: every integer of its width takes it.


def element_type_name(code: int) -> str:
    """Return MLIR's name of a code's element type (`i4`), the code in hexadecimal where there is none."""
    return _NAMES.get(code, f"0x{code:08x}")


def dtype_of_code(code: int) -> np.dtype[np.generic]:
    """Return the dtype of a HAL element type. Raises `DriverError` for one that NumPy cannot hold (`i4`, opaque)."""
    dtype = _DTYPES.get(code)
    if dtype is None:
        msg = f"no NumPy dtype holds elements of type {element_type_name(code)}"
        hint = "let the module extend them to a type of whole bytes before it checks or returns them (`arith.extsi`)"
        raise DriverError(msg, hint=hint)
    return dtype


def element_type_of(dtype: npt.DTypeLike) -> int:
    """Return the HAL element type that an array of `dtype` goes in as. Raises `DriverError` where there is none."""
    code = _CODES.get(np.dtype(dtype))
    if code is None:
        known = ", ".join(sorted(str(known) for known in _CODES))
        msg = f"arrays of dtype {np.dtype(dtype)} cannot be passed to a module; expected one of: {known}"
        raise DriverError(msg)
    return code
