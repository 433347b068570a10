"""Subgroup operations, through helper functions with one definition for each kind of subgroup support.

A profile enables shuffles in IREE only where the device has them: by `cl_khr_subgroup_shuffle`, or on NVIDIA, whose
OpenCL has no subgroups, by the PTX instruction `shfl.sync` written inline. The template holds both versions.
Reductions, ballots and rotations are written with shuffles, for which all lanes of a subgroup must be active.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, SpirvType, TypeSyntaxError, Vector, element_of, suffix_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]

_SHUFFLES = {
    "spirv.GroupNonUniformShuffle": "retarget_shuffle",
    "spirv.GroupNonUniformShuffleXor": "retarget_shuffle_xor",
    "spirv.GroupNonUniformShuffleUp": "retarget_shuffle_up",
    "spirv.GroupNonUniformShuffleDown": "retarget_shuffle_down",
    "spirv.GroupNonUniformBroadcast": "retarget_shuffle",
    "spirv.GroupNonUniformBroadcastFirst": "retarget_shuffle",
}

# The combining expression of each reduction; `{a}` and `{b}` are of the value's type.
_COMBINED = {
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
    "LogicalAnd": "{a} & {b}",
    "LogicalOr": "{a} | {b}",
    "LogicalXor": "{a} ^ {b}",
}


def _shuffled(writer: StatementWriter, kind: SpirvType, call: str, text: str, lane: str) -> str:
    """Shuffle as 32 bits each: narrower elements are widened, halves stay exact, wider ones go in two."""
    writer.feature("shuffle")
    writer.helper(call)
    names = writer.names
    if isinstance(kind, Vector):
        # Booleans in vectors are integers.
        element = Scalar("int", 32) if kind.element.kind == "bool" else kind.element
        parts = (_shuffled(writer, element, call, f"{text}.s{index:x}", lane) for index in range(kind.lanes))
        return f"({names.value(kind)})({', '.join(parts)})"
    assert isinstance(kind, Scalar)  # noqa: S101
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
    value, lane = op.operands[0], op.operands[1].text if len(op.operands) > 1 else "0u"
    writer.define(op, _shuffled(writer, value.kind, _SHUFFLES[op.name], value.text, lane))


def _rotate(writer: StatementWriter, op: Op) -> None:
    """Take the value of a lane further on, round the subgroup or round each cluster of it."""
    value, by = op.operands[:2]
    lane = writer.helper("retarget_subgroup_lane") + "()"
    size = op.operands[2].text if len(op.operands) > 2 else writer.helper("retarget_subgroup_size") + "()"
    source = writer.fresh("source")
    writer.declare(f"uint {source}")
    writer.state(f"{source} = ({lane} & ~({size} - 1u)) | (({lane} + {by.text}) & ({size} - 1u))")
    writer.define(op, _shuffled(writer, value.kind, "retarget_shuffle", value.text, source))


def _combine(writer: StatementWriter, op: Op) -> None:
    """A reduction over the subgroup or over clusters of it."""
    operation = str(op.attribute("group_operation"))
    if operation.partition("<")[2].rstrip(">") not in {"Reduce", "ClusteredReduce"}:
        msg = f"no rule for the group operation {operation}"
        raise TypeSyntaxError(msg)
    names, value = writer.names, op.operands[0]
    kind = value.kind
    size = op.operands[1].number if len(op.operands) > 1 else None
    limit = f"{size}u" if size is not None else writer.helper("retarget_subgroup_size") + "()"
    total = writer.fresh("total")
    writer.declare(f"{names.value(kind)} {total}")
    writer.state(f"{total} = {value.text}")
    other = _shuffled(writer, kind, "retarget_shuffle_xor", total, "step")
    if element_of(kind).kind == "bool":
        other = f"({other})"
    name = op.name.removeprefix("spirv.GroupNonUniform")
    text = _COMBINED[name].format(a=total, b=other, u=names.unsigned(kind), s=names.signed(kind))
    if names.emulates(kind):
        text = f"{writer.helper(f'round_{names.small}{suffix_of(kind)}')}({text})"
    writer.state(f"for (uint step = 1u; step < {limit}; step <<= 1) {total} = {text}")
    writer.define(op, total)


def _ballot(writer: StatementWriter, op: Op) -> None:
    writer.feature("shuffle")
    writer.helper("retarget_shuffle_xor")
    writer.define(op, f"{writer.helper('retarget_ballot')}({op.operands[0].text})")


RULES: tuple[Rule, ...] = (
    Rule(tuple(_SHUFFLES), _shuffle),
    Rule(("spirv.GroupNonUniformRotateKHR",), _rotate),
    Rule(tuple(f"spirv.GroupNonUniform{name}" for name in _COMBINED), _combine),
    Rule(("spirv.GroupNonUniformBallot",), _ballot),
)
