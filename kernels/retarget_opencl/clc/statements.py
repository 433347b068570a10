"""The statements and declarations of a kernel that is being written: what the rules for single ops use.

Each op that leaves text becomes one node (`clc.nodes`). A value is declared at the statement that computes it, as a
constant, if every use lies in the same C block or inside it; at the top of the kernel otherwise, because SPIR-V lets a
value of a loop's header be used after the loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from retarget_opencl.clc.barriers import ordered
from retarget_opencl.clc.nodes import Access, Barrier, Node, Op, Place, Statement, Value, text_of
from retarget_opencl.clc.types import (
    Array,
    Matrix,
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
from retarget_opencl.translation import Ir, TranslationError, symbol_name

_SPACES = {"StorageBuffer": "__global", "Workgroup": "__local", "Function": "__private"}
_BUILT_INS = {
    "WorkgroupId": "get_group_id",
    "LocalInvocationId": "get_local_id",
    "GlobalInvocationId": "get_global_id",
    "NumWorkgroups": "get_num_groups",
    "WorkgroupSize": "get_local_size",
}
_SUBGROUP_BUILT_INS = {
    "SubgroupSize": "retarget_subgroup_size()",
    "SubgroupId": "retarget_subgroup_id()",
    "NumSubgroups": "retarget_num_subgroups()",
    "SubgroupLocalInvocationId": "retarget_subgroup_lane()",
}


# Names that a function of a module may have and a kernel may not; IREE's own suffixes avoid most.
_RESERVED = frozenset(
    {"kernel", "global", "local", "constant", "private", "main", "half", "bool", "restrict", "inline"}
)


def identifier(text: str) -> str:
    """Return `text` as a C identifier."""
    name = re.sub(r"\W+", "_", text).strip("_")
    return name if name and not name[0].isdigit() and name not in _RESERVED else f"k_{name}"


def accesses_of(op: Op) -> Iterable[Access]:
    """Yield what an op does in memory: at each location that it takes, bar those that it only computes with."""
    for value in op.operands:
        if isinstance(value.kind, Pointer) and value.place is not None:
            pointee = value.kind.pointee
            mode = (
                "atomic" if "Atomic" in op.name else "write" if "Store" in op.name or "Variable" in op.name else "read"
            )
            size = memory_size(pointee) if isinstance(pointee, Scalar | Vector) else None
            tile = None
            if "CooperativeMatrix" in op.name:
                stride = op.operands[-1].number
                tile = None if stride is None or size is None else (16, stride * size)
                matrix = op.result or op.operands[1].kind
                size = matrix.element.bits // 8 * 16 if isinstance(matrix, Matrix) else None
            yield Access(value.place, mode, size, tile)


class StatementWriter(msgspec.Struct):
    """Collects one kernel's text. `features` and `helpers` collect what the program must offer around it.

    `subgroups` says whether the profile has them, `globals` are the module's variables by their symbols.
    """

    names: TypeNames
    subgroups: bool = True
    features: set[str] = msgspec.field(default_factory=set)
    helpers: set[str] = msgspec.field(default_factory=set)
    globals: dict[str, Value] = msgspec.field(default_factory=dict)
    _values: dict[Ir, Value] = msgspec.field(default_factory=dict)
    _body: list[Node] = msgspec.field(default_factory=list)
    _depth: int = 0
    _statement: Statement = msgspec.field(default_factory=lambda: Statement(""))
    _top: list[str] = msgspec.field(default_factory=list)
    _used: set[str] = msgspec.field(default_factory=set)
    _count: int = 0
    _local_memory: int = 0
    _bindings: dict[int, bool] = msgspec.field(default_factory=dict)
    _constants: set[int] = msgspec.field(default_factory=set)
    _types: dict[Ir, SpirvType] = msgspec.field(default_factory=dict)

    # ------------------------------------------------------------ what rules use

    def type_of(self, ir_type: Ir) -> SpirvType:
        """Return the parsed type of an MLIR type, and note the features that it needs."""
        kind = self._types.get(ir_type)
        if kind is None:
            kind = self._types[ir_type] = parse_type(str(ir_type))
            if isinstance(kind, Scalar | Vector):
                self._note_features(element_of(kind))
        return kind

    def define(self, op: Op, text: str, *, hint: str = "", built_in: str = "", axis: int | None = None) -> None:
        """Give the op's result a name and a statement that computes it."""
        value = Value(self.fresh(hint), op.kind, built_in=built_in, axis=axis)
        self._statement.defines, self._statement.text = value, text
        self._values[op.ir.results[0]] = value

    def alias(self, op: Op, value: Value) -> None:
        """Let the op's result be an expression that is repeated where it is used."""
        self._values[op.ir.results[0]] = value

    def state(self, text: str) -> None:
        """Write a statement of the op; the semicolon is added."""
        self._statement.lines.append(text)

    def barrier(self, fences: set[str]) -> None:
        """Let all work-items of the group wait; `fences` are of `local` and `global`."""
        self._body.append(Barrier(fences))

    def declare(self, text: str) -> None:
        """Write a declaration at the top of the kernel; the semicolon is added."""
        self._top.append(f"{text};")

    def helper(self, name: str) -> str:
        """Note that the helper function `name` of the template is needed, and return the name."""
        self.helpers.add(name)
        return name

    def feature(self, name: str) -> None:
        """Note that the kernel needs a device feature (`fp64`, `dot`, …).

        Raises `TypeSyntaxError` for subgroups where the profile has none.
        """
        if name == "shuffle" and not self.subgroups:
            msg = "the profile that it is compiled for has no subgroups"
            raise TypeSyntaxError(msg)
        self.features.add(name)

    def value(self, ir_value: Ir) -> Value:
        """Return the value of an SSA value."""
        return self._values[ir_value]

    def space(self, place: Value) -> str:
        """Return the address space qualifier of a location in memory."""
        return _SPACES[place.pointer.storage]

    def step_into(self, place: Value, indices: Sequence[Value]) -> Value:
        """Return the location that an access chain addresses."""
        storage, kind, text = place.pointer.storage, place.pointer.pointee, place.text
        steps: list[tuple[Value, int]] | None = None
        if place.place is not None and place.place.steps is not None:
            steps = list(place.place.steps)
        for index in indices:
            stride = 0
            if isinstance(kind, Struct):
                if index.number is None:
                    msg = "a struct is indexed by something that is no constant"
                    raise TypeSyntaxError(msg)
                steps = steps if len(kind.members) == 1 else None
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
                stride = memory_size(kind.element)
                text, kind = f"{text}[{subscript}]", kind.element
            elif isinstance(kind, Vector):
                subscript = str(index.number) if index.number is not None else index.text
                pointer = f"{_SPACES[storage]} {self.names.memory(kind.element)}*"
                stride = memory_size(kind.element)
                text, kind = f"(({pointer})&{text})[{subscript}]", kind.element
            else:
                msg = f"an access chain into {kind}"
                raise TypeSyntaxError(msg)
            if steps is not None and stride:
                steps.append((index, stride))
        where = place.place and Place(place.place.memory, storage, None if steps is None else tuple(steps))
        return Value(text, Pointer(kind, storage), parents=(place, *indices), place=where)

    def begin(self, op: Op) -> None:
        """Let what follows be written for `op`."""
        self._statement = Statement(op.name, tuple(op.operands), accesses=tuple(accesses_of(op)))

    def end(self) -> None:
        """Keep the node of the op that `begin` named, if there is anything in it."""
        if self._statement.lines or self._statement.defines is not None:
            self._body.append(self._statement)

    def _finish(self, size: Sequence[int]) -> Iterable[str]:
        """Insert barriers, and print declarations and statements."""
        body = ordered(self._body, size, self.fresh)[0]
        yield from (f"    {line}" for line in self._top)
        yield from text_of(body, self.names)

    def _declare_global(self, op: Ir, read_only: Mapping[int, bool]) -> None:
        symbol = symbol_name(op)
        value = Value(identifier(symbol), parse_type(str(op.attributes["type"].value)))
        storage = value.pointer.storage
        self.globals[symbol] = value
        if "built_in" in op.attributes:
            value.text = value.built_in = str(op.attributes["built_in"]).strip('"')
            self._name_built_in(value, op)
        elif storage == "StorageBuffer":
            ordinal = int(op.attributes["binding"])
            self._bind(value, ordinal, read_only.get(ordinal, False))
        elif storage == "Workgroup":
            self.declare_variable(value, "__local ")
            self._local_memory += memory_size(value.pointer.pointee)
        elif storage != "PushConstant":
            msg = f"no OpenCL C counterpart for the storage class of {op}"
            raise TranslationError(msg)

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
        value.text = self.fresh(f"binding{ordinal}" if first else f"binding{ordinal}_{memory}")
        qualifier = "const " if read_only else ""
        self.declare(
            f"__global {qualifier}{memory}* const {value.text} = "
            f"(__global {qualifier}{memory}*)(binding{ordinal}_base + binding{ordinal}_offset)"
        )
        value.place = Place(f"binding {ordinal}", value.pointer.storage)
        self._bindings[ordinal] = read_only

    def declare_variable(self, value: Value, qualifier: str = "") -> None:
        """Declare a variable of the kernel, name it and place it."""
        value.text = self.fresh(value.text)
        value.place = Place(value.text, value.pointer.storage)
        inner = value.pointer.pointee
        if isinstance(inner, Struct) and len(inner.members) == 1 and isinstance(inner.members[0], Array):
            inner = inner.members[0]
        dimensions = ""
        while isinstance(inner, Array):
            dimensions += f"[{inner.length}]"
            inner = inner.element
        if isinstance(inner, Scalar | Vector):
            self._note_features(element_of(inner))
        # Matrix units load rows of 16 bytes that begin at multiples of 16.
        aligned = " __attribute__((aligned(16)))" if qualifier and dimensions else ""
        self.declare(f"{qualifier}{self.names.memory(inner)} {value.text}{dimensions}{aligned}")

    def _name_built_in(self, value: Value, op: Ir) -> None:
        if (call := _BUILT_INS.get(value.text)) is not None:
            value.parts = tuple(f"(uint){call}({axis})" for axis in range(3))
            value.text = f"(uint3)({', '.join(value.parts)})"
        elif value.text in _SUBGROUP_BUILT_INS:
            value.text = _SUBGROUP_BUILT_INS[value.text]
            self.helper(value.text.removesuffix("()"))
            self.feature("shuffle")
        else:
            msg = f"no OpenCL C counterpart for the built-in of {op}"
            raise TranslationError(msg)

    def _note_features(self, scalar: Scalar) -> None:
        if scalar.kind == "float" and scalar.bits == 64:
            self.features.add("fp64")
        elif scalar.kind == "float" and scalar.bits == 16 and self.names.native_half:
            self.features.add("fp16")

    def fresh(self, hint: str = "") -> str:
        """Return a name that the kernel does not use yet."""
        stem = f"{hint or 'v'}{'_' if hint[-1:].isdigit() else ''}"
        name = hint
        while not name or name in self._used:
            self._count += 1
            name = f"{stem}{self._count}"
        self._used.add(name)
        return name
