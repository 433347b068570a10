"""Vectors, structs and arrays as values, conversions between types, and bit casts.

Float to integer rounds toward zero, as SPIR-V says; what does not fit is undefined there. Integer to float and float
to narrower float round to nearest even.
"""

from __future__ import annotations

import re

from retarget_opencl.clc.nodes import Op, Value
from retarget_opencl.clc.ops.table import Rule, round_half
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import Array, Scalar, Struct, TypeSyntaxError, Vector, element_of, suffix_of


def _numbers(text: str) -> list[int]:
    """Return the integers of an array attribute; `[0 : i32, 1 : i32]` has its types, `array<i32: 0>` its own."""
    return [int(number) for number in re.findall(r"(?<![\w])-?\d+", text)]


def _lane(index: int) -> str:
    return f".{'xyzw'[index]}" if index < 4 else f".s{index:x}"


def _member(value: Value, indices: list[int]) -> str:
    kind, text = value.kind, value.text
    for index in indices:
        if isinstance(kind, Vector):
            text, kind = f"{text}{_lane(index)}", kind.element
        elif isinstance(kind, Struct):
            text, kind = f"{text}.m{index}", kind.members[index]
        else:
            assert isinstance(kind, Array)  # noqa: S101
            text, kind = f"{text}.e[{index}]", kind.element
    return text


def _is_bool(value: Value | Op) -> bool:
    kind = value.kind if isinstance(value, Value) else value.result
    return isinstance(kind, Scalar) and kind.kind == "bool"


def _as_lane(part: Value) -> str:
    """Return a value as an element of a vector: booleans as 0 or -1."""
    return f"-(int){part.text}" if _is_bool(part) else part.text


def _extract(writer: StatementWriter, op: Op) -> None:
    source, indices = op.operands[0], _numbers(str(op.attribute("indices")))
    if source.parts:
        axis = indices[0]
        call = source.parts[axis].removeprefix("(uint)")
        stem = call.partition("(")[0].removeprefix("get_")
        writer.define(op, call, hint=f"{stem}_{'xyz'[axis]}", built_in=source.built_in, axis=axis)
        return
    text = _member(source, indices)
    writer.define(op, f"{text} != 0" if _is_bool(op) else text)


def _insert(writer: StatementWriter, op: Op) -> None:
    part, whole = op.operands
    name = writer.fresh()
    writer.declare(f"{writer.names.value(op.kind)} {name}")
    writer.state(f"{name} = {whole.text}")
    target = _member(Value(name, op.kind), _numbers(str(op.attribute("indices"))))
    writer.state(f"{target} = {_as_lane(part)}")
    writer.define(op, name)


def _construct(writer: StatementWriter, op: Op) -> None:
    name = writer.names.value(op.kind)
    texts = [operand.text for operand in op.operands]
    if isinstance(op.kind, Vector):
        texts = [_as_lane(operand) for operand in op.operands]
        shown = texts[:1] if len(texts) == op.kind.lanes and len(set(texts)) == 1 else texts
        writer.define(op, f"({name})({', '.join(shown)})")
    elif isinstance(op.kind, Array):
        writer.define(op, f"({name}){{{{{', '.join(texts)}}}}}")
    else:
        writer.define(op, f"({name}){{{', '.join(texts)}}}")


def _shuffle(writer: StatementWriter, op: Op) -> None:
    first, second = op.operands
    assert isinstance(first.kind, Vector)  # noqa: S101
    assert isinstance(op.result, Vector)  # noqa: S101
    lanes = first.kind.lanes
    components = _numbers(str(op.attribute("components")))
    if all(0 <= number < lanes for number in components) and lanes <= 4 and first.text.isidentifier():
        writer.define(op, f"{first.text}.{''.join(_lane(number)[1:] for number in components)}")
        return
    texts = []
    for number in components:
        source, lane = (first, number) if number < lanes else (second, number - lanes)
        # -1 (0xFFFFFFFF) is an element that nothing reads.
        texts.append("0" if number < 0 else f"{source.text}{_lane(lane)}")
    writer.define(op, f"({writer.names.value(op.result)})({', '.join(texts)})")


