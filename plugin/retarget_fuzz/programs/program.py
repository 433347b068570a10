"""One generated program: its text, its inputs, what it has to return, and what it exercises."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from retarget_fuzz.programs.ir import Region

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = ["DEFAULT_TYPES", "DIALECTS", "ELEMENT_TYPES", "Expected", "Program"]

DIALECTS = ("linalg", "stablehlo", "tosa")
ELEMENT_TYPES = ("f32", "f16", "bf16", "f64", "i1", "i8", "i16", "i32", "i64")
DEFAULT_TYPES = ("f32", "i32", "i8", "i16", "i1")


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What a result has to be: within `atol + rtol * abs(value)` of `value`, NaN where it is NaN."""

    value: Array
    atol: float
    rtol: float


@dataclass(frozen=True, eq=False)
class Program:
    """A module with one function, `f`, and the arguments of one call. Sizes in `dynamic` are `?` in its types."""

    dialect: str
    function: Region
    inputs: tuple[Array, ...] = field(repr=False)
    dynamic: frozenset[int] = frozenset()

    @cached_property
    def digest(self) -> str:
        """What tells a program from all others: the digest of its module and inputs."""
        digest = hashlib.sha256(self.module().encode())
        for array in self.inputs:
            digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
        return digest.hexdigest()[:16]

    def part(self, results: Sequence[int], given: int | None = None) -> Program:
        """What some of the values need, and nothing else: the program whose results they are. What operation `given`
        returns is an argument of it."""
        types, nodes, first = self.function.types, self.function.nodes, len(self.inputs)
        needed = set(results)
        for at in reversed(range(first, len(types))):
            needed.update(nodes[at - first].operands if at in needed and at != given else ())
        order = sorted(needed, key=lambda at: (at >= first and at != given, at))
        number = {at: new for new, at in enumerate(order)}
        inputs = {
            at: self.inputs[at] if at < first else self.part([at]).expected()[0].value
            for at in order
            if at < first or at == given
        }
        function = Region(
            tuple(types[at] for at in inputs),
            tuple(nodes[at - first].renumbered(number) for at in order if at not in inputs),
            tuple(number[at] for at in results),
        )
        dynamic = self.dynamic & {size for kind in function.arguments for size in kind.shape}
        return Program(self.dialect, function, tuple(inputs.values()), dynamic)

    def smaller(self) -> Iterator[Program]:
        """Programs of what one of the values needs, from the smallest one; then those with one operation less, whose
        result is an argument."""
        results, nodes = self.function.results, range(len(self.inputs), len(self.function.types))
        parts = sorted((self.part([at]) for at in nodes), key=lambda part: len(part.function.nodes))
        yield from (part for part in parts if len(part.function.nodes) < len(nodes))
        yield from (self.part(results, at) for at in nodes if at not in results)

    def module(self) -> str:
        """The text of the module, with a function `f`, for iree-compile to find out its input type."""
        from retarget_fuzz.programs.linalg import LinalgWriter
        from retarget_fuzz.programs.stablehlo import StablehloWriter
        from retarget_fuzz.programs.tosa import TosaWriter

        writer = {"linalg": LinalgWriter, "stablehlo": StablehloWriter, "tosa": TosaWriter}[self.dialect]
        return writer(self.dynamic).function(self.function)

    def expected(self) -> tuple[Expected, ...]:
        """What each result has to be."""
        from retarget_fuzz.programs.oracle import argument, evaluate

        types = self.function.types
        arguments = [argument(array, kind) for array, kind in zip(self.inputs, types, strict=False)]
        values = evaluate(self.function, arguments)
        return tuple(
            Expected(*value.expected(types[at])) for at, value in zip(self.function.results, values, strict=True)
        )

    def features(self) -> frozenset[str]:
        """What the program exercises: `op:stablehlo.add`, `type:f32`, `rank:3`, `size:0`, `dynamic`, `control:for`."""
        nodes = self.function.all_nodes()
        types = {*self.function.types, *(node.type for node in nodes)}
        return frozenset(
            {
                *(f"op:{self.dialect}.{node.op}" for node in nodes),
                *(f"op:{self.dialect}.{node.op}:{node.type.element}" for node in nodes),
                *(f"type:{one.element}" for one in types),
                *(f"rank:{len(one.shape)}" for one in types),
                *(f"size:{size}" for one in types for size in one.shape if size < 2),
                *(f"control:{node.op}" for node in nodes if node.regions),
                *(["dynamic"] if self.dynamic else []),
            }
        )
