"""HAL element types and NumPy dtypes, as one table.

A HAL element type is a 32-bit code: the numerical type in the top byte, the bit count in the low byte
(`iree/hal/buffer_view.h`). Signless integers, which is what MLIR's `i32` becomes, read as signed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
from retarget.extension import DriverError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["DTYPES", "declared_dtype", "dtype_of", "element_type_name", "element_type_of", "types_of"]

_BOOLEAN, _SIGNLESS, _SIGNED, _UNSIGNED = 0x13, 0x10, 0x11, 0x12

DTYPES: dict[int, np.dtype[np.generic]] = {
    0x13000008: np.dtype(np.bool_),
    **{
        kind << 24 | bits: np.dtype(f"{letter}{bits // 8}")
        for kind, letter in ((_SIGNLESS, "i"), (_SIGNED, "i"), (_UNSIGNED, "u"))
        for bits in (8, 16, 32, 64)
    },
    0x21000010: np.dtype(np.float16),
    0x21000020: np.dtype(np.float32),
    0x21000040: np.dtype(np.float64),
    0x22000010: np.dtype(ml_dtypes.bfloat16),
    0x23000040: np.dtype(np.complex64),
    0x23000080: np.dtype(np.complex128),
    0x24000008: np.dtype(ml_dtypes.float8_e5m2),
    0x25000008: np.dtype(ml_dtypes.float8_e4m3fn),
    0x26000008: np.dtype(ml_dtypes.float8_e5m2fnuz),
    0x27000008: np.dtype(ml_dtypes.float8_e4m3fnuz),
    0x28000008: np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""HAL element type code to the dtype of its host copy."""

_CODES = {dtype: code for code, dtype in DTYPES.items() if code >> 24 != _SIGNED}
# An int32 array goes in as signless: every integer of its width takes it.

_NAMED: dict[str, np.dtype[np.generic]] = {
    "i1": np.dtype(np.bool_),
    "index": np.dtype(np.int64),
    **{f"{sign}{bits}": np.dtype(f"i{bits // 8}") for sign in ("i", "si") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
}
_KINDS = {0x00: "opaque", 0x10: "i", 0x11: "si", 0x12: "ui", 0x13: "bool", 0x21: "f", 0x22: "bf", 0x23: "complex"}
_ELEMENT = re.compile(r"(?:.*x)?(?P<element>[a-z][\w<>]*)")


def element_type_name(code: int) -> str:
    """Return a code as MLIR would write it (`i4`), or in hexadecimal where the kind is not known."""
    kind = _KINDS.get(code >> 24)
    return f"0x{code:08x}" if kind is None else f"{kind}{code & 0xFF}"


def dtype_of(code: int) -> np.dtype[np.generic]:
    """Return the dtype of a HAL element type. Raises `DriverError` for one that NumPy cannot hold (`i4`, opaque)."""
    dtype = DTYPES.get(code)
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


def declared_dtype(declared: str) -> np.dtype[np.generic] | None:
    """Return the dtype of a declared MLIR type (`i1`, `tensor<2x?xui8>`), None where it is none of the table."""
    written = declared.strip()
    if written.startswith("tensor<") and written.endswith(">"):
        match = _ELEMENT.fullmatch(written.removeprefix("tensor<").removesuffix(">").split(",")[0].strip())
        written = match["element"] if match else ""
    return _NAMED.get(written)


def types_of(arguments: str) -> Sequence[str]:
    """Split a declaration's argument or result list at its outer commas and drop the names (`%input0: i32` → `i32`)."""
    parts: list[str] = []
    depth = 0
    part = ""
    for character in arguments:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    if part.strip():
        parts.append(part)
    return [re.sub(r"^\s*%[\w$.-]+:\s*", "", part).split(" {")[0].strip() for part in parts]
