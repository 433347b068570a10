"""Atomic operations, with the built-ins of OpenCL C 1.x, which every device has for 32 bits. Fewer bits have none, and
only `and` and `or` a rule, with those of the 32 bits around.

IREE requires atomicity of one location, never an order between locations; the built-ins are relaxed as well.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, element_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]

# Built-in's name, and whether it takes signed integers.
_CALLS = {
    "spirv.AtomicIAdd": ("add", False),
    "spirv.AtomicSMin": ("min", True),
    "spirv.AtomicSMax": ("max", True),
    "spirv.AtomicUMin": ("min", False),
    "spirv.AtomicUMax": ("max", False),
    "spirv.AtomicAnd": ("and", False),
    "spirv.AtomicOr": ("or", False),
    "spirv.AtomicXor": ("xor", False),
    "spirv.AtomicExchange": ("xchg", False),
}


def _modify(writer: StatementWriter, op: Op) -> None:
    """Write a built-in's call on the location that is the op's first operand; 64-bit ones come with an extension."""
    call, signed = _CALLS[op.name]
    place, value = op.operands
    kind = element_of(place.pointer.pointee)
    if kind.bits == 64:
        writer.feature("int64_atomics")
    prefix = "atom" if kind.bits == 64 else "atomic"
    name = writer.names.signed(kind) if signed else writer.names.value(kind)
    text = f"as_{name}({value.text})" if signed else value.text
    writer.define(op, f"{prefix}_{call}((volatile {writer.space(place)} {name}*)&{place.text}, {text})")


def _helped(writer: StatementWriter, op: Op, helper: str) -> None:
    """Write a call of a helper function, which there is for each address space."""
    place, value = op.operands
    suffix = "global" if writer.space(place) == "__global" else "local"
    writer.define(op, f"{writer.helper(f'{helper}_{suffix}')}(&{place.text}, {value.text})")


def _modify_narrow(writer: StatementWriter, op: Op) -> None:
    """Stores of elements that share a byte: IREE clears their bits in it and sets them, one after the other."""
    _helped(writer, op, f"atomic_{_CALLS[op.name][0]}_{writer.names.value(op.kind)}")


def _float_add(writer: StatementWriter, op: Op) -> None:
    _helped(writer, op, "atomic_add_float")


def _is_wide(op: Op) -> bool:
    return element_of(op.kind).bits >= 32


RULES: tuple[Rule, ...] = (
    Rule(tuple(_CALLS), _modify, applies=_is_wide),
    Rule(("spirv.AtomicAnd", "spirv.AtomicOr"), _modify_narrow),
    Rule(("spirv.EXT.AtomicFAdd",), _float_add, applies=lambda op: op.result == Scalar("float", 32)),
)
