"""Programs as TOSA, in the generic form of operations, which changes least from version to version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from retarget_fuzz.programs.ir import Node, Type
from retarget_fuzz.programs.text import Writer

__all__ = ["TosaWriter"]

_ATTRIBUTES = {
    "shr": "round = false",
    "constant": "values = dense<{values}> : {type}",
    "reverse": "axis = {dims} : i32",
    "concat": "axis = {dims} : i32",
    "reduce": "axis = {dims} : i32",
    "transpose": "perms = array<i32: {dims}>",
}


class TosaWriter(Writer):
    """Writes shapes, shifts and zero points as constants, which TOSA takes as operands."""

    dialect = "tosa"
    branch, loop, end = "tosa.cond_if", "tosa.while_loop", "tosa.yield"
    others: ClassVar = {"dot": "matmul", "convert": "cast", "constant": "const"}
    templates: ClassVar = {
        "elementwise": '"tosa.{name}"({names}) : ({types}) -> {type}',
        **{
            op: f'"tosa.{{name}}"({{names}}) {{{{{attributes}}}}} : ({{types}}) -> {{type}}'
            for op, attributes in _ATTRIBUTES.items()
        },
    }

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write one operation; some take zero points or a shift."""
        zeros = {"mul": ["i8"], "neg": [node.type.element] * 2, "dot": [one.element for one in types]}.get(node.op, [])
        kinds = [Type(element, (1,)) for element in zeros]
        return super().node(node, [*names, *(self.constant(kind, 0) for kind in kinds)], [*types, *kinds])

    def _shaped(
        self, op: str, result: Type, names: Sequence[str], types: Sequence[Type], *shapes: Sequence[int]
    ) -> str:
        """An operation whose operands after the first are constants of shapes."""
        constants = [
            self.write(
                f'"tosa.const_shape"() {{values = dense<{list(shape)}> : tensor<{len(shape)}xindex>}}'
                f" : () -> !tosa.shape<{len(shape)}>"
            )
            for shape in shapes
        ]
        operands = ", ".join([names[0], *constants, *names[1:]])
        first, *others = map(self.type, types)
        kinds = ", ".join([first, *(f"!tosa.shape<{len(shape)}>" for shape in shapes), *others])
        return self.write(f'"tosa.{op}"({operands}) : ({kinds}) -> {self.type(result)}')

    def _compare(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        return self.plain(node, names[::-1] if node.op in {"compare.lt", "compare.le"} else names, types)

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        sizes = [1] * len(node.type.shape)
        for size, to in zip(types[0].shape, node.attributes[0], strict=True):
            sizes[to] = size
        middle = Type(node.type.element, tuple(sizes))
        name = self._shaped("reshape", middle, names, types, sizes)
        times = [new // old for new, old in zip(node.type.shape, sizes, strict=True)]
        return self._shaped("tile", node.type, [name], [middle], times)

    def _reshape(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        return self._shaped("reshape", node.type, names, types, node.type.shape)

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        return self._shaped("slice", node.type, names, types, node.attributes[0], node.type.shape)

    def _pad(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        one = Type(node.type.element, (1,))
        value = self._shaped("reshape", one, names[1:], types[1:], (1,))
        around = [size for pair in zip(*node.attributes[:2], strict=True) for size in pair]
        return self._shaped("pad", node.type, [names[0], value], [types[0], one], around)
