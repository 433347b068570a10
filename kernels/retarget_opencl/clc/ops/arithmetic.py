"""Integer and float arithmetic, shifts and bit operations.

Integers are unsigned in C; signed operations reinterpret their operands. C promotes small integers to `int`, which the
declaration of the result narrows again; only a product of two `ushort` could overflow `int`, so it is taken as `uint`.

A product that only a sum uses is written into the sum: where `--opencl-contract=on` sets FP_CONTRACT, the compiler
may contract `a * b + c` in one expression, just as a Vulkan driver may contract SPIR-V without `NoContraction`.
"""

from __future__ import annotations

from dataclasses import replace

from retarget_opencl.clc.literals import integer_text
from retarget_opencl.clc.ops.table import Fit, Rule, expand, fit, round_half, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, Vector, element_of
from retarget_opencl.clc.values import Op, Value

__all__ = ["RULES"]


def _is_small_scalar(op: Op) -> bool:
    return isinstance(op.result, Scalar) and op.result.bits < 32


def _float_product(writer: StatementWriter, op: Op) -> None:
    text = f"{op.operands[0].text} * {op.operands[1].text}"
    if _only_summed(op) and op.result is not None and not writer.names.emulates(op.result):
        writer.alias(op, Value(text, op.result, parents=tuple(op.operands)))
    else:
        writer.define(op, round_half(writer, op, text))


def _only_summed(op: Op) -> bool:
    """True if a sum or difference in the same block is the only use, and contraction is not forbidden."""
    if "no_contraction" in op.ir.attributes:
        return False
    uses = list(op.ir.results[0].uses)
    if len(uses) != 1:
        return False
    user = uses[0].owner
    return (
        user.name in {"spirv.FAdd", "spirv.FSub"}
        and "no_contraction" not in user.attributes
        and user.operation.block == op.ir.block
    )


def _negate(writer: StatementWriter, op: Op) -> None:
    text = op.operands[0].text
    # Two minus signs in a row would be a decrement.
    writer.define(op, f"-({text})" if text.startswith("-") else f"-{text}")


def _extended(kind: str) -> Rule:
    """`IAddCarry`, `ISubBorrow`, `UMulExtended`, `SMulExtended`: a struct of (low result, carry or high half)."""
    texts = {
        "IAddCarry": ("{0} + {1}", "{0} + {1} < {0}", False),
        "ISubBorrow": ("{0} - {1}", "{0} < {1}", False),
        "UMulExtended": ("{0} * {1}", "mul_hi({0}, {1})", False),
        "SMulExtended": ("{0} * {1}", "mul_hi({0}, {1})", True),
    }
    low, high, signed = texts[kind]

    def write(writer: StatementWriter, op: Op) -> None:
        left, right = op.operands
        low_text = low.format(left.text, right.text)
        if signed:
            wide = writer.names.signed(left.kind)
            high_text = high.format(f"as_{wide}({left.text})", f"as_{wide}({right.text})")
            high_text = f"as_{writer.names.value(left.kind)}({high_text})"
        else:
            high_text = high.format(left.text, right.text)
        name = writer.names.value(left.kind)
        if "<" in high_text:
            # A comparison yields 1 for scalars and -1 for vectors; the carry is 1.
            is_vector = isinstance(left.kind, Vector)
            high_text = f"as_{name}(-({high_text}))" if is_vector else f"({name})({high_text})"
        writer.define(op, f"({writer.names.value(op.kind)}){{{low_text}, {high_text}}}")

    return Rule((f"spirv.{kind}",), write)


def _shift(name: str, text: str, how: Fit = Fit.PLAIN) -> Rule:
    """A shift. OpenCL C takes the amount modulo the width, SPIR-V leaves larger amounts undefined."""

    def write(writer: StatementWriter, op: Op) -> None:
        value, amount = op.operands
        by = amount.text
        if isinstance(value.kind, Vector) and element_of(value.kind) != element_of(amount.kind):
            by = f"convert_{writer.names.value(value.kind)}({by})"
        signed = writer.names.signed(value.kind)
        shifted = f"as_{signed}({value.text}) >> {f'as_{signed}({by})' if isinstance(value.kind, Vector) else by}"
        expression = shifted if how is Fit.SIGNED else text.format(value.text, by)
        is_vector = isinstance(op.result, Vector)
        writer.define(
            op, f"as_{writer.names.value(value.kind)}({expression})" if how is Fit.SIGNED and is_vector else expression
        )

    return Rule((f"spirv.{name}",), write)


