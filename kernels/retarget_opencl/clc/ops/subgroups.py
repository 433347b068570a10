"""Subgroup operations, and cooperative matrices, which the work-items of a subgroup hold together.

Operations call helper functions with one definition for each kind of subgroup support. A profile enables shuffles in
IREE only where the device has them: by `cl_khr_subgroup_shuffle`, or on NVIDIA, whose OpenCL has no subgroups, by the
PTX instruction `shfl.sync` written inline. The template holds both versions. Reductions are written with shuffles, for
which all lanes of a subgroup must be active. IREE creates no op whose capability a target does not state: no ballots,
broadcasts, rotations and clusters.

Cooperative matrices have 16x16 elements, which the 32 work-items of a warp hold. IREE uses them where the profile has
matrix units. On NVIDIA they are `ldmatrix` and `mma.sync`, written inline as PTX by helper functions of the template
(`matrices.cl.j2`). A work-item holds eight elements of each matrix: of factors, and of sums in half precision, packed
in a `uint4`; of sums in single precision in a `float8`; of factors of 8-bit integers packed in a `uint2`, of their sums
in a `uint8`. PTX defines which element is where; the templates describe it. IREE loads, multiplies and stores matrices;
what else a kernel computes with a sum goes through local memory (3.13).
"""

from __future__ import annotations

import re

from retarget_opencl.clc.nodes import Op
from retarget_opencl.clc.ops.memory import MATRIX_OPS
from retarget_opencl.clc.ops.memory import RULES as MEMORY_RULES
from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import (
    Matrix,
    Scalar,
    SpirvType,
    TypeSyntaxError,
    Vector,
    element_of,
    lanes_of,
    suffix_of,
)

