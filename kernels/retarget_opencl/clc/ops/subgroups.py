"""Subgroup operations, through helper functions with one definition for each kind of subgroup support.

A profile enables shuffles in IREE only where the device has them: by `cl_khr_subgroup_shuffle`, or on NVIDIA, whose
OpenCL has no subgroups, by the PTX instruction `shfl.sync` written inline. The template holds both versions.
Reductions, scans, ballots and rotations are written with shuffles, for which all lanes of a subgroup must be active.
"""

from __future__ import annotations

import math

from retarget_opencl.clc.literals import float_text, integer_text
from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, SpirvType, TypeSyntaxError, Vector, element_of, suffix_of
from retarget_opencl.clc.values import Op, Value

__all__ = ["RULES"]

_SHUFFLES = {
    "spirv.GroupNonUniformShuffle": "retarget_shuffle",
    "spirv.GroupNonUniformShuffleXor": "retarget_shuffle_xor",
    "spirv.GroupNonUniformShuffleUp": "retarget_shuffle_up",
    "spirv.GroupNonUniformShuffleDown": "retarget_shuffle_down",
    "spirv.GroupNonUniformBroadcast": "retarget_shuffle",
    "spirv.GroupNonUniformBroadcastFirst": "retarget_shuffle",
}

# The combining expression of each reduction and scan; `{a}` and `{b}` are of the value's type.
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


def _identity(writer: StatementWriter, kind: SpirvType, name: str) -> str:
    """Return what changes no other value when it is combined with it: the first lane's of an exclusive scan."""
    scalar = element_of(kind)
    if scalar.kind == "float":
        number = {"FAdd": 0.0, "FMul": 1.0, "FMin": math.inf, "FMax": -math.inf}[name]
        text = float_text(scalar, number, writer.names)
    else:
        highest = (1 << scalar.bits - 1) - 1
        numbers = {"IMul": 1, "UMin": -1, "SMin": highest, "SMax": -highest - 1, "BitwiseAnd": -1, "LogicalAnd": 1}
        text = integer_text(scalar, numbers.get(name, 0))
    if isinstance(kind, Vector) and scalar.kind == "bool":
        text = "-1" if text == "true" else "0"
    return f"({writer.names.value(kind)})({text})"


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
    """A reduction or a scan, over the subgroup or over clusters of it."""
    operation = str(op.attribute("group_operation"))
    mode = operation.partition("<")[2].rstrip(">")
    if mode not in {"Reduce", "ClusteredReduce", "InclusiveScan", "ExclusiveScan"}:
        msg = f"no rule for the group operation {operation}"
        raise TypeSyntaxError(msg)
    size = op.operands[1].number if len(op.operands) > 1 else None
    limit = f"{size}u" if size is not None else writer.helper("retarget_subgroup_size") + "()"
    name = op.name.removeprefix("spirv.GroupNonUniform")
    total = _total(writer, op.operands[0], name, limit, scan="Scan" in mode)
    if mode == "ExclusiveScan":
        kind = op.operands[0].kind
        before = _shuffled(writer, kind, "retarget_shuffle_up", total, "1u")
        lane = writer.helper("retarget_subgroup_lane") + "()"
        writer.state(f"{total} = {before}")
        writer.state(f"if ({lane} == 0u) {total} = {_identity(writer, kind, name)}")
    writer.define(op, total)


