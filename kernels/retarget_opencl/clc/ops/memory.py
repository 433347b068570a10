"""Constants, variables, access chains, loads, stores, barriers and atomic operations.

IREE writes atomic operations for elements that share a byte alone: `and` and `or`. They are the built-ins of OpenCL C
1.x for 32 bits, which fewer bits take with the bits around. IREE requires atomicity of one location, never an order
between locations; the built-ins are relaxed as well.
"""

from __future__ import annotations

from retarget_opencl.clc.nodes import Op, Value
from retarget_opencl.clc.ops.table import Rule
from retarget_opencl.clc.statements import StatementWriter
from retarget_opencl.clc.types import (
    Array,
    Pointer,
    Scalar,
    SpirvType,
    Struct,
    TypeSyntaxError,
    Vector,
    element_of,
    integer_text,
    literal,
    suffix_of,
)

MATRIX_OPS = frozenset({"spirv.Variable", "spirv.Load", "spirv.Store"})
"""Ops that treat a cooperative matrix as any other value."""


def _constant(writer: StatementWriter, op: Op) -> None:
    attribute = op.attribute("value")
    number = None
    if isinstance(op.kind, Scalar) and op.kind.kind == "int":
        number = int(str(attribute).partition(" : ")[0])
        text = integer_text(op.kind, number)
    else:
        text = literal(writer.names, op.kind, attribute)
    writer.alias(op, Value(text, op.kind, number=number))


def _undefined(writer: StatementWriter, op: Op) -> None:
    name = writer.names.value(op.kind)
    text = f"({name})(0)" if isinstance(op.kind, Scalar | Vector) else f"({name}){{0}}"
    writer.alias(op, Value(text, op.kind))


def _variable(writer: StatementWriter, op: Op) -> None:
    place = Value("variable", op.kind)
    writer.declare_variable(place)
    writer.alias(op, place)
    if op.operands:
        store(writer, place, op.operands[0])


def load_text(writer: StatementWriter, place: Value) -> str:
    """Return the expression that reads a location in memory."""
    kind = place.pointer.pointee
    if isinstance(kind, Struct | Array):
        msg = f"no OpenCL C text for loading a whole {type(kind).__name__.lower()}"
        raise TypeSyntaxError(msg)
    if writer.names.emulates(kind):
        if writer.names.small == "bfloat":
            return f"{writer.helper(f'bfloat_from_bits{suffix_of(kind)}')}({place.text})"
        return f"vload_half{suffix_of(kind)}(0, (const {writer.space(place)} half*)&{place.text})"
    if kind == Scalar("bool", 1):
        return f"{place.text} != 0"
    if isinstance(kind, Vector) and kind.element.kind == "bool":
        return f"convert_int{kind.lanes}({place.text} != (uchar{kind.lanes})(0))"
    return place.text


def _load(writer: StatementWriter, op: Op) -> None:
    place = op.operands[0]
    if place.pointer.storage == "Input":
        writer.alias(op, Value(place.text, op.kind, parts=place.parts, built_in=place.built_in))
    else:
        writer.define(op, load_text(writer, place))


def store(writer: StatementWriter, place: Value, value: Value) -> None:
    """Write the statements that store a value in memory."""
    kind: SpirvType = place.pointer.pointee
    if isinstance(kind, Array) and kind.length is not None:
        for index in range(kind.length):
            element = Value(f"{place.text}[{index}]", Pointer(kind.element, place.pointer.storage))
            store(writer, element, Value(f"{value.text}.e[{index}]", kind.element))
    elif isinstance(kind, Struct):
        for index, member in enumerate(kind.members):
            target = Value(f"{place.text}.m{index}", Pointer(member, place.pointer.storage))
            store(writer, target, Value(f"{value.text}.m{index}", member))
    elif writer.names.emulates(kind) and writer.names.small == "bfloat":
        writer.state(f"{place.text} = {writer.helper(f'bfloat_to_bits{suffix_of(kind)}')}({value.text})")
    elif writer.names.emulates(kind):
        writer.state(f"vstore_half{suffix_of(kind)}_rte({value.text}, 0, ({writer.space(place)} half*)&{place.text})")
    elif isinstance(kind, Vector) and kind.element.kind == "bool":
        writer.state(f"{place.text} = convert_uchar{kind.lanes}(-{value.text})")
    else:
        writer.state(f"{place.text} = {value.text}")


def _barrier(writer: StatementWriter, op: Op) -> None:
    """Let the work-group wait. The fences follow the memory semantics' storage classes."""
    semantics = str(op.attribute("memory_semantics"))
    fences = set()
    if "WorkgroupMemory" in semantics or "UniformMemory" not in semantics:
        fences.add("local")
    if "UniformMemory" in semantics or "CrossWorkgroupMemory" in semantics:
        fences.add("global")
    if "Workgroup" not in str(op.attribute("execution_scope")):
        msg = f"no barrier for the execution scope {op.attribute('execution_scope')}"
        raise TypeSyntaxError(msg)
    writer.barrier(fences)


_MEMORY: tuple[Rule, ...] = (
    Rule(("spirv.Constant",), _constant),
    Rule(("spirv.Undef",), _undefined),
    Rule(
        ("spirv.mlir.addressof",), lambda writer, op: writer.alias(op, writer.globals[op.attribute("variable").value])
    ),
    Rule(("spirv.Variable",), _variable),
    Rule(
        ("spirv.AccessChain", "spirv.InBoundsAccessChain"),
        lambda writer, op: writer.alias(op, writer.step_into(op.operands[0], op.operands[1:])),
    ),
    Rule(("spirv.Load",), _load),
    Rule(("spirv.Store",), lambda writer, op: store(writer, op.operands[0], op.operands[1])),
    Rule(("spirv.ControlBarrier",), _barrier),
)


def _modify(writer: StatementWriter, op: Op) -> None:
    """Stores of elements that share a byte: IREE clears their bits in it and sets them, one after the other."""
    place, value = op.operands
    bits, call, space = element_of(op.kind).bits, op.name.removeprefix("spirv.Atomic").lower(), writer.space(place)
    if bits > 32:
        msg = f"no atomic operation on {bits} bits"
        raise TypeSyntaxError(msg)
    if bits == 32:
        writer.define(op, f"atomic_{call}((volatile {space} uint*)&{place.text}, {value.text})")
        return
    helper = writer.helper(f"atomic_{call}_{writer.names.value(op.kind)}_{space.removeprefix('__')}")
    writer.define(op, f"{helper}(&{place.text}, {value.text})")


RULES: tuple[Rule, ...] = (*_MEMORY, Rule(("spirv.AtomicAnd", "spirv.AtomicOr"), _modify))
