"""Comparisons, logic on booleans, and selection.

A boolean is `bool`; a vector of booleans is `intN`, each 0 or -1, as OpenCL's own comparisons of vectors yield.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from retarget_opencl.clc.ops.table import Fit, Rule, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Vector, element_of
from retarget_opencl.clc.values import Op

__all__ = ["RULES"]

_COMPARE = Fit.COMPARISON


_SIGNS = {
    "LessThan": ("<", ">="),
    "LessThanEqual": ("<=", ">"),
    "GreaterThan": (">", "<="),
    "GreaterThanEqual": (">=", "<"),
}
"""The C operators of a comparison and of its opposite."""


def _vector_rule(ops: str, text: str) -> Rule:
    return replace(text_rule(ops, text), applies=lambda op: isinstance(op.result, Vector))


def _select(writer: StatementWriter, op: Op) -> None:
    condition, yes, no = op.operands
    if not isinstance(condition.kind, Vector):
        writer.define(op, f"{condition.text} ? {yes.text} : {no.text}")
        return
    # `select` requires a condition as wide as the values, and takes the second where its highest bit is set.
    wide = writer.names.signed(yes.kind)
    is_int = element_of(yes.kind).kind == "bool" or wide == f"int{condition.kind.lanes}"
    mask = condition.text if is_int else f"convert_{wide}({condition.text})"
    writer.define(op, f"select({no.text}, {yes.text}, {mask})")


def _comparisons(prefix: str, text: str) -> Iterator[Rule]:
    """Rules for the comparisons by size; `text` has the operator as `<sign>` or its opposite as `<opposite>`."""
    for name, (sign, opposite) in _SIGNS.items():
        written = text.replace("<sign>", sign).replace("<opposite>", opposite)
        yield text_rule(f"spirv.{prefix}{name}", written, _COMPARE)


RULES: tuple[Rule, ...] = (
    text_rule("spirv.IEqual", "{0} == {1}", _COMPARE),
    text_rule("spirv.INotEqual", "{0} != {1}", _COMPARE),
    *_comparisons("U", "{0} <sign> {1}"),
    *_comparisons("S", "{s0} <sign> {s1}"),
    # Ordered: false where an operand is a NaN. Unordered: true there. `islessgreater` is "less or greater".
    text_rule("spirv.FOrdEqual", "{0} == {1}", _COMPARE),
    text_rule("spirv.FOrdNotEqual", "islessgreater({0}, {1})", _COMPARE),
    *_comparisons("FOrd", "{0} <sign> {1}"),
    text_rule("spirv.FUnordEqual", "!islessgreater({0}, {1})", _COMPARE),
    text_rule("spirv.FUnordNotEqual", "{0} != {1}", _COMPARE),
    *_comparisons("FUnord", "!({0} <opposite> {1})"),
    text_rule("spirv.IsNan", "isnan({0})", _COMPARE),
    text_rule("spirv.IsInf", "isinf({0})", _COMPARE),
    text_rule("spirv.IsFinite", "isfinite({0})", _COMPARE),
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
    Rule(("spirv.Select",), _select),
)
