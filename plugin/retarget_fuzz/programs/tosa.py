"""Programs as TOSA, in the generic form of operations, which does not change from version to version."""

from __future__ import annotations

from collections.abc import Sequence

from retarget_fuzz.programs.ir import Node, Type
from retarget_fuzz.programs.text import Writer, dense

__all__ = ["TosaWriter"]

_OPS = {
    "max": "maximum", "min": "minimum", "neg": "negate", "logistic": "sigmoid", "div": "intdiv",
    "shl": "logical_left_shift", "shr_u": "logical_right_shift",
}
_REDUCTIONS = {"add": "sum", "and": "all", "or": "any", "mul": "product"}


class TosaWriter(Writer):
    """Writes shapes, shifts and zero points as constants, which TOSA takes as operands."""

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write an operation; those without a method of their own are elementwise."""
        op, _, rest = node.op.partition(".")
        method = getattr(self, f"_{op}", None)
        if method is not None:
            result: str = method(node, names, types, rest)
            return result
        if op in {"and", "or", "xor", "not"}:
            op = f"{'logical' if node.type.element == 'i1' else 'bitwise'}_{op}"
        return self._op(_OPS.get(op, op), node.type, names, types)

    def _op(
        self, op: str, result: Type, names: Sequence[str], types: Sequence[Type | str], attributes: str = ""
    ) -> str:
        kinds = ", ".join(one if isinstance(one, str) else self.type(one) for one in types)
        given = f" {{{attributes}}}" if attributes else ""
        return self.write(f'"tosa.{op}"({", ".join(names)}){given} : ({kinds}) -> {self.type(result)}')

    def _with_constants(
        self, op: str, result: Type, names: Sequence[str], types: Sequence[Type], *elements: str
    ) -> str:
        """With constants of one zero of these element types as further operands."""
        kinds = [Type(element, (1,)) for element in elements]
        zeros = [
            self.write(
                f'"tosa.const"() {{values = {dense([0], one.element)} : {self.type(one)}}} : () -> {self.type(one)}'
            )
            for one in kinds
        ]
        return self._op(op, result, [*names, *zeros], [*types, *kinds])

    def _shape(self, sizes: Sequence[int]) -> tuple[str, str]:
        """A constant of a shape: its name and its type."""
        kind = f"!tosa.shape<{len(sizes)}>"
        values = f"dense<{list(sizes)}> : tensor<{len(sizes)}xindex>"
        return self.write(f'"tosa.const_shape"() {{values = {values}}} : () -> {kind}'), kind

    def _constant(self, node: Node, _names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        values = f"{dense(node.values, node.type.element)} : {self.type(node.type)}"
        return self._op("const", node.type, [], [], f"values = {values}")

    def _mul(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._with_constants("mul", node.type, names, types, "i8")

    def _neg(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._with_constants("negate", node.type, names, types, node.type.element, node.type.element)

    def _shr(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._op("arithmetic_right_shift", node.type, names, types, "round = false")

    def _compare(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        op = {"eq": "equal", "lt": "greater", "gt": "greater"}.get(rest, "greater_equal")
        return self._op(op, node.type, names[::-1] if rest in {"lt", "le"} else names, types)

    def _convert(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._op("cast", node.type, names, types)

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        (source,), at = types, node.attributes[0]
        sizes = [1] * len(node.type.shape)
        for size, to in zip(source.shape, at, strict=True):
            sizes[to] = size
        middle = Type(source.element, tuple(sizes))
        shape = self._shape(sizes)
        name = self._op("reshape", middle, [names[0], shape[0]], [source, shape[1]])
        shape = self._shape([new // old if old else 1 for new, old in zip(node.type.shape, sizes, strict=True)])
        return self._op("tile", node.type, [name, shape[0]], [middle, shape[1]])

    def _transpose(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        order = ", ".join(map(str, node.attributes[0]))
        return self._op("transpose", node.type, names, types, f"perms = array<i32: {order}>")

    def _reverse(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._op("reverse", node.type, names, types, f"axis = {node.attributes[0][0]} : i32")

    def _reshape(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        name, kind = self._shape(node.type.shape)
        return self._op("reshape", node.type, [names[0], name], [types[0], kind])

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        start, size = self._shape(node.attributes[0]), self._shape(node.type.shape)
        return self._op("slice", node.type, [names[0], start[0], size[0]], [types[0], start[1], size[1]])

    def _pad(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        low, high, _ = node.attributes
        name, kind = self._shape([one for pair in zip(low, high, strict=True) for one in pair])
        one = Type(node.type.element, (1,))
        shape = self._shape((1,))
        value = self._op("reshape", one, [names[1], shape[0]], [types[1], shape[1]])
        return self._op("pad", node.type, [names[0], name, value], [types[0], kind, one])

    def _concat(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._op("concat", node.type, names, types, f"axis = {node.attributes[0][0]} : i32")

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        what = f"axis = {node.attributes[0][0]} : i32"
        return self._op(f"reduce_{_REDUCTIONS.get(rest, rest)}", node.type, names, types, what)

    def _dot(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._with_constants("matmul", node.type, names, types, *(one.element for one in types))

    def _if(self, node: Node, names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        name = self.write(f'"tosa.cond_if"({names[0]}) ({{')
        for region, end in zip(node.regions, ("}, {", f"}}) : (tensor<i1>) -> {self.type(node.type)}"), strict=True):
            (result,) = self.region(region, names[1:])
            self.lines += [f"  tosa.yield {result} : {self.type(node.type)}", f"  {end}"]
        return name

    def _for(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        count = types[0]
        zero, one = (
            self._op("const", count, [], [], f"values = {dense([value], count.element)} : {self.type(count)}")
            for value in (0, 1)
        )
        index, carried, name = self.name(), self.name(), self.name()
        kinds = f"{self.type(count)}, {self.type(node.type)}"
        block = f"  ^bb0({index}: {self.type(count)}, {carried}: {self.type(node.type)}):"
        self.lines += [f'  {name}:2 = "tosa.while_loop"({zero}, {names[1]}) ({{', block]
        goes_on = self._op("greater", Type("i1"), [names[0], index], [count, count])
        self.lines += [f"  tosa.yield {goes_on} : tensor<i1>", "  }, {", block]
        following = self._op("add", count, [index, one], [count, count])
        (result,) = self.region(node.regions[0], [carried, *names[2:]])
        self.lines += [f"  tosa.yield {following}, {result} : {kinds}", f"  }}) : ({kinds}) -> ({kinds})"]
        return f"{name}#1"
