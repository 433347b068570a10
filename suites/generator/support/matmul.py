"""linalg.matmul of generated inputs, for every pair of element types."""

from __future__ import annotations

import numpy as np

from generator.support.arrays import exactly
from generator.support.module import Module

__all__ = ["matmul"]

_EXACT_BELOW = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53, "i32": 2**31, "i64": 2**53}
_DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}


def matmul(  # noqa: PLR0917
    m: Module, element: str, acc: str, sizes: tuple[int, int, int], left: tuple[int, int], right: tuple[int, int]
) -> None:
    """Add a product of `sizes` (rows, inner, columns), accumulated in `acc`; left and right are modulus and shift."""
    rows, inner, columns = sizes
    a = m.input("a", (rows, inner), element, seed=3, modulus=left[0], shift=left[1])
    b = m.input("b", (inner, columns), element, seed=8, modulus=right[0], shift=right[1])
    if (abs(a) @ abs(b)).max() > _EXACT_BELOW[acc]:
        msg = f"{m.path}: a partial sum could be rounded"
        raise ValueError(msg)
    m.function(
        f"matmul_{rows}x{inner}x{columns}",
        """
        %a = @a
        %b = @b
        %init = filled $zero : $out
        %c = linalg.matmul ins(%a, %b : $left, $right) outs(%init : $out) -> $out
        """,
        {"%c": exactly(a @ b, _DTYPES[acc])},
        zero="0" if acc.startswith("i") else "0.0",
        left=m.inputs["a"],
        right=m.inputs["b"],
        out=f"tensor<{rows}x{columns}x{acc}>",
    )
