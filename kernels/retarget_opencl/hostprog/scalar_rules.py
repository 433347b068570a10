"""Rules for ops on scalars: `arith`, `math` and their like.

Most become `("scalar", name, type, result, operands…)`; `run.scalars` defines what each name computes.
"""

from __future__ import annotations

import re

from retarget_opencl.hostprog.writer import FunctionWriter, HostRule, HostRules, instruction, number_of
from retarget_opencl.translation import Ir


def _constant(writer: FunctionWriter, op: Ir) -> None:
    kind = str(op.results[0].type)
    value = number_of(op.attributes["value"], kind)
    if value is None:
        msg = f"a constant of type {kind} in the host program"
        raise ValueError(msg)
    writer.alias(op.results[0], writer.float(value) if isinstance(value, float) else writer.number(value))


def _scalar(name: str, kind: str = "") -> HostRule:
    """The first operand's type decides, unless `kind` is given."""

    def write(writer: FunctionWriter, op: Ir) -> None:
        decides = kind or str(op.operands[0].type)
        writer.emit("scalar", name, decides, writer.define(op.results[0]), *writer.values(op.operands))

    return write


def _conversion(name: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        (operand,), (result,) = op.operands, op.results
        kinds = str(operand.type), str(result.type)
        writer.emit("convert", name, *kinds, writer.define(result), writer.value(operand))

    return write


_PREDICATES = {
    "cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "cmpf": (
        *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
        *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
    ),
}


def _compare(name: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        number = int(str(op.attributes["predicate"]).partition(" ")[0])
        _scalar(f"{name}_{_PREDICATES[name][number]}")(writer, op)

    return write


def _range(name: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        found, *others = writer.values(op.operands)
        for other in others:
            register = writer.register()
            writer.emit("scalar", name, "index", register, found, other)
            found = register
        writer.alias(op.results[0], found)

    return write


def _sizeof(writer: FunctionWriter, op: Ir) -> None:
    kind = str(op.attributes["sizedType"].value)
    match = re.fullmatch(r"[a-z]+(\d+)", kind.replace("index", "i64"))
    if match is None:
        msg = f"the size of {kind}"
        raise ValueError(msg)
    writer.alias(op.results[0], writer.number(-(-int(match[1]) // 8)))


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
    "arith.cmpi": _compare("cmpi"),
    "arith.cmpf": _compare("cmpf"),
    "arith.select": instruction("select", "condition", "true_value", "false_value"),
    "util.align": _scalar("align", "index"),
    "util.switch": instruction("select_nth", "index", "default_value", "values"),
    "util.cmp.eq": instruction("same", "lhs", "rhs"),
    "util.cmp.ne": instruction("different", "lhs", "rhs"),
    "util.range.min": _range("minsi"),
    "util.range.max": _range("maxsi"),
    "util.range.extents": instruction("range_extents", "offsets", "lengths"),
    "util.sizeof": _sizeof,
}
