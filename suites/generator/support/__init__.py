"""What the modules of all suites share: MLIR text, checks, references in NumPy."""

from __future__ import annotations

from generator.support.arrays import Approximate, Array, dense, exactly, pattern, source, type_of
from generator.support.module import Module, applied
from generator.support.writers import Writer, each, module

__all__ = [
    "Approximate",
    "Array",
    "Module",
    "Writer",
    "applied",
    "dense",
    "each",
    "exactly",
    "module",
    "pattern",
    "source",
    "type_of",
]
