"""What the translations of kernels and of the host program share."""

from __future__ import annotations

from typing import Any

__all__ = ["ATTENTION", "BFLOAT16", "BUILT_IN", "Buffer", "Ir", "TranslationError", "describe", "symbol_name"]

Buffer = bytes | memoryview

Ir = Any
"""Objects of `iree.compiler.ir`, which has no types of its own."""


BUILT_IN = "retarget.built_in"
"""The attribute of a SPIR-V op that stands for a built-in function of OpenCL C, which it names."""

BFLOAT16 = "retarget.bfloat16"
"""The attribute of an executable's export in whose kernel f16 stands for bf16."""


ATTENTION = "retarget.attention"
"""The attribute of an executable's export whose kernel is attention, not what IREE compiled: `clc.attention`'s text."""


class TranslationError(Exception):
    """Something in the compiled module that has no counterpart in OpenCL C or in host programs.

    `str()` names op, types and source location.
    """


def describe(op: Ir) -> str:
    """Return op, types and source location, for messages."""
    operands = ", ".join(str(value.type) for value in op.operands)
    results = ", ".join(str(value.type) for value in op.results)
    return f"{op.name} : ({operands}) -> ({results}) at {op.location}"


def symbol_name(op: Ir) -> str:
    """Return the name of an op that defines a symbol."""
    return str(op.attributes["sym_name"].value)
