"""Programs as StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from retarget_fuzz.programs.ir import Node, Type
from retarget_fuzz.programs.oracle import initial
from retarget_fuzz.programs.text import Writer

__all__ = ["StablehloWriter"]

_TYPED = {
    "convert": "convert {0}",
    "broadcast": "broadcast_in_dim {0}, dims = [{dims}]",
    "transpose": "transpose {0}, dims = [{dims}]",
    "reshape": "reshape {0}",
    "slice": "slice {0} [{ranges}]",
    "pad": "pad {names}, low = {a[0]}, high = {a[1]}, interior = {a[2]}",
    "concat": "concatenate {names}, dim = {dims}",
    "compare": "compare {name}, {names}",
    "reduce": "reduce({0} init: {1}) applies stablehlo.{name} across dimensions = [{dims}]",
    "dot": "dot_general {names}, batching_dims = {a[0]} x {a[0]}, contracting_dims = {a[1]} x {a[2]}",
}


class StablehloWriter(Writer):
    """Writes each operation as the one of StableHLO, in its pretty form where it has one."""

    dialect = "stablehlo"
    branch, loop, end = "stablehlo.if", "stablehlo.while", "stablehlo.return"
    templates: ClassVar = {
        **{op: f"stablehlo.{text} : ({{types}}) -> {{type}}" for op, text in _TYPED.items()},
        "elementwise": "stablehlo.{name} {names} : {type}",
        "constant": "stablehlo.constant dense<{values}> : {type}",
        "reverse": "stablehlo.reverse {0}, dims = [{dims}] : {type}",
        "select": "stablehlo.select {names} : {kinds[0]}, {type}",
    }

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        scalar = Type(node.type.element)
        start = self.constant(scalar, initial(node.op.partition(".")[2], scalar))
        return self.plain(node, [*names, start], [*types, scalar])

    def _dot(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        batches = len(node.type.shape) - 2
        dims = tuple(range(batches)), (batches + 1,), (batches,)
        return self.plain(replace(node, attributes=dims), names, types)
