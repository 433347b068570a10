"""Programs as linalg on tensors, with arith, math, tensor and scf."""

from __future__ import annotations

from collections.abc import Sequence

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.text import Writer, dense, literal

__all__ = ["LinalgWriter"]

_FLOAT = {
    **{"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div": "arith.divf", "neg": "arith.negf"},
    **{"max": "arith.maximumf", "min": "arith.minimumf", "abs": "math.absf", "pow": "math.powf"},
    **{"round_even": "math.roundeven"},
    **{name: f"math.{name}" for name in "ceil floor exp expm1 log log1p sqrt rsqrt tanh erf sin cos".split()},
}
_INTEGER = {
    **{"add": "arith.addi", "sub": "arith.subi", "mul": "arith.muli", "div": "arith.divsi", "rem": "arith.remsi"},
    **{"div_u": "arith.divui", "rem_u": "arith.remui", "max": "arith.maxsi", "min": "arith.minsi"},
    **{"max_u": "arith.maxui", "min_u": "arith.minui", "and": "arith.andi", "or": "arith.ori", "xor": "arith.xori"},
    **{"shl": "arith.shli", "shr": "arith.shrsi", "shr_u": "arith.shrui", "abs": "math.absi", "popcnt": "math.ctpop"},
}
_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_IDENTITIES = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}


def _map(rank: int, results: Sequence[str] | None = None) -> str:
    dims = [f"d{at}" for at in range(rank)]
    return f"affine_map<({', '.join(dims)}) -> ({', '.join(dims if results is None else results)})>"


class LinalgWriter(Writer):
    """Writes elementwise operations as `linalg.generic`."""

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        op, _, rest = node.op.partition(".")
        method = getattr(self, f"_{op}", None)
        if method is not None:
            result: str = method(node, names, types, rest)
            return result
        rank = len(node.type.shape)
        table = _FLOAT if types[0].is_float else _INTEGER
        return self._generic(
            node.type, names, types, [_map(rank)] * len(names), f"{table[op]} {{}} : {node.type.element}"
        )

    def _generic(
        self, result: Type, names: Sequence[str], types: Sequence[Type], maps: Sequence[str], body: str
    ) -> str:
        """An elementwise operation; `body` is the operation on elements, with a place for its operands, if any."""
        rank = len(result.shape)
        elements = [f"%e{at}" for at in range(len(names))]
        block = ", ".join(f"{n}: {one.element}" for n, one in zip((*elements, "%o"), (*types, result), strict=True))
        maps = ", ".join((*maps, _map(rank)))
        iterators = ", ".join(['"parallel"'] * rank)
        empty = self._empty(result)
        name, value = self.name(), elements[0] if not body else "%r"
        self.lines += [
            f"  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}"
            f" ins({', '.join(names)} : {', '.join(map(self.type, types))})"
            f" outs({empty} : {self.type(result)}) {{",
            f"  ^bb0({block}):",
            *([f"    %r = {body.format(', '.join(elements))}"] if body else []),
            f"    linalg.yield {value} : {result.element}",
            f"  }} -> {self.type(result)}",
        ]
        return name

    def _empty(self, kind: Type) -> str:
        sizes = ", ".join(f"%size{size}" for size in kind.shape if size in self.dynamic)
        return self.write(f"tensor.empty({sizes}) : {self.type(kind)}")

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        (source,), at = types, node.attributes[0]
        kept = [f"d{to}" if size == node.type.shape[to] else "0" for size, to in zip(source.shape, at, strict=True)]
        return self._generic(node.type, names, types, [_map(len(node.type.shape), kept)], "")
