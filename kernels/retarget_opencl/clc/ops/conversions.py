"""Conversions between types, and bit casts.

Float to integer rounds toward zero, as SPIR-V says; what does not fit is undefined there. Integer to float and float
to narrower float round to nearest even.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule, round_half
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import SpirvType, TypeSyntaxError, Vector, element_of, lanes_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]


def _convert(kind: SpirvType, name: str, text: str, mode: str = "") -> str:
    return f"convert_{name}{mode}({text})" if isinstance(kind, Vector) else f"({name}){text}"


def _suffix(kind: SpirvType) -> str:
    return str(kind.lanes) if isinstance(kind, Vector) else ""


def _float_to_int(writer: StatementWriter, op: Op) -> None:
    assert op.result is not None  # noqa: S101
    names, operand = writer.names, op.operands[0]
    if op.name == "spirv.ConvertFToU":
        writer.define(op, _convert(op.result, names.value(op.result), operand.text, "_rtz"))
    else:
        text = _convert(op.result, names.signed(op.result), operand.text, "_rtz")
        writer.define(op, f"as_{names.value(op.result)}({text})")


def _int_to_float(writer: StatementWriter, op: Op) -> None:
    assert op.result is not None  # noqa: S101
    operand = op.operands[0]
    signed = op.name == "spirv.ConvertSToF"
    text = f"as_{writer.names.signed(operand.kind)}({operand.text})" if signed else operand.text
    converted = _convert(op.result, writer.names.value(op.result), text)
    writer.define(op, round_half(writer, op, converted))


def _resize(writer: StatementWriter, op: Op) -> None:
    """`UConvert`, `SConvert`: extend with zeros or with the sign, or cut off."""
    assert op.result is not None  # noqa: S101
    names, operand = writer.names, op.operands[0]
    if op.name == "spirv.UConvert":
        writer.define(op, _convert(op.result, names.value(op.result), operand.text))
    else:
        inner = f"as_{names.signed(operand.kind)}({operand.text})"
        text = _convert(op.result, names.signed(op.result), inner)
        writer.define(op, f"as_{names.value(op.result)}({text})")


def _float_resize(writer: StatementWriter, op: Op) -> None:
    assert op.result is not None  # noqa: S101
    operand = op.operands[0]
    if writer.names.emulates(op.result) and element_of(operand.kind).bits == 64:
        # From double to half in one step: by way of float, it would be rounded twice.
        name = writer.helper(f"round_double_to_half{_suffix(op.result)}")
        writer.define(op, f"{name}({operand.text})")
        return
    text = _convert(op.result, writer.names.value(op.result), operand.text)
    writer.define(op, round_half(writer, op, text))


def _bit_cast(writer: StatementWriter, op: Op) -> None:
    assert op.result is not None  # noqa: S101
    names, operand = writer.names, op.operands[0]
    if element_of(op.result).kind == "bool":
        msg = "a bit cast to booleans"
        raise TypeSyntaxError(msg)
    text = operand.text
    if names.emulates(operand.kind):
        text = f"{writer.helper(f'half_to_bits{_suffix(operand.kind)}')}({text})"
    if names.emulates(op.result):
        name = writer.helper(f"half_from_bits{_suffix(op.result)}")
        writer.define(op, f"{name}(as_{names.memory(op.result)}({text}))")
    else:
        writer.define(op, f"as_{names.value(op.result)}({text})")


def _quantize(writer: StatementWriter, op: Op) -> None:
    operand = op.operands[0]
    lanes = lanes_of(operand.kind)
    writer.define(op, f"{writer.helper('round_half' + (str(lanes) if lanes > 1 else ''))}({operand.text})")


RULES: tuple[Rule, ...] = (
    Rule(("spirv.ConvertFToS", "spirv.ConvertFToU"), _float_to_int),
    Rule(("spirv.ConvertSToF", "spirv.ConvertUToF"), _int_to_float),
    Rule(("spirv.UConvert", "spirv.SConvert"), _resize),
    Rule(("spirv.FConvert",), _float_resize),
    Rule(("spirv.Bitcast",), _bit_cast),
    Rule(("spirv.QuantizeToF16",), _quantize),
)
