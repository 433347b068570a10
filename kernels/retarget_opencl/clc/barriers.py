"""Barriers that a kernel needs and IREE did not write.

IREE's plain tiling for SPIR-V keeps accumulators in workgroup memory, or in a result's buffer, and puts no barrier
between the statements that fill, update and read them, even where one work-item fills what another updates, or all
update the same (seen with IREE 3.13.0: softmax, a reduction fused with its use, pooling, a convolution per channel).
The result is right where a work-group is one subgroup whose lanes run in step. OpenCL does not guarantee this, and a
device that is a CPU runs one work-item after the other.

`ordered` follows the accesses since the last barrier through a kernel's nodes, round loops and through both sides
of an `if`. Where one access may meet an earlier one of another work-item (`addresses.Addresses.clash`) it puts a
barrier before it, with a fence for the memory it is in. Every work-item of the group must reach a barrier:

- It stands where the control flow depends on no work-item. An `if` whose condition does is closed before the barrier
  and opened again after it. A loop that work-items leave at different times stays whole.
- A barrier of IREE's that lacks only the fence gets it.
- Nodes in which nothing depends on a dimension of the local id do the same work several times over. In step that is
  once; out of step a sum would count it twice. If they clash with themselves, only the work-item with 0 in that
  dimension runs them.

Two `if`s of one condition that follow each other become one. IREE writes such pairs, the second reading what the
first has put into workgroup memory, and PoCL 3.0 compiles some of them wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from retarget_opencl.clc.addresses import Addresses, Use
from retarget_opencl.clc.nodes import Assign, Barrier, If, Leave, Loop, Node, Statement, Value, uses, walk
from retarget_opencl.clc.types import Scalar

_BOOL = Scalar("bool", 1)
_SHARED = frozenset({"StorageBuffer", "Workgroup"})
_NOWHERE: frozenset[Loop] = frozenset()
_Conditions = tuple[tuple[Value, bool], ...]


class _Pending(Struct, frozen=True):
    """An access since the last barrier that orders its memory; `stale` are the loops that have gone on since.

    `passed` is a barrier since then that lacks the fence.
    """

    use: Use
    stale: frozenset[Loop] = _NOWHERE
    passed: Barrier | None = None


class _Flow(Struct):
    """What is pending where the control flow is; and at the innermost loop's ends, at `break` and at `continue`."""

    pending: set[_Pending] = field(default_factory=set)
    breaks: set[_Pending] = field(default_factory=set)
    continues: set[_Pending] = field(default_factory=set)

    def wait(self, barrier: Barrier) -> None:
        """Forget what a barrier orders."""
        self.pending = {
            one if one.passed else _Pending(one.use, one.stale, barrier)
            for one in self.pending
            if _fence(one.use) not in barrier.fences
        }


def _fence(use: Use) -> str:
    return "local" if use.access.place.storage == "Workgroup" else "global"


_Pieces = list[tuple[Barrier | None, list[Node]]]
"""The nodes between barriers, each with the barrier before it; None before the first."""


