"""Text of MLIR: names, types, literals, the order of operations, and operations by templates.

A template is formatted with the operation's operands by number, and with `names` and `types` (of the operands, with
commas between), `kinds` (their types, by number), `type` (of the result), `a` (the attributes), `values` (a constant's
elements), `op` and `rest` (what stands before and after the point in the operation's name).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

import numpy as np

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.oracle import dtype_of

__all__ = ["StructuredWriter", "Writer", "literal"]


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

    templates: ClassVar[Mapping[str, str]] = {}

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
        """Write one operation on operands of these names and types, by its method or its template; its name."""
        method = getattr(self, f"_{node.op.partition('.')[0]}", None)
        return str(method(node, names, types)) if method else self.by_template(node, names, types)

    def by_template(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write one operation by its template."""
        op, _, rest = node.op.partition(".")
        template = self.templates.get(op, self.templates["elementwise"])
        kinds = [self.type(one) for one in types]
        return self.write(
            template.format(
                *names,
                op=op,
                rest=rest,
                kinds=kinds,
                types=", ".join(kinds),
                names=", ".join(names),
                type=self.type(node.type),
                a=[list(one) for one in node.attributes],
                values=", ".join(literal(value, node.type.element) for value in node.values),
            )
        )

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


class StructuredWriter(Writer):
    """Of a dialect whose branches and loops have regions of tensors: `branch`, `loop` and `end` are its operations."""

    branch: ClassVar[str]
    loop: ClassVar[str]
    end: ClassVar[str]

    def _if(self, node: Node, names: Sequence[str], _types: Sequence[Type]) -> str:
        name, kind = self.write(f'"{self.branch}"({names[0]}) ({{'), self.type(node.type)
        for region, closing in zip(node.regions, ("}, {", f"}}) : (tensor<i1>) -> {kind}"), strict=True):
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
