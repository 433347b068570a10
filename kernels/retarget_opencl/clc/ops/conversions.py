"""Conversions between types, and bit casts.

Float to integer rounds toward zero, as SPIR-V says; what does not fit is undefined there. Integer to float and float
to narrower float round to nearest even.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule, round_half
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import TypeSyntaxError, Vector, element_of, suffix_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]


_SIGNED = frozenset({"spirv.ConvertFToS", "spirv.ConvertSToF", "spirv.SConvert"})


def _convert(writer: StatementWriter, op: Op) -> None:
    """Convert between widths, and between integers and floats; integers are extended with zeros or with the sign."""
    names, operand, text = writer.names, op.operands[0], op.operands[0].text
    is_signed = op.name in _SIGNED
    source, target = element_of(operand.kind), element_of(op.kind)
    if names.emulates(op.kind) and source.bits == 64 and source.kind == "float":
        # From double to half in one step: by way of float, it would be rounded twice.
        writer.define(op, f"{writer.helper(f'round_double_to_half{suffix_of(op.kind)}')}({text})")
        return
    if is_signed and source.kind == "int":
        text = f"as_{names.signed(operand.kind)}({text})"
    is_signed = is_signed and target.kind == "int"
    name = names.signed(op.kind) if is_signed else names.value(op.kind)
    mode = "_rtz" if source.kind == "float" and target.kind == "int" else ""
    text = f"convert_{name}{mode}({text})" if isinstance(op.kind, Vector) else f"({name}){text}"
    writer.define(op, f"as_{names.value(op.kind)}({text})" if is_signed else round_half(writer, op, text))


def _bit_cast(writer: StatementWriter, op: Op) -> None:
    names, operand = writer.names, op.operands[0]
    if element_of(op.kind).kind == "bool":
        msg = "a bit cast to booleans"
        raise TypeSyntaxError(msg)
    text = operand.text
    if names.emulates(operand.kind):
        text = f"{writer.helper(f'{names.small}_to_bits{suffix_of(operand.kind)}')}({text})"
    if names.emulates(op.kind):
        name = writer.helper(f"{names.small}_from_bits{suffix_of(op.kind)}")
        writer.define(op, f"{name}(as_{names.memory(op.kind)}({text}))")
    else:
        writer.define(op, f"as_{names.value(op.kind)}({text})")


RULES: tuple[Rule, ...] = (
    Rule((*_SIGNED, "spirv.ConvertFToU", "spirv.ConvertUToF", "spirv.UConvert", "spirv.FConvert"), _convert),
    Rule(("spirv.Bitcast",), _bit_cast),
)
