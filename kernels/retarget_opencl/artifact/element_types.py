"""IREE's numbering of element types: `(kind << 24) | bits`, as in its `iree/hal/buffer_view.h`."""

from __future__ import annotations

import re

__all__ = ["ELEMENT_NAMES", "element_type_code"]

_FLOAT8 = {"f8E5M2": 0x24, "f8E4M3FN": 0x25, "f8E5M2FNUZ": 0x26, "f8E4M3FNUZ": 0x27, "f8E8M0FNU": 0x28}


def element_type_code(name: str) -> int:
    """Return the code of an MLIR element type. Raises `ValueError` for one without."""
    if name == "i1":
        return 0x13000008  # booleans are a byte each
    if name in _FLOAT8:
        return _FLOAT8[name] << 24 | 8
    if name == "bf16":
        return 0x22000010
    match = re.fullmatch(r"(si|ui|i|f)(\d+)", name)
    if match is not None:
        return {"i": 0x10, "si": 0x11, "ui": 0x12, "f": 0x21}[match[1]] << 24 | int(match[2])
    match = re.fullmatch(r"complex<f(\d+)>", name)
    if match is not None:
        return 0x23 << 24 | 2 * int(match[1])
    if name == "index":
        return 0x10000040
    msg = f"no element type code for {name}"
    raise ValueError(msg)


ELEMENT_NAMES = {
    element_type_code(name): name
    for name in (
        *("i1", "i2", "i4", "i8", "i16", "i32", "i64"),
        *("si8", "si16", "si32", "si64", "ui8", "ui16", "ui32", "ui64"),
        *("f16", "f32", "f64", "bf16", "complex<f32>", "complex<f64>"),
        *_FLOAT8,
    )
}