def _indexed_copy(writer: StatementWriter, source: Value, index: Value) -> tuple[str, str]:
    """Copy a vector into a variable so that it can be indexed; return the variable and the indexing."""
    name = writer.fresh()
    assert isinstance(source.kind, Vector)  # noqa: S101
    writer.declare(f"{writer.names.value(source.kind)} {name}")
    writer.state(f"{name} = {source.text}")
    element = "int" if source.kind.element.kind == "bool" else writer.names.value(source.kind.element)
    return name, f"(({element}*)&{name})[{index.text}]"


def _extract_dynamic(writer: StatementWriter, op: Op) -> None:
    _, text = _indexed_copy(writer, op.operands[0], op.operands[1])
    writer.define(op, f"{text} != 0" if _is_bool(op) else text)


def _insert_dynamic(writer: StatementWriter, op: Op) -> None:
    vector, component, index = op.operands
    name, place = _indexed_copy(writer, vector, index)
    writer.state(f"{place} = {_as_lane(component)}")
    writer.define(op, name)


_COMPOSITES: tuple[Rule, ...] = (
    Rule(("spirv.CompositeExtract",), _extract),
    Rule(("spirv.CompositeInsert",), _insert),
    Rule(("spirv.CompositeConstruct",), _construct),
    Rule(("spirv.VectorShuffle",), _shuffle),
    Rule(("spirv.VectorExtractDynamic",), _extract_dynamic),
    Rule(("spirv.VectorInsertDynamic",), _insert_dynamic),
)


_SIGNED = frozenset({"spirv.ConvertFToS", "spirv.ConvertSToF", "spirv.SConvert"})


def _convert(writer: StatementWriter, op: Op) -> None:
    """Convert between widths, and between integers and floats; integers are extended with zeros or with the sign."""
    names, operand, text = writer.names, op.operands[0], op.operands[0].text
    is_signed = op.name in _SIGNED
    source, target = element_of(operand.kind), element_of(op.kind)
    if names.emulates(op.kind) and source.bits == 64 and source.kind == "float":
        # From double to half in one step: by way of float, it would be rounded twice.
        writer.define(op, f"{writer.helper(f'round_double_to_half{suffix_of(op.kind)}')}({text})")
        return
    if is_signed and source.kind == "int":
        text = f"as_{names.signed(operand.kind)}({text})"
    is_signed = is_signed and target.kind == "int"
    name = names.signed(op.kind) if is_signed else names.value(op.kind)
    mode = "_rtz" if source.kind == "float" and target.kind == "int" else ""
    text = f"convert_{name}{mode}({text})" if isinstance(op.kind, Vector) else f"({name}){text}"
    writer.define(op, f"as_{names.value(op.kind)}({text})" if is_signed else round_half(writer, op, text))


def _bit_cast(writer: StatementWriter, op: Op) -> None:
    names, operand = writer.names, op.operands[0]
    if element_of(op.kind).kind == "bool":
        msg = "a bit cast to booleans"
        raise TypeSyntaxError(msg)
    text = operand.text
    if names.emulates(operand.kind):
        text = f"{writer.helper(f'{names.small}_to_bits{suffix_of(operand.kind)}')}({text})"
    if names.emulates(op.kind):
        name = writer.helper(f"{names.small}_from_bits{suffix_of(op.kind)}")
        writer.define(op, f"{name}(as_{names.memory(op.kind)}({text}))")
    else:
        writer.define(op, f"as_{names.value(op.kind)}({text})")


_CONVERSIONS: tuple[Rule, ...] = (
    Rule((*_SIGNED, "spirv.ConvertFToU", "spirv.ConvertUToF", "spirv.UConvert", "spirv.FConvert"), _convert),
    Rule(("spirv.Bitcast",), _bit_cast),
)
RULES: tuple[Rule, ...] = (*_COMPOSITES, *_CONVERSIONS)
