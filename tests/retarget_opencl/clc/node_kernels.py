"""Kernels of nodes for tests: a builder, and an interpreter that runs work-items in step or in another order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product

from retarget_opencl.clc.barriers import ordered
from retarget_opencl.clc.nodes import Access, Assign, Barrier, If, Leave, Loop, Node, Place, Statement, Value, text_of
from retarget_opencl.clc.types import Pointer, Scalar, TypeNames

__all__ = ["DivergentBarrierError", "Kernel", "Memory", "run_in_step", "run_permuted"]

INT, BOOL = Scalar("int", 32), Scalar("bool", 1)
_SYMBOLS: Mapping[str, tuple[str, Callable[..., int]]] = {
    "IAdd": ("{} + {}", lambda a, b: a + b),
    "ISub": ("{} - {}", lambda a, b: a - b),
    "IMul": ("{} * {}", lambda a, b: a * b),
    "UDiv": ("{} / {}", lambda a, b: a // b),
    "UMod": ("{} % {}", lambda a, b: a % b),
    "SLessThan": ("{} < {}", lambda a, b: int(a < b)),
    "IEqual": ("{} == {}", lambda a, b: int(a == b)),
    "LogicalNot": ("!{}", lambda a: int(not a)),
    "CopyObject": ("{}", lambda a: a),
}
Memory = dict[tuple[str, int], int]


class DivergentBarrierError(Exception):
    """Some work-items wait at a barrier that others do not reach."""


@dataclass
class Kernel:
    """Builds a kernel node by node. `nodes` is its body; memories are arrays of 32-bit integers."""

    size: tuple[int, int, int] = (4, 1, 1)
    nodes: list[Node] = field(default_factory=list)
    count: int = 0

    def name(self, hint: str = "") -> str:
        self.count += 1
        return f"{hint or 'v'}{self.count}"

    def id(self, axis: int = 0) -> Value:
        ids = Value("ids", INT, built_in="LocalInvocationId")
        value = Value("xyz"[axis], INT, built_in="LocalInvocationId", axis=axis)
        self.nodes.append(Statement("spirv.CompositeExtract", (ids,), defines=value, text=f"get_local_id({axis})"))
        return value

    def group(self) -> Value:
        value = Value("group", INT, built_in="WorkgroupId", axis=0)
        self.nodes.append(Statement("spirv.CompositeExtract", defines=value, text="get_group_id(0)"))
        return value

    def op(self, name: str, *operands: Value | int) -> Value:
        values = tuple(self.value(operand) for operand in operands)
        kind = BOOL if name in {"SLessThan", "IEqual", "LogicalNot"} else INT
        made = Value(self.name(), kind)
        text = _SYMBOLS[name][0].format(*(value.text for value in values))
        self.nodes.append(Statement(f"spirv.{name}", values, defines=made, text=text))
        return made

    @staticmethod
    def value(operand: Value | int) -> Value:
        return operand if isinstance(operand, Value) else Value(str(operand), INT, number=operand)

    def place(self, memory: str, index: Value | int, size: int = 4) -> Value:
        storage = "StorageBuffer" if memory.startswith(("out", "last")) else "Workgroup"
        at = self.value(index)
        where = Place(memory, storage, ((at, size),))
        return Value(f"{memory}[{at.text}]", Pointer(INT, storage), parents=(at,), place=where)

    def load(self, memory: str, index: Value | int) -> Value:
        place, made = self.place(memory, index), Value(self.name(), INT)
        access = Access(place.place or Place("", ""), "read", 4)
        self.nodes.append(Statement("spirv.Load", (place,), defines=made, text=place.text, accesses=(access,)))
        return made

    def store(self, memory: str, index: Value | int, value: Value | int, *, size: int = 4) -> None:
        place, given = self.place(memory, index), self.value(value)
        access = Access(place.place or Place("", ""), "write", size)
        text = f"{place.text} = {given.text}"
        self.nodes.append(Statement("spirv.Store", (place, given), [text], accesses=(access,)))

    def atomic(self, memory: str, index: Value | int, value: Value | int) -> None:
        place, given = self.place(memory, index), self.value(value)
        access = Access(place.place or Place("", ""), "atomic", 4)
        text = f"atomic_add(&{place.text}, {given.text})"
        self.nodes.append(Statement("spirv.AtomicIAdd", (place, given), [text], accesses=(access,)))

    def variable(self, first: Value | int) -> Value:
        variable = Value(self.name("i"), INT)
        self.assign(variable, first)
        return variable

    def assign(self, variable: Value, value: Value | int) -> None:
        self.nodes.append(Assign(variable, self.value(value)))

    def barrier(self, *fences: str) -> None:
        self.nodes.append(Barrier(set(fences)))

    @contextmanager
    def _into(self, body: list[Node]) -> Iterator[None]:
        outer, self.nodes = self.nodes, body
        yield
        self.nodes = outer

    @contextmanager
    def when(self, condition: Value, *, negated: bool = False) -> Iterator[None]:
        node = If(condition, [], negated=negated)
        self.nodes.append(node)
        with self._into(node.then):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        node = self.nodes[-1]
        assert isinstance(node, If)
        with self._into(node.orelse):
            yield

    @contextmanager
    def loop(self, end: Value | int, first: Value | int = 0, step: int = 1) -> Iterator[Value]:
        """A loop as IREE writes it: while its counter is less than `end`."""
        counter = self.variable(first)
        node = Loop([])
        self.nodes.append(node)
        with self._into(node.body):
            going = self.op("SLessThan", counter, end)
            self.nodes.append(If(going, [Leave("break")], negated=True))
            yield counter
            self.assign(counter, self.op("IAdd", counter, step))

    def with_barriers(self) -> list[Node]:
        return ordered(self.nodes, self.size, self.name)[0]

    def text(self, nodes: Sequence[Node] | None = None) -> str:
        """Return the kernel as it is printed, with the barriers that it needs; or `nodes`."""
        shown = self.with_barriers() if nodes is None else nodes
        lines = "\n".join(line.removeprefix("    ") for line in text_of(shown, TypeNames(native_half=False)))
        return lines.replace("CLK_LOCAL_MEM_FENCE", "local").replace("CLK_GLOBAL_MEM_FENCE", "global")


# ---------------------------------------------------------------- running


@dataclass
class _Item:
    ids: tuple[int, int, int]
    values: dict[Value, int] = field(default_factory=dict)
    kept: Memory = field(default_factory=dict)
    """What it has written and others do not see yet."""
    delays: bool = False

    def flush(self, memory: Memory, fences: Sequence[str]) -> None:
        for at in list(self.kept):
            if ("global" if at[0].startswith(("out", "last")) else "local") in fences:
                memory[at] = self.kept.pop(at)

    def value(self, value: Value) -> int:
        if value.number is not None:
            return value.number
        if value.built_in == "LocalInvocationId" and value.axis is not None:
            return self.ids[value.axis]
        if value.built_in == "WorkgroupId":
            return 0
        if value.built_in == "First":
            return int(not any(self.ids[int(axis)] for axis in value.parts))
        return self.values[value]

    def run(self, statement: Statement, memory: Memory) -> None:
        name = statement.op.removeprefix("spirv.")
        result = 0
        if statement.accesses:
            place = statement.accesses[0].place
            at = place.memory, sum(self.value(index) * stride for index, stride in place.steps or ())
            if name == "Load":
                result = self.kept.get(at, memory.get(at, 0))
            elif name == "Store":
                self.kept.pop(at, None)
                (self.kept if self.delays else memory)[at] = self.value(statement.operands[1])
            else:
                memory[at] = self.kept.pop(at, memory.get(at, 0))
                memory[at] = memory.get(at, 0) + self.value(statement.operands[1])
        elif name in _SYMBOLS:
            result = _SYMBOLS[name][1](*(self.value(operand) for operand in statement.operands))
        else:
            return
        if statement.defines is not None:
            self.values[statement.defines] = result


def _items(size: Sequence[int]) -> list[_Item]:
    x, y, z = (range(width) for width in size)
    return [_Item((i, j, k)) for k, j, i in product(z, y, x)]


def run_in_step(nodes: Sequence[Node], size: Sequence[int]) -> Memory:
    """Run all work-items in step: each node for all that come there, the first side of an `if` before the other."""
    memory: Memory = {}

    def run(body: Sequence[Node], items: list[_Item]) -> tuple[list[_Item], list[_Item]]:
        """Return the items that come to the end, and those that leave the innermost loop."""
        left: list[_Item] = []
        for node in body:
            if isinstance(node, Statement):
                for item in items:
                    item.run(node, memory)
            elif isinstance(node, Assign):
                for item in items:
                    item.values[node.variable] = item.value(node.value)
            elif isinstance(node, Leave):
                return [], items
            elif isinstance(node, If):
                then = [item for item in items if bool(item.value(node.condition)) != node.negated]
                other = [item for item in items if item not in then]
                ends = [run(node.then, then), run(node.orelse, other)]
                going = {id(item) for stay, _ in ends for item in stay}
                items = [item for item in items if id(item) in going]
                left += [item for _, gone in ends for item in gone]
            elif isinstance(node, Loop):
                inside, all_items = items, items
                while inside:
                    inside, _ = run(node.body, inside)
                items = all_items
        return items, left

    run(nodes, _items(size))
    return memory


def run_permuted(nodes: Sequence[Node], size: Sequence[int], seed: int) -> Memory:
    """Run the work-items in any order, switching at any node, from barrier to barrier.

    Others see what an item has written when a fence of that memory is passed, or before.
    Raises `DivergentBarrierError` if not all come to the same barrier.
    """
    memory: Memory = {}
    choice = random.Random(seed)  # noqa: S311
    # Often one item runs to its barrier at once, as on a CPU; often they mix.
    sticks = choice.choice((0.0, 0.5, 0.9, 1.0))

    def run(body: Sequence[Node], item: _Item) -> Iterator[Barrier | None]:
        for node in body:
            if isinstance(node, Barrier):
                item.flush(memory, sorted(node.fences))
                yield node
            elif isinstance(node, Statement):
                item.delays = choice.random() > sticks
                item.run(node, memory)
                if node.accesses:
                    yield None
            elif isinstance(node, Assign):
                item.values[node.variable] = item.value(node.value)
            elif isinstance(node, Leave):
                raise _Left
            elif isinstance(node, If):
                yield from run(node.then if bool(item.value(node.condition)) != node.negated else node.orelse, item)
            elif isinstance(node, Loop):
                try:
                    while True:
                        yield from run(node.body, item)
                except _Left:
                    pass

    items = _items(size)
    flows = [run(nodes, item) for item in items]
    while flows:
        running, waiting, done = list(flows), list[Barrier](), 0
        flow = choice.choice(running)
        while running:
            if flow not in running or choice.random() > sticks:
                flow = choice.choice(running)
            try:
                reached = next(flow)
            except StopIteration:
                done += 1
                running.remove(flow)
                continue
            if reached is not None:
                waiting.append(reached)
                running.remove(flow)
        if waiting and (done or len(set(waiting)) > 1):
            msg = f"{done} work-items ended, {len(waiting)} wait at {len(set(waiting))} barriers"
            raise DivergentBarrierError(msg)
        if not waiting:
            break
    for item in items:
        item.flush(memory, ("local", "global"))
    return memory


class _Left(Exception):  # noqa: N818 - leaves a loop
    pass
