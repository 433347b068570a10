"""Barriers that a kernel needs and IREE did not write.

IREE's plain tiling for SPIR-V keeps accumulators in workgroup memory, or in a result's buffer, and puts no barrier
between the statements that fill, update and read them, even where one work-item fills what another updates, or all
update the same (seen with IREE 3.13.0: softmax, a reduction fused with its use, pooling, a convolution per channel).
The result is right where a work-group is one subgroup whose lanes run in step. OpenCL does not guarantee this, and a
device that is a CPU runs one work-item after the other.

`with_barriers` looks for pairs of statements at the outermost level of a kernel of which one writes what the other may
read or write on behalf of another work-item, and puts a barrier between them. A barrier must be reached by every
work-item of the group: an `if` at the outermost level is closed before it and opened again after it. Loops stay whole.
What is out of step within one loop, or in an `if` with an `else`, is left as IREE wrote it.

Accesses of a work-item to a place of its own, the same throughout (`sums[local_id_x]` and `sums[local_id_x]`), need no
barrier.

A statement or loop that reads and writes the same memory, and in which nothing depends on a dimension of the local id,
does the same work several times over. In step that is once; out of step sums would count it twice. Only the work-item
with 0 in that dimension stores.

Two `if`s of one condition that follow each other become one. IREE writes such pairs, the second reading what the
first has put into workgroup memory, and PoCL 3.0 compiles some of them wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retarget_opencl.clc.values import Line

__all__ = ["with_barriers"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"if \(!?(?P<name>\w+)\) \{")
_ASSIGNMENT = re.compile(r"(?P<new>const \w+ )?(?P<name>\w+) = (?P<value>.*);")
_STORE = re.compile(r"(?P<name>\w+)\[.*?\] = (?P<value>.*);")
_BINDING = "binding "
_ID = re.compile(r"get_(?:local|global)_id\((\d)\)")
_WITHIN_GROUP = re.compile(r"\b(?:retarget_|matrix_|sub_group_)")
_HALF = re.compile(r".*\bv(?P<what>load|store)_half\w*\(.*half\*\)&")


@dataclass(frozen=True, slots=True)
class _Block:
    """`head {`, the statements in it, and what closes it."""

    head: Line
    body: list[Line | _Block]
    tail: Line


_Place = tuple[str, int] | None
"""A place that is a work-item's own and stays the same: the variable's name and the subscript's number."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """The statements between two barriers, and the first of the barriers."""

    barrier: str
    nodes: list[Line | _Block]


@dataclass(slots=True)
class _Accesses:
    """The places of each memory that are read and written; None for those that change or are not known.

    A memory is a `__local` variable's or a binding's, which may go by several names.
    """

    read: dict[str, set[_Place]] = field(default_factory=dict)
    written: dict[str, set[_Place]] = field(default_factory=dict)

    def add(self, other: _Accesses) -> None:
        for mine, theirs in ((self.read, other.read), (self.written, other.written)):
            for name, places in theirs.items():
                mine.setdefault(name, set()).update(places)

    def clear(self) -> None:
        self.read.clear()
        self.written.clear()

    def clashes(self, later: _Accesses) -> set[str]:
        """Return the memories where one of two statements writes what the other may use for another work-item."""
        pairs = ((self.written, later.written), (self.written, later.read), (self.read, later.written))
        return {
            name for first, then in pairs for name in first.keys() & then.keys() if _apart(first[name] | then[name])
        }


def _apart(places: set[_Place]) -> bool:
    return len(places) > 1 or None in places


@dataclass(slots=True)
class _Values:
    """What the expressions of a kernel depend on, and which of them stay the same for a work-item."""

    definitions: dict[str, str]
    """The expressions of values that have one."""
    assigned: dict[str, list[str]]
    """What the variables depend on: what is assigned to them, and the conditions on the way there."""
    wide: frozenset[int]
    """The dimensions of the work-group that have more than one work-item."""
    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    _known: dict[str, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Sequence[Line | _Block], memories: Iterable[str], size: Sequence[int]) -> _Values:
        definitions: dict[str, str] = {}
        assigned: dict[str, list[str]] = {}
        shared = frozenset(memories)
        for node in nodes:
            lines = list(_flat((node,)))
            heads = [line.text for line in lines if line.text.endswith("{")]
            for line in lines:
                found = _ASSIGNMENT.fullmatch(line.text) or _STORE.fullmatch(line.text)
                if line.defines is not None:
                    definitions[line.defines.text] = line.text
                elif found is not None and found.groupdict().get("new"):
                    definitions[found["name"]] = found["value"]
                elif found is not None and found["name"] not in shared:
                    assigned.setdefault(found["name"], []).extend((found["value"], *heads))
        return cls(definitions, assigned, frozenset(axis for axis, width in enumerate(size) if width > 1))

    def dimensions(self, *texts: str) -> frozenset[int]:
        """Return the dimensions of the local id that expressions depend on, of those that are wide."""
        found: set[int] = set()
        seen: set[str] = set()
        open_ = list(texts)
        while open_:
            text = open_.pop()
            found |= {int(axis) for axis in _ID.findall(text)}
            if _WITHIN_GROUP.search(text):
                return self.wide
            for name in _NAME.findall(text):
                if name not in seen:
                    seen.add(name)
                    open_ += [
                        *([self.definitions[name]] if name in self.definitions else ()),
                        *self.assigned.get(name, ()),
                    ]
        return self.wide & found

    def place(self, subscript: str) -> int | None:
        """Number a place that is a work-item's own and stays the same, equal ones equally; None for others."""
        number = self._number(subscript)
        return number if self.dimensions(subscript) == self.wide else None

    def _number(self, text: str) -> int | None:
        """Number an expression, None if it reads memory or a variable."""
        if text in self._known:
            return self._known[text]
        self._known[text] = None
        if "[" in text:
            return None
        parts: list[object] = []
        end = 0
        for found in _NAME.finditer(text):
            name = found.group()
            if name in self.definitions:
                inner = self._number(self.definitions[name])
                if inner is None:
                    return None
                parts += [text[end : found.start()], inner]
                end = found.end()
            elif name in self.assigned:
                return None
        if len(parts) == 2 and not parts[0] and end == len(text):
            number = int(str(parts[1]))  # a name alone has the number of its expression
        else:
            number = self._numbers.setdefault((*parts, text[end:]), len(self._numbers))
        self._known[text] = number
        return number


