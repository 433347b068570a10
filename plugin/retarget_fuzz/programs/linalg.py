"""Programs as linalg on tensors, with arith, math, tensor and scf."""

from __future__ import annotations

from collections.abc import Sequence

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.text import Writer, dense, first_of_reduction, literal

__all__ = ["LinalgWriter"]

_FLOAT = {
    "add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div": "arith.divf", "neg": "arith.negf",
    "max": "arith.maximumf", "min": "arith.minimumf", "abs": "math.absf", "pow": "math.powf",
    "round_even": "math.roundeven",
    **{
        name: f"math.{name}"
        for name in ("ceil", "floor", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos")
    },
}
_INTEGER = {
    "add": "arith.addi", "sub": "arith.subi", "mul": "arith.muli", "div": "arith.divsi", "rem": "arith.remsi",
    "div_u": "arith.divui", "rem_u": "arith.remui", "max": "arith.maxsi", "min": "arith.minsi",
    "max_u": "arith.maxui", "min_u": "arith.minui", "and": "arith.andi", "or": "arith.ori", "xor": "arith.xori",
    "shl": "arith.shli", "shr": "arith.shrsi", "shr_u": "arith.shrui", "abs": "math.absi", "popcnt": "math.ctpop",
}
_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def _map(rank: int, results: Sequence[str] | None = None) -> str:
    dims = [f"d{at}" for at in range(rank)]
    return f"affine_map<({', '.join(dims)}) -> ({', '.join(dims if results is None else results)})>"


class LinalgWriter(Writer):
    """Writes elementwise operations as `linalg.generic`."""

    def prologue(self, function: Region, names: Sequence[str]) -> None:
        """Name the sizes that are not in types, `%size7`, by what the arguments have."""
        for size in sorted(self.dynamic):
            at, kind = next(one for one in enumerate(function.arguments) if size in one[1].shape)
            where = kind.shape.index(size)
            self.lines.append(f"  %index{size} = arith.constant {where} : index")
            self.lines.append(f"  %size{size} = tensor.dim {names[at]}, %index{size} : {self.type(kind)}")

    def node(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write an operation; those without a method of their own are elementwise."""
        op, _, rest = node.op.partition(".")
        method = getattr(self, f"_{op}", None)
        if method is not None:
            result: str = method(node, names, types, rest)
            return result
        table = _FLOAT if types[0].is_float else _INTEGER
        return self._elementwise(node, names, types, f"{table[op]} {{}} : {node.type.element}")

    def _elementwise(self, node: Node, names: Sequence[str], types: Sequence[Type], *body: str) -> str:
        return self._generic(node.type, names, types, [_map(len(node.type.shape))] * len(names), *body)

    def _generic(
        self, result: Type, names: Sequence[str], types: Sequence[Type], maps: Sequence[str], *body: str
    ) -> str:
        """An elementwise operation; `body` is the operation on elements, with a place for its operands, if any."""
        rank = len(result.shape)
        elements = [f"%e{at}" for at in range(len(names))]
        block = ", ".join(f"{n}: {one.element}" for n, one in zip((*elements, "%o"), (*types, result), strict=True))
        iterators = ", ".join(['"parallel"'] * rank)
        empty = self._empty(result)
        name = self.name()
        ins = f" ins({', '.join(names)} : {', '.join(map(self.type, types))})" if names else ""
        *lines, last = body or ("",)
        self.lines += [
            f"  {name} = linalg.generic {{indexing_maps = [{', '.join((*maps, _map(rank)))}],"
            f" iterator_types = [{iterators}]}}{ins} outs({empty} : {self.type(result)}) {{",
            f"  ^bb0({block}):",
            *(f"    {line.format(', '.join(elements))}" for line in lines),
            *([f"    %r = {last.format(', '.join(elements))}"] if last else []),
            f"    linalg.yield {'%r' if last else elements[0]} : {result.element}",
            f"  }} -> {self.type(result)}",
        ]
        return name

    def _sizes(self, shape: Sequence[int]) -> list[str]:
        return [f"%size{size}" if size in self.dynamic else str(size) for size in shape]

    def _empty(self, kind: Type) -> str:
        sizes = ", ".join(size for size in self._sizes(kind.shape) if size.startswith("%"))
        return self.write(f"tensor.empty({sizes}) : {self.type(kind)}")

    def _filled(self, kind: Type, value: float) -> str:
        scalar = self.write(f"arith.constant {literal(value, kind.element)}{self._suffix(kind.element)}")
        empty = self._empty(kind)
        return self.write(
            f"linalg.fill ins({scalar} : {kind.element}) outs({empty} : {self.type(kind)}) -> {self.type(kind)}"
        )

    @staticmethod
    def _suffix(element: str) -> str:
        return "" if element == "i1" else f" : {element}"

    def _cast(self, name: str, source: str, target: str) -> str:
        return name if source == target else self.write(f"tensor.cast {name} : {source} to {target}")

    def _static(self, name: str, kind: Type) -> str:
        return self._cast(name, self.type(kind), self.static(kind))

    def _constant(self, node: Node, _names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        name = self.write(f"arith.constant {dense(node.values, node.type.element)} : {self.static(node.type)}")
        return self._cast(name, self.static(node.type), self.type(node.type))

    def _iota(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        at, element = node.attributes[0][0], node.type.element
        lines = [f"%i = linalg.index {at} : index", f"arith.index_cast %i : index to {element}"]
        if node.type.is_float:
            lines[1:] = ["%j = arith.index_cast %i : index to i32", f"arith.sitofp %j : i32 to {element}"]
        return self._elementwise(node, names, types, *lines)

    def _compare(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        name, _, unsigned = rest.partition("_")
        sign = "" if name in {"eq", "ne"} else "u" if unsigned else "s"
        what = f"f {_FLOAT_PREDICATES[name]}" if types[0].is_float else f"i {sign}{name}"
        return self._elementwise(node, names, types, f"arith.cmp{what}, {{}} : {types[0].element}")

    def _select(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        return self._elementwise(node, names, types, f"arith.select {{}} : {node.type.element}")

    def _convert(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        source, target = types[0], node.type
        unsigned = rest == "u" or source.element == "i1"
        if source.is_float or target.is_float:
            if source.is_float and target.is_float:
                op = "extf" if source.bits < target.bits else "truncf"
            else:
                op = "fptosi" if source.is_float else "uitofp" if unsigned else "sitofp"
        else:
            op = "trunci" if source.bits > target.bits else "extui" if unsigned else "extsi"
        return self._elementwise(node, names, types, f"arith.{op} {{}} : {source.element} to {target.element}")

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        (source,), at = types, node.attributes[0]
        kept = [f"d{to}" if size == node.type.shape[to] else "0" for size, to in zip(source.shape, at, strict=True)]
        return self._generic(node.type, names, types, [_map(len(node.type.shape), kept)])

    def _transpose(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        empty, order = self._empty(node.type), list(node.attributes[0])
        operands = f"ins({names[0]} : {self.type(types[0])}) outs({empty} : {self.type(node.type)})"
        return self.write(f"linalg.transpose {operands} permutation = {order}")

    def _reshape(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        (source,), target = types, node.type
        name, flat = self._static(names[0], source), Type(target.element, (source.size,))
        if len(source.shape) != 1:
            flat = flat if source.shape and target.shape else Type(target.element)
            groups = [list(range(len(source.shape)))] if flat.shape else []
            if source.shape:
                what = f"{name} {groups} : {self.static(source)} into {self.static(flat)}"
                name = self.write(f"tensor.collapse_shape {what}")
        if len(target.shape) != 1 or not flat.shape:
            groups = [list(range(len(target.shape)))] if flat.shape else []
            if target.shape and target.shape != flat.shape:
                what = f"{name} {groups} output_shape {list(target.shape)}"
                name = self.write(f"tensor.expand_shape {what} : {self.static(flat)} into {self.static(target)}")
            elif flat.shape:
                name = self.write(f"tensor.collapse_shape {name} [] : {self.static(flat)} into {self.static(target)}")
        return self._cast(name, self.static(target), self.type(target))

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        starts, _, strides = node.attributes
        sizes = ", ".join(self._sizes(node.type.shape))
        what = f"{names[0]}{list(starts)} [{sizes}] {list(strides)}"
        return self.write(f"tensor.extract_slice {what} : {self.type(types[0])} to {self.type(node.type)}")

    def _pad(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        low, high, _ = node.attributes
        sizes = (
            "?" if old in self.dynamic else str(new) for old, new in zip(types[0].shape, node.type.shape, strict=True)
        )
        result = f"tensor<{'x'.join((*sizes, node.type.element))}>"
        scalar = self.write(f"tensor.extract {names[1]}[] : {self.type(types[1])}")
        name = self.write(f"tensor.pad {names[0]} low{list(low)} high{list(high)} {{")
        indices = ", ".join(f"%i{at}: index" for at in range(len(low)))
        self.lines += [f"  ^bb0({indices}):", f"    tensor.yield {scalar} : {node.type.element}"]
        self.lines.append(f"  }} : {self.type(types[0])} to {result}")
        return self._cast(name, result, self.type(node.type))

    def _concat(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        parts = ", ".join([self._static(name, kind) for name, kind in zip(names, types, strict=True)])
        what = f"({', '.join(map(self.static, types))}) -> {self.static(node.type)}"
        name = self.write(f"tensor.concat dim({node.attributes[0][0]}) {parts} : {what}")
        return self._cast(name, self.static(node.type), self.type(node.type))

    def _take(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        rank, many = len(node.type.shape), len(types[1].shape)
        dims = [f"%d{at}" for at in range(many, rank)]
        lines = [
            *(f"{name} = linalg.index {at} : index" for at, name in enumerate(dims, many)),
            f"%i = arith.index_cast {{}} : {types[1].element} to index",
            f"tensor.extract {names[0]}[{', '.join(['%i', *dims])}] : {self.type(types[0])}",
        ]
        maps = [_map(rank, [f"d{at}" for at in range(many)])]
        return self._generic(node.type, names[1:], types[1:], maps, *lines)

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type], rest: str) -> str:
        start = self._filled(node.type, first_of_reduction(rest, node.type))
        table = _FLOAT if node.type.is_float else _INTEGER
        operands = f"ins({names[0]} : {self.type(types[0])}) outs({start} : {self.type(node.type)})"
        return self.write(f"linalg.reduce {{ {table[rest]} }} {operands} dimensions = {list(node.attributes[0])}")

    def _dot(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        batches = len(node.type.shape) - 2
        batch = [f"d{at}" for at in range(batches)]
        row, column, inner = (f"d{batches + at}" for at in range(3))
        swaps = node.attributes[0]
        pairs = [*zip(((row, inner), (inner, column)), swaps, strict=True), ((row, column), 0)]
        maps = ", ".join(_map(batches + 3, [*batch, *(pair[::-1] if swap else pair)]) for pair, swap in pairs)
        start = self._filled(node.type, 0)
        what = f"ins({', '.join(names)} : {', '.join(map(self.type, types))}) outs({start} : {self.type(node.type)})"
        op = "linalg.batch_matmul" if batches else "linalg.matmul"
        return self.write(f"{op} indexing_maps = [{maps}] {what} -> {self.type(node.type)}")

    def _if(self, node: Node, names: Sequence[str], _types: Sequence[Type], _rest: str) -> str:
        condition = self.write(f"tensor.extract {names[0]}[] : tensor<i1>")
        name = self.write(f"scf.if {condition} -> ({self.type(node.type)}) {{")
        for region, end in zip(node.regions, ("} else {", "}"), strict=True):
            (result,) = self.region(region, names[1:])
            self.lines += [f"  scf.yield {result} : {self.type(node.type)}", f"  {end}"]
        return name

    def _for(self, node: Node, names: Sequence[str], types: Sequence[Type], _rest: str) -> str:
        count = self.write(f"tensor.extract {names[0]}[] : {self.type(types[0])}")
        last = self.write(f"arith.index_cast {count} : {types[0].element} to index")
        first, step = (self.write(f"arith.constant {one} : index") for one in (0, 1))
        index, carried = self.name(), self.name()
        loop = f"scf.for {index} = {first} to {last} step {step} iter_args({carried} = {names[1]})"
        name = self.write(f"{loop} -> ({self.type(node.type)}) {{")
        (result,) = self.region(node.regions[0], [carried, *names[2:]])
        self.lines += [f"  scf.yield {result} : {self.type(node.type)}", "  }"]
        return name
