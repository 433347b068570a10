"""The programs that write the generated modules of suites/, one file per group of suites."""

from __future__ import annotations

from . import dialects, floats, integers, linalg, pointwise, tensors
from .ir import Module

__all__ = ["modules"]


def modules() -> tuple[Module, ...]:
    """Return every generated module, in no particular order of suites."""
    return (
        *dialects.modules(),
        *floats.modules(),
        *linalg.modules(),
        *integers.modules(),
        *pointwise.modules(),
        *tensors.modules(),
    )
