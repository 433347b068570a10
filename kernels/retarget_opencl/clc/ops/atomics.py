"""Atomic operations, with the built-ins of OpenCL C 1.x, which every device has for 32 bits.

IREE requires atomicity of one location, never an order between locations; the built-ins are relaxed as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, element_of
from retarget_opencl.clc.values import Op, Value

__all__ = ["RULES"]

# Built-in's name, and whether it takes signed integers.
_CALLS = {
    "spirv.AtomicIAdd": ("add", False),
    "spirv.AtomicISub": ("sub", False),
    "spirv.AtomicSMin": ("min", True),
    "spirv.AtomicSMax": ("max", True),
    "spirv.AtomicUMin": ("min", False),
    "spirv.AtomicUMax": ("max", False),
    "spirv.AtomicAnd": ("and", False),
    "spirv.AtomicOr": ("or", False),
    "spirv.AtomicXor": ("xor", False),
    "spirv.AtomicExchange": ("xchg", False),
}


def _call(writer: StatementWriter, op: Op, call: str, operands: Sequence[Value], *, signed: bool = False) -> None:
    """Write a built-in's call on the location that is the op's first operand; 64-bit ones come with an extension."""
    place = op.operands[0]
    kind = element_of(place.pointer.pointee)
    if kind.bits == 64:
        writer.feature("int64_atomics")
    prefix = "atom" if kind.bits == 64 else "atomic"
    name = writer.names.signed(kind) if signed else writer.names.value(kind)
    texts = [f"as_{name}({value.text})" if signed else value.text for value in operands]
    pointer = f"(volatile {writer.space(place)} {name}*)&{place.text}"
    writer.define(op, f"{prefix}_{call}({', '.join([pointer, *texts])})")


def _modify(writer: StatementWriter, op: Op) -> None:
    call, signed = _CALLS[op.name]
    _call(writer, op, call, op.operands[-1:], signed=signed)


def _compare_exchange(writer: StatementWriter, op: Op) -> None:
    _, value, comparator = op.operands
    _call(writer, op, "cmpxchg", (comparator, value))


def _float_add(writer: StatementWriter, op: Op) -> None:
    place, value = op.operands
    suffix = "global" if writer.space(place) == "__global" else "local"
    writer.define(op, f"{writer.helper(f'atomic_add_float_{suffix}')}(&{place.text}, {value.text})")


RULES: tuple[Rule, ...] = (
    Rule(tuple(_CALLS), _modify),
    Rule(("spirv.AtomicCompareExchange", "spirv.AtomicCompareExchangeWeak"), _compare_exchange),
    Rule(("spirv.EXT.AtomicFAdd",), _float_add, applies=lambda op: op.result == Scalar("float", 32)),
)
