# ruff: noqa: E501 - lines of MLIR
"""Generated modules with their inputs and what NumPy says of them.

Everything comes out of one random generator, so that a seed names a module (`opencl_model_modules.generate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt

__all__ = ["ELEMENTS", "KINDS", "Array", "GeneratedModule", "Maker", "empty", "take_sizes"]

Array = npt.NDArray[np.generic]

ELEMENTS: dict[str, npt.DTypeLike] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
_FLOATS = ("f16", "bf16", "f32", "f64")
# Relative error that a sum of some dozens of products may have, by element type.
_TOLERANCE = {"f16": 2e-2, "bf16": 1e-1, "f32": 2e-4, "f64": 1e-10}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedModule:
    """`text` exports `main`; calling it on `inputs` must give `expected` within `tolerance` (absolute and relative)."""

    title: str
    text: str
    inputs: tuple[Array, ...]
    expected: Array
    tolerance: float


@dataclass(frozen=True, slots=True)
class Maker:
    random: np.random.Generator
    dynamic: bool

    def shape(self, rank: int, most: int = 24) -> tuple[int, ...]:
        return tuple(int(size) for size in self.random.integers(1, most, rank))

    def array(self, element: str, shape: Sequence[int]) -> Array:
        dtype = np.dtype(ELEMENTS[element])
        if element in _FLOATS:
            # Quarters: exact in every type, and their products in most.
            return (self.random.integers(-8, 9, tuple(shape)) / 4).astype(dtype)
        return self.random.integers(-100, 100, tuple(shape)).astype(dtype)

    def tensor(self, element: str, shape: Sequence[int]) -> str:
        sizes = ["?" if self.dynamic else str(size) for size in shape]
        return f"tensor<{'x'.join([*sizes, element])}>"

    def choose(self, items: Sequence[str]) -> str:
        return str(self.random.choice(list(items)))


def identity(rank: int) -> str:
    dims = ", ".join(f"d{axis}" for axis in range(rank))
    return f"affine_map<({dims}) -> ({dims})>"


def take_sizes(value: str, tensor: str, rank: int, prefix: str) -> tuple[str, str]:
    """Return the ops that take a tensor's sizes, and the names of the sizes."""
    lines, names = [], []
    for axis in range(rank):
        lines.append(f"  %{prefix}c{axis} = arith.constant {axis} : index")
        lines.append(f"  %{prefix}{axis} = tensor.dim {value}, %{prefix}c{axis} : {tensor}")
        names.append(f"%{prefix}{axis}")
    return "\n".join(lines), ", ".join(names)


def empty(make: Maker, name: str, tensor: str, sizes: Sequence[str]) -> str:
    return f"  {name} = tensor.empty({', '.join(sizes) if make.dynamic else ''}) : {tensor}"


_ELEMENTWISE_FLOAT: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
}
_ELEMENTWISE_INT: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
}


def _elementwise(make: Maker) -> GeneratedModule:
    # IREE 3.13 generates invalid SPIR-V for arithmetic on bf16, so that type is tested by casts from f32 alone.
    element = make.choose(tuple(element for element in ELEMENTS if element != "bf16"))
    floating = element in _FLOATS
    ops = _ELEMENTWISE_FLOAT if floating else _ELEMENTWISE_INT
    shape = make.shape(int(make.random.integers(1, 4)))
    tensor = make.tensor(element, shape)
    names = [make.choose(tuple(ops)) for _ in range(int(make.random.integers(1, 4)))]
    arrays = [make.array(element, shape) for _ in range(2)]
    value, lines, result = "%x", [], arrays[0]
    with np.errstate(all="ignore"):
        for index, name in enumerate(names):
            lines.append(f"    %v{index} = {name} {value}, %y : {element}")
            value, result = f"%v{index}", ops[name](result, arrays[1]).astype(arrays[0].dtype)
    dims, sizes = take_sizes("%a", tensor, len(shape), "n")
    maps = ", ".join([identity(len(shape))] * 3)
    kinds = ", ".join(['"parallel"'] * len(shape))
    text = f"""
func.func @main(%a: {tensor}, %b: {tensor}) -> {tensor} {{
{dims}
{empty(make, "%e", tensor, sizes.split(", "))}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins(%a, %b : {tensor}, {tensor}) outs(%e : {tensor}) {{
  ^bb0(%x: {element}, %y: {element}, %o: {element}):
{chr(10).join(lines)}
    linalg.yield {value} : {element}
  }} -> {tensor}
  return %r : {tensor}
}}
"""
    title = f"elementwise {element} {shape} {' '.join(names)}"
    # Each op rounds to its type, as NumPy does; contraction may save a rounding.
    tolerance = {"f16": 2e-3, "f32": 1e-6, "f64": 1e-14}.get(element, 0.0)
    return GeneratedModule(title=title, text=text, inputs=tuple(arrays), expected=result, tolerance=tolerance)


