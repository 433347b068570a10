"""GL extended instructions as OpenCL built-ins.

FMin and FMax leave NaN operands undefined, NMin and NMax take the other operand; `fmin` and `fmax` have the stricter
meaning. Where a NaN must be the result, IREE tests for it itself.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Fit, Rule, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Struct
from retarget_opencl.clc.values import Op
from retarget_opencl.translation import BUILT_IN

__all__ = ["RULES"]


def _float(names: str | tuple[str, ...], text: str) -> Rule:
    names = (names,) if isinstance(names, str) else names
    return text_rule(tuple(f"spirv.GL.{name}" for name in names), text, Fit.ROUNDED)


def _frexp(writer: StatementWriter, op: Op) -> None:
    assert isinstance(op.result, Struct)  # noqa: S101
    operand, exponent_kind = op.operands[0], op.result.members[1]
    exponent, mantissa = writer.fresh("exponent"), writer.fresh("mantissa")
    writer.declare(f"{writer.names.signed(exponent_kind)} {exponent}")
    writer.declare(f"{writer.names.value(operand.kind)} {mantissa}")
    writer.state(f"{mantissa} = frexp({operand.text}, &{exponent})")
    pair = f"{mantissa}, as_{writer.names.value(exponent_kind)}({exponent})"
    writer.define(op, f"({writer.names.value(op.result)}){{{pair}}}")


def _built_in(writer: StatementWriter, op: Op) -> None:
    """Write the built-in function that the op stands for (`compile.rewriting`); without a name, its operand."""
    name, operands = op.attribute(BUILT_IN).value, ", ".join(operand.text for operand in op.operands)
    writer.define(op, f"{name}({operands})" if name else operands)


_SAME_NAME = (
    *("Ceil", "Floor", "Trunc", "Round", "FAbs", "Exp", "Exp2", "Log", "Log2", "Normalize"),
    *("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh"),
    *("Length", "Distance", "Cross", "Pow", "Atan2", "Fma"),
)
"""Built-ins that are named so in lower case, and take the operands in the same order."""

RULES: tuple[Rule, ...] = (
    Rule(("spirv.GL.FAbs", "spirv.GL.FMin"), _built_in, applies=lambda op: op.attribute(BUILT_IN) is not None),
    *(_float(name, f"{name.lower()}({{operands}})") for name in _SAME_NAME),
    text_rule("spirv.GL.Sqrt", "sqrt({0})", Fit.ROUNDED, rounds=True),
    _float("InverseSqrt", "rsqrt({0})"),
    _float("RoundEven", "rint({0})"),
    _float("FSign", "sign({0})"),
    _float("Fract", "{0} - floor({0})"),
    _float(("FMin", "NMin"), "fmin({0}, {1})"),
    _float(("FMax", "NMax"), "fmax({0}, {1})"),
    _float(("FClamp", "NClamp"), "fmin(fmax({0}, {1}), {2})"),
    _float("FMix", "{0} * (({T})1 - {2}) + {1} * {2}"),
    _float("Ldexp", "ldexp({0}, {s1})"),
    text_rule("spirv.GL.SAbs", "abs({s0})"),
    text_rule("spirv.GL.SSign", "max(min({s0}, ({S})1), ({S})-1)", Fit.SIGNED),
    text_rule("spirv.GL.SMin", "min({s0}, {s1})", Fit.SIGNED),
    text_rule("spirv.GL.SMax", "max({s0}, {s1})", Fit.SIGNED),
    text_rule("spirv.GL.UMin", "min({0}, {1})"),
    text_rule("spirv.GL.UMax", "max({0}, {1})"),
    text_rule("spirv.GL.SClamp", "clamp({s0}, {s1}, {s2})", Fit.SIGNED),
    text_rule("spirv.GL.UClamp", "clamp({0}, {1}, {2})"),
    # Position of the highest or lowest bit that is set (of 32); -1 for none.
    text_rule("spirv.GL.FindUMsb", "({T})31 - clz({0})"),
    text_rule("spirv.GL.FindSMsb", "({T})31 - clz({0} ^ as_{T}({s0} >> 31))"),
    text_rule("spirv.GL.FindILsb", "({T})31 - clz({0} & (({T})0 - {0}))"),
    Rule(("spirv.GL.FrexpStruct",), _frexp),
    text_rule("spirv.GL.UnpackHalf2x16", "unpack_half2({0})", helper="unpack_half2"),
    text_rule("spirv.GL.PackHalf2x16", "pack_half2({0})", helper="pack_half2"),
)
