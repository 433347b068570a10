"""Atomic operations, with the built-ins of OpenCL C 1.x, which every device has for 32 bits.

IREE asks for atomicity of one place, never for an order between places; the built-ins are relaxed as well.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Pointer, Scalar
from retarget_opencl.clc.values import Op

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


def _prefix(writer: StatementWriter, kind: Scalar) -> str:
    """Return the built-ins' prefix; 64-bit ones come with an extension."""
    if kind.bits == 64:
        writer.feature("int64_atomics")
        return "atom"
    return "atomic"


def _modify(writer: StatementWriter, op: Op) -> None:
    call, signed = _CALLS[op.name]
    place, value = op.operands[0], op.operands[-1]
    assert isinstance(place.kind, Pointer)  # noqa: S101
    kind = place.kind.pointee
    assert isinstance(kind, Scalar)  # noqa: S101
    name = writer.names.signed(kind) if signed else writer.names.value(kind)
    text = f"as_{name}({value.text})" if signed else value.text
    writer.define(op, f"{_prefix(writer, kind)}_{call}((volatile {writer.space(place)} {name}*)&{place.text}, {text})")


def _compare_exchange(writer: StatementWriter, op: Op) -> None:
    place, value, comparator = op.operands
    assert isinstance(place.kind, Pointer)  # noqa: S101
    kind = place.kind.pointee
    assert isinstance(kind, Scalar)  # noqa: S101
    pointer = f"(volatile {writer.space(place)} {writer.names.value(kind)}*)&{place.text}"
    writer.define(op, f"{_prefix(writer, kind)}_cmpxchg({pointer}, {comparator.text}, {value.text})")


def _float_add(writer: StatementWriter, op: Op) -> None:
    place, value = op.operands
    suffix = "global" if writer.space(place) == "__global" else "local"
    writer.define(op, f"{writer.helper(f'atomic_add_float_{suffix}')}(&{place.text}, {value.text})")


def _is_float32(op: Op) -> bool:
    return op.result == Scalar("float", 32)


RULES: tuple[Rule, ...] = (
    Rule(tuple(_CALLS), _modify),
    Rule(("spirv.AtomicCompareExchange", "spirv.AtomicCompareExchangeWeak"), _compare_exchange),
    Rule(("spirv.EXT.AtomicFAdd",), _float_add, applies=_is_float32),
)
