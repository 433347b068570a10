"""Text of MLIR that does not depend on the dialect: names, types, literals, and the order of operations."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

import numpy as np

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.oracle import dtype_of, initial

__all__ = ["Writer", "dense", "first_of_reduction", "literal"]


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


def dense(values: Sequence[float], element: str) -> str:
    """The elements of a tensor's constant: one for all, or one for each."""
    texts = [literal(value, element) for value in values]
    return f"dense<{texts[0]}>" if len(texts) == 1 else f"dense<[{', '.join(texts)}]>"


def first_of_reduction(name: str, kind: Type) -> float:
    """What a reduction starts from."""
    if kind.is_float:
        return {"max": -math.inf, "min": math.inf}.get(name, 0.0)
    return initial(name, dtype_of(kind.element))


class Writer(ABC):
    """Writes the operations of a region in one dialect. Sizes in `dynamic` are `?` in types."""

    def __init__(self, dynamic: Collection[int]) -> None:
        self.dynamic = dynamic
        self.lines: list[str] = []
        self._names = 0

    def function(self, function: Region) -> str:
        """The text of the function `f`."""
        names = [f"%arg{at}" for at in range(len(function.arguments))]
        arguments = ", ".join(f"{n}: {self.type(one)}" for n, one in zip(names, function.arguments, strict=True))
        types = ", ".join(self.type(function.types[at]) for at in function.results)
        self.lines = [f"func.func @f({arguments}) -> ({types}) {{"]
        self.prologue(function, names)
        results = self.region(function, names)
        self.lines += [f"  return {', '.join(results)} : {types}", "}", ""]
        return "\n".join(self.lines)

    def prologue(self, function: Region, names: Sequence[str]) -> None:  # noqa: B027 - most have none
        """What the function starts with."""

    def region(self, region: Region, names: Sequence[str]) -> list[str]:
        """Write the operations of a region whose arguments have these names; the names of its results."""
        known = list(names)
        for node in region.nodes:
            operands = [known[at] for at in node.operands]
            known.append(self.node(node, operands, [region.types[at] for at in node.operands]))
        return [known[at] for at in region.results]

    @abstractmethod
    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write one operation on operands of these names and types; the name of its result."""

    def type(self, kind: Type) -> str:
        """A tensor's type."""
        sizes = ("?" if size in self.dynamic else str(size) for size in kind.shape)
        return f"tensor<{'x'.join((*sizes, kind.element))}>"

    @staticmethod
    def static(kind: Type) -> str:
        """A tensor's type with all sizes."""
        return f"tensor<{'x'.join((*map(str, kind.shape), kind.element))}>"

    def name(self) -> str:
        """A name that nothing has yet."""
        self._names += 1
        return f"%{self._names}"

    def write(self, text: str) -> str:
        """Write an operation with one result, which gets a name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name