_UNARY: dict[str, Callable[[Array], Array]] = {
    "math.exp": np.exp,
    "math.tanh": np.tanh,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.absf": np.abs,
    "math.sqrt": lambda x: np.sqrt(np.abs(x)),
    "math.log": lambda x: np.log(np.abs(x) + 1),
    "math.roundeven": np.rint,
    "math.round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "math.trunc": np.trunc,
    "math.atan": np.arctan,
    "math.erf": np.vectorize(math.erf, otypes=[np.float64]),
}
_BEFORE = {"math.sqrt": ("math.absf",), "math.log": ("math.absf", "plus one")}


def _unary(make: Maker) -> GeneratedModule:
    element = make.choose(("f32", "f16"))
    name = make.choose(tuple(_UNARY))
    shape = make.shape(int(make.random.integers(1, 4)))
    tensor = make.tensor(element, shape)
    array = make.array(element, shape)
    lines, value = [], "%x"
    for step in _BEFORE.get(name, ()):
        if step == "plus one":
            lines += [f"    %one = arith.constant 1.0 : {element}", f"    %p = arith.addf {value}, %one : {element}"]
            value = "%p"
        else:
            lines.append(f"    %abs = {step} {value} : {element}")
            value = "%abs"
    lines.append(f"    %v = {name} {value} : {element}")
    dims, sizes = take_sizes("%a", tensor, len(shape), "n")
    maps = ", ".join([identity(len(shape))] * 2)
    kinds = ", ".join(['"parallel"'] * len(shape))
    text = f"""
func.func @main(%a: {tensor}) -> {tensor} {{
{dims}
{empty(make, "%e", tensor, sizes.split(", "))}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins(%a : {tensor}) outs(%e : {tensor}) {{
  ^bb0(%x: {element}, %o: {element}):
{chr(10).join(lines)}
    linalg.yield %v : {element}
  }} -> {tensor}
  return %r : {tensor}
}}
"""
    expected = _UNARY[name](array.astype(np.float64)).astype(array.dtype)
    tolerance = 1e-2 if element == "f16" else 1e-4
    return GeneratedModule(
        title=f"{name} {element} {shape}", text=text, inputs=(array,), expected=expected, tolerance=tolerance
    )


def _reduction(make: Maker) -> GeneratedModule:
    element = make.choose(("f32", "f64", "i32", "i64"))
    floating = element in _FLOATS
    op, start, compute = {
        (True, 0): ("arith.addf", "0.0", np.sum),
        (True, 1): ("arith.maximumf", "-1.0e30", np.max),
        (False, 0): ("arith.addi", "0", np.sum),
        (False, 1): ("arith.minsi", "1000000", np.min),
    }[floating, int(make.random.integers(2))]
    shape = make.shape(2, 150)
    over = int(make.random.integers(2))
    kept = (shape[1 - over],)
    tensor, reduced = make.tensor(element, shape), make.tensor(element, kept)
    array = make.array(element, shape)
    dims, _ = take_sizes("%a", tensor, 2, "n")
    kinds = ", ".join('"reduction"' if axis == over else '"parallel"' for axis in range(2))
    text = f"""
func.func @main(%a: {tensor}) -> {reduced} {{
{dims}
{empty(make, "%e", reduced, [f"%n{1 - over}"])}
  %z = arith.constant {start} : {element}
  %f = linalg.fill ins(%z : {element}) outs(%e : {reduced}) -> {reduced}
  %r = linalg.generic {{indexing_maps = [{identity(2)}, affine_map<(d0, d1) -> (d{1 - over})>], iterator_types = [{kinds}]}} ins(%a : {tensor}) outs(%f : {reduced}) {{
  ^bb0(%x: {element}, %y: {element}):
    %s = {op} %x, %y : {element}
    linalg.yield %s : {element}
  }} -> {reduced}
  return %r : {reduced}
}}
"""
    expected = compute(array, axis=over).astype(array.dtype)
    return GeneratedModule(
        title=f"reduction {op} {element} {shape} over {over}",
        text=text,
        inputs=(array,),
        expected=expected,
        tolerance=_TOLERANCE.get(element, 0.0),
    )


