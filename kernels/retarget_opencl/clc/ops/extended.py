"""GL extended instructions as OpenCL built-ins.

FMin and FMax leave NaN operands undefined, NMin and NMax take the other operand; `fmin` and `fmax` have the stricter
meaning. Where a NaN must be the result, IREE tests for it itself.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Fit, Rule, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.values import Op
from retarget_opencl.translation import BUILT_IN

__all__ = ["RULES"]


def _float(names: str | tuple[str, ...], text: str) -> Rule:
    names = (names,) if isinstance(names, str) else names
    return text_rule(tuple(f"spirv.GL.{name}" for name in names), text, Fit.ROUNDED)


def _built_in(writer: StatementWriter, op: Op) -> None:
    """Write the built-in function that the op stands for (`compile.rewriting`); without a name, its operand."""
    name, operands = op.attribute(BUILT_IN).value, ", ".join(operand.text for operand in op.operands)
    writer.define(op, f"{name}({operands})" if name else operands)


_SAME_NAME = (
    *("Ceil", "Floor", "Trunc", "FAbs", "Exp", "Log", "Pow", "Atan2", "Fma"),
    *("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh"),
)
"""Built-ins that are named so in lower case, and take the operands in the same order."""

RULES: tuple[Rule, ...] = (
    Rule(("spirv.GL.FAbs", "spirv.GL.FMin"), _built_in, applies=lambda op: op.attribute(BUILT_IN) is not None),
    *(_float(name, f"{name.lower()}({{operands}})") for name in _SAME_NAME),
    text_rule("spirv.GL.Sqrt", "sqrt({0})", Fit.ROUNDED, rounds=True),
    _float("InverseSqrt", "rsqrt({0})"),
    _float("RoundEven", "rint({0})"),
    _float(("FMin", "NMin"), "fmin({0}, {1})"),
    _float(("FMax", "NMax"), "fmax({0}, {1})"),
    _float("FClamp", "fmin(fmax({0}, {1}), {2})"),
    text_rule("spirv.GL.SAbs", "abs({s0})"),
    text_rule("spirv.GL.SMin", "min({s0}, {s1})", Fit.SIGNED),
    text_rule("spirv.GL.SMax", "max({s0}, {s1})", Fit.SIGNED),
    text_rule("spirv.GL.UMin", "min({0}, {1})"),
    text_rule("spirv.GL.UMax", "max({0}, {1})"),
    text_rule("spirv.GL.SClamp", "clamp({s0}, {s1}, {s2})", Fit.SIGNED),
    text_rule("spirv.GL.UClamp", "clamp({0}, {1}, {2})"),
    # Position of the highest or lowest bit that is set (of 32); -1 for none.
    text_rule("spirv.GL.FindUMsb", "({T})31 - clz({0})"),
    text_rule("spirv.GL.FindILsb", "({T})31 - clz({0} & (({T})0 - {0}))"),
)
