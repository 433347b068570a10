"""Rules and their table.

A rule names its ops, optionally a condition (`applies`), and writes them. The first rule in order that applies
wins. Most rules are one line of text; its placeholders are

    {0} {1} …      operands
    {operands}     all of them, with commas between
    {s0} {s1} …    operands reinterpreted as signed integers
    {T}            the result's type, {S} its signed counterpart

What the text computes is fitted to the result's type by `result`: see `Fit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum, auto

from msgspec import Struct, field

from retarget_opencl.clc.nodes import Op
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Matrix, Pointer, Scalar, Vector, element_of, signed_text, suffix_of


class Fit(Enum):
    """How an expression's type becomes the result's.

    PLAIN: it has it (or converts implicitly). SIGNED: it is the signed counterpart. COMPARISON: it is what a
    comparison yields. ROUNDED: a half precision result computed in single precision is rounded to half.
    """

    PLAIN = auto()
    SIGNED = auto()
    COMPARISON = auto()
    ROUNDED = auto()


class Rule(Struct, frozen=True):
    """`ops` are full op names. `write` gives the op its text; `applies` narrows the rule.

    `matrices`: the rule is for cooperative matrices; other rules are never called with one.
    """

    ops: tuple[str, ...]
    write: Callable[[StatementWriter, Op], None]
    applies: Callable[[Op], bool] | None = None
    matrices: bool = False


class RuleTable(Struct, frozen=True):
    """The rules in order, found by op name."""

    rules: Sequence[Rule]
    _by_name: dict[str, list[Rule]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rule in self.rules:
            for name in rule.ops:
                self._by_name.setdefault(name, []).append(rule)

    def find(self, op: Op) -> Rule | None:
        """Return the first rule for `op`, None if there is none."""
        matrices = _has_matrix(op)
        for rule in self._by_name.get(op.name, ()):
            if rule.matrices == matrices and (rule.applies is None or rule.applies(op)):
                return rule
        return None


def _has_matrix(op: Op) -> bool:
    kinds = (op.result, *(operand.kind for operand in op.operands))
    return any(isinstance(kind.pointee if isinstance(kind, Pointer) else kind, Matrix) for kind in kinds)


def _expand(writer: StatementWriter, op: Op, text: str) -> str:
    """Replace the placeholders of a rule's text."""
    names = writer.names

    def placeholder(found: re.Match[str]) -> str:
        key = found[1]
        if key in "TS":
            return names.value(op.kind) if key == "T" else names.signed(op.kind)
        if key == "operands":
            return ", ".join(operand.text for operand in op.operands)
        operand = op.operands[int(key.removeprefix("s"))]
        if key.isdigit():
            return operand.text
        if operand.number is not None and isinstance(operand.kind, Scalar):
            return signed_text(operand.kind, operand.number)
        return f"as_{names.signed(operand.kind)}({operand.text})"

    return re.sub(r"\{(\w+)\}", placeholder, text)


def round_half(writer: StatementWriter, op: Op, text: str) -> str:
    """Return `text` rounded to half precision, if the op's result is computed in single precision for it."""
    if op.result is None or not writer.names.emulates(op.result):
        return text
    return f"{writer.helper(f'round_{writer.names.small}{suffix_of(op.result)}')}({text})"


def fit(writer: StatementWriter, op: Op, text: str, how: Fit) -> str:
    """Return a rule's text with its operands, converted to the op's result type."""
    text = _expand(writer, op, text)
    if how is Fit.ROUNDED:
        return round_half(writer, op, text)
    if isinstance(op.result, Vector):
        if how is Fit.SIGNED:
            return f"as_{writer.names.value(op.result)}({text})"
        if how is Fit.COMPARISON:
            wide = writer.names.signed(op.operands[0].kind)
            return text if wide == f"int{op.result.lanes}" else f"convert_int{op.result.lanes}({text})"
    return text


def text_rule(ops: str | tuple[str, ...], text: str, how: Fit = Fit.PLAIN, *, rounds: bool = False) -> Rule:
    """Return a rule of one expression. One that `rounds` is exact in single precision only where the device offers
    that."""

    def write(writer: StatementWriter, op: Op) -> None:
        if rounds and element_of(op.kind).bits < 64:
            writer.feature("rounding")
        writer.define(op, fit(writer, op, text, how))

    return Rule((ops,) if isinstance(ops, str) else ops, write)