def _matmul(make: Maker) -> GeneratedModule:
    element = make.choose(("f32", "f16", "i32", "f64"))
    rows, inner, columns = make.shape(3, 70)
    left, right, out = (make.tensor(element, pair) for pair in ((rows, inner), (inner, columns), (rows, columns)))
    a, b = make.array(element, (rows, inner)), make.array(element, (inner, columns))
    dims, _ = take_sizes("%a", left, 2, "n")
    more, _ = take_sizes("%b", right, 2, "m")
    zero = "0" if element == "i32" else "0.0"
    text = f"""
func.func @main(%a: {left}, %b: {right}) -> {out} {{
{dims}
{more}
{empty(make, "%e", out, ["%n0", "%m1"])}
  %z = arith.constant {zero} : {element}
  %f = linalg.fill ins(%z : {element}) outs(%e : {out}) -> {out}
  %r = linalg.matmul ins(%a, %b : {left}, {right}) outs(%f : {out}) -> {out}
  return %r : {out}
}}
"""
    wide = np.int64 if element == "i32" else np.float64
    expected = (a.astype(wide) @ b.astype(wide)).astype(a.dtype)
    title = f"matmul {element} {rows}x{inner}x{columns}"
    tolerance = {**_TOLERANCE, "f16": 5e-2}.get(element, 0.0)
    return GeneratedModule(title=title, text=text, inputs=(a, b), expected=expected, tolerance=tolerance)


def _convolution(make: Maker) -> GeneratedModule:
    batch, size, channels, filters, window = (
        int(make.random.integers(low, high)) for low, high in ((1, 3), (4, 14), (1, 9), (1, 9), (1, 4))
    )
    a, k = make.array("f32", (batch, size, size, channels)), make.array("f32", (window, window, channels, filters))
    left = size - window + 1
    types = [f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (a.shape, k.shape, (batch, left, left, filters))]
    text = f"""
func.func @main(%a: {types[0]}, %k: {types[1]}) -> {types[2]} {{
  %e = tensor.empty() : {types[2]}
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : {types[2]}) -> {types[2]}
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %k : {types[0]}, {types[1]}) outs(%f : {types[2]}) -> {types[2]}
  return %r : {types[2]}
}}
"""
    windows = np.lib.stride_tricks.sliding_window_view(a, (window, window), axis=(1, 2))
    expected = np.einsum("nyxcij,ijcf->nyxf", windows.astype(np.float64), k.astype(np.float64)).astype(np.float32)
    title = f"conv2d {a.shape} by {k.shape}"
    return GeneratedModule(title=title, text=text, inputs=(a, k), expected=expected, tolerance=1e-3)


def _gather(make: Maker) -> GeneratedModule:
    element = make.choose(("f32", "i8", "i16", "i64", "f16"))
    rows, columns, picks = make.shape(3, 40)
    table, index, out = (
        make.tensor(element, (rows, columns)),
        make.tensor("i32", (picks,)),
        make.tensor(element, (picks, columns)),
    )
    a = make.array(element, (rows, columns))
    wanted = make.random.integers(0, rows, picks).astype(np.int32)
    dims, _ = take_sizes("%a", table, 2, "n")
    more, _ = take_sizes("%i", index, 1, "m")
    text = f"""
func.func @main(%a: {table}, %i: {index}) -> {out} {{
{dims}
{more}
{empty(make, "%e", out, ["%m0", "%n1"])}
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0)>, {identity(2)}], iterator_types = ["parallel", "parallel"]}} ins(%i : {index}) outs(%e : {out}) {{
  ^bb0(%row: i32, %o: {element}):
    %at = arith.index_cast %row : i32 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %a[%at, %column] : {table}
    linalg.yield %v : {element}
  }} -> {out}
  return %r : {out}
}}
"""
    return GeneratedModule(
        title=f"gather {element} {rows}x{columns} {picks}",
        text=text,
        inputs=(a, wanted),
        expected=a[wanted],
        tolerance=0.0,
    )


