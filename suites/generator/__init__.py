"""The programs that write the generated modules of suites/: one module per suite, or one package."""

from __future__ import annotations

from generator import (
    dynamic,
    float16,
    float64,
    integer,
    linalg_ext,
    quantised,
    small_types,
    stablehlo,
    tensor,
    torch_onnx,
    tosa,
)
from generator.linalg import contractions, convolutions, pointwise, reductions
from generator.support import Module, Writer

__all__ = ["modules"]

SOURCES = (
    contractions,
    convolutions,
    dynamic,
    float16,
    float64,
    integer,
    linalg_ext,
    pointwise,
    quantised,
    reductions,
    small_types,
    stablehlo,
    tensor,
    torch_onnx,
    tosa,
)


def modules() -> tuple[Module, ...]:
    """Return every generated module, in no particular order of suites."""
    writers = (value for source in SOURCES for value in vars(source).values() if isinstance(value, Writer))
    return tuple(module for writer in writers for module in writer.modules())
