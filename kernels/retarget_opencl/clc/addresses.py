"""What the values of a kernel depend on, and which bytes each work-item of a group accesses.

The address of an access is, for each work-item, a number that is known plus multiples of terms that are not: the
number of the group, push constants, how often a loop has run. Two accesses share no byte if they share none whatever
the terms are; a term that is the same for both cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import gcd, prod
from operator import and_, ge, gt, le, lt, mul, or_, xor

from msgspec import Struct, field

from retarget_opencl.clc.nodes import Access, Assign, If, Leave, Loop, Node, Statement, Value, children, walk
from retarget_opencl.clc.types import Scalar

_WARP = 32
_COMPUTED = (Scalar("int", 32), Scalar("bool", 1))
_MASK = 0xFFFFFFFF
_OF_A_SUBGROUP = ("spirv.Group", "spirv.KHR.Subgroup", "spirv.KHR.CooperativeMatrix")
"""Ops whose results subgroups of one work-group have differently."""


class _Term(Struct, frozen=True):
    """Something that is not known. `loops` are those in which it may change, `uniform` is it for a whole work-group."""

    key: object
    loops: frozenset[Loop] = frozenset()
    uniform: bool = True


class _Form(Struct, frozen=True):
    """For each work-item `items` plus `terms` times their factors."""

    items: tuple[int, ...]
    terms: tuple[tuple[_Term, int], ...] = ()

    @property
    def number(self) -> int | None:
        """What it is if it is one number that is known."""
        return self.items[0] if not self.terms and len(set(self.items)) == 1 else None

    def scaled(self, by: int) -> _Form:
        return _Form(tuple(item * by for item in self.items), tuple((term, by * n) for term, n in self.terms if by))

    def plus(self, other: _Form) -> _Form:
        terms = dict(self.terms)
        for term, factor in other.terms:
            terms[term] = terms.get(term, 0) + factor
        items = tuple(a + b for a, b in zip(self.items, other.items, strict=True))
        return _Form(items, tuple((term, factor) for term, factor in terms.items() if factor))


class Use(Struct, frozen=True, eq=False):
    """An access where it stands: the work-items that come there, and the loops around."""

    access: Access
    address: _Form | None
    items: tuple[bool, ...]
    loops: frozenset[Loop]


def _signed(value: int) -> int:
    value &= _MASK
    return value - (1 << 32) if value >> 31 else value


def _unsigned(value: int) -> int:
    return value & _MASK


def _quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    whole = abs(a) // abs(b)
    return -whole if a ^ b < 0 else whole


_ORDERS = {"LessThan": lt, "LessThanEqual": le, "GreaterThan": gt, "GreaterThanEqual": ge}
_OPS: Mapping[str, Callable[..., int]] = {
    "IMul": mul,
    "UDiv": lambda a, b: a // b if b else 0,
    "UMod": lambda a, b: a % b if b else 0,
    "SDiv": _quotient,
    "ShiftLeftLogical": lambda a, b: a << (b & 31),
    "ShiftRightLogical": lambda a, b: a >> (b & 31),
    "ShiftRightArithmetic": lambda a, b: a >> (b & 31),
    "BitwiseAnd": and_,
    "BitwiseOr": or_,
    "BitwiseXor": xor,
    "LogicalAnd": and_,
    "LogicalOr": or_,
    "LogicalNot": lambda a: 1 - a,
    "Select": lambda c, a, b: a if c else b,
    "IEqual": lambda a, b: int(a == b),
    "INotEqual": lambda a, b: int(a != b),
    **{f"{sign}{name}": lambda a, b, is_so=is_so: int(is_so(a, b)) for sign in "SU" for name, is_so in _ORDERS.items()},
    "GL.SMin": min,
    "GL.SMax": max,
    "GL.UMin": min,
    "GL.UMax": max,
}
"""Ops on 32-bit integers and booleans that are computed where everything is known."""
_SIGNED = {"SDiv", "ShiftRightArithmetic", "GL.SMin", "GL.SMax", *(f"S{name}" for name in _ORDERS)}
_UNSIGNED = {"UDiv", "UMod", "ShiftRightLogical", "IEqual", "INotEqual", "GL.UMin", "GL.UMax"}
_UNSIGNED |= {f"U{name}" for name in _ORDERS}


class Addresses(Struct):
    """Answers for one kernel. `written` names the memories that the kernel writes, `size` is the work-group's."""

    size: Sequence[int]
    written: frozenset[str]
    wide: frozenset[int]
    everything: list[Node]
    _definitions: dict[Value, Statement] = field(default_factory=dict)
    _assigned: dict[Value, list[tuple[Value, frozenset[Loop]]]] = field(default_factory=dict)
    _forms: dict[Value, _Form] = field(default_factory=dict)
    _open: set[Value] = field(default_factory=set)
    _spread: dict[Value | str, frozenset[int]] = field(default_factory=dict)
    _repeated: dict[Value | str, frozenset[int]] = field(default_factory=dict)
    _divergence: dict[Loop, frozenset[int]] = field(default_factory=dict)
    _clashes: dict[tuple[Use, Use, frozenset[Loop]], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: list[Node], size: Sequence[int]) -> Addresses:
        """Return the answers for a kernel's body."""
        accesses = [access for node in walk(nodes) if isinstance(node, Statement) for access in node.accesses]
        written = frozenset(access.place.memory for access in accesses if access.mode != "read")
        found = cls(size, written, frozenset(axis for axis, width in enumerate(size) if width > 1), nodes)
        found._define(nodes, frozenset())
        for table, trusts_memory in ((found._spread, False), (found._repeated, True)):
            before = None
            while before != (before := (dict(table), dict(found._divergence))):
                found._depend(nodes, table, frozenset(), (), trusts_memory=trusts_memory)
        return found

    # ------------------------------------------------------------ what depends on what

    def _define(self, nodes: Iterable[Node], loops: frozenset[Loop]) -> None:
        for node in nodes:
            if isinstance(node, Statement) and node.defines is not None:
                self._definitions[node.defines] = node
            elif isinstance(node, Assign):
                self._assigned.setdefault(node.variable, []).append((node.value, loops))
            for body in children(node):
                self._define(body, loops | {node} if isinstance(node, Loop) else loops)

    def _depend(
        self,
        nodes: Iterable[Node],
        table: dict[Value | str, frozenset[int]],
        control: frozenset[int],
        loops: tuple[tuple[Loop, frozenset[int]], ...],
        *,
        trusts_memory: bool,
    ) -> None:
        """Add to `table` on which dimensions of the local id values depend; once for all that is known so far."""
        for node in nodes:
            if isinstance(node, Statement):
                dims = self._of(table, *node.operands)
                for access in node.accesses:
                    place = access.place
                    if place.storage == "Function":
                        if access.mode == "write":
                            table[place.memory] = table.get(place.memory, frozenset()) | dims | control
                        dims |= table.get(place.memory, frozenset())
                    elif access.mode == "atomic" or (place.memory in self.written and not trusts_memory):
                        dims = self.wide
                if node.op.startswith(_OF_A_SUBGROUP):
                    dims = self.wide
                if node.defines is not None and node.defines.axis is None:
                    table[node.defines] = dims
            elif isinstance(node, Assign):
                table[node.variable] = table.get(node.variable, frozenset()) | self._of(table, node.value) | control
            elif isinstance(node, Leave):
                loop, outside = loops[-1]
                self._divergence[loop] = self._divergence.get(loop, frozenset()) | (control - outside)
            elif isinstance(node, If):
                inner = control | self._of(table, node.condition)
                self._depend(node.then, table, inner, loops, trusts_memory=trusts_memory)
                self._depend(node.orelse, table, inner, loops, trusts_memory=trusts_memory)
            elif isinstance(node, Loop):
                inner = control | self._divergence.get(node, frozenset())
                around = (*loops, (node, control))
                self._depend(node.body, table, inner, around, trusts_memory=trusts_memory)

    def _of(self, table: Mapping[Value | str, frozenset[int]], *values: Value) -> frozenset[int]:
        found: frozenset[int] = frozenset()
        for value in values:
            found |= table.get(value, frozenset())
            if value.built_in in {"LocalInvocationId", "GlobalInvocationId"}:
                found |= frozenset(range(3)) if value.axis is None else {value.axis}
            elif value.built_in == "First":
                found |= frozenset(int(axis) for axis in value.parts)
            elif value.built_in.startswith("Subgroup"):
                found |= self.wide
            found |= self._of(table, *value.parents)
        return found & self.wide

    def varies(self, node: If | Loop) -> bool:
        """Return whether work-items of a group may go different ways at an `if`, or leave a loop at different times."""
        if isinstance(node, If):
            return bool(self._of(self._spread, node.condition))
        return bool(self._divergence.get(node))

    def is_variable(self, value: Value) -> bool:
        """Return whether a value may change."""
        return value in self._assigned

    def dimensions(self, values: Iterable[Value]) -> frozenset[int]:
        """Return the dimensions of the local id that values depend on; what is read depends on where it is."""
        return self._of(self._repeated, *values)

    # ------------------------------------------------------------ addresses

    def _constant(self, number: int) -> _Form:
        return _Form((number,) * prod(self.size))

    def _opaque(self, key: object, loops: frozenset[Loop] = frozenset(), *, uniform: bool = True) -> _Form:
        return _Form(self._constant(0).items, ((_Term(key, loops, uniform), 1),))

    def _local(self, axis: int) -> _Form:
        x, y, z = (range(width) for width in self.size)
        return _Form(tuple(item[2 - axis] for item in product(z, y, x)))

    def form(self, value: Value) -> _Form:
        """Return what a 32-bit integer or boolean is for each work-item."""
        if value in self._forms:
            return self._forms[value]
        if value in self._open:  # a loop's variable that depends on itself in another way than by a step
            return self._unknown(value)
        self._open.add(value)
        self._forms[value] = self._computed(value)
        return self._forms[value]

    def _computed(self, value: Value) -> _Form:  # noqa: PLR0911 - one return per kind of value
        if value.number is not None:
            return self._constant(value.number)
        if value.built_in == "First":
            sums = [self._local(int(axis)).items for axis in value.parts]
            return _Form(tuple(int(not any(item)) for item in zip(*sums, strict=True)))
        if value.axis is not None:
            local, group = self._local(value.axis), self._opaque((value.axis,))
            if value.built_in == "LocalInvocationId":
                return local
            if value.built_in == "GlobalInvocationId":
                return local.plus(group.scaled(self.size[value.axis]))
            if value.built_in == "WorkgroupSize":
                return self._constant(self.size[value.axis])
            return group if value.built_in == "WorkgroupId" else self._opaque((value.built_in, value.axis))
        if value in self._assigned:
            return self._stepped(value)
        made = self._definitions.get(value)
        if made is not None and value.kind in _COMPUTED:
            return self._result(made, value)
        return self._unknown(value)

    def _unknown(self, value: Value) -> _Form:
        return self._opaque(value, self._loops(value), uniform=not self._of(self._spread, value))

    def _result(self, made: Statement, value: Value) -> _Form:  # noqa: PLR0911 - one return per kind of op
        name = made.op.removeprefix("spirv.")
        if name == "Load" and made.operands[0].pointer.storage == "PushConstant":
            return self._opaque(made.text)
        if name in {"CopyObject", "Bitcast"} and made.operands[0].kind in _COMPUTED:
            return self.form(made.operands[0])
        if name not in _OPS and name not in {"IAdd", "ISub", "SNegate"}:
            return self._unknown(value)
        forms = [self.form(operand) for operand in made.operands]
        if name in {"IAdd", "ISub"}:
            return forms[0].plus(forms[1].scaled(1 if name == "IAdd" else -1))
        if name == "SNegate":
            return forms[0].scaled(-1)
        if not any(form.terms for form in forms):
            known = zip(*(form.items for form in forms), strict=True)
            convert = _signed if name in _SIGNED else _unsigned if name in _UNSIGNED else int
            return _Form(tuple(_OPS[name](*map(convert, items)) for items in known))
        by = forms[-1].number
        if name == "IMul" and by is not None:
            return forms[0].scaled(by)
        if name == "IMul" and forms[0].number is not None:
            return forms[1].scaled(forms[0].number)
        if name == "ShiftLeftLogical" and by is not None:
            return forms[0].scaled(1 << (by & 31))
        loops = frozenset[Loop]().union(*(term.loops for form in forms for term, _ in form.terms))
        uniform = all(term.uniform for form in forms for term, _ in form.terms)
        uniform = uniform and all(len(set(form.items)) == 1 for form in forms)
        return self._opaque((name, tuple(forms)), loops, uniform=uniform)

    def _stepped(self, variable: Value) -> _Form:
        """Return the form of a variable: of a loop's counter its first value plus steps."""
        first, step = None, 0
        for value, _ in self._assigned[variable]:
            made = self._definitions.get(value)
            if made is not None and made.op == "spirv.IAdd" and variable in made.operands:
                other = made.operands[made.operands[0] is variable]
                by = self.form(other).number
                step = gcd(step, by) if by is not None else 1
            elif first is None:
                first = value
            else:
                return self._unknown(variable)
        if first is None or step == 0:
            return self._unknown(variable) if first is None else self.form(first)
        return self.form(first).plus(self._opaque(variable, self._loops(variable)).scaled(step))

    def _loops(self, value: Value) -> frozenset[Loop]:
        """Return the loops in which a value may change."""
        seen: set[Value] = set()
        found: set[Loop] = set()
        open_ = [value]
        while open_:
            one = open_.pop()
            if one not in seen:
                seen.add(one)
                open_ += one.parents
                if one in self._definitions:
                    open_ += self._definitions[one].operands
                for source, around in self._assigned.get(one, ()):
                    found |= around
                    open_.append(source)
        return frozenset(found)

    def use(self, access: Access, conditions: Sequence[tuple[Value, bool]], loops: frozenset[Loop]) -> Use:
        """Return an access at its place; `conditions` are those of the `if`s around, with whether they are negated."""
        address = None
        if access.place.steps is not None and access.size is not None:
            address = self._constant(0)
            for index, stride in access.place.steps:
                address = address.plus(self.form(index).scaled(stride))
        items = [True] * prod(self.size)
        for condition, negated in conditions:
            form = self.form(condition)
            if not form.terms:
                items = [there and bool(item) != negated for there, item in zip(items, form.items, strict=True)]
        return Use(access, address, tuple(items), loops)

    # ------------------------------------------------------------ clashes

    def clash(self, first: Use, stale: frozenset[Loop], second: Use) -> bool:
        """Return whether two work-items may access one byte, and one of them write it.

        `stale` are loops that may have gone on between.
        """
        a, b = first.access, second.access
        if a.place.memory != b.place.memory or a.mode == b.mode != "write":
            return False
        key = (first, second, stale)
        if key not in self._clashes:
            self._clashes[key] = self._meet(first, stale, second)
        return self._clashes[key]

    def _meet(self, first: Use, stale: frozenset[Loop], second: Use) -> bool:
        a, b = first.address, second.address
        if a is None or b is None:
            there = (
                {n for n, item in enumerate(first.items) if item},
                {n for n, item in enumerate(second.items) if item},
            )
            return bool(there[0]) and bool(there[1]) and len(there[0] | there[1]) > 1
        period = 0
        ours, theirs = dict(a.terms), dict(b.terms)
        for term in {**ours, **theirs}:
            factors = ours.get(term, 0), theirs.get(term, 0)
            is_same = term.uniform and not term.loops & stale and term.loops <= first.loops & second.loops
            period = gcd(period, factors[0] - factors[1]) if is_same else gcd(period, *factors)
        together = first.access.tile is not None and second.access.tile is not None
        unit = gcd(period, *_extent(first), *_extent(second), *a.items, *b.items)
        cells = _cells(first, a, (unit, period), together=together)
        others = _cells(second, b, (unit, period), together=together)
        return any(cell in others and (others[cell] != item or item < 0) for cell, item in cells.items())


def _extent(use: Use) -> tuple[int, ...]:
    return (use.access.size or 1, *(use.access.tile or ())[1:])


def _cells(use: Use, address: _Form, grid: tuple[int, int], *, together: bool) -> dict[int, int]:
    """Return the units of memory that are accessed, with the work-item that does, -1 for several.

    `grid` is the unit in bytes and the period after which addresses count as the same, 0 for none.
    """
    unit, period = grid
    found: dict[int, int] = {}
    rows, stride = use.access.tile or (1, 0)
    size, *_ = _extent(use)
    offsets = {row * stride + byte for row in range(rows) for byte in range(0, size, unit)}
    for number, (start, there) in enumerate(zip(address.items, use.items, strict=True)):
        item = number // _WARP if together else number
        for offset in offsets if there else ():
            cell = (start + offset) % period if period else start + offset
            if found.setdefault(cell, item) != item:
                found[cell] = -1
    return found
