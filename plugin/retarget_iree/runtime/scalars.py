"""Numbers as the VM passes them, and arrays as functions declare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from retarget.arrays.dtypes import dtype_of, kind_of, resigned
from retarget.model.calls import DriverError
from retarget.model.element_types import parse_type

if TYPE_CHECKING:
    from retarget.model.calls import Array

__all__ = ["as_declared", "scalar_argument", "scalar_result"]

_CONVENTION_DTYPES: dict[str, np.dtype[np.generic]] = {
    "i": np.dtype(np.int32),
    "I": np.dtype(np.int64),
    "f": np.dtype(np.float32),
    "F": np.dtype(np.float64),
}


def scalar_argument(array: Array, letter: str, declared: str) -> float:
    """Return what the VM is passed for a number: an integer for `i` and `I`. Raises `DriverError` for several numbers.

    `letter` and `declared` are the argument's type as in `retarget_iree.runtime.signature.Signature`.
    """
    if array.size != 1:
        msg = f"expected one number{f' ({declared})' if declared else ''}, found an array of shape {array.shape}"
        raise DriverError(msg)
    dtype: np.dtype[Any] = dtype_of(parse_type(declared)) or _CONVENTION_DTYPES[letter]
    value = array.reshape(()).astype(dtype)
    if letter == "i" and kind_of(dtype) == "f":  # as the bits of an i32
        return int(value.view(f"u{dtype.itemsize}"))
    return int(value.astype(np.int64)) if letter in "iI" else float(value.astype(np.float64))


def scalar_result(value: float, letter: str, declared: str) -> Array:
    """Return the array of rank 0 for a number that the VM has returned."""
    dtype = dtype_of(parse_type(declared))
    if letter == "i" and dtype is not None and kind_of(dtype) == "f":
        return np.asarray(value, np.int32).astype(f"u{dtype.itemsize}").view(dtype)
    number: np.dtype[Any] = dtype or _CONVENTION_DTYPES[letter]
    return np.asarray(value).astype(number)


def as_declared(array: Array, declared: str) -> Array:
    """Return an array with the signedness that its type declares: integers are signless on the way."""
    dtype = dtype_of(parse_type(declared))
    return array if dtype is None else resigned(array, dtype)