@dataclass(slots=True)
class _Kernel:
    memories: Mapping[str, str]
    values: _Values
    lines: Sequence[Line]
    _seen: dict[int, _Accesses] = field(default_factory=dict)

    def accesses(self, node: Line | _Block) -> _Accesses:
        """Return what a statement, or all of a block, reads and writes."""
        known = self._seen.get(id(node))
        if known is None:
            known = self._seen[id(node)] = _Accesses()
            if isinstance(node, Line):
                self._read_line(node, known)
            else:
                for line in (node.head, *node.body):
                    known.add(self.accesses(line))
        return known

    def _read_line(self, line: Line, found: _Accesses) -> None:
        for match in _NAME.finditer(line.text):
            name = match.group()
            if name not in self.memories:
                continue
            memory = self.memories[name]
            end = _subscript_end(line.text, match.end())
            before = line.text[: match.start()]
            subscript = line.text[match.end() + 1 : end - 1]
            number = self.values.place(subscript) if subscript else None
            place: _Place = None if number is None else (name, number)
            half = _HALF.fullmatch(before)
            writes = (not before and line.text[end:].startswith(" = ")) or (
                half is not None and half["what"] == "store"
            )
            reads = not writes
            if half is None and (before.endswith("&") or not subscript):
                # An address may be given to something that reads, writes or both, there or beyond.
                reads = writes = True
                place = None
            if writes:
                found.written.setdefault(memory, set()).add(place)
            if reads:
                found.read.setdefault(memory, set()).add(place)

    def split(
        self, nodes: Sequence[Line | _Block], before: _Accesses, conditions: tuple[str, ...] = ()
    ) -> list[_Piece]:
        """Part what follows on each other where a barrier is needed.

        `before` is what was done since the last barrier, `conditions` are those of the `if`s around.
        """
        pieces = [_Piece("", [])]
        for node, following in zip(nodes, (*nodes[1:], None), strict=True):
            if isinstance(node, Line) and node.text.startswith("barrier("):
                before.clear()
                pieces[-1].nodes.append(node)
            elif isinstance(node, _Block) and self._can_be_split(node, following):
                first, *rest = self.split(node.body, before, (*conditions, node.head.text))
                if first.nodes:
                    pieces[-1].nodes.append(_Block(node.head, first.nodes, node.tail))
                pieces += [_Piece(piece.barrier, [_Block(node.head, piece.nodes, node.tail)]) for piece in rest]
            else:
                now = self.accesses(node)
                clashes = before.clashes(now)
                if clashes:
                    pieces.append(_Piece(_barrier(clashes), []))
                    before.clear()
                before.add(now)
                pieces[-1].nodes.append(self._once(node, conditions))
        return pieces

    def _can_be_split(self, block: _Block, following: Line | _Block | None) -> bool:
        """Return whether a block is an `if` without `else` whose condition does not change."""
        condition = _CONDITION.fullmatch(block.head.text)
        if condition is None or condition["name"] not in self.values.definitions or block.tail.text != "}":
            return False
        return not (isinstance(following, _Block) and following.head.text.startswith("else"))

    def _once(self, node: Line | _Block, conditions: tuple[str, ...]) -> Line | _Block:
        """Return a block with its stores left to one work-item of those that do the same, if it needs that."""
        now = self.accesses(node)
        if isinstance(node, Line) or not now.read.keys() & now.written.keys():
            return node
        lines = list(_flat((node,)))
        texts = [line.text for line in lines]
        same = self.values.wide - self.values.dimensions(*conditions, *texts)
        if not same or any("atomic" in text for text in texts) or self._lives_on(lines):
            return node
        only = " && ".join(f"get_local_id({axis}) == 0" for axis in sorted(same))
        return _guarded(node, only)

    def _lives_on(self, lines: Sequence[Line]) -> bool:
        """Return whether something that these lines compute is used elsewhere."""
        defined = {line.defines.text for line in lines if line.defines is not None}
        for line in lines:
            found = _ASSIGNMENT.fullmatch(line.text) or _STORE.fullmatch(line.text)
            if found is not None and found["name"] not in self.memories:
                defined.add(found["name"])
        mine = {id(line) for line in lines}
        for line in self.lines:
            if id(line) not in mine:
                found = _ASSIGNMENT.fullmatch(line.text)
                if defined.intersection(_NAME.findall(line.text if found is None else found["value"])):
                    return True
        return False