class _Pass(Struct):
    addresses: Addresses
    uses: dict[Statement, list[Use]] = field(default_factory=dict)
    unsolved: list[tuple[Use, Use]] = field(default_factory=list)
    _together: bool = True

    def find_uses(self, nodes: Iterable[Node], conditions: _Conditions, loops: frozenset[Loop]) -> None:
        """Note what statements do in memory that the group's work-items share and the kernel writes."""
        for node in nodes:
            if isinstance(node, Statement):
                self.uses[node] = [
                    self.addresses.use(access, conditions, loops)
                    for access in node.accesses
                    if access.place.storage in _SHARED and access.place.memory in self.addresses.written
                ]
            elif isinstance(node, If):
                self.find_uses(node.then, (*conditions, (node.condition, node.negated)), loops)
                self.find_uses(node.orelse, (*conditions, (node.condition, not node.negated)), loops)
            elif isinstance(node, Loop):
                self.find_uses(node.body, conditions, loops | {node})

    def within(self, *nodes: Node) -> list[Use]:
        """Return the uses in nodes."""
        return [use for node in walk(nodes) if isinstance(node, Statement) for use in self.uses[node]]

    def sequence(self, nodes: Sequence[Node], flow: _Flow) -> list[Node]:
        """Return nodes with the barriers that they need; all work-items of the group come here together."""
        return [
            node for barrier, piece in self._split(nodes, flow) for node in (*((barrier,) if barrier else ()), *piece)
        ]

    def _split(self, nodes: Sequence[Node], flow: _Flow) -> _Pieces:
        pieces: _Pieces = [(None, [])]
        for node in nodes:
            (_, first), *rest = self._parted(node, flow)
            pieces[-1][1].extend(first)
            pieces += rest
        return pieces

    def _parted(self, node: Node, flow: _Flow) -> _Pieces:
        """Part a node where a barrier is needed, and follow the flow through it."""
        if isinstance(node, Loop):
            return self._loop(node, flow)
        if isinstance(node, If) and (self.addresses.varies(node) or not self._together):
            return self._varying_if(node, flow)
        barrier = None
        if isinstance(node, If):
            before = flow.pending
            then = self.sequence(node.then, flow)
            flow.pending, after = before, flow.pending
            node = If(node.condition, then, self.sequence(node.orelse, flow), negated=node.negated)
            flow.pending = flow.pending | after
        elif isinstance(node, Statement):
            barrier = self._ordered(self._clashes(flow, node), flow)
            flow.pending = flow.pending | {_Pending(use) for use in self.uses[node]}
        elif isinstance(node, Barrier):
            flow.wait(node)
        elif isinstance(node, Leave):
            if node.word == "break":
                flow.breaks |= flow.pending
            else:
                flow.continues |= flow.pending
            flow.pending = set()
        return [(None, []), (barrier, [node])] if barrier else [(None, [node])]

    def _varying_if(self, node: If, flow: _Flow) -> _Pieces:
        """Part an `if` that only some work-items enter; a loop that it leaves stays whole, and does not come here."""
        together, self._together = self._together, False
        pieces = [(barrier, part, False) for barrier, part in self._split(node.then, flow)]
        for barrier, part in self._split(node.orelse, flow):
            pieces.append((barrier, part, True))
        self._together = together
        found: _Pieces = [(None, [])]
        held: list[Node] = []
        for (barrier, part, other), (following, *_) in zip(pieces, (*pieces[1:], (None,)), strict=True):
            if barrier:
                found.append((barrier, []))
            if following and not self.within(*part):
                held += part  # a barrier before what accesses no memory is as good
                continue
            if other and found[-1][1] and isinstance(last := found[-1][1][-1], If):
                last.orelse = part
            elif held or part:
                found[-1][1].append(If(node.condition, held + part, negated=node.negated != other))
            held = []
        return found

    def _loop(self, node: Loop, flow: _Flow) -> _Pieces:
        barrier = self._ordered(self._first_clashes((node,), _Flow(flow.pending)), flow)
        uses = self.within(node)
        if self.addresses.varies(node) or not self._together:
            inner = frozenset({node, *(loop for loop in walk(node.body) if isinstance(loop, Loop))})
            self.unsolved += [(a, b) for a in uses for b in uses if self.addresses.clash(a, inner, b)]
            flow.pending = flow.pending | {_Pending(use, inner) for use in uses}
        else:
            again, known = set[_Pending](), None
            while again != known:
                known = again
                inside = _Flow(flow.pending | again)
                node.body = self.sequence(node.body, inside)
                again = _stale(inside.pending | inside.continues, node)
            flow.pending = _stale(inside.breaks, node)
        return [(None, []), (barrier, [node])] if barrier else [(None, [node])]

    def _clashes(self, flow: _Flow, statement: Statement) -> list[_Pending]:
        """Return what is pending and may meet an access of a statement."""
        clash = self.addresses.clash
        return [one for use in self.uses[statement] for one in flow.pending if clash(one.use, one.stale, use)]

    def _first_clashes(self, nodes: Iterable[Node], flow: _Flow) -> list[_Pending]:
        """Return what is pending before nodes and may meet an access in them."""
        found = []
        for node in nodes:
            if isinstance(node, Statement):
                found += self._clashes(flow, node)
            elif isinstance(node, Barrier):
                flow.wait(node)
            elif isinstance(node, Loop):
                found += self._first_clashes(node.body, flow)
            elif isinstance(node, If):
                other = _Flow(flow.pending)
                found += self._first_clashes(node.then, flow) + self._first_clashes(node.orelse, other)
                flow.pending = flow.pending | other.pending
        return found

    def _ordered(self, clashes: Sequence[_Pending], flow: _Flow) -> Barrier | None:
        """Return the barrier that orders what clashes, if those that stand do not."""
        if not clashes:
            return None
        barrier = Barrier({_fence(one.use) for one in clashes})
        if any(one.passed is None for one in clashes):
            flow.wait(barrier)
            return barrier
        for one in clashes:
            if one.passed is not None:
                one.passed.fences.add(_fence(one.use))
        flow.pending = {one for one in flow.pending if one.passed is None or _fence(one.use) not in one.passed.fences}
        return None

    # ------------------------------------------------------------ work that is done several times over

    def once(self, nodes: Iterable[Node], around: tuple[Value, ...]) -> list[Node]:
        """Return nodes with loops left to one work-item of those that do the same, where they need that."""
        found: list[Node] = []
        for node in nodes:
            same = self._same(node, around) if isinstance(node, Loop) else []
            if same:
                text = " && ".join(f"get_local_id({axis}) == 0" for axis in same)
                text = f"({text})" if len(same) > 1 else text
                found.append(If(Value(text, _BOOL, built_in="First", parts=tuple(map(str, same))), [node]))
                continue
            if isinstance(node, If):
                inner = (*around, node.condition)
                node.then, node.orelse = self.once(node.then, inner), self.once(node.orelse, inner)
            elif isinstance(node, Loop):
                node.body = self.once(node.body, around)
            found.append(node)
        return found

    def _same(self, loop: Loop, around: Iterable[Value]) -> list[int]:
        """Return the dimensions in which only the first work-item should run a loop."""
        nodes = list(walk((loop,)))
        if any(isinstance(node, Barrier) or (isinstance(node, Statement) and _counts(node)) for node in nodes):
            return []
        values = [value for node in nodes for value in _sources(node)]
        same = self.addresses.wide - self.addresses.dimensions((*around, *values))
        loops = frozenset(node for node in nodes if isinstance(node, Loop))
        inside = self.within(loop)
        if (
            not same
            or not any(self.addresses.clash(a, loops, b) for a in inside for b in inside)
            or self._lives_on(nodes)
        ):
            return []
        return sorted(same)

    def _lives_on(self, nodes: Sequence[Node]) -> bool:
        """Return whether something that these nodes compute is used elsewhere."""
        made: set[Value | str] = set()
        for node in nodes:
            if isinstance(node, Assign):
                made.add(node.variable)
            elif isinstance(node, Statement):
                made |= {access.place.memory for access in node.accesses if access.place.storage == "Function"}
                made |= {node.defines} if node.defines is not None else set()
        mine = set(nodes)
        return any(
            not made.isdisjoint((*uses(node), *(access.place.memory for access in getattr(node, "accesses", ()))))
            for node in walk(self.addresses.everything)
            if node not in mine
        )