def _division(name: str, text: str, how: Fit = Fit.PLAIN) -> Rule:
    """A division. By zero, and of the lowest number by -1, SPIR-V leaves the result undefined; a CPU ends the process.

    There the divisor is 1.
    """

    def write(writer: StatementWriter, op: Op) -> None:
        value, by = op.operands
        if by.number is None or by.number in {0, -1}:
            scalar, kind = element_of(by.kind), writer.names.value(by.kind)
            undefined = f"({by.text} == ({kind})0)"
            if how is Fit.SIGNED:
                lowest = integer_text(scalar, 1 << scalar.bits - 1)
                undefined += f" | (({by.text} == ({kind})-1) & ({value.text} == ({kind}){lowest}))"
            divisor = writer.fresh("divisor")
            writer.declare(f"{kind} {divisor}")
            writer.state(f"{divisor} = {undefined} ? ({kind})1 : {by.text}")
            op = replace(op, operands=[value, Value(divisor, by.kind)])
        writer.define(op, fit(writer, op, expand(writer, op, text), how))

    return Rule((f"spirv.{name}",), write)


RULES: tuple[Rule, ...] = (
    text_rule("spirv.IAdd", "{0} + {1}"),
    text_rule("spirv.ISub", "{0} - {1}"),
    Rule(
        ("spirv.IMul",),
        lambda writer, op: writer.define(op, f"(uint){op.operands[0].text} * {op.operands[1].text}"),
        applies=_is_small_scalar,
    ),
    text_rule("spirv.IMul", "{0} * {1}"),
    _division("UDiv", "{0} / {1}"),
    _division("UMod", "{0} % {1}"),
    _division("SDiv", "{s0} / {s1}", Fit.SIGNED),
    _division("SRem", "{s0} % {s1}", Fit.SIGNED),
    # The result has the divisor's sign.
    _division(
        "SMod",
        "{s0} % {s1} + (({s0} % {s1} != ({S})0) & (({s0} % {s1} < ({S})0) != ({s1} < ({S})0)) ? {s1} : ({S})0)",
        Fit.SIGNED,
    ),
    text_rule("spirv.SNegate", "({T})0 - {0}"),
    text_rule("spirv.FAdd", "{0} + {1}", Fit.ROUNDED),
    text_rule("spirv.FSub", "{0} - {1}", Fit.ROUNDED),
    Rule(("spirv.FMul",), _float_product),
    text_rule("spirv.VectorTimesScalar", "{0} * {1}", Fit.ROUNDED),
    text_rule("spirv.FDiv", "{0} / {1}", Fit.ROUNDED, rounds=True),
    # FRem has the dividend's sign, as fmod.
    text_rule("spirv.FRem", "fmod({0}, {1})", Fit.ROUNDED),
    Rule(("spirv.FNegate",), _negate),
    text_rule("spirv.Dot", "dot({0}, {1})", Fit.ROUNDED),
    _extended("IAddCarry"),
    _extended("ISubBorrow"),
    _extended("UMulExtended"),
    _extended("SMulExtended"),
    text_rule("spirv.BitwiseAnd", "{0} & {1}"),
    text_rule("spirv.BitwiseOr", "{0} | {1}"),
    text_rule("spirv.BitwiseXor", "{0} ^ {1}"),
    text_rule("spirv.Not", "~{0}"),
    _shift("ShiftLeftLogical", "{0} << {1}"),
    _shift("ShiftRightLogical", "{0} >> {1}"),
    _shift("ShiftRightArithmetic", "", Fit.SIGNED),
    text_rule("spirv.BitCount", "popcount({0})"),
)