def _barrier(memories: Iterable[str]) -> str:
    fences = {"CLK_GLOBAL_MEM_FENCE" if name.startswith(_BINDING) else "CLK_LOCAL_MEM_FENCE" for name in memories}
    return f"barrier({' | '.join(sorted(fences))});"


def _guarded(block: _Block, condition: str) -> _Block:
    body: list[Line | _Block] = []
    for node in block.body:
        if isinstance(node, _Block):
            body.append(_guarded(node, condition))
        elif node.defines is not None or _ASSIGNMENT.fullmatch(node.text) or node.text in {"break;", "continue;"}:
            body.append(node)
        else:
            body.append(Line(node.indent, f"if ({condition}) {node.text}"))
    return _Block(block.head, body, block.tail)


def _subscript_end(text: str, start: int) -> int:
    """Return where the subscripts that begin at `start` end; `start` if there are none."""
    depth, at = 0, start
    while at < len(text) and (depth or text[at] == "["):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        at += 1
    return at


def _tree(lines: Iterable[Line]) -> list[Line | _Block]:
    stack: list[tuple[Line | None, list[Line | _Block]]] = [(None, [])]
    for line in lines:
        if line.text.startswith("}"):
            head, body = stack.pop()
            assert head is not None  # noqa: S101
            stack[-1][1].append(_Block(head, body, line))
        if line.text.endswith("{"):
            stack.append((line, []))
        elif not line.text.startswith("}"):
            stack[-1][1].append(line)
    return stack[0][1]


def _joined(nodes: Iterable[Line | _Block], fixed: Mapping[str, str]) -> list[Line | _Block]:
    """Join neighbouring `if`s of one condition; `fixed` names what does not change."""
    joined: list[Line | _Block] = []
    for node in nodes:
        block = node if isinstance(node, Line) else _Block(node.head, _joined(node.body, fixed), node.tail)
        before = joined[-1] if joined else None
        condition = None if isinstance(block, Line) else _CONDITION.fullmatch(block.head.text)
        if (
            isinstance(block, _Block)
            and isinstance(before, _Block)
            and condition is not None
            and condition["name"] in fixed
            and before.head.text == block.head.text
            and before.tail.text == "}"
        ):
            joined[-1] = _Block(before.head, _joined((*before.body, *block.body), fixed), block.tail)
        else:
            joined.append(block)
    return joined


def _flat(nodes: Iterable[Line | _Block]) -> Iterator[Line]:
    for node in nodes:
        if isinstance(node, Line):
            yield node
        else:
            if not node.head.text.startswith("}"):
                yield node.head
            yield from _flat(node.body)
            yield node.tail


def with_barriers(
    lines: Sequence[Line], local: Iterable[str], bindings: Mapping[str, int], size: Sequence[int]
) -> list[Line]:
    """Return a kernel's statements with the barriers that they need.

    `local` names the kernel's `__local` variables, `bindings` gives the ordinals behind the names of the bindings that
    the kernel may write, `size` is the work-group's in work-items. Values that are defined before a barrier, inside an
    `if` that it parts, and are used after it, are marked to be declared at the top of the kernel.
    """
    memories = {name: name for name in local} | {name: f"{_BINDING}{ordinal}" for name, ordinal in bindings.items()}
    tree = _tree(lines)
    kernel = _Kernel(memories=memories, values=_Values.of(tree, memories, size), lines=lines)
    everything = _Accesses()
    for node in tree:
        everything.add(kernel.accesses(node))
    # A memory that is only read, or only written, is left alone.
    used = everything.read.keys() & everything.written.keys()
    if not used or not kernel.values.wide or any(line.text == "return;" for line in lines):
        return list(lines)
    tree = _joined(tree, kernel.values.definitions)
    kernel = replace(kernel, memories={name: memory for name, memory in memories.items() if memory in used}, _seen={})
    parted: list[Line] = []
    defined: dict[str, Line] = {}
    for piece in kernel.split(tree, _Accesses()):
        flat = list(_flat(piece.nodes))
        if piece.barrier:
            parted.append(Line(1, piece.barrier))
            for name in _NAME.findall(" ".join(line.text for line in flat)):
                earlier = defined.get(name)
                if earlier is not None and earlier.indent > 1 and earlier.defines is not None:
                    earlier.defines.hoisted = True
        parted += flat
        defined |= {line.defines.text: line for line in flat if line.defines is not None}
    return parted