def _sources(node: Node) -> Iterable[Value]:
    """Return values with what a node depends on."""
    return (node.defines,) if isinstance(node, Statement) and node.defines is not None else uses(node)


def _counts(statement: Statement) -> bool:
    """Return whether it matters how many work-items run a statement."""
    return any(access.mode == "atomic" or access.tile is not None for access in statement.accesses)


def _stale(pending: Iterable[_Pending], loop: Loop) -> set[_Pending]:
    return {_Pending(one.use, one.stale | {loop}, one.passed) for one in pending}


def _joined(nodes: Iterable[Node], addresses: Addresses, fresh: Callable[[str], str]) -> list[Node]:
    """Join neighbouring `if`s of one condition; one that may change is copied, so that it can be asked again."""
    joined: list[Node] = []
    for node in nodes:
        if isinstance(node, If) and addresses.is_variable(node.condition):
            copy = Value(fresh(""), node.condition.kind)
            joined.append(Statement("spirv.CopyObject", (node.condition,), defines=copy, text=node.condition.text))
            node.condition = copy
        before = joined[-1] if joined else None
        if (
            isinstance(node, If)
            and isinstance(before, If)
            and (before.condition, before.negated) == (node.condition, node.negated)
            and not before.orelse
        ):
            joined[-1] = If(node.condition, before.then + node.then, node.orelse, negated=node.negated)
        else:
            joined.append(node)
    for node in joined:
        if isinstance(node, If):
            node.then, node.orelse = _joined(node.then, addresses, fresh), _joined(node.orelse, addresses, fresh)
        elif isinstance(node, Loop):
            node.body = _joined(node.body, addresses, fresh)
    return joined


def ordered(
    nodes: list[Node], size: Sequence[int], fresh: Callable[[str], str]
) -> tuple[list[Node], list[tuple[Use, Use]]]:
    """Return a kernel's body with the barriers that it needs, and the pairs of accesses that no barrier could order.

    `size` is the work-group's in work-items, `fresh` gives a name that the kernel does not use.
    """
    nodes = _joined(nodes, Addresses.of(nodes, size), fresh)
    repeated = _Pass(Addresses.of(nodes, size))
    repeated.find_uses(nodes, (), _NOWHERE)
    nodes = repeated.once(nodes, ())
    found = _Pass(Addresses.of(nodes, size))
    found.find_uses(nodes, (), _NOWHERE)
    return found.sequence(nodes, _Flow()), found.unsolved