def _total(writer: StatementWriter, value: Value, name: str, limit: str, *, scan: bool = False) -> str:
    """Write what combines the values of all lanes, of `limit` lanes, or with `scan` of those up to each.

    Returns the name of the variable that each lane then has it in.
    """
    names, kind = writer.names, value.kind
    total = writer.fresh("total")
    writer.declare(f"{names.value(kind)} {total}")
    writer.state(f"{total} = {value.text}")
    other = _shuffled(writer, kind, "retarget_shuffle_up" if scan else "retarget_shuffle_xor", total, "step")
    if element_of(kind).kind == "bool":
        other = f"({other})"
    arguments = {"u": names.unsigned(kind), "s": names.signed(kind)}
    earlier = writer.fresh("earlier") if scan else other
    text = _COMBINED[name].format(a=total, b=earlier, **arguments)
    if names.emulates(kind):
        text = f"{writer.helper(f'round_{names.small}{suffix_of(kind)}')}({text})"
    loop = f"for (uint step = 1u; step < {limit}; step <<= 1)"
    if not scan:
        writer.state(f"{loop} {total} = {text}")
        return total
    lane = writer.helper("retarget_subgroup_lane") + "()"
    # All lanes shuffle, also those that keep what they have.
    writer.declare(f"{names.value(kind)} {earlier}")
    writer.state(f"{loop} {earlier} = {other}, {total} = {lane} >= step ? {text} : {total}")
    return total


def _vote(writer: StatementWriter, op: Op) -> None:
    """`All`, `Any`, and `AllEqual`, which asks whether all lanes have the first one's value."""
    value, names = op.operands[0], writer.names
    if op.name.endswith("AllEqual"):
        first = _shuffled(writer, value.kind, "retarget_shuffle", value.text, "0u")
        same = f"{value.text} == ({first})"
        text = f"all({same})" if isinstance(value.kind, Vector) else same
        if isinstance(value.kind, Vector) and element_of(value.kind).bits == 1:
            text = f"all(({names.value(value.kind)})({same}))"
        value = Value(text, Scalar("bool", 1))
    name = "LogicalOr" if op.name.endswith("Any") else "LogicalAnd"
    writer.define(op, _total(writer, value, name, writer.helper("retarget_subgroup_size") + "()"))


def _ballot(writer: StatementWriter, op: Op) -> None:
    writer.feature("shuffle")
    writer.helper("retarget_shuffle_xor")
    writer.define(op, f"{writer.helper('retarget_ballot')}({op.operands[0].text})")


def _count(writer: StatementWriter, op: Op) -> None:
    """Count the bits of a ballot: of all lanes, of those up to this one, of those before it."""
    writer.feature("shuffle")
    operation = str(op.attribute("group_operation"))
    lane = "retarget_subgroup_lane"
    if "Scan" in operation:
        lanes = f"{writer.helper(lane)}()" + (" + 1u" if "Inclusive" in operation else "")
    else:
        lanes = f"{writer.helper('retarget_subgroup_size')}()"
    writer.define(op, f"{writer.helper('retarget_ballot_count')}({op.operands[0].text}, {lanes})")


def _find(writer: StatementWriter, op: Op) -> None:
    writer.feature("shuffle")
    which = "first" if op.name.endswith("LSB") else "last"
    writer.define(op, f"{writer.helper(f'retarget_ballot_{which}')}({op.operands[0].text})")


def _elect(writer: StatementWriter, op: Op) -> None:
    writer.feature("shuffle")
    writer.define(op, f"{writer.helper('retarget_subgroup_lane')}() == 0")


RULES: tuple[Rule, ...] = (
    Rule(tuple(_SHUFFLES), _shuffle),
    Rule(("spirv.GroupNonUniformRotateKHR",), _rotate),
    Rule(tuple(f"spirv.GroupNonUniform{name}" for name in _COMBINED), _combine),
    Rule(tuple(f"spirv.GroupNonUniform{name}" for name in ("All", "Any", "AllEqual")), _vote),
    Rule(("spirv.GroupNonUniformBallot", "spirv.KHR.SubgroupBallot"), _ballot),
    Rule(("spirv.GroupNonUniformBallotBitCount",), _count),
    Rule(("spirv.GroupNonUniformBallotFindLSB", "spirv.GroupNonUniformBallotFindMSB"), _find),
    Rule(("spirv.GroupNonUniformElect",), _elect),
)
