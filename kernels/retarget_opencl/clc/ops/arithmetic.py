"""Arithmetic, shifts and bit operations, dot products, functions, comparisons, logic on booleans, and selection.

Integers are unsigned in C; signed operations reinterpret their operands. C promotes small integers to `int`, which the
declaration of the result narrows again; only a product of two `ushort` could overflow `int`, so it is taken as `uint`.

A product that only a sum uses is written into the sum: where `--opencl-contract=on` sets FP_CONTRACT, the compiler may
contract `a * b + c` in one expression, just as a Vulkan driver may contract SPIR-V without `NoContraction`.

Of dot products of integers, IREE writes those of four 8-bit elements where the target has them. These call a helper
function, which has one definition for each way that a device takes them (`dot` of the profile). All others are computed
in 64 bits, which hold any sum of products of at most 16 bits.

Of GL's extended instructions, FMin and FMax leave NaN operands undefined, NMin and NMax take the other operand; `fmin`
and `fmax` have the stricter meaning. Where a NaN must be the result, IREE tests for it itself.

A boolean is `bool`; a vector of booleans is `intN`, each 0 or -1, as OpenCL's own comparisons of vectors yield.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from retarget_opencl.clc.nodes import Op, Value
from retarget_opencl.clc.ops.table import Fit, Rule, fit, round_half, text_rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Scalar, TypeSyntaxError, Vector, element_of, integer_text
from retarget_opencl.translation import BUILT_IN


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
    """`IAddCarry`, `UMulExtended`, `SMulExtended`: a struct of (low result, carry or high half)."""
    texts = {
        "IAddCarry": ("{0} + {1}", "{0} + {1} < {0}", False),
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
        writer.define(op, fit(writer, op, text, how))

    return Rule((f"spirv.{name}",), write)


_ARITHMETIC: tuple[Rule, ...] = (
    text_rule("spirv.IAdd", "{0} + {1}"),
    text_rule("spirv.ISub", "{0} - {1}"),
    Rule(
        ("spirv.IMul",),
        lambda writer, op: writer.define(op, f"(uint){op.operands[0].text} * {op.operands[1].text}"),
        applies=lambda op: isinstance(op.result, Scalar) and op.result.bits < 32,
    ),
    text_rule("spirv.IMul", "{0} * {1}"),
    _division("UDiv", "{0} / {1}"),
    _division("UMod", "{0} % {1}"),
    _division("SDiv", "{s0} / {s1}", Fit.SIGNED),
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


_DOTS: tuple[Rule, ...] = (Rule(tuple(f"spirv.{name}{sat}" for name in _SIGNS for sat in ("", "AccSat")), _dot),)


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

_FUNCTIONS: tuple[Rule, ...] = (
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


_COMPARE = Fit.COMPARISON


_OPERATORS = {
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
    for name, (sign, opposite) in _OPERATORS.items():
        written = text.replace("<sign>", sign).replace("<opposite>", opposite)
        yield text_rule(f"spirv.{prefix}{name}", written, _COMPARE)


_LOGIC: tuple[Rule, ...] = (
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
RULES: tuple[Rule, ...] = (*_ARITHMETIC, *_DOTS, *_LOGIC, *_FUNCTIONS)
