"""Comparisons, logic on booleans, and selection.

A boolean is `bool`; a vector of booleans is `intN`, each 0 or -1, as OpenCL's own comparisons of vectors yield.
"""

from __future__ import annotations

from retarget_opencl.clc.ops.table import Fit, Rule, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Vector, element_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]

_COMPARE = Fit.COMPARISON


def _on_vectors(op: Op) -> bool:
    return isinstance(op.result, Vector)


def _vector_rule(ops: str, text: str) -> Rule:
    rule = text_rule(ops, text)
    return Rule(rule.ops, rule.write, applies=_on_vectors)


def _select(writer: StatementWriter, op: Op) -> None:
    condition, yes, no = op.operands
    if not isinstance(condition.kind, Vector):
        writer.define(op, f"{condition.text} ? {yes.text} : {no.text}")
        return
    # `select` wants a condition as wide as the values, and takes the second where its highest bit is set.
    wide = writer.names.signed(yes.kind)
    is_int = element_of(yes.kind).kind == "bool" or wide == f"int{condition.kind.lanes}"
    mask = condition.text if is_int else f"convert_{wide}({condition.text})"
    writer.define(op, f"select({no.text}, {yes.text}, {mask})")


def _signed(name: str, sign: str) -> Rule:
    return text_rule(f"spirv.S{name}", f"{{s0}} {sign} {{s1}}", _COMPARE)


def _ordered(name: str, text: str) -> Rule:
    return text_rule(f"spirv.FOrd{name}", text, _COMPARE)


def _unordered(name: str, text: str) -> Rule:
    return text_rule(f"spirv.FUnord{name}", text, _COMPARE)


RULES: tuple[Rule, ...] = (
    text_rule("spirv.IEqual", "{0} == {1}", _COMPARE),
    text_rule("spirv.INotEqual", "{0} != {1}", _COMPARE),
    text_rule("spirv.ULessThan", "{0} < {1}", _COMPARE),
    text_rule("spirv.ULessThanEqual", "{0} <= {1}", _COMPARE),
    text_rule("spirv.UGreaterThan", "{0} > {1}", _COMPARE),
    text_rule("spirv.UGreaterThanEqual", "{0} >= {1}", _COMPARE),
    _signed("LessThan", "<"),
    _signed("LessThanEqual", "<="),
    _signed("GreaterThan", ">"),
    _signed("GreaterThanEqual", ">="),
    # Ordered: false where an operand is a NaN. Unordered: true there. `islessgreater` is "less or greater".
    _ordered("Equal", "{0} == {1}"),
    _ordered("NotEqual", "islessgreater({0}, {1})"),
    _ordered("LessThan", "{0} < {1}"),
    _ordered("LessThanEqual", "{0} <= {1}"),
    _ordered("GreaterThan", "{0} > {1}"),
    _ordered("GreaterThanEqual", "{0} >= {1}"),
    _unordered("Equal", "!islessgreater({0}, {1})"),
    _unordered("NotEqual", "{0} != {1}"),
    _unordered("LessThan", "!({0} >= {1})"),
    _unordered("LessThanEqual", "!({0} > {1})"),
    _unordered("GreaterThan", "!({0} <= {1})"),
    _unordered("GreaterThanEqual", "!({0} < {1})"),
    text_rule("spirv.IsNan", "isnan({0})", _COMPARE),
    text_rule("spirv.IsInf", "isinf({0})", _COMPARE),
    text_rule("spirv.IsFinite", "isfinite({0})", _COMPARE),
    text_rule("spirv.Ordered", "isordered({0}, {1})", _COMPARE),
    text_rule("spirv.Unordered", "isunordered({0}, {1})", _COMPARE),
    _vector_rule("spirv.LogicalAnd", "{0} & {1}"),
    _vector_rule("spirv.LogicalOr", "{0} | {1}"),
    _vector_rule("spirv.LogicalNot", "~{0}"),
    _vector_rule("spirv.LogicalEqual", "~({0} ^ {1})"),
    _vector_rule("spirv.LogicalNotEqual", "{0} ^ {1}"),
    text_rule("spirv.LogicalAnd", "{0} && {1}"),
    text_rule("spirv.LogicalOr", "{0} || {1}"),
    text_rule("spirv.LogicalNot", "!{0}"),
    text_rule("spirv.LogicalEqual", "{0} == {1}"),
    text_rule("spirv.LogicalNotEqual", "{0} != {1}"),
    text_rule("spirv.Any", "any({0}) != 0"),
    text_rule("spirv.All", "all({0}) != 0"),
    Rule(("spirv.Select",), _select),
)
