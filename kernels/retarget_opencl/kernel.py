"""One `spirv.func` as the body of an OpenCL C kernel.

`KernelWriter` walks the structured control flow and asks the rule table (`retarget_opencl.rules`) for each op's text.

Where a value is declared: at the statement that computes it, as a constant, if every use lies in the same C block or
inside it; at the top of the kernel otherwise, because SPIR-V lets a value of a loop's header be used after the loop.
Block arguments are variables at the top of the kernel; a branch assigns all of its target's at once (a parallel copy).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .literals import literal
from .spirv_types import (
    Array,
    Pointer,
    Scalar,
    SpirvType,
    Struct,
    TypeNames,
    TypeSyntaxError,
    Vector,
    element_of,
    parse_type,
)
from .values import Binding, KernelText, Op, TranslationError, Value

if TYPE_CHECKING:
    from .rules.table import RuleTable

__all__ = ["Binding", "KernelText", "KernelWriter", "Op", "TranslationError", "Value"]

Ir = Any  # objects of iree.compiler.ir, which has no types of its own


@dataclass(slots=True)
class _Line:
    indent: int
    text: str
    defines: Value | None = None


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
class KernelWriter:
    """Writes one kernel. `features` and `helpers` collect what the program must offer around it."""

    table: RuleTable
    names: TypeNames
    features: set[str]
    helpers: set[str]
    _values: dict[Ir, Value] = field(default_factory=dict)
    _lines: list[_Line] = field(default_factory=list)
    _top: list[str] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)
    _count: int = 0
    _indent: int = 1
    _open: list[int] = field(default_factory=lambda: [0])
    _scopes: int = 0
    _globals: dict[str, Value] = field(default_factory=dict)
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
        assert op.result is not None  # noqa: S101  (rules for ops without result never come here)
        value = Value(self._name(hint), op.result, self._open[-1])
        self._lines.append(_Line(self._indent, text, value))
        self._values[op.ir.results[0]] = value

    def alias(self, op: Op, value: Value) -> None:
        """Let the op's result be an expression that is repeated where it is used."""
        value.scope = self._open[-1]
        self._values[op.ir.results[0]] = value

    def state(self, text: str) -> None:
        """Write a statement; the semicolon is added."""
        self._lines.append(_Line(self._indent, f"{text};"))

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
        """Return the address space qualifier of a place."""
        assert isinstance(place.kind, Pointer)  # noqa: S101
        return _SPACES[place.kind.storage]

    def global_place(self, symbol: str) -> Value:
        """Return the place of a global variable of the module."""
        return self._globals[symbol]

    def step_into(self, place: Value, indices: Sequence[Value]) -> Value:
        """Return the place that an access chain leads to."""
        assert isinstance(place.kind, Pointer)  # noqa: S101
        storage, kind, text = place.kind.storage, place.kind.pointee, place.text
        for index in indices:
            if isinstance(kind, Struct):
                if index.number is None:
                    msg = "a struct is indexed by something that is no constant"
                    raise TypeSyntaxError(msg)
                kind = kind.members[index.number]
                # A variable's one array stands for the struct around it.
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
                msg = f"an access chain goes into {kind}"
                raise TypeSyntaxError(msg)
        return Value(text, Pointer(kind, storage), parents=(place, *indices))

    # ------------------------------------------------------------ the walk

    def write(
        self, module: Ir, function: Ir, read_only: Mapping[int, bool], size: tuple[int, int, int], comment: str
    ) -> KernelText:
        """Write the kernel `function` of a `spirv.module`.

        `read_only` tells of each binding ordinal; `size` is the work-group size in work-items.

        Raises `TranslationError` for an op or a type without a rule.
        """
        name = str(function.attributes["sym_name"]).strip('"')
        for item in module.regions[0].blocks[0]:
            if item.operation.name == "spirv.GlobalVariable":
                self._declare_global(item.operation, read_only)
        blocks = function.regions[0].blocks
        self._chain(blocks[0], None, None)
        bindings = tuple(self._bindings[ordinal] for ordinal in sorted(self._bindings))
        constants = tuple(sorted(self._constants))
        parameters = []
        for binding in bindings:
            qualifier = "const " if binding.read_only else ""
            parameters.append(f"__global {qualifier}uchar* restrict binding{binding.ordinal}_base")
            parameters.append(f"const ulong binding{binding.ordinal}_offset")
        parameters += [f"const uint constant{number}" for number in constants]
        return KernelText(
            name=identifier(name),
            parameters=tuple(parameters),
            lines=tuple(self._finish()),
            bindings=bindings,
            constants=constants,
            workgroup_size=size,
            comment=comment,
        )

    def _finish(self) -> Iterable[str]:
        """Join declarations and statements, now that it is known which values are used outside their block."""
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

    def _chain(self, block: Ir, header: Ir, merge: Ir) -> None:
        """Write blocks from `block` on until the flow leaves: to `merge`, back to `header`, or out of the function."""
        while True:
            terminator = None
            for item in block:
                op = item.operation
                name = op.name
                if name in _TERMINATORS:
                    terminator = op
                elif name == "spirv.mlir.selection":
                    self._selection(op)
                elif name == "spirv.mlir.loop":
                    self._loop(op)
                else:
                    self._operation(op, name)
            following = self._leave(terminator, header, merge)
            if following is None:
                return
            block = following

    def _leave(self, terminator: Ir, header: Ir, merge: Ir) -> Ir:
        """Write a block's end. Return the block to go on with, None if the flow has left the chain."""
        name = terminator.name
        if name == "spirv.Branch":
            target = terminator.successors[0]
            self._copy(target, terminator.operands)
            return self._jump(target, header, merge)
        if name == "spirv.BranchConditional":
            return self._branch(terminator, header, merge)
        if name == "spirv.Switch":
            self._switch(terminator, header, merge)
        elif name == "spirv.Return":
            # At the outermost level the kernel ends here anyway.
            if len(self._open) > 1:
                self.state("return")
        elif name == "spirv.Unreachable":
            pass
        elif name != "spirv.mlir.merge":
            msg = f"no rule for the terminator {name} at {terminator.location}"
            raise TranslationError(msg)
        return None

    def _jump(self, target: Ir, header: Ir, merge: Ir) -> Ir:
        if merge is not None and target == merge:
            if header is not None:
                self.state("break")
            return None
        if header is not None and target == header:
            self.state("continue")
            return None
        return target

    def _branch(self, terminator: Ir, header: Ir, merge: Ir) -> Ir:
        condition = self.value(terminator.operands[0])
        segments = [int(number) for number in terminator.attributes["operandSegmentSizes"]]
        operands = list(terminator.operands)
        yes, no = terminator.successors[0], terminator.successors[1]
        yes_operands, no_operands = operands[1 : 1 + segments[1]], operands[1 + segments[1] :]
        leaves = {True: yes == merge or (header is not None and yes == header)}
        leaves[False] = no == merge or (header is not None and no == header)
        if header is not None and (leaves[True] or leaves[False]):
            # A loop's own test: leave on one side, go on below on the other.
            out = leaves[True] and not leaves[False]
            self._open_block(f"if ({condition.text}) {{" if out else f"if (!{condition.text}) {{")
            self._copy(yes if out else no, yes_operands if out else no_operands)
            self._jump(yes if out else no, header, merge)
            self._close_block()
            self._copy(no if out else yes, no_operands if out else yes_operands)
            return self._jump(no if out else yes, header, merge)
        if header is not None:
            msg = f"a branch inside a loop that is no selection, at {terminator.location}"
            raise TranslationError(msg)
        yes_needed = yes != merge or bool(yes_operands)
        no_needed = no != merge or bool(no_operands)
        if yes_needed:
            self._open_block(f"if ({condition.text}) {{")
            self._side(yes, yes_operands, merge)
            self._close_block("} else {" if no_needed else "}")
            if no_needed:
                self._enter()
                self._side(no, no_operands, merge)
                self._close_block()
        elif no_needed:
            self._open_block(f"if (!{condition.text}) {{")
            self._side(no, no_operands, merge)
            self._close_block()
        return None

    def _side(self, target: Ir, operands: Iterable[Ir], merge: Ir) -> None:
        self._copy(target, operands)
        if target != merge:
            self._chain(target, None, merge)

    def _switch(self, terminator: Ir, header: Ir, merge: Ir) -> None:
        if header is not None:
            msg = f"a switch as a loop's own branch, at {terminator.location}"
            raise TranslationError(msg)
        selector = self.value(terminator.operands[0])
        literals = list(terminator.attributes["literals"]) if len(terminator.successors) > 1 else []
        if len(terminator.operands) > 1:
            msg = f"no rule for spirv.Switch with block operands at {terminator.location}"
            raise TranslationError(msg)
        keyword = "if"
        for number, target in zip(literals, list(terminator.successors)[1:], strict=True):
            self._open_block(f"{keyword} ({selector.text} == {int(number) & 0xFFFFFFFF}u) {{")
            self._side(target, (), merge)
            self._close_block()
            keyword = "else if"
        self._open_block("else {" if literals else "{")
        self._side(terminator.successors[0], (), merge)
        self._close_block()

    def _selection(self, op: Ir) -> None:
        if not len(op.regions[0].blocks):
            return
        blocks = list(op.regions[0].blocks)
        self._declare_arguments(blocks)
        self._chain(blocks[0], None, blocks[-1])
        self._merge(op, blocks[-1])

    def _loop(self, op: Ir) -> None:
        blocks = list(op.regions[0].blocks)
        if not blocks:
            return
        header, merge = blocks[1], blocks[-1]
        self._declare_arguments(blocks)
        entry = list(blocks[0])[-1].operation
        for item in list(blocks[0])[:-1]:
            self._operation(item.operation, item.operation.name)
        self._copy(header, entry.operands)
        self._open_block("for (;;) {")
        self._chain(header, header, merge)
        if self._lines[-1].text == "continue;" and self._lines[-1].indent == self._indent:
            self._lines.pop()
        self._close_block()
        self._merge(op, merge)

    def _merge(self, op: Ir, merge: Ir) -> None:
        """Write what stands in the merge block, and name the construct's results after what is merged."""
        for item in merge:
            inner = item.operation
            if inner.name == "spirv.mlir.merge":
                for result, operand in zip(op.results, inner.operands, strict=True):
                    self._values[result] = self.value(operand)
            else:
                self._operation(inner, inner.name)

    # ------------------------------------------------------------ pieces

    def _operation(self, op: Ir, name: str) -> None:
        try:
            results = op.results
            wrapped = Op(name, op, [], self.type_of(results[0].type) if len(results) else None)
            wrapped.operands = [self.value(operand) for operand in op.operands]
            rule = self.table.find(wrapped)
            if rule is not None:
                rule.write(self, wrapped)
                return
        except TypeSyntaxError as error:
            msg = f"{error}; in {Op(name, op, [], None).describe()}"
            raise TranslationError(msg) from error
        msg = f"no OpenCL C rule for {wrapped.describe()}"
        raise TranslationError(msg)

    def _copy(self, target: Ir, operands: Iterable[Ir]) -> None:
        """Assign a block's arguments, as if all at once."""
        pairs = []
        for argument, operand in zip(target.arguments, operands, strict=True):
            variable, value = self.value(argument), self.value(operand)
            if variable.text != value.text:
                pairs.append((variable, value.text))
        assigned = {variable.text for variable, _ in pairs}
        sources = []
        for variable, text in pairs:
            source = text
            if text in assigned:
                source = self._name("")
                line = f"const {self.names.value(variable.kind)} {source} = {text}"
                self.state(line)
            sources.append((variable, source))
        for variable, source in sources:
            self.state(f"{variable.text} = {source}")

    def _declare_arguments(self, blocks: Sequence[Ir]) -> None:
        for block in blocks:
            for argument in block.arguments:
                kind = self.type_of(argument.type)
                if isinstance(kind, Pointer):
                    msg = f"no OpenCL C rule for a block argument that is a pointer: {argument.type}"
                    raise TranslationError(msg)
                value = Value(self._name("i" if kind == Scalar("int", 32) else "acc"), kind)
                self._values[argument] = value
                self.declare(f"{self.names.value(kind)} {value.text}")

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
        elif kind.storage != "PushConstant":
            msg = f"no OpenCL C counterpart for the storage class of {op}"
            raise TranslationError(msg)
        self._globals[symbol] = value

    def _bind(self, value: Value, ordinal: int, read_only: bool) -> None:
        assert isinstance(value.kind, Pointer)  # noqa: S101
        inner = value.kind.pointee
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
        self._bindings[ordinal] = Binding(ordinal=ordinal, read_only=read_only)

    def _declare_variable(self, value: Value, qualifier: str) -> None:
        assert isinstance(value.kind, Pointer)  # noqa: S101
        value.text = self._name(value.text)
        inner = value.kind.pointee
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
        assert op.result is not None  # noqa: S101
        value = Value("variable", op.result)
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
        self._lines.append(_Line(self._indent, text))
        self._enter()

    def _enter(self) -> None:
        self._indent += 1
        self._scopes += 1
        self._open.append(self._scopes)

    def _close_block(self, text: str = "}") -> None:
        self._indent -= 1
        self._open.pop()
        self._lines.append(_Line(self._indent, text))


_TERMINATORS = frozenset(
    {
        "spirv.Branch",
        "spirv.BranchConditional",
        "spirv.Switch",
        "spirv.Return",
        "spirv.Unreachable",
        "spirv.mlir.merge",
        "spirv.Kill",
        "spirv.ReturnValue",
    }
)
