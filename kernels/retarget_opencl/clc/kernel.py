"""One `spirv.func` as the body of an OpenCL C kernel.

`KernelWriter` walks the structured control flow and takes each op's text from the rule table (`clc.ops`).
Block arguments are variables at the top of the kernel; a branch assigns all of its target's at once (a parallel copy).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from retarget_opencl.clc.nodes import Assign, If, KernelText, Leave, Loop, Node, Op, Statement, Value
from retarget_opencl.clc.ops import RULES
from retarget_opencl.clc.statements import StatementWriter, identifier
from retarget_opencl.clc.types import Pointer, Scalar, TypeSyntaxError
from retarget_opencl.translation import Ir, TranslationError, describe


class KernelWriter(StatementWriter):
    """Walks one kernel and writes it: the control flow by itself, each op by the rule table."""

    # ------------------------------------------------------------ the walk

    def write(
        self, module: Ir, function: Ir, read_only: Mapping[int, bool], size: tuple[int, int, int], comment: str
    ) -> KernelText:
        """Write the kernel `function` of a `spirv.module`.

        `read_only` says by ordinal whether a binding is only read; `size` is the work-group size in work-items.

        Raises `TranslationError` for an op or a type without a rule.
        """
        name = str(function.attributes["sym_name"]).strip('"')
        for item in module.regions[0].blocks[0]:
            if item.operation.name == "spirv.GlobalVariable":
                self._declare_global(item.operation, read_only)
        blocks = function.regions[0].blocks
        self._chain(blocks[0], None, None)
        bindings, constants = sorted(self._bindings), tuple(sorted(self._constants))
        parameters = []
        for ordinal in bindings:
            qualifier = "const " if self._bindings[ordinal] else ""
            parameters.append(f"__global {qualifier}uchar* restrict binding{ordinal}_base")
            parameters.append(f"const ulong binding{ordinal}_offset")
        parameters += [f"const uint constant{number}" for number in constants]
        lines = tuple(self._finish(size))
        return KernelText(
            name=identifier(name),
            parameters=tuple(parameters),
            lines=lines,
            bindings=tuple(bindings),
            constants=constants,
            workgroup_size=size,
            local_memory=self._local_memory,
            comment=comment,
            features=frozenset(self.features),
            helpers=frozenset(self.helpers),
            typedefs=tuple(text for _, text in self.names.typedefs.values()),
            bfloat16=self.names.small == "bfloat",
        )

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
            if self._depth:  # barriers after it would wait for work-items that have returned
                msg = f"no rule for spirv.Return inside of an if or a loop at {terminator.location}"
                raise TranslationError(msg)
        elif name == "spirv.Unreachable":
            pass
        elif name != "spirv.mlir.merge":
            msg = f"no rule for the terminator {name} at {terminator.location}"
            raise TranslationError(msg)
        return None

    def _jump(self, target: Ir, header: Ir, merge: Ir) -> Ir:
        if merge is not None and target == merge:
            if header is not None:
                self._body.append(Leave("break"))
            return None
        if header is not None and target == header:
            self._body.append(Leave("continue"))
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
            with self._block() as leaving:
                self._copy(yes if out else no, yes_operands if out else no_operands)
                self._jump(yes if out else no, header, merge)
            self._body.append(If(condition, leaving, negated=not out))
            self._copy(no if out else yes, no_operands if out else yes_operands)
            return self._jump(no if out else yes, header, merge)
        if header is not None:
            msg = f"a branch inside a loop that is no selection, at {terminator.location}"
            raise TranslationError(msg)
        with self._block() as then:
            self._side(yes, yes_operands, merge)
        with self._block() as orelse:
            self._side(no, no_operands, merge)
        if then:
            self._body.append(If(condition, then, orelse))
        elif orelse:
            self._body.append(If(condition, orelse, negated=True))
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
        with self._block() as orelse:
            self._side(terminator.successors[0], (), merge)
        for number, target in reversed(list(zip(literals, list(terminator.successors)[1:], strict=True))):
            is_case = Value(self.fresh(), Scalar("bool", 1))
            case = Value(f"{int(number) & 0xFFFFFFFF}u", selector.kind, number=int(number))
            test = Statement("spirv.IEqual", (selector, case), defines=is_case, text=f"{selector.text} == {case.text}")
            with self._block() as then:
                self._side(target, (), merge)
            orelse = [test, If(is_case, then, orelse)]
        self._body += orelse

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
        with self._block() as body:
            self._chain(header, header, merge)
        if body and isinstance(body[-1], Leave) and body[-1].word == "continue":
            body.pop()
        self._body.append(Loop(body))
        self._merge(op, merge)

    def _merge(self, op: Ir, merge: Ir) -> None:
        """Write the ops of the merge block, and name the construct's results after what is merged."""
        for item in merge:
            inner = item.operation
            if inner.name == "spirv.mlir.merge":
                for result, operand in zip(op.results, inner.operands, strict=True):
                    self._values[result] = self.value(operand)
            else:
                self._operation(inner, inner.name)

    # ------------------------------------------------------------ pieces

    @contextmanager
    def _block(self) -> Iterator[list[Node]]:
        """Collect the nodes that are written inside."""
        outer, self._body = self._body, []
        self._depth += 1
        try:
            yield self._body
        finally:
            self._body = outer
            self._depth -= 1

    def _operation(self, op: Ir, name: str) -> None:
        try:
            results = op.results
            wrapped = Op(name, op, [], self.type_of(results[0].type) if len(results) else None)
            wrapped.operands = [self.value(operand) for operand in op.operands]
            rule = RULES.find(wrapped)
            if rule is not None:
                self.begin(wrapped)
                rule.write(self, wrapped)
                self.end()
                return
        except TypeSyntaxError as error:
            msg = f"{error}; in {describe(op)}"
            raise TranslationError(msg) from error
        msg = f"no OpenCL C rule for {describe(op)}"
        raise TranslationError(msg)

    def _copy(self, target: Ir, operands: Iterable[Ir]) -> None:
        """Assign a block's arguments, as if all at once."""
        pairs = []
        for argument, operand in zip(target.arguments, operands, strict=True):
            variable, value = self.value(argument), self.value(operand)
            if variable.text != value.text:
                pairs.append((variable, value))
        assigned = {variable for variable, _ in pairs}
        assigns: list[Node] = []
        for variable, value in pairs:
            source = value
            if value in assigned:
                source = Value(self.fresh(), variable.kind)
                self._body.append(Statement("spirv.CopyObject", (value,), defines=source, text=value.text))
            assigns.append(Assign(variable, source))
        self._body += assigns

    def _declare_arguments(self, blocks: Sequence[Ir]) -> None:
        for block in blocks:
            for argument in block.arguments:
                kind = self.type_of(argument.type)
                if isinstance(kind, Pointer):
                    msg = f"no OpenCL C rule for a block argument that is a pointer: {argument.type}"
                    raise TranslationError(msg)
                value = Value(self.fresh("i" if kind == Scalar("int", 32) else "acc"), kind)
                self._values[argument] = value
                self.declare(f"{self.names.value(kind)} {value.text}")


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
