"""The programs that write the generated modules of suites/, one file per group of suites."""

from __future__ import annotations

from . import (
    convolutions,
    dialects,
    dynamic,
    floats,
    integers,
    linalg,
    linalg_ext,
    onnx_graphs,
    pointwise,
    quantised,
    reductions,
    tensors,
)
from .ir import Module

__all__ = ["modules"]


def modules() -> tuple[Module, ...]:
    """Return every generated module, in no particular order of suites."""
    return (
        *convolutions.modules(),
        *dialects.modules(),
        *dynamic.modules(),
        *floats.modules(),
        *integers.modules(),
        *linalg.modules(),
        *linalg_ext.modules(),
        *onnx_graphs.modules(),
        *pointwise.modules(),
        *quantised.modules(),
        *reductions.modules(),
        *tensors.modules(),
    )
