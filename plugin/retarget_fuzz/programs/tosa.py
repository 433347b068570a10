"""Programs as TOSA, in the generic form of operations, which changes least from version to version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from retarget_fuzz.programs.ir import Node, Type
from retarget_fuzz.programs.text import StructuredWriter

__all__ = ["TosaWriter"]

_OPS = {
    "max": "maximum",
    "min": "minimum",
    "neg": "negate",
    "logistic": "sigmoid",
    "div": "intdiv",
    "convert": "cast",
    "shl": "logical_left_shift",
    "shr_u": "logical_right_shift",
    "dot": "matmul",
}
_WITH_ATTRIBUTES = {
    "shr": ("arithmetic_right_shift", "round = false"),
    "constant": ("const", "values = dense<{values}> : {type}"),
    "reverse": ("reverse", "axis = {a[0][0]} : i32"),
    "concat": ("concat", "axis = {a[0][0]} : i32"),
    "reduce": ("reduce_{rest}", "axis = {a[0][0]} : i32"),
    "transpose": ("transpose", "perms = array<i32: {rest}>"),
}
_REDUCTIONS = {"add": "sum", "and": "all", "or": "any"}
_PREDICATES = {"eq": "equal", "lt": "greater", "gt": "greater"}


class TosaWriter(StructuredWriter):
    """Writes shapes, shifts and zero points as constants, which TOSA takes as operands."""

    branch, loop, end = "tosa.cond_if", "tosa.while_loop", "tosa.yield"
    templates: ClassVar = {
        **{op: f'"tosa.{name}"({{names}}) : ({{types}}) -> {{type}}' for op, name in _OPS.items()},
        **{
            op: f'"tosa.{name}"({{names}}) {{{{{attributes}}}}} : ({{types}}) -> {{type}}'
            for op, (name, attributes) in _WITH_ATTRIBUTES.items()
        },
        "elementwise": '"tosa.{op}"({names}) : ({types}) -> {type}',
        "call": '"tosa.{rest}"({names}) : ({types}) -> {type}',
    }

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write one operation; those on bits have two names, and some take zero points or a shift."""
        if node.op in {"and", "or", "xor", "not"}:
            return self._call(
                f"{'logical' if node.type.element == 'i1' else 'bitwise'}_{node.op}", node.type, names, types
            )
        zeros = {"mul": ["i8"], "neg": [node.type.element] * 2, "dot": [one.element for one in types]}.get(node.op, [])
        kinds = [Type(element, (1,)) for element in zeros]
        return super().node(node, [*names, *(self.constant(kind, 0) for kind in kinds)], [*types, *kinds])

    def _call(self, op: str, result: Type, names: Sequence[str], types: Sequence[Type]) -> str:
        return self.by_template(Node(f"call.{op}", (), result), names, types)

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
        name = node.op.partition(".")[2]
        operands = names[::-1] if name in {"lt", "le"} else names
        return self._call(_PREDICATES.get(name, "greater_equal"), node.type, operands, types)

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        sizes = [1] * len(node.type.shape)
        for size, to in zip(types[0].shape, node.attributes[0], strict=True):
            sizes[to] = size
        middle = Type(node.type.element, tuple(sizes))
        name = self._shaped("reshape", middle, names, types, sizes)
        times = [new // old for new, old in zip(node.type.shape, sizes, strict=True)]
        return self._shaped("tile", node.type, [name], [middle], times)

    def _transpose(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        order = ", ".join(map(str, node.attributes[0]))
        return self.by_template(replace(node, op=f"transpose.{order}"), names, types)

    def _reshape(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        return self._shaped("reshape", node.type, names, types, node.type.shape)

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        return self._shaped("slice", node.type, names, types, node.attributes[0], node.type.shape)

    def _pad(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        one = Type(node.type.element, (1,))
        value = self._shaped("reshape", one, names[1:], types[1:], (1,))
        around = [size for pair in zip(*node.attributes[:2], strict=True) for size in pair]
        return self._shaped("pad", node.type, [names[0], value], [types[0], one], around)

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        name = node.op.partition(".")[2]
        return self.by_template(replace(node, op=f"reduce.{_REDUCTIONS.get(name, name)}"), names, types)
