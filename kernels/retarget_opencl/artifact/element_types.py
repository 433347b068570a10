"""NumPy's dtypes of MLIR's element types."""

from __future__ import annotations

from functools import cache

import numpy as np
from retarget.arrays.dtypes import dtype_named
from retarget.model.element_types import ELEMENT_TYPES

__all__ = ["element_dtype"]


@cache
def element_dtype(name: str) -> np.dtype[np.generic] | None:
    """Return the NumPy dtype of an MLIR element type; None where it has none."""
    known = ELEMENT_TYPES.get(name)
    return None if known is None else dtype_named(known.dtype)
