"""What the translations of kernels and of the host program share: names, errors, and ways through IREE's modules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from retarget.model import ELEMENT_TYPES

if TYPE_CHECKING:
    import numpy as np

Buffer = bytes | memoryview

Ir = Any
"""Objects of `iree.compiler.ir`, which has no types of its own."""


BUILT_IN = "retarget.built_in"
"""The attribute of a SPIR-V op that stands for a built-in function of OpenCL C, which it names."""

BFLOAT16 = "retarget.bfloat16"
"""The attribute of an executable's export in whose kernel f16 stands for bf16."""


ATTENTION = "retarget.attention"
"""The attribute of an executable's export whose kernel is attention, not what IREE compiled: an `Attention`
(`clc.attention`) as JSON."""


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


def inside(parent: Ir, name: str) -> list[Ir]:
    """Return the ops of a name that are in an op's first block."""
    return [op.operation for op in parent.regions[0].blocks[0] if op.operation.name == name]


def walk(op: Ir) -> Iterator[Ir]:
    """Yield all ops inside an op, each before those inside it."""
    for region in op.regions:
        for block in region.blocks:
            for item in block:
                yield item.operation
                yield from walk(item.operation)


def kernels_of(module: Ir) -> Iterator[tuple[Ir, Ir, Ir]]:
    """Yield the kernels of a module whose executables have functions: variant, export and function of each."""
    for executable in inside(module, "hal.executable"):
        for variant in inside(executable, "hal.executable.variant"):
            exports = {symbol_name(export): export for export in inside(variant, "hal.executable.export")}
            functions = [one for inner in inside(variant, "builtin.module") for one in inside(inner, "func.func")]
            yield from ((variant, exports[name], one) for one in functions if (name := symbol_name(one)) in exports)


@cache
def element_dtype(name: str) -> np.dtype[np.generic] | None:
    """Return the NumPy dtype of an MLIR element type; None where it has none."""
    from retarget.arrays import Elements  # imports NumPy, which pytest's process does not need

    known = ELEMENT_TYPES.get(name)
    return None if known is None else Elements.named(known.dtype).dtype
