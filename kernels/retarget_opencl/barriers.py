"""Barriers that a kernel needs and IREE did not ask for.

IREE's plain tiling for SPIR-V keeps accumulators in workgroup memory and puts no barrier between the statements that
fill it, update it and read it, even where one work-item fills what another updates (seen with IREE 3.13.0: a softmax, a
reduction fused with its use). That comes out right where a work-group is one subgroup whose lanes go in step. OpenCL
promises no such thing, and a device that is a CPU runs one work-item after the other.

`with_barriers` looks for pairs of statements at the outermost level of a kernel of which one writes what the other may
read or write on behalf of another work-item, and puts a barrier between them. A barrier must be reached by every
work-item of the group: an `if` at the outermost level is closed before it and opened again after it. Loops stay whole.
What is out of step within one loop, or in an `if` with an `else`, is left as IREE wrote it.

Accesses of a work-item to one place, the same throughout (`sums[local_id_x]` and `sums[local_id_x]`), need no barrier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .values import Line

__all__ = ["with_barriers"]

_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
_NAME = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"if \((!?)(\w+)\) \{")


@dataclass(frozen=True, slots=True)
class _Block:
    """`head {`, what stands in it, and what closes it."""

    head: Line
    body: list[Line | _Block]
    tail: Line


@dataclass(slots=True)
class _Accesses:
    """The places of each `__local` variable that are read and written. None: places that change or are not known."""

    read: dict[str, set[int | None]] = field(default_factory=dict)
    written: dict[str, set[int | None]] = field(default_factory=dict)

    def add(self, other: _Accesses) -> None:
        for mine, theirs in ((self.read, other.read), (self.written, other.written)):
            for name, places in theirs.items():
                mine.setdefault(name, set()).update(places)

    def clear(self) -> None:
        self.read.clear()
        self.written.clear()

    def clashes(self, later: _Accesses) -> bool:
        """Tell whether one of two statements writes what the other may use for another work-item."""
        pairs = ((self.written, later.written), (self.written, later.read), (self.read, later.written))
        return any(_apart(first[name], then[name]) for first, then in pairs for name in first.keys() & then.keys())


def _apart(first: set[int | None], then: set[int | None]) -> bool:
    places = first | then
    return len(places) > 1 or None in places


@dataclass(slots=True)
class _Places:
    """Numbers the subscripts that stay the same for a work-item, equal ones equally."""

    definitions: dict[str, str]
    """The expressions of values that are defined once; variables that are assigned are not among them."""
    fixed: frozenset[str]
    """The words of a definition that are no values: functions, types, literals' suffixes."""
    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    _known: dict[str, int | None] = field(default_factory=dict)

    def number(self, text: str) -> int | None:
        """Return the number of an expression, None if it reads memory or a variable."""
        if text in self._known:
            return self._known[text]
        parts: list[object] = []
        end = 0
        self._known[text] = None
        if "[" in text:
            return None
        for found in _NAME.finditer(text):
            name = found.group()
            if name in self.definitions:
                inner = self.number(self.definitions[name])
                if inner is None:
                    return None
                parts += [text[end : found.start()], inner]
                end = found.end()
            elif name not in self.fixed and not text[: found.start()].endswith(tuple("0123456789.")):
                return None
        # An expression that is just a name has the number of what the name stands for.
        if len(parts) == 2 and not parts[0] and end == len(text):
            number = parts[1]
            assert isinstance(number, int)  # noqa: S101
        else:
            number = self._numbers.setdefault((*parts, text[end:]), len(self._numbers))
        self._known[text] = number
        return number


# Functions of the work-item alone, and casts.
_FIXED = frozenset(
    {"get_local_id", "get_group_id", "get_num_groups", "get_local_size", "uint", "int", "ulong", "as_int", "as_uint"}
)


@dataclass(slots=True)
class _Kernel:
    local: frozenset[str]
    places: _Places
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
            if name not in self.local:
                continue
            end = _subscript_end(line.text, match.end())
            place = self.places.number(line.text[match.end() + 1 : end - 1]) if end > match.end() else None
            assigned = match.start() == 0 and line.text[end:].startswith(" = ")
            # An address may be given to something that reads, writes or both.
            address = line.text[: match.start()].endswith("&") or end == match.end()
            if assigned or address:
                found.written.setdefault(name, set()).add(place)
            if not assigned:
                found.read.setdefault(name, set()).add(place)

    def split(self, nodes: Sequence[Line | _Block], before: _Accesses) -> list[list[Line | _Block]]:
        """Part what follows on each other where a barrier is needed. `before` is what was done since the last one."""
        pieces: list[list[Line | _Block]] = [[]]
        for node, following in zip(nodes, (*nodes[1:], None), strict=True):
            if isinstance(node, Line) and node.text.startswith("barrier("):
                before.clear()
                pieces[-1].append(node)
            elif isinstance(node, _Block) and self._can_be_split(node, following):
                first, *rest = self.split(node.body, before)
                if first:
                    pieces[-1].append(_Block(node.head, first, node.tail))
                pieces += [[_Block(node.head, piece, node.tail)] for piece in rest]
            else:
                now = self.accesses(node)
                if before.clashes(now):
                    pieces.append([])
                    before.clear()
                before.add(now)
                pieces[-1].append(node)
        return pieces

    def _can_be_split(self, block: _Block, following: Line | _Block | None) -> bool:
        """Tell whether a block is an `if` without `else` whose condition stays what it is."""
        condition = _CONDITION.fullmatch(block.head.text)
        if condition is None or condition.group(2) not in self.places.definitions or block.tail.text != "}":
            return False
        return not (isinstance(following, _Block) and following.head.text.startswith("else"))


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


def _flat(nodes: Iterable[Line | _Block]) -> Iterator[Line]:
    for node in nodes:
        if isinstance(node, Line):
            yield node
        else:
            if not node.head.text.startswith("}"):
                yield node.head
            yield from _flat(node.body)
            yield node.tail


def with_barriers(lines: Sequence[Line], local: Iterable[str]) -> list[Line]:
    """Return a kernel's statements with the barriers that they need.

    `local` names the kernel's `__local` variables. Values that are defined before a barrier, inside an `if` that it
    parts, and are used after it, are marked to be declared at the top of the kernel.
    """
    if any(line.text == "return;" for line in lines):
        return list(lines)
    definitions = {line.defines.text: line.text for line in lines if line.defines is not None}
    kernel = _Kernel(local=frozenset(local), places=_Places(definitions, _FIXED))
    pieces = kernel.split(_tree(lines), _Accesses())
    if len(pieces) == 1:
        return list(lines)
    parted: list[Line] = []
    defined: dict[str, Line] = {}
    for number, piece in enumerate(pieces):
        flat = list(_flat(piece))
        if number:
            parted.append(Line(1, _BARRIER))
        for line in flat:
            for name in _NAME.findall(line.text):
                earlier = defined.get(name)
                if earlier is not None and earlier.indent > 1 and earlier.defines is not None:
                    earlier.defines.hoisted = True
        parted += flat
        defined |= {line.defines.text: line for line in flat if line.defines is not None}
    return parted
