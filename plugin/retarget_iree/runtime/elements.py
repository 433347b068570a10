"""Codes that buffer views have for element types, the dtypes of their host copies, numbers as the VM passes them.

A code has the numerical type in its top byte and the bit count in its low byte (`iree/hal/buffer_view.h`). Signless
integers, which is what MLIR's `i32` becomes, read as signed. Elements of 2 and 4 bits are packed in a view's buffer
(`retarget.arrays.dtypes`). Flagfiles are read in pytest's process too: NumPy is imported where it is used.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from retarget.extension import DriverError
from retarget.model import ELEMENT_TYPES, DeclaredType

if TYPE_CHECKING:
    import numpy as np
    from retarget.extension import Array

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


_WITHOUT = {"f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E4M3", "f8E3M4", "f8E4M3B11FNUZ"}
"""Element types that IREE 3.13 compiles, as far as it does, only inside a module: the runtime has no code for them."""

ELEMENT_CODES = {name: element_type_code(name) for name in ELEMENT_TYPES if name not in _WITHOUT}
"""The element types that the runtime passes, by MLIR's names."""

_NAMES = {code: name for name, code in reversed(list(ELEMENT_CODES.items())) if name != "index"}


def element_type_name(code: int) -> str:
    """Return MLIR's name of a code's element type (`i4`, `i3`), the code in hexadecimal where there is none."""
    prefix = next((prefix for prefix, kind in _NUMERICAL_TYPES.items() if kind == code >> 24), "")
    return _NAMES.get(code) or (f"{prefix}{code & 0xFF}" if prefix else f"0x{code:08x}")


@cache
def dtype_of_code(code: int) -> np.dtype[np.generic]:
    """Return the dtype of a HAL element type. Raises `DriverError` for one that NumPy cannot hold (`i3`, opaque)."""
    from retarget.arrays import Elements

    name = _NAMES.get(code)
    if name is None:
        msg = f"no NumPy dtype holds elements of type {element_type_name(code)}"
        hint = "let the module convert them to another type before it checks or returns them (`arith.extsi`)"
        raise DriverError(msg, hint=hint)
    return Elements.named(ELEMENT_TYPES[name].dtype).dtype


def element_type_of(dtype: np.dtype[Any]) -> int:
    """Return the HAL element type that an array of `dtype` goes in as: that of signless integers for signed ones, which
    every integer of the width takes. Raises `DriverError` where there is none."""
    from retarget.arrays import Elements

    elements = Elements.of(dtype)
    code = ELEMENT_CODES.get(elements.text())
    if code is None:
        known = ", ".join(dict.fromkeys(ELEMENT_TYPES[known].dtype for known in ELEMENT_CODES))
        msg = f"arrays of dtype {elements.dtype} cannot be passed to a module; expected one of: {known}"
        raise DriverError(msg)
    return code


_CONVENTION_DTYPES = {"i": "int32", "I": "int64", "f": "float32", "F": "float64"}


def scalar_argument(array: Array, letter: str, declared: str) -> float:
    """Return what the VM is passed for a number: an integer for `i` and `I`. Raises `DriverError` for several numbers.

    `letter` and `declared` are the argument's type as in `retarget_iree.runtime.exports.Signature`.
    """
    import numpy as np
    from retarget.arrays import Elements

    if array.size != 1:
        msg = f"expected one number{f' ({declared})' if declared else ''}, found an array of shape {array.shape}"
        raise DriverError(msg)
    elements = Elements.declared(DeclaredType.parse(declared)) or Elements.named(_CONVENTION_DTYPES[letter])
    value = array.reshape(()).astype(elements.dtype)
    if letter == "i" and elements.kind == "f":  # as the bits of an i32
        return int(value.view(f"u{elements.dtype.itemsize}"))
    return int(value.astype(np.int64)) if letter in "iI" else float(value.astype(np.float64))


def scalar_result(value: float, letter: str, declared: str) -> Array:
    """Return the array of rank 0 for a number that the VM has returned."""
    import numpy as np
    from retarget.arrays import Elements

    elements = Elements.declared(DeclaredType.parse(declared)) or Elements.named(_CONVENTION_DTYPES[letter])
    if letter == "i" and elements.kind == "f":
        return np.asarray(value, np.int32).astype(f"u{elements.dtype.itemsize}").view(elements.dtype)
    return np.asarray(value).astype(elements.dtype)


def as_declared(array: Array, declared: str) -> Array:
    """Return an array with the signedness that its type declares: integers are signless on the way."""
    from retarget.arrays import Elements

    elements = Elements.declared(DeclaredType.parse(declared))
    return array if elements is None else elements.resigned(array)
