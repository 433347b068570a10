"""Programs as StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from retarget_fuzz.programs.ir import Node, Type
from retarget_fuzz.programs.oracle import initial
from retarget_fuzz.programs.text import StructuredWriter

__all__ = ["StablehloWriter"]

_OPS = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "rem": "remainder",
    "max": "maximum",
    "min": "minimum",
    "pow": "power",
    "neg": "negate",
    "exp": "exponential",
    "expm1": "exponential_minus_one",
    "log1p": "log_plus_one",
    "round_even": "round_nearest_even",
    "sin": "sine",
    "cos": "cosine",
    "shl": "shift_left",
    "shr": "shift_right_arithmetic",
    "shr_u": "shift_right_logical",
}
_TYPED = {
    "convert": "convert {0}",
    "broadcast": "broadcast_in_dim {0}, dims = {a[0]}",
    "transpose": "transpose {0}, dims = {a[0]}",
    "reshape": "reshape {0}",
    "slice": "slice {0} [{rest}]",
    "pad": "pad {names}, low = {a[0]}, high = {a[1]}, interior = {a[2]}",
    "concat": "concatenate {names}, dim = {a[0][0]}",
    "compare": "compare {rest}",
    "reduce": "reduce({0} init: {1}) applies stablehlo.{rest} across dimensions = {a[0]}",
    "dot": "dot_general {names}, batching_dims = {a[0]} x {a[0]}, contracting_dims = {a[1]} x {a[2]}",
}


class StablehloWriter(StructuredWriter):
    """Writes each operation as the one of StableHLO, in its pretty form where it has one."""

    branch, loop, end = "stablehlo.if", "stablehlo.while", "stablehlo.return"
    templates: ClassVar = {
        **{op: f"stablehlo.{text} : ({{types}}) -> {{type}}" for op, text in _TYPED.items()},
        **{op: f"stablehlo.{name} {{names}} : {{type}}" for op, name in _OPS.items()},
        "elementwise": "stablehlo.{op} {names} : {type}",
        "constant": "stablehlo.constant dense<{values}> : {type}",
        "iota": "stablehlo.iota dim = {a[0][0]} : {type}",
        "select": "stablehlo.select {names} : {kinds[0]}, {type}",
        "reverse": "stablehlo.reverse {0}, dims = {a[0]} : {type}",
    }

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        ranges = ", ".join(":".join(map(str, one)) for one in zip(*node.attributes, strict=True))
        return self.by_template(replace(node, op=f"slice.{ranges}"), names, types)

    def _compare(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        kind = "FLOAT" if types[0].is_float else "UNSIGNED" if types[0].element == "i1" else "SIGNED"
        what = f"{node.op.partition('.')[2].upper()}, {', '.join(names)}, {kind}"
        return self.by_template(replace(node, op=f"compare.{what}"), names, types)

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        name, scalar = node.op.partition(".")[2], Type(node.type.element)
        start = self.constant(scalar, initial(name, scalar))
        return self.by_template(replace(node, op=f"reduce.{_OPS.get(name, name)}"), [*names, start], [*types, scalar])

    def _dot(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        batches, (first, second) = len(node.type.shape) - 2, node.attributes[0]
        dims = (tuple(range(batches)), (batches + 1 - first,), (batches + second,))
        return self.by_template(replace(node, attributes=dims), names, types)

    def _take(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        many, rank = len(types[1].shape), len(node.type.shape)
        numbers = (
            f"#stablehlo.gather<offset_dims = {list(range(many, rank))}, collapsed_slice_dims = [0],"
            f" start_index_map = [0], index_vector_dim = {many}>"
        )
        sizes = ", ".join(map(str, (1, *types[0].shape[1:])))
        attributes = f"dimension_numbers = {numbers}, slice_sizes = array<i64: {sizes}>, indices_are_sorted = false"
        kinds = f"({', '.join(map(self.type, types))}) -> {self.type(node.type)}"
        return self.write(f'"stablehlo.gather"({", ".join(names)}) {{{attributes}}} : {kinds}')
