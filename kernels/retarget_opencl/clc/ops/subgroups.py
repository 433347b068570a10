"""Subgroup operations, through helper functions with one definition for each kind of subgroup support.

A profile enables shuffles in IREE only where the device has them: by `cl_khr_subgroup_shuffle`, or on NVIDIA, whose
OpenCL has no subgroups, by the PTX instruction `shfl.sync` written inline. The template holds both versions.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, SpirvType, TypeSyntaxError, Vector, element_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]

_SHUFFLES = {
    "spirv.GroupNonUniformShuffle": "retarget_shuffle",
    "spirv.GroupNonUniformShuffleXor": "retarget_shuffle_xor",
    "spirv.GroupNonUniformShuffleUp": "retarget_shuffle_up",
    "spirv.GroupNonUniformShuffleDown": "retarget_shuffle_down",
    "spirv.GroupNonUniformBroadcast": "retarget_shuffle",
}

# The combining expression of each reduction; `{a}` and `{b}` are of the value's type.
_REDUCTIONS = {
    "FAdd": "{a} + {b}",
    "FMul": "{a} * {b}",
    "FMin": "fmin({a}, {b})",
    "FMax": "fmax({a}, {b})",
    "IAdd": "{a} + {b}",
    "IMul": "{a} * {b}",
    "UMin": "min({a}, {b})",
    "UMax": "max({a}, {b})",
    "SMin": "as_{u}(min(as_{s}({a}), as_{s}({b})))",
    "SMax": "as_{u}(max(as_{s}({a}), as_{s}({b})))",
    "BitwiseAnd": "{a} & {b}",
    "BitwiseOr": "{a} | {b}",
    "BitwiseXor": "{a} ^ {b}",
}


def _shuffled(writer: StatementWriter, kind: SpirvType, call: str, text: str, lane: str) -> str:
    """Shuffle a scalar as 32 bits; narrower ones are widened, halves stay exact, wider ones go in two."""
    writer.feature("shuffle")
    writer.helper(call)
    names = writer.names
    if not isinstance(kind, Scalar):
        msg = f"no shuffle for {kind}"
        raise TypeSyntaxError(msg)
    if kind.kind == "bool":
        return f"{call}((uint){text}, {lane}) != 0"
    if kind.bits == 64:
        halves = ", ".join(f"{call}(as_uint2({text}).{half}, {lane})" for half in "xy")
        return f"as_{names.value(kind)}((uint2)({halves}))"
    if kind.kind == "float" and names.value(kind) == "float":
        return f"as_float({call}(as_uint({text}), {lane}))"
    if kind.kind == "float":
        return f"as_half((ushort){call}((uint)as_ushort({text}), {lane}))"
    return f"{call}({text}, {lane})" if kind.bits == 32 else f"({names.value(kind)}){call}((uint){text}, {lane})"


def _shuffle(writer: StatementWriter, op: Op) -> None:
    value, lane = op.operands[0], op.operands[1]
    call = _SHUFFLES[op.name]
    if not isinstance(value.kind, Vector):
        writer.define(op, _shuffled(writer, value.kind, call, value.text, lane.text))
        return
    element = value.kind.element
    parts = [
        _shuffled(writer, element, call, f"{value.text}.s{index:x}", lane.text) for index in range(value.kind.lanes)
    ]
    writer.define(op, f"({writer.names.value(value.kind)})({', '.join(parts)})")


def _reduce(writer: StatementWriter, op: Op) -> None:
    """A reduction over the subgroup or over clusters of it, by xor shuffles: each lane gets the result."""
    operation = str(op.attribute("group_operation"))
    value, names = op.operands[0], writer.names
    if isinstance(value.kind, Vector) or "Reduce" not in operation:
        msg = f"no rule for the group operation {operation} on {value.kind}"
        raise TypeSyntaxError(msg)
    size = op.operands[1].number if len(op.operands) > 1 else None
    limit = f"{size}u" if size is not None else writer.helper("retarget_subgroup_size") + "()"
    total = writer.fresh("total")
    writer.declare(f"{names.value(value.kind)} {total}")
    writer.state(f"{total} = {value.text}")
    other = _shuffled(writer, value.kind, "retarget_shuffle_xor", total, "step")
    scalar = element_of(value.kind)
    kind = op.name.removeprefix("spirv.GroupNonUniform")
    text = _REDUCTIONS[kind].format(a=total, b=other, u=names.unsigned(scalar), s=names.signed(scalar))
    if names.emulates(scalar):
        text = f"{writer.helper(f'round_{names.small}')}({text})"
    writer.state(f"for (uint step = 1u; step < {limit}; step <<= 1) {total} = {text}")
    writer.define(op, total)


def _elect(writer: StatementWriter, op: Op) -> None:
    writer.feature("shuffle")
    writer.define(op, f"{writer.helper('retarget_subgroup_lane')}() == 0")


RULES: tuple[Rule, ...] = (
    Rule(tuple(_SHUFFLES), _shuffle),
    Rule(tuple(f"spirv.GroupNonUniform{name}" for name in _REDUCTIONS), _reduce),
    Rule(("spirv.GroupNonUniformElect",), _elect),
)
