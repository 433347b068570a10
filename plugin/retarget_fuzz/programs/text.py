"""Text of MLIR: names, types, literals, the order of operations, and operations by templates.

A template is formatted with the operation's operands by number, and with `names` and `types` (of the operands, with
commas between), `kinds` (their types, by number), `type` (of the result), `dims` (the first attribute), `a` (each),
`ranges` (the attributes of each dimension), `values` (a constant's elements), and the `name` of the operation.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

import numpy as np

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.operations import operation_of
from retarget_fuzz.programs.oracle import dtype_of

__all__ = ["Writer", "literal"]


def literal(value: float, element: str) -> str:
    """A number as MLIR reads it: infinities and NaN by their bits."""
    if element == "i1":
        return "true" if value else "false"
    if not Type(element).is_float:
        return str(int(value))
    if not math.isfinite(value):
        bits = np.array(value).astype(dtype_of(element))
        return f"0x{bits.view(f'u{bits.itemsize}').item():0{2 * bits.itemsize}X}"
    return repr(float(value)) if "e" not in repr(float(value)) else f"{value:.17e}"


class Writer:
    """Writes the operations of a region in one dialect. Sizes in `dynamic` are `?` in types."""

    dialect: ClassVar[str]
    branch: ClassVar[str]
    loop: ClassVar[str]
    end: ClassVar[str]
    templates: ClassVar[Mapping[str, str]] = {}
    """By what stands before the point in an operation's name, or `elementwise`."""
    others: ClassVar[Mapping[str, str]] = {}
    """What operations that are not on elements are called, where that is not what they are called here."""

    def __init__(self, dynamic: Collection[int]) -> None:
        self.dynamic = dynamic
        self.lines: list[str] = []
        self._names = 0

    def function(self, function: Region) -> str:
        """The text of the function `f`."""
        names = [f"%arg{at}" for at in range(len(function.arguments))]
        arguments = ", ".join(f"{n}: {self.type(one)}" for n, one in zip(names, function.arguments, strict=True))
        types = ", ".join(self.type(function.types[at]) for at in function.results)
        self.lines = [f"func.func @f({arguments}) -> ({types}) {{", *self.prologue(function, names)]
        results = self.region(function, names)
        self.lines += [f"  return {', '.join(results)} : {types}", "}", ""]
        return "\n".join(self.lines)

    def prologue(self, _function: Region, _names: Sequence[str]) -> list[str]:
        """What the function starts with."""
        return []

    def region(self, region: Region, names: Sequence[str]) -> list[str]:
        """Write the operations of a region whose arguments have these names; the names of its results."""
        known = list(names)
        for node in region.nodes:
            operands = [known[at] for at in node.operands]
            known.append(self.node(node, operands, [region.types[at] for at in node.operands]))
        return [known[at] for at in region.results]

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write one operation on operands of these names and types; return its name."""
        return str(getattr(self, f"_{node.op.partition('.')[0]}", self.plain)(node, names, types))

    def spelled(self, node: Node, types: Sequence[Type]) -> str:
        """What the dialect calls an operation on elements of the first type."""
        operation, op = operation_of(node.op), node.op.partition(".")[0]
        return operation.name(self.dialect, types[0]) if operation else self.others.get(op, op)

    def plain(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write an operation that has no method of its own: by its template."""
        kinds = [self.type(one) for one in types]
        return self.write(
            self.templates.get(node.op.partition(".")[0], self.templates["elementwise"]).format(
                *names,
                name=self.spelled(node, types),
                kinds=kinds,
                types=", ".join(kinds),
                names=", ".join(names),
                type=self.type(node.type),
                a=[list(one) for one in node.attributes],
                dims=", ".join(map(str, node.attributes[0] if node.attributes else ())),
                ranges=", ".join(":".join(map(str, one)) for one in zip(*node.attributes, strict=False)),
                values=", ".join(literal(value, node.type.element) for value in node.values),
            )
        )

    def _if(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        condition, boolean = self.condition(names[0], types[0])
        name, kind = self.write(f'"{self.branch}"({condition}) ({{'), self.type(node.type)
        for region, closing in zip(node.regions, ("}, {", f"}}) : ({boolean}) -> {kind}"), strict=True):
            (result,) = self.region(region, names[1:])
            self.lines += [f'  "{self.end}"({result}) : ({kind}) -> ()', f"  {closing}"]
        return name

    def _for(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        count = types[0]
        zero, one = self.constant(count, 0), self.constant(count, 1)
        index, carried, name = self.name(), self.name(), self.name()
        kinds = f"{self.type(count)}, {self.type(node.type)}"
        block = f"  ^bb0({index}: {self.type(count)}, {carried}: {self.type(node.type)}):"
        self.lines += [f'  {name}:2 = "{self.loop}"({zero}, {names[1]}) ({{', block]
        goes_on = self.node(Node("compare.gt", (), Type("i1")), [names[0], index], [count, count])
        self.lines += [f'  "{self.end}"({goes_on}) : (tensor<i1>) -> ()', "  }, {", block]
        following = self.node(Node("add", (), count), [index, one], [count, count])
        (result,) = self.region(node.regions[0], [carried, *names[2:]])
        self.lines += [f'  "{self.end}"({following}, {result}) : ({kinds}) -> ()', f"  }}) : ({kinds}) -> ({kinds})"]
        return f"{name}#1"

    def condition(self, name: str, kind: Type) -> tuple[str, str]:
        """What a branch takes for a tensor of one boolean, and its type."""
        return name, self.type(kind)

    def constant(self, kind: Type, value: float) -> str:
        """Write a constant of one value."""
        return self.node(Node("constant", (), kind, values=(value,)), [], [])

    def type(self, kind: Type, dynamic: Collection[int] | None = None) -> str:
        """A tensor's type, with `?` for sizes in `dynamic`, or in the writer's."""
        unknown = self.dynamic if dynamic is None else dynamic
        sizes = ("?" if size in unknown else str(size) for size in kind.shape)
        return f"tensor<{'x'.join((*sizes, kind.element))}>"

    def name(self) -> str:
        """A name that nothing has yet."""
        self._names += 1
        return f"%{self._names}"

    def write(self, text: str) -> str:
        """Write an operation with one result, which gets a name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name
