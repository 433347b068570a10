"""The statements and declarations of a kernel that is being written: what the rules for single ops use.

Where a value is declared: at the statement that computes it, as a constant, if every use lies in the same C block or
inside it; at the top of the kernel otherwise, because SPIR-V lets a value of a loop's header be used after the loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retarget_opencl.clc.literals import literal
from retarget_opencl.clc.passes.barriers import with_barriers
from retarget_opencl.clc.types import (
    Array,
    Pointer,
    Scalar,
    SpirvType,
    Struct,
    TypeNames,
    TypeSyntaxError,
    Vector,
    element_of,
    memory_size,
    parse_type,
)
from retarget_opencl.clc.values import Binding, Line, Op, Value
from retarget_opencl.translation import Ir, TranslationError

__all__ = ["StatementWriter", "identifier"]


_SPACES = {"StorageBuffer": "__global", "Workgroup": "__local", "Function": "__private"}
_BUILT_INS = {
    "WorkgroupId": ("group_id", "get_group_id"),
    "LocalInvocationId": ("local_id", "get_local_id"),
    "GlobalInvocationId": ("global_id", "get_global_id"),
    "NumWorkgroups": ("num_groups", "get_num_groups"),
    "WorkgroupSize": ("local_size", "get_local_size"),
}
_SUBGROUP_BUILT_INS = {
    "SubgroupSize": "retarget_subgroup_size()",
    "SubgroupId": "retarget_subgroup_id()",
    "NumSubgroups": "retarget_num_subgroups()",
    "SubgroupLocalInvocationId": "retarget_subgroup_lane()",
    "LocalInvocationIndex": "retarget_local_index()",
}


# Names that a function of a module may have and a kernel may not; IREE's own suffixes avoid most.
_RESERVED = frozenset(
    {"kernel", "global", "local", "constant", "private", "main", "half", "bool", "restrict", "inline"}
)


def _hoist(value: Value) -> None:
    value.hoisted = True
    for parent in value.parents:
        _hoist(parent)


def identifier(text: str) -> str:
    """Return `text` as a C identifier."""
    name = re.sub(r"\W+", "_", text).strip("_")
    return name if name and not name[0].isdigit() and name not in _RESERVED else f"k_{name}"


@dataclass(slots=True)
class StatementWriter:
    """Collects one kernel's text. `features` and `helpers` collect what the program must offer around it."""

    names: TypeNames
    features: set[str]
    helpers: set[str]
    _values: dict[Ir, Value] = field(default_factory=dict)
    _lines: list[Line] = field(default_factory=list)
    _top: list[str] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)
    _count: int = 0
    _indent: int = 1
    _open: list[int] = field(default_factory=lambda: [0])
    _scopes: int = 0
    _globals: dict[str, Value] = field(default_factory=dict)
    _local: list[str] = field(default_factory=list)
    _local_memory: int = 0
    _writable: dict[str, int] = field(default_factory=dict)
    _bindings: dict[int, Binding] = field(default_factory=dict)
    _constants: set[int] = field(default_factory=set)
    _types: dict[Ir, SpirvType] = field(default_factory=dict)

    # ------------------------------------------------------------ what rules use

    def type_of(self, ir_type: Ir) -> SpirvType:
        """Return the parsed type of an MLIR type, and note the features that it needs."""
        kind = self._types.get(ir_type)
        if kind is None:
            kind = self._types[ir_type] = parse_type(str(ir_type))
            if isinstance(kind, Scalar | Vector):
                self._note_features(element_of(kind))
        return kind

    def define(self, op: Op, text: str, *, hint: str = "") -> None:
        """Give the op's result a name and a statement that computes it."""
        value = Value(self._name(hint), op.kind, self._open[-1])
        self._lines.append(Line(self._indent, text, value))
        self._values[op.ir.results[0]] = value

    def alias(self, op: Op, value: Value) -> None:
        """Let the op's result be an expression that is repeated where it is used."""
        value.scope = self._open[-1]
        self._values[op.ir.results[0]] = value

    def state(self, text: str) -> None:
        """Write a statement; the semicolon is added."""
        self._lines.append(Line(self._indent, f"{text};"))

    def declare(self, text: str) -> None:
        """Write a declaration at the top of the kernel; the semicolon is added."""
        self._top.append(f"{text};")

    def fresh(self, hint: str = "") -> str:
        """Return a name that the kernel does not use yet."""
        return self._name(hint)

    def helper(self, name: str) -> str:
        """Note that the helper function `name` of the template is needed, and return the name."""
        self.helpers.add(name)
        return name

    def feature(self, name: str) -> None:
        """Note that the kernel needs a device feature (`fp64`, `int64_atomics`, …)."""
        self.features.add(name)

    def value(self, ir_value: Ir) -> Value:
        """Return the value of an SSA value, and note that it is used here."""
        value = self._values[ir_value]
        if value.scope not in self._open:
            _hoist(value)
        return value

    def literal(self, kind: SpirvType, attribute: Ir) -> str:
        """Return the text of a constant."""
        return literal(self.names, kind, attribute)

    def space(self, place: Value) -> str:
        """Return the address space qualifier of a location in memory."""
        return _SPACES[place.pointer.storage]

    def global_variable(self, symbol: str) -> Value:
        """Return a global variable of the module."""
        return self._globals[symbol]

    def step_into(self, place: Value, indices: Sequence[Value]) -> Value:
        """Return the location that an access chain addresses."""
        storage, kind, text = place.pointer.storage, place.pointer.pointee, place.text
        for index in indices:
            if isinstance(kind, Struct):
                if index.number is None:
                    msg = "a struct is indexed by something that is no constant"
                    raise TypeSyntaxError(msg)
                kind = kind.members[index.number]
                # A variable's one array represents the struct around it.
                text = text if isinstance(kind, Array) and "." not in text else f"{text}.m{index.number}"
            elif storage == "PushConstant":
                if index.number is None:
                    msg = "push constants are indexed by something that is no constant"
                    raise TypeSyntaxError(msg)
                self._constants.add(index.number)
                text, kind = f"constant{index.number}", Scalar("int", 32)
            elif isinstance(kind, Array):
                # Negative constants do not occur; a literal needs no suffix here.
                subscript = str(index.number) if index.number is not None else index.text
                text, kind = f"{text}[{subscript}]", kind.element
            elif isinstance(kind, Vector):
                subscript = str(index.number) if index.number is not None else index.text
                pointer = f"{_SPACES[storage]} {self.names.memory(kind.element)}*"
                text, kind = f"(({pointer})&{text})[{subscript}]", kind.element
            else:
                msg = f"an access chain into {kind}"
                raise TypeSyntaxError(msg)
        return Value(text, Pointer(kind, storage), parents=(place, *indices))

    def _finish(self, size: Sequence[int]) -> Iterable[str]:
        """Join declarations and statements, now that it is known which values are used outside their block."""
        self._lines = with_barriers(self._lines, self._local, self._writable, size)
        hoisted: dict[str, list[str]] = {}
        for line in self._lines:
            if line.defines is not None and line.defines.hoisted:
                hoisted.setdefault(self.names.value(line.defines.kind), []).append(line.defines.text)
        yield from (f"    {line}" for line in self._top)
        yield from (f"    {kind} {', '.join(names)};" for kind, names in hoisted.items())
        for line in self._lines:
            pad = "    " * line.indent
            value = line.defines
            if value is None:
                yield f"{pad}{line.text}"
            elif value.hoisted:
                yield f"{pad}{value.text} = {line.text};"
            else:
                yield f"{pad}const {self.names.value(value.kind)} {value.text} = {line.text};"

    def _declare_global(self, op: Ir, read_only: Mapping[int, bool]) -> None:
        symbol = str(op.attributes["sym_name"]).strip('"')
        kind = parse_type(str(op.attributes["type"].value))
        if not isinstance(kind, Pointer):
            msg = f"a global variable that is no pointer: {op}"
            raise TranslationError(msg)
        value = Value(identifier(symbol), kind)
        if "built_in" in op.attributes:
            value.text = str(op.attributes["built_in"]).strip('"')
            self._globals[symbol] = self._built_in(value, op)
            return
        if kind.storage == "StorageBuffer":
            ordinal = int(op.attributes["binding"])
            if int(op.attributes["descriptor_set"]) != 0:
                msg = f"a binding outside descriptor set 0 at {op.location}"
                raise TranslationError(msg)
            self._bind(value, ordinal, read_only.get(ordinal, False))
        elif kind.storage == "Workgroup":
            self._declare_variable(value, "__local ")
            self._local.append(value.text)
            self._local_memory += memory_size(kind.pointee)
        elif kind.storage != "PushConstant":
            msg = f"no OpenCL C counterpart for the storage class of {op}"
            raise TranslationError(msg)
        self._globals[symbol] = value

    def _bind(self, value: Value, ordinal: int, read_only: bool) -> None:
        inner = value.pointer.pointee
        if isinstance(inner, Struct) and len(inner.members) == 1:
            inner = inner.members[0]
        element = inner.element if isinstance(inner, Array) else inner
        if isinstance(element, Vector) and element.lanes == 3:
            msg = f"a binding whose elements are {element}: packed vectors of three have no OpenCL C type"
            raise TranslationError(msg)
        if isinstance(element, Scalar | Vector):
            self._note_features(element_of(element))
        first = ordinal not in self._bindings
        memory = self.names.memory(element)
        value.text = self._name(f"binding{ordinal}" if first else f"binding{ordinal}_{memory}")
        qualifier = "const " if read_only else ""
        self.declare(
            f"__global {qualifier}{memory}* const {value.text} = "
            f"(__global {qualifier}{memory}*)(binding{ordinal}_base + binding{ordinal}_offset)"
        )
        if not read_only:
            self._writable[value.text] = ordinal
        self._bindings[ordinal] = Binding(ordinal=ordinal, read_only=read_only)

    def _declare_variable(self, value: Value, qualifier: str) -> None:
        value.text = self._name(value.text)
        inner = value.pointer.pointee
        if isinstance(inner, Struct) and len(inner.members) == 1 and isinstance(inner.members[0], Array):
            inner = inner.members[0]
        dimensions = ""
        while isinstance(inner, Array):
            dimensions += f"[{inner.length}]"
            inner = inner.element
        if isinstance(inner, Scalar | Vector):
            self._note_features(element_of(inner))
        self.declare(f"{qualifier}{self.names.memory(inner)} {value.text}{dimensions}")

    def local_variable(self, op: Op) -> Value:
        """Declare a variable of the kernel (`spirv.Variable`) and return its place."""
        value = Value("variable", op.kind)
        self._declare_variable(value, "")
        return value

    def _built_in(self, value: Value, op: Ir) -> Value:
        known = _BUILT_INS.get(value.text)
        if known is not None:
            _, call = known
            value.parts = tuple(f"(uint){call}({axis})" for axis in range(3))
            value.text = f"(uint3)({', '.join(value.parts)})"
        elif value.text in _SUBGROUP_BUILT_INS:
            value.text = _SUBGROUP_BUILT_INS[value.text]
            self.helper(value.text.removesuffix("()"))
        else:
            msg = f"no OpenCL C counterpart for the built-in of {op}"
            raise TranslationError(msg)
        return value

    def _note_features(self, scalar: Scalar) -> None:
        if scalar.kind == "float" and scalar.bits == 64:
            self.features.add("fp64")
        elif scalar.kind == "float" and scalar.bits == 16 and self.names.native_half:
            self.features.add("fp16")

    def _name(self, hint: str) -> str:
        name = hint
        if not name or name in self._used:
            self._count += 1
            name = f"{hint or 'v'}{'_' if hint and hint[-1].isdigit() else ''}{self._count}"
            while name in self._used:
                self._count += 1
                name = f"{hint or 'v'}{'_' if hint and hint[-1].isdigit() else ''}{self._count}"
        self._used.add(name)
        return name

    def _open_block(self, text: str) -> None:
        self._lines.append(Line(self._indent, text))
        self._enter()

    def _enter(self) -> None:
        self._indent += 1
        self._scopes += 1
        self._open.append(self._scopes)

    def _close_block(self, text: str = "}") -> None:
        self._indent -= 1
        self._open.pop()
        self._lines.append(Line(self._indent, text))