def _scatter(make: Maker) -> GeneratedModule:
    element = make.choose(("f32", "i32"))
    rows, columns = make.shape(2, 30)
    picks = int(make.random.integers(1, rows + 1))
    types = [
        f"tensor<{'x'.join(map(str, shape))}x{kind}>"
        for shape, kind in (((picks, columns), element), ((picks, 1), "i32"), ((rows, columns), element))
    ]
    base, updates = make.array(element, (rows, columns)), make.array(element, (picks, columns))
    where = make.random.permutation(rows)[:picks].astype(np.int32).reshape(picks, 1)
    add = "arith.addf" if element == "f32" else "arith.addi"
    text = f"""
func.func @main(%u: {types[0]}, %i: {types[1]}, %base: {types[2]}) -> {types[2]} {{
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%u, %i : {types[0]}, {types[1]}) outs(%base : {types[2]}) {{
  ^bb0(%x: {element}, %y: {element}):
    %s = {add} %x, %y : {element}
    iree_linalg_ext.yield %s : {element}
  }} -> {types[2]}
  return %r : {types[2]}
}}
"""
    expected = base.copy()
    expected[where[:, 0]] += updates
    return GeneratedModule(
        title=f"scatter {element} {picks} of {rows}x{columns}",
        text=text,
        inputs=(updates, where, base),
        expected=expected,
        tolerance=1e-6,
    )


def _softmax(make: Maker) -> GeneratedModule:
    shape = make.shape(2, 90)
    tensor = make.tensor("f32", shape)
    a = make.array("f32", shape)
    dims, _ = take_sizes("%a", tensor, 2, "n")
    text = f"""
func.func @main(%a: {tensor}) -> {tensor} {{
{dims}
{empty(make, "%e", tensor, ["%n0", "%n1"])}
  %r = linalg.softmax dimension(1) ins(%a : {tensor}) outs(%e : {tensor}) -> {tensor}
  return %r : {tensor}
}}
"""
    shifted = np.exp(a.astype(np.float64) - a.astype(np.float64).max(axis=1, keepdims=True))
    expected = (shifted / shifted.sum(axis=1, keepdims=True)).astype(np.float32)
    return GeneratedModule(title=f"softmax {shape}", text=text, inputs=(a,), expected=expected, tolerance=1e-4)


def _conversion(make: Maker) -> GeneratedModule:
    source, target, op = "f32", "bf16", "arith.truncf"
    if make.random.integers(5):
        source, target, op = (
            make.choose(("i8", "i16", "i32", "i64")),
            make.choose(("f16", "f32", "f64")),
            "arith.sitofp",
        )
    shape = make.shape(2)
    before, after = make.tensor(source, shape), make.tensor(target, shape)
    a = make.array(source, shape)
    dims, _ = take_sizes("%a", before, 2, "n")
    text = f"""
func.func @main(%a: {before}) -> {after} {{
{dims}
{empty(make, "%e", after, ["%n0", "%n1"])}
  %r = linalg.generic {{indexing_maps = [{identity(2)}, {identity(2)}], iterator_types = ["parallel", "parallel"]}} ins(%a : {before}) outs(%e : {after}) {{
  ^bb0(%x: {source}, %o: {target}):
    %v = {op} %x : {source} to {target}
    linalg.yield %v : {target}
  }} -> {after}
  return %r : {after}
}}
"""
    expected = a.astype(np.dtype(ELEMENTS[target]))
    return GeneratedModule(
        title=f"{op} {source} {target} {shape}", text=text, inputs=(a,), expected=expected, tolerance=0.0
    )


KINDS = (
    _elementwise,
    _elementwise,
    _unary,
    _reduction,
    _matmul,
    _convolution,
    _gather,
    _scatter,
    _softmax,
    _conversion,
)