_SHUFFLES = {
    "spirv.GroupNonUniformShuffle": "retarget_shuffle",
    "spirv.GroupNonUniformShuffleXor": "retarget_shuffle_xor",
    "spirv.GroupNonUniformShuffleUp": "retarget_shuffle_up",
    "spirv.GroupNonUniformShuffleDown": "retarget_shuffle_down",
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
    value, lane = op.operands
    writer.define(op, _shuffled(writer, value.kind, _SHUFFLES[op.name], value.text, lane.text))


def _combine(writer: StatementWriter, op: Op) -> None:
    """A reduction over the subgroup."""
    operation = str(op.attribute("group_operation"))
    if operation.partition("<")[2].rstrip(">") != "Reduce":
        msg = f"no rule for the group operation {operation}"
        raise TypeSyntaxError(msg)
    names, value = writer.names, op.operands[0]
    kind, limit = value.kind, writer.helper("retarget_subgroup_size")
    total = writer.fresh("total")
    writer.declare(f"{names.value(kind)} {total}")
    writer.state(f"{total} = {value.text}")
    other = _shuffled(writer, kind, "retarget_shuffle_xor", total, "step")
    name = op.name.removeprefix("spirv.GroupNonUniform")
    text = _COMBINED[name].format(a=total, b=other, u=names.unsigned(kind), s=names.signed(kind))
    if names.emulates(kind):
        text = f"{writer.helper(f'round_{names.small}{suffix_of(kind)}')}({text})"
    writer.state(f"for (uint step = 1u; step < {limit}(); step <<= 1) {total} = {text}")
    writer.define(op, total)


_SUBGROUPS: tuple[Rule, ...] = (
    Rule(tuple(_SHUFFLES), _shuffle),
    Rule(tuple(f"spirv.GroupNonUniform{name}" for name in _COMBINED), _combine),
)


def _layout(op: Op) -> str:
    return "row" if "RowMajor" in str(op.attribute("matrix_layout")) else "column"


def _place(writer: StatementWriter, op: Op) -> str:
    """Return the arguments that locate a matrix in memory: its first byte and its stride in bytes."""
    place = op.operands[0]
    scalar, space = element_of(place.pointer.pointee), writer.space(place)
    if space == "__private":
        msg = "a cooperative matrix in private memory"
        raise TypeSyntaxError(msg)
    stride = op.operands[-1]
    size = scalar.bits // 8 * lanes_of(place.pointer.pointee)
    step = f"{stride.number * size}u" if stride.number is not None else f"{stride.text} * {size}u"
    return f"({space} uchar*)&{place.text}, {step}"


def _space(writer: StatementWriter, op: Op) -> str:
    return writer.space(op.operands[0]).strip("_")


def _load(writer: StatementWriter, op: Op) -> None:
    kind = op.result
    assert isinstance(kind, Matrix)  # noqa: S101
    if kind.packed and kind.element.bits != 16:
        msg = f"a factor of single precision is loaded: {kind}"
        raise TypeSyntaxError(msg)
    writer.feature("matrices")
    space, layout = _space(writer, op), _layout(op)
    # Sums lie in the registers as left factors do.
    side = "right" if kind.use == "MatrixB" else "left"
    stride, element = op.operands[-1], op.operands[0].pointer.pointee
    bytes_apart = None if stride.number is None else stride.number * (element_of(element).bits // 8) * lanes_of(element)
    if kind.held in {"packed", "bytes"} and space == "local" and (bytes_apart is None or bytes_apart % 16):
        apart = "an unknown number of" if bytes_apart is None else bytes_apart
        msg = f"a cooperative matrix whose rows in local memory are {apart} bytes apart: expected a multiple of 16"
        raise TypeSyntaxError(msg)
    call = f"matrix_load_{kind.held}_{side}_{layout}_{space}"
    writer.define(op, f"{writer.helper(call)}({_place(writer, op)})", hint=_HINTS.get(kind.use, "sum"))


_HINTS = {"MatrixA": "left", "MatrixB": "right"}


def _store(writer: StatementWriter, op: Op) -> None:
    place, value, stride = op.operands
    kind = value.kind
    assert isinstance(kind, Matrix)  # noqa: S101
    if kind.use != "MatrixAcc":
        msg = f"a factor is stored: {kind}"
        raise TypeSyntaxError(msg)
    writer.feature("matrices")
    call = writer.helper(f"matrix_store_{kind.held}_{_layout(op)}_{_space(writer, op)}")
    where = _place(writer, Op(op.name, op.ir, [place, stride], None))
    writer.state(f"{call}({where}, {value.text})")


def _multiply_add(writer: StatementWriter, op: Op) -> None:
    left, result = op.operands[0].kind, op.result
    assert isinstance(left, Matrix)  # noqa: S101
    assert isinstance(result, Matrix)  # noqa: S101
    said = op.attribute("matrix_operands")
    flags = set(re.findall(r"\w+", str(said).rpartition("<")[2])) - {"None"}
    call = f"matrix_multiply_add_{result.held}"
    if result.held == "integer":
        # Sums wrap around: their sign does not matter.
        call += "".join("_s8" if f"{side}Signed" in flags else "_u8" for side in "AB")
        flags -= {"ASigned", "BSigned", "CSigned", "ResultSigned"}
    elif result.held == "single":
        call += "_bfloat" if writer.names.small == "bfloat" else ""
    elif writer.names.small == "bfloat":
        msg = f"a sum in bf16: {result}"
        raise TypeSyntaxError(msg)
    if flags or (result.held == "integer") != (left.held == "bytes"):
        msg = f"matrix operands {said} of {left} and {result}"
        raise TypeSyntaxError(msg)
    writer.feature("matrices")
    writer.define(op, f"{writer.helper(call)}({', '.join(operand.text for operand in op.operands)})", hint="sum")


def _splat(writer: StatementWriter, op: Op) -> None:
    assert isinstance(op.result, Matrix)  # noqa: S101
    if op.result.held == "bytes" or (op.result.packed and writer.names.small == "bfloat"):
        msg = f"no matrix of one value: {op.result}"
        raise TypeSyntaxError(msg)
    text = f"({'uint8' if op.result.held == 'integer' else 'float8'})({op.operands[0].text})"
    writer.define(op, f"{writer.helper('matrix_pack')}({text})" if op.result.packed else text, hint="sum")


def _convert(writer: StatementWriter, op: Op) -> None:
    """A factor of halves that is widened stays as it is: products are exact in single precision either way."""
    source, target = op.operands[0].kind, op.result
    assert isinstance(source, Matrix)  # noqa: S101
    assert isinstance(target, Matrix)  # noqa: S101
    if source.element != Scalar("float", 16) or target.use == "MatrixAcc":
        msg = f"{source} is converted to {target}"
        raise TypeSyntaxError(msg)
    writer.define(op, op.operands[0].text)


_MATRICES: tuple[Rule, ...] = (
    Rule(("spirv.KHR.CooperativeMatrixLoad",), _load, matrices=True),
    Rule(("spirv.KHR.CooperativeMatrixStore",), _store, matrices=True),
    Rule(("spirv.KHR.CooperativeMatrixMulAdd",), _multiply_add, matrices=True),
    Rule(("spirv.CompositeConstruct",), _splat, matrices=True),
    Rule(("spirv.FConvert",), _convert, matrices=True),
    *(Rule(rule.ops, rule.write, matrices=True) for rule in MEMORY_RULES if rule.ops[0] in MATRIX_OPS),
)
RULES: tuple[Rule, ...] = (*_SUBGROUPS, *_MATRICES)
