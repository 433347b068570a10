"""Named ops of linalg on generated inputs: products and convolutions, for every pair of element types."""

from __future__ import annotations

import numpy as np

from generator.support.arrays import Array, exactly, type_of
from generator.support.module import Module

_EXACT_BELOW = {"f16": 2**11, "bf16": 2**8, "f32": 2**24, "f64": 2**53, "i32": 2**31, "i64": 2**53}
_DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}


def product(
    m: Module,
    name: str,
    op: str,
    operands: dict[str, str],
    want: Array,
    *,
    ins: tuple[str, ...] = (),
    result: str = "c",
    attributes: str = "",
) -> None:
    """Add a function that applies a named op of linalg, which accumulates in zeros, to inputs: their values' names, theirs."""
    kinds = {value: m.inputs[called] for value, called in operands.items()}
    order = ins or tuple(operands)
    m.function(
        name,
        "\n".join(
            [
                *(f"%{value} = @{called}" for value, called in operands.items()),
                "%init = filled $zero : $out",
                f"%{result} = linalg.{op} {attributes}"
                f"ins({', '.join(f'%{value}' for value in order)} : {', '.join(kinds[value] for value in order)}) outs(%init : $out) -> $out",
            ]
        ),
        {f"%{result}": want},
        zero="0" if want.dtype.kind == "i" else "0.0",
        out=type_of(want),
    )


def reduction(  # noqa: PLR0917
    m: Module, name: str, op: str, start: object, want: Array, axes: str = "1", called: str = "x"
) -> None:
    """Add a function that reduces an input along axes, beginning with `start`."""
    m.function(
        name,
        """
        %x = @$called
        %init = filled start = $start : $ot
        %out = linalg.reduce { arith.$op } ins(%x : $it) outs(%init : $ot) dimensions = [$axes]
        """,
        {"%out": want},
        called=called, start=start, op=op, it=m.inputs[called], ot=type_of(want), axes=axes,
    )  # fmt: skip


def convolution(  # noqa: PLR0917
    m: Module,
    name: str,
    op: str,
    want: Array,
    image: str = "image",
    kernel: str = "kernel",
    *,
    stride: int = 1,
    dilation: int = 1,
    axes: int = 2,
) -> None:
    """Add a convolution of inputs."""
    kind = f"tensor<{axes}xi64>"
    attributes = f"{{dilations = dense<{dilation}> : {kind}, strides = dense<{stride}> : {kind}}}\n  "
    operands = {("signal" if axes == 1 else "image"): image, "kernel": kernel}
    product(m, name, op, operands, want, result="out", attributes=attributes)


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
    named = {"a": "a", "b": "b"}
    product(m, f"matmul_{rows}x{inner}x{columns}", "matmul", named, exactly(a @ b, _DTYPES[acc]))
