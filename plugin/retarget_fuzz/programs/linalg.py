"""Programs as linalg on tensors, with arith, math, tensor and scf."""

from __future__ import annotations

from collections.abc import Sequence

from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.oracle import initial
from retarget_fuzz.programs.text import Writer, literal

__all__ = ["LinalgWriter"]


def _map(rank: int, results: Sequence[str] | None = None) -> str:
    dims = [f"d{at}" for at in range(rank)]
    return f"affine_map<({', '.join(dims)}) -> ({', '.join(dims if results is None else results)})>"


class LinalgWriter(Writer):
    """Writes elementwise operations as `linalg.generic`."""

    dialect = "linalg"
    branch, end = "scf.if", "scf.yield"

    def prologue(self, function: Region, names: Sequence[str]) -> list[str]:
        """Name the sizes that are not in types, `%size7`, by what the arguments have."""
        lines = []
        for size in sorted(self.dynamic):
            at, kind = next(one for one in enumerate(function.arguments) if size in one[1].shape)
            lines.append(f"  %index{size} = arith.constant {kind.shape.index(size)} : index")
            lines.append(f"  %size{size} = tensor.dim {names[at]}, %index{size} : {self.type(kind)}")
        return lines

    def plain(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Write an operation on elements."""
        return self._elementwise(node, names, types, f"{self.spelled(node, types)} {{}} : {types[0].element}")

    def _elementwise(self, node: Node, names: Sequence[str], types: Sequence[Type], body: str) -> str:
        return self._generic(node.type, names, types, [_map(len(node.type.shape))] * len(names), body)

    def _generic(
        self, result: Type, names: Sequence[str], types: Sequence[Type], maps: Sequence[str], body: str = ""
    ) -> str:
        """An elementwise operation; `body` gives the element, or the first operand does. `{}` in it are the operands'
        elements."""
        elements = [f"%e{at}" for at in range(len(names))]
        block = ", ".join(f"{n}: {one.element}" for n, one in zip((*elements, "%o"), (*types, result), strict=True))
        iterators = ", ".join(['"parallel"'] * len(result.shape))
        empty = self._empty(result)
        line = f"%r = {body.format(', '.join(elements))}" if body else ""
        name = self.write(
            f"linalg.generic {{indexing_maps = [{', '.join((*maps, _map(len(result.shape))))}],"
            f" iterator_types = [{iterators}]}} ins({self._typed(names, types)}) outs({empty} : {self.type(result)}) {{"
        )
        last = f"linalg.yield {'%r' if line else elements[0]} : {result.element}"
        self.lines += [
            f"  ^bb0({block}):",
            *(f"    {one}" for one in (line, last) if one),
            f"  }} -> {self.type(result)}",
        ]
        return name

    def _typed(self, names: Sequence[str], types: Sequence[Type]) -> str:
        return f"{', '.join(names)} : {', '.join(map(self.type, types))}"

    def _sizes(self, shape: Sequence[int]) -> list[str]:
        return [f"%size{size}" if size in self.dynamic else str(size) for size in shape]

    def _empty(self, kind: Type) -> str:
        sizes = ", ".join(size for size in self._sizes(kind.shape) if size.startswith("%"))
        return self.write(f"tensor.empty({sizes}) : {self.type(kind)}")

    def _filled(self, kind: Type, value: float) -> str:
        suffix = "" if kind.element == "i1" else f" : {kind.element}"
        scalar = self.write(f"arith.constant {literal(value, kind.element)}{suffix}")
        what = f"ins({scalar} : {kind.element}) outs({self._empty(kind)} : {self.type(kind)})"
        return self.write(f"linalg.fill {what} -> {self.type(kind)}")

    def _scalar(self, name: str, kind: Type) -> str:
        return self.write(f"tensor.extract {name}[] : {self.type(kind)}")

    def _cast(self, name: str, source: str, target: str) -> str:
        return name if source == target else self.write(f"tensor.cast {name} : {source} to {target}")

    def _static(self, kind: Type) -> str:
        return self.type(kind, ())

    def _constant(self, node: Node, _names: Sequence[str], _types: Sequence[Type]) -> str:
        kind, values = self._static(node.type), ", ".join(literal(one, node.type.element) for one in node.values)
        return self._cast(self.write(f"arith.constant dense<{values}> : {kind}"), kind, self.type(node.type))

    def _compare(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        what = f"arith.cmp{'f' if types[0].is_float else 'i'} {self.spelled(node, types)}"
        return self._elementwise(node, names, types, f"{what}, {{}} : {types[0].element}")

    def _select(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        return self._elementwise(node, names, types, f"arith.select {{}} : {node.type.element}")

    def _convert(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        source, target = types[0], node.type
        unsigned = node.op == "convert.u" or source.element == "i1"
        if source.is_float and target.is_float:
            op = "extf" if source.bits < target.bits else "truncf"
        elif source.is_float or target.is_float:
            op = "fptosi" if source.is_float else "uitofp" if unsigned else "sitofp"
        else:
            op = "trunci" if source.bits > target.bits else "extui" if unsigned else "extsi"
        return self._elementwise(node, names, types, f"arith.{op} {{}} : {source.element} to {target.element}")

    def _broadcast(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        shape, dims = node.type.shape, zip(types[0].shape, node.attributes[0], strict=True)
        return self._generic(
            node.type, names, types, [_map(len(shape), [f"d{to}" if size == shape[to] else "0" for size, to in dims])]
        )

    def _transpose(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        operands = f"ins({self._typed(names, types)}) outs({self._empty(node.type)} : {self.type(node.type)})"
        return self.write(f"linalg.transpose {operands} permutation = {list(node.attributes[0])}")

    def _reshape(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        """Through one dimension, or through none if there is none on either side."""
        source, target = types[0], node.type
        flat = Type(target.element, (source.size,) if source.shape and target.shape else ())
        name = self._cast(names[0], self.type(source), self._static(source))
        for op, many in (("collapse", source), ("expand", target)):
            groups = [list(range(len(many.shape)))] if flat.shape else []
            old, new = (many, flat) if op == "collapse" else (flat, many)
            sizes = f" output_shape {list(many.shape)}" if op == "expand" else ""
            if many.shape != flat.shape:
                what = f"{name} {groups}{sizes} : {self._static(old)} into {self._static(new)}"
                name = self.write(f"tensor.{op}_shape {what}")
        return self._cast(name, self._static(target), self.type(target))

    def _slice(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        starts, _, strides = map(list, node.attributes)
        what = f"{names[0]}{starts} [{', '.join(self._sizes(node.type.shape))}] {strides}"
        return self.write(f"tensor.extract_slice {what} : {self.type(types[0])} to {self.type(node.type)}")

    def _pad(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        low, high, _ = map(list, node.attributes)
        sizes = (
            "?" if old in self.dynamic else str(new) for old, new in zip(types[0].shape, node.type.shape, strict=True)
        )
        result = f"tensor<{'x'.join((*sizes, node.type.element))}>"
        scalar = self._scalar(names[1], types[1])
        name = self.write(f"tensor.pad {names[0]} low{low} high{high} {{")
        indices = ", ".join(f"%i{at}: index" for at in range(len(low)))
        self.lines += [f"  ^bb0({indices}):", f"    tensor.yield {scalar} : {node.type.element}"]
        self.lines.append(f"  }} : {self.type(types[0])} to {result}")
        return self._cast(name, result, self.type(node.type))

    def _concat(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        static = [self._static(kind) for kind in types]
        parts = [self._cast(n, self.type(one), s) for n, one, s in zip(names, types, static, strict=True)]
        what = f"{', '.join(parts)} : ({', '.join(static)}) -> {self._static(node.type)}"
        name = self.write(f"tensor.concat dim({node.attributes[0][0]}) {what}")
        return self._cast(name, self._static(node.type), self.type(node.type))

    def _reduce(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        start = self._filled(node.type, initial(node.op.partition(".")[2], node.type))
        operands = f"ins({self._typed(names, types)}) outs({start} : {self.type(node.type)})"
        what = f"{{ {self.spelled(node, types)} }} {operands} dimensions = {list(node.attributes[0])}"
        return self.write(f"linalg.reduce {what}")

    def _dot(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        outs = f"outs({self._filled(node.type, 0)} : {self.type(node.type)})"
        batch = "batch_" if len(node.type.shape) > 2 else ""
        return self.write(f"linalg.{batch}matmul ins({self._typed(names, types)}) {outs} -> {self.type(node.type)}")

    def condition(self, name: str, kind: Type) -> tuple[str, str]:
        """Return what a branch takes for a tensor of one boolean, and its type."""
        return self._scalar(name, kind), kind.element

    def _for(self, node: Node, names: Sequence[str], types: Sequence[Type]) -> str:
        last = self.write(f"arith.index_cast {self._scalar(names[0], types[0])} : {types[0].element} to index")
        first, step = (self.write(f"arith.constant {one} : index") for one in (0, 1))
        index, carried = self.name(), self.name()
        loop = f"scf.for {index} = {first} to {last} step {step} iter_args({carried} = {names[1]})"
        name = self.write(f"{loop} -> ({self.type(node.type)}) {{")
        (result,) = self.region(node.regions[0], [carried, *names[2:]])
        self.lines += [f"  scf.yield {result} : {self.type(node.type)}", "  }"]
        return name
