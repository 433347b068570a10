"""Programs as StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

from retarget_fuzz.programs.ir import Node, Type
from retarget_fuzz.programs.text import Writer, dense, first_of_reduction

__all__ = ["StablehloWriter"]

_OPS = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "rem": "remainder", "max": "maximum", "min": "minimum",

        "pow": "power",
        "neg": "negate",
        "exp": "exponential",
        "expm1": "exponential_minus_one",
        "log1p": "log_plus_one"
    ,
    "round_even": "round_nearest_even", "sin": "sine", "cos": "cosine", "shl": "shift_left",
    "shr": "shift_right_arithmetic", "shr_u": "shift_right_logical",
}


class StablehloWriter(Writer):
    """Writes each operation as the one of StableHLO, in its pretty form."""

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write an operation; those without a method of their own are elementwise."""
        op, _, rest = node.op.partition(".")
        method = getattr(self, f"_{op}", None)
        if method is not None:
            result: str = method(node, names, types, rest)
            return result
        return self.write(f"stablehlo.{_OPS.get(op, op)} {', '.join(names)} : {self.type(node.type)}")

    def _typed(self, text: str, node: Node, types: Sequence[Type]) -> str:
        """An operation that names the types of its operands and of its result."""
        return self.write(f"stablehlo.{text} : ({', '.join(map(self.type, types))}) -> {self.type(node.type)}")

    def _scalar(self, value: float, element: str) -> str:
        return self.write(f"stablehlo.constant {dense([value], element)} : tensor<{element}>")

    def _constant(self, node: Node, _names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        return self.write(f"stablehlo.constant {dense(node.values, node.type.element)} : {self.type(node.type)}")

    def _iota(self, node: Node, _names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        return self.write(f"stablehlo.iota dim = {node.attributes[0][0]} : {self.type(node.type)}")

    def _compare(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        kind = "FLOAT" if types[0].is_float else "UNSIGNED" if types[0].element == "i1" else "SIGNED"
        return self._typed(f"compare {rest.upper()}, {', '.join(names)}, {kind}", node, types)

    def _select(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        kinds = f"{self.type(types[0])}, {self.type(node.type)}"
        return self.write(f"stablehlo.select {', '.join(names)} : {kinds}")

    def _convert(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._typed(f"convert {names[0]}", node, types)

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._typed(f"broadcast_in_dim {names[0]}, dims = {list(node.attributes[0])}", node, types)

    def _transpose(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._typed(f"transpose {names[0]}, dims = {list(node.attributes[0])}", node, types)

    def _reverse(self, node: Node, names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        return self.write(f"stablehlo.reverse {names[0]}, dims = {list(node.attributes[0])} : {self.type(node.type)}")

    def _reshape(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._typed(f"reshape {names[0]}", node, types)

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        ranges = ", ".join(":".join(map(str, one)) for one in zip(*node.attributes, strict=True))
        return self._typed(f"slice {names[0]} [{ranges}]", node, types)

    def _pad(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        low, high, between = map(list, node.attributes)
        return self._typed(f"pad {', '.join(names)}, low = {low}, high = {high}, interior = {between}", node, types)

    def _concat(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._typed(f"concatenate {', '.join(names)}, dim = {node.attributes[0][0]}", node, types)

    def _take(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        many, rank = len(types[1].shape), len(node.type.shape)
        numbers = (
            f"#stablehlo.gather<offset_dims = {list(range(many, rank))}, collapsed_slice_dims = [0],"
            f" start_index_map = [0], index_vector_dim = {many}>"
        )
        sizes = ", ".join(map(str, (1, *types[0].shape[1:])))
        attributes = f"dimension_numbers = {numbers}, slice_sizes = array<i64: {sizes}>, indices_are_sorted = false"
        kinds = f"({', '.join(map(self.type, types))}) -> {self.type(node.type)}"
        return self.write(f'"stablehlo.gather"({", ".join(names)}) {{{attributes}}} : {kinds}')

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        start = self._scalar(first_of_reduction(rest, node.type), node.type.element)
        what = f"stablehlo.{_OPS.get(rest, rest)} across dimensions = {list(node.attributes[0])}"
        return self._typed(f"reduce({names[0]} init: {start}) applies {what}", node, [*types, Type(node.type.element)])

    def _dot(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        batches = len(node.type.shape) - 2
        batch = f"batching_dims = {list(range(batches))} x {list(range(batches))}, " if batches else ""
        first, second = node.attributes[0]
        contracted = f"contracting_dims = [{batches + 1 - first}] x [{batches + second}]"
        return self._typed(f"dot_general {', '.join(names)}, {batch}{contracted}", node, types)

    def _if(self, node: Node, names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        name = self.write(f'"stablehlo.if"({names[0]}) ({{')
        for region, end in zip(node.regions, ("}, {", f"}}) : (tensor<i1>) -> {self.type(node.type)}"), strict=True):
            (result,) = self.region(region, names[1:])
            self.lines += [f"  stablehlo.return {result} : {self.type(node.type)}", f"  {end}"]
        return name

    def _for(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        count = self.type(types[0])
        zero, one = (self._scalar(value, types[0].element) for value in (0, 1))
        index, carried, name = self.name(), self.name(), self.name()
        start = f"stablehlo.while({index} = {zero}, {carried} = {names[1]}) : {count}, {self.type(node.type)}"
        self.lines += [f"  {name}:2 = {start}", "  cond {"]
        goes_on = self.write(f"stablehlo.compare LT, {index}, {names[0]}, SIGNED : ({count}, {count}) -> tensor<i1>")
        self.lines += [f"  stablehlo.return {goes_on} : tensor<i1>", "  } do {"]
        following = self.write(f"stablehlo.add {index}, {one} : {count}")
        (result,) = self.region(node.regions[0], [carried, *names[2:]])
        self.lines += [f"  stablehlo.return {following}, {result} : {count}, {self.type(node.type)}", "  }"]
        return f"{name}#1"
