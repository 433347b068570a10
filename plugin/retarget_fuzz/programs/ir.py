"""A small program: a graph of operations on tensors of static shapes, before it is written in a dialect of MLIR."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["Node", "Region", "Type"]


@dataclass(frozen=True, slots=True)
class Type:
    """A tensor's element type, by its name in MLIR, and its shape."""

    element: str
    shape: tuple[int, ...] = ()

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.element.lstrip("b").startswith("f")

    @property
    def bits(self) -> int:
        """The bits of an element."""
        return int(self.element.lstrip("bfi"))

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Node:
    """An operation with one result. `operands` are positions among the values of its region: arguments, then nodes.

    What `attributes` and `values` mean depends on `op`; `retarget_fuzz.programs.oracle` says it for each.
    """

    op: str
    operands: tuple[int, ...]
    type: Type
    attributes: tuple[tuple[int, ...], ...] = ()
    values: tuple[float, ...] = ()
    regions: tuple[Region, ...] = ()

    def renumbered(self, number: Mapping[int, int]) -> Node:
        """With other positions for the operands."""
        return replace(self, operands=tuple(number[at] for at in self.operands))


@dataclass(frozen=True, slots=True)
class Region:
    """Operations in order, from arguments to results: a function, or the body of a loop or a branch."""

    arguments: tuple[Type, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        """The type of each value."""
        return (*self.arguments, *(node.type for node in self.nodes))

    def all_nodes(self) -> list[Node]:
        """The nodes, those in regions of nodes included."""
        return [one for node in self.nodes for one in (node, *(n for r in node.regions for n in r.all_nodes()))]
