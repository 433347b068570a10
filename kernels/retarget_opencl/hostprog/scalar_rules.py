"""Rules for ops on scalars: `arith`, `math`, `affine.apply` and their like.

Most become `("scalar", name, type, result, operands…)`; `run.interpreter.scalars` says what each name computes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from retarget_opencl.artifact.program import Scalar
from retarget_opencl.hostprog.writer import FunctionWriter, HostRules

__all__ = ["SCALAR_RULES"]

Ir = Any
HostRule = Callable[[FunctionWriter, Ir, Ir], None]


def _constant(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    attribute, result = op.attributes["value"], op.results[0]
    kind = str(result.type)
    text = str(attribute).partition(" : ")[0]
    if text in {"true", "false"}:
        writer.alias(result, writer.number(int(text == "true")))
    elif kind == "index" or re.fullmatch(r"i\d+", kind):
        writer.alias(result, writer.number(int(text)))
    elif re.fullmatch(r"f\d+|bf16", kind):
        writer.alias(result, writer.float(float(attribute.value)))
    else:
        msg = f"a constant of type {kind} in the host program"
        raise ValueError(msg)


def _scalar(name: str) -> HostRule:
    """The operand's type decides; conversions name both types."""

    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        operands = writer.values(op.operands)
        kind = str(op.operands[0].type)
        writer.emit("scalar", name, kind, writer.define(op.results[0]), *operands)

    return write


def _conversion(name: str) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        source, operand = str(op.operands[0].type), writer.value(op.operands[0])
        writer.emit("convert", name, source, str(op.results[0].type), writer.define(op.results[0]), operand)

    return write


_PREDICATES = {
    "arith.cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "arith.cmpf": (
        *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
        *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
    ),
}


def _compare(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    number = int(str(op.attributes["predicate"]).partition(" ")[0])
    left, right = op.operands
    kind = str(left.type)
    name = ("cmpi_" if op.name == "arith.cmpi" else "cmpf_") + _PREDICATES[op.name][number]
    registers = writer.value(left), writer.value(right)
    writer.emit("scalar", name, kind, writer.define(op.results[0]), *registers)


def _select(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    operands = writer.values(op.operands)
    writer.emit("select", writer.define(op.results[0]), *operands)


def _equal(name: str) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        operands = writer.values(op.operands)
        writer.emit(name, writer.define(op.results[0]), *operands)

    return write


def _align(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    value, alignment = writer.value(view.value), writer.value(view.alignment)
    writer.emit("scalar", "align", "index", writer.define(op.results[0]), value, alignment)


def _switch(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    registers = writer.value(view.index), writer.value(view.default_value)
    values = writer.values(view.values)
    writer.emit("select_nth", writer.define(op.results[0]), *registers, values)


def _range(name: str) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        operands = writer.values(op.operands)
        writer.emit(
            "affine", name, writer.define(op.results[0]), operands, tuple(("s", i) for i in range(len(operands))), 0
        )

    return write


def _range_extents(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    offsets, lengths = writer.values(view.offsets), writer.values(view.lengths)
    low, high = op.results
    writer.emit("range_extents", writer.define(low), writer.define(high), offsets, lengths)


def _sizeof(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    kind = str(op.attributes["sizedType"].value)
    match = re.fullmatch(r"[a-z]+(\d+)", kind)
    size = 8 if kind == "index" else -(-int(match[1]) // 8) if match else None
    if size is None:
        msg = f"the size of {kind}"
        raise ValueError(msg)
    writer.alias(op.results[0], writer.number(size))


# ---------------------------------------------------------------- affine maps


def _expression(text: str) -> Scalar:
    """Parse an affine expression into nested tuples: ("d", 0), ("s", 1), ("c", 42), ("+", left, right), …"""
    tokens = re.findall(r"floordiv|ceildiv|mod|[ds]\d+|\d+|[-+*()]", text)
    position = 0

    def primary() -> Scalar:
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "(":  # noqa: S105 - a word of the grammar
            inner = additive()
            position += 1
            return inner
        if token == "-":  # noqa: S105
            return ("*", ("c", -1), primary())
        if token[0] in "ds":
            return (token[0], int(token[1:]))
        return ("c", int(token))

    def multiplicative() -> Scalar:
        nonlocal position
        left = primary()
        while position < len(tokens) and tokens[position] in {"*", "mod", "floordiv", "ceildiv"}:
            operator = tokens[position]
            position += 1
            left = (operator, left, primary())
        return left

    def additive() -> Scalar:
        nonlocal position
        left = multiplicative()
        while position < len(tokens) and tokens[position] in {"+", "-"}:
            operator = tokens[position]
            position += 1
            left = (operator, left, multiplicative())
        return left

    return additive()


def _affine(name: str) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        attribute = op.attributes["map"]
        match = re.fullmatch(r"affine_map<\((.*?)\)(?:\[(.*?)\])? -> \((.*)\)>", str(attribute))
        if match is None:
            msg = f"the affine map {attribute}"
            raise ValueError(msg)
        dims = len([item for item in match[1].split(",") if item.strip()])
        expressions = tuple(_expression(part) for part in _results(match[3]))
        operands = writer.values(op.operands)
        writer.emit("affine", name, writer.define(op.results[0]), operands, expressions, dims)

    return write


def _results(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


_PLAIN = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrui", "minsi", "minui", "maxsi", "maxui"),
    *("addf", "subf", "mulf", "divf", "remf", "negf", "minimumf", "maximumf", "minnumf", "maxnumf"),
)
_CONVERSIONS = (
    *("extsi", "extui", "trunci", "index_cast", "index_castui", "sitofp", "uitofp", "fptosi", "fptoui"),
    *("extf", "truncf", "bitcast"),
)
_MATH = (
    *("absf", "absi", "ceil", "floor", "round", "roundeven", "trunc", "sqrt", "rsqrt", "exp", "exp2", "expm1"),
    *("log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf"),
    *("powf", "atan2", "fma", "ctpop", "ctlz", "cttz", "copysign", "ipowi"),
)

SCALAR_RULES: HostRules = {
    "arith.constant": _constant,
    **{f"arith.{name}": _scalar(name) for name in _PLAIN},
    **{f"arith.{name}": _conversion(name) for name in _CONVERSIONS},
    **{f"math.{name}": _scalar(f"math_{name}") for name in _MATH},
    "arith.cmpi": _compare,
    "arith.cmpf": _compare,
    "arith.select": _select,
    "affine.apply": _affine("apply"),
    "affine.min": _affine("min"),
    "affine.max": _affine("max"),
    "util.align": _align,
    "util.switch": _switch,
    "util.cmp.eq": _equal("same"),
    "util.cmp.ne": _equal("different"),
    "util.range.min": _range("min"),
    "util.range.max": _range("max"),
    "util.range.extents": _range_extents,
    "util.sizeof": _sizeof,
}
