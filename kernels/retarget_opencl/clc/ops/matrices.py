"""Cooperative matrices: 16x16 elements that the 32 work-items of a warp hold together.

IREE uses them where the profile has matrix units. On NVIDIA they are `ldmatrix` and `mma.sync`, written inline as
PTX by helper functions of the template (`matrices.cl.j2`). A work-item holds eight elements of each matrix: of factors,
and of sums in half precision, packed in a `uint4`; of sums in single precision in a `float8`; of factors of 8-bit
integers packed in a `uint2`, of their sums in a `uint8`. PTX defines which element is where; the templates describe it.
Work on single elements does not depend on it.
"""

from __future__ import annotations

import re

from retarget_opencl.clc.ops import memory
from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Matrix, Scalar, TypeSyntaxError, element_of, lanes_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]


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
        call = _of_small(writer, call)
    elif writer.names.small == "bfloat":
        msg = f"a sum in bf16: {result}"
        raise TypeSyntaxError(msg)
    if flags or (result.held == "integer") != (left.held == "bytes"):
        msg = f"matrix operands {said} of {left} and {result}"
        raise TypeSyntaxError(msg)
    writer.feature("matrices")
    writer.define(op, f"{writer.helper(call)}({', '.join(operand.text for operand in op.operands)})", hint="sum")


def _of_small(writer: StatementWriter, helper: str) -> str:
    return f"{helper}_bfloat" if writer.names.small == "bfloat" else helper


def _pack(writer: StatementWriter, text: str) -> str:
    if writer.names.small == "bfloat":
        writer.helper("bfloat_to_bits8")
    return f"{writer.helper(_of_small(writer, 'matrix_pack'))}({text})"


def _unpack(writer: StatementWriter, text: str) -> str:
    if writer.names.small == "bfloat":
        writer.helper("bfloat_from_bits8")
    return f"{writer.helper(_of_small(writer, 'matrix_unpack'))}({text})"


def _splat(writer: StatementWriter, op: Op) -> None:
    assert isinstance(op.result, Matrix)  # noqa: S101
    if op.result.held == "bytes":
        msg = f"a factor with one value: {op.result}"
        raise TypeSyntaxError(msg)
    held = "uint8" if op.result.held == "integer" else "float8"
    text = f"({held})({op.operands[0].text})"
    writer.define(op, _pack(writer, text) if op.result.packed else text, hint="sum")


def _convert(writer: StatementWriter, op: Op) -> None:
    source, target = op.operands[0].kind, op.result
    assert isinstance(source, Matrix)  # noqa: S101
    assert isinstance(target, Matrix)  # noqa: S101
    text = op.operands[0].text
    if source.packed == target.packed:
        # A factor of halves that is widened stays as it is: products are exact in single precision either way.
        if source.element != Scalar("float", 16):
            msg = f"{source} is converted to {target}"
            raise TypeSyntaxError(msg)
        writer.define(op, text)
    else:
        writer.define(op, _unpack(writer, text) if source.packed else _pack(writer, text))


def _by_element(name: str, text: str) -> Rule:
    def write(writer: StatementWriter, op: Op) -> None:
        assert isinstance(op.result, Matrix)  # noqa: S101
        if (op.result.packed and op.result.element.bits != 16) or op.result.held == "bytes":
            msg = f"arithmetic on a factor: {op.result}"
            raise TypeSyntaxError(msg)
        texts = [operand.text for operand in op.operands]
        if op.result.packed:
            shown = [
                _unpack(writer, operand.text) if isinstance(operand.kind, Matrix) else operand.text
                for operand in op.operands
            ]
            writer.define(op, _pack(writer, text.format(*shown)))
        else:
            writer.define(op, text.format(*texts))

    return Rule((name,), write, matrices=True)


RULES: tuple[Rule, ...] = (
    Rule(("spirv.KHR.CooperativeMatrixLoad",), _load, matrices=True),
    Rule(("spirv.KHR.CooperativeMatrixStore",), _store, matrices=True),
    Rule(("spirv.KHR.CooperativeMatrixMulAdd",), _multiply_add, matrices=True),
    Rule(("spirv.CompositeConstruct",), _splat, matrices=True),
    Rule(("spirv.FConvert",), _convert, matrices=True),
    *(Rule(rule.ops, rule.write, matrices=True) for rule in memory.RULES if rule.ops[0] in memory.MATRIX_OPS),
    _by_element("spirv.FAdd", "{0} + {1}"),
    _by_element("spirv.FSub", "{0} - {1}"),
    _by_element("spirv.FMul", "{0} * {1}"),
    _by_element("spirv.FDiv", "{0} / {1}"),
    _by_element("spirv.FNegate", "-{0}"),
    _by_element("spirv.MatrixTimesScalar", "{0} * {1}"),
    _by_element("spirv.IAdd", "{0} + {1}"),
    _by_element("spirv.ISub", "{0} - {1}"),
    _by_element("spirv.IMul", "{0} * {1}"),
    _by_element("spirv.SNegate", "-{0}"),
)
