"""Element types as NumPy dtypes, and arrays that must fit a declared type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from retarget.model.element_types import DeclaredType, mlir_name, shape_fits
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = ["dtype_named", "dtype_of", "fit", "type_text"]


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the NumPy type of that name, those of ml_dtypes among them. Raises `TypeError` for an unknown one."""
    return np.dtype(getattr(ml_dtypes, name, name))


def dtype_of(declared: DeclaredType) -> np.dtype[Any] | None:
    """Return the dtype of a declared type's elements; None where no dtype holds them or the type does not say."""
    return None if declared.dtype is None else dtype_named(declared.dtype)


def type_text(shape: Sequence[int], dtype: npt.DTypeLike) -> str:
    """Return shape and element type as compilers name them: `2x3xf32`, `f32` for rank 0, `4xi1` of Booleans."""
    return "x".join([*map(str, shape), mlir_name(np.dtype(dtype).name)])


def fit(array: Array, declared: DeclaredType, *, by_width: bool = False) -> Array:
    """Return `array` as the declared type sees it: elements without a type (`V2`, as NumPy stores bf16) fit what has
    their size, and integers of the other signedness fit a signless type.

    With `by_width`, all integers of a width fit each other, and bytes fit Booleans: true where they are not 0. Raises
    `RetargetError` for any other element type or shape.
    """
    dtype = dtype_of(declared)
    if dtype is not None and array.dtype != dtype and array.dtype.itemsize == dtype.itemsize:
        if by_width and dtype.kind == "b" and array.dtype.kind in "iu":
            array = array != 0
        elif array.dtype.type is np.void or (
            array.dtype.kind in "iu" and (declared.is_signless or (by_width and dtype.kind in "iu"))
        ):
            array = array.view(dtype)
    if (dtype is not None and array.dtype != dtype) or not shape_fits(array.shape, declared.shape):
        msg = f"found {type_text(array.shape, array.dtype)}, expected {declared.text}"
        raise RetargetError(msg)
    return array
