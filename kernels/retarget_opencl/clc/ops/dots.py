"""Dot products of integers, alone or added to a third operand with saturation.

IREE writes them for four 8-bit elements where the target has them. These call a helper function, which has one
definition for each way that a device takes them (`dot` of the profile). All others are computed in 64 bits, which hold
any sum of products of at most 16 bits.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, TypeSyntaxError, Vector, element_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]

_SIGNS = {"SDot": "ss", "UDot": "uu", "SUDot": "su"}
_BYTES = Vector(4, Scalar("int", 8))


def _dot(writer: StatementWriter, op: Op) -> None:
    names, left, result = writer.names, op.operands[0], element_of(op.kind)
    signs = _SIGNS[op.name.removeprefix("spirv.").removesuffix("AccSat")]
    is_signed, bits = signs != "uu", result.bits
    kind = names.signed(result) if is_signed else names.value(result)
    if bits == 32 and (left.kind == _BYTES or isinstance(left.kind, Scalar)):
        writer.feature("dot")
        texts = [f"as_uint({one.text})" if isinstance(one.kind, Vector) else one.text for one in op.operands[:2]]
        text = f"{writer.helper(f'retarget_dot_{signs}')}({', '.join(texts)})"
    else:
        text = _wide(writer, op, signs)
    if len(op.operands) > 2:
        other = f"as_{kind}({op.operands[2].text})" if is_signed else op.operands[2].text
        if "retarget_dot" in text:
            text = f"add_sat({text}, {other})"
        elif bits == 64:
            text = f"add_sat({f'(long)({text})' if is_signed else f'(ulong)({text})'}, {other})"
        else:
            text = f"convert_{kind}_sat({text} + (long){other})"
    writer.define(op, f"({names.value(result)})({text})")


def _wide(writer: StatementWriter, op: Op, signs: str) -> str:
    """Write the products of the elements as 64-bit integers; return the text of their sum."""
    kind = op.operands[0].kind
    if not isinstance(kind, Vector) or kind.element.bits > 16:
        msg = f"no dot product of {kind}"
        raise TypeSyntaxError(msg)
    wide = f"long{kind.lanes}"
    factors = [
        f"convert_{wide}({f'as_{writer.names.signed(kind)}({one.text})' if sign == 's' else one.text})"
        for one, sign in zip(op.operands, signs, strict=False)
    ]
    products = writer.fresh("products")
    writer.declare(f"{wide} {products}")
    writer.state(f"{products} = {factors[0]} * {factors[1]}")
    return " + ".join(f"{products}.s{lane:x}" for lane in range(kind.lanes))


RULES: tuple[Rule, ...] = (Rule(tuple(f"spirv.{name}{sat}" for name in _SIGNS for sat in ("", "AccSat")), _dot),)
