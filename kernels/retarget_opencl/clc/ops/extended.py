"""GL extended instructions as OpenCL built-ins.

FMin and FMax leave NaN operands undefined, NMin and NMax take the other operand; `fmin` and `fmax` do what the stricter
of them says. Where a NaN must win, IREE tests for it itself.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Fit, Rule, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Struct
from retarget_opencl.clc.values import Op

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


_SAME_MEANING = {
    "Ceil": "ceil",
    "Floor": "floor",
    "Trunc": "trunc",
    "FAbs": "fabs",
    "Sqrt": "sqrt",
    "InverseSqrt": "rsqrt",
    "Exp": "exp",
    "Exp2": "exp2",
    "Log": "log",
    "Log2": "log2",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "asin",
    "Acos": "acos",
    "Atan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Round": "round",
    "RoundEven": "rint",
    "FSign": "sign",
    "Normalize": "normalize",
}

RULES: tuple[Rule, ...] = (
    *(_float(name, f"{call}({{0}})") for name, call in _SAME_MEANING.items()),
    _float("Fract", "{0} - floor({0})"),
    _float(("FMin", "NMin"), "fmin({0}, {1})"),
    _float(("FMax", "NMax"), "fmax({0}, {1})"),
    _float(("FClamp", "NClamp"), "fmin(fmax({0}, {1}), {2})"),
    _float("FMix", "{0} * (({T})1 - {2}) + {1} * {2}"),
    _float("Fma", "fma({0}, {1}, {2})"),
    _float("Pow", "pow({0}, {1})"),
    _float("Atan2", "atan2({0}, {1})"),
    _float("Ldexp", "ldexp({0}, {s1})"),
    _float("Distance", "distance({0}, {1})"),
    _float("Length", "length({0})"),
    _float("Cross", "cross({0}, {1})"),
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
