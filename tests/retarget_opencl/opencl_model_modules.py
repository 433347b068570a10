# ruff: noqa: E501 - lines of MLIR
"""More generated modules: blocks of networks, small types, mixed types, odd sizes, empty tensors; and `generate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
from opencl_modules import KINDS, Array, GeneratedModule, Maker, empty, take_sizes

__all__ = ["ALL_KINDS", "generate"]

_TOLERANCE = {"f16": 2e-2, "bf16": 5e-2, "f32": 2e-4, "f64": 1e-10}


def _result(make: Maker, array: Array, element: str) -> Array:
    """Return what was computed in f64 in the type of an element; `NumPy` knows no bf16 without ml_dtypes."""
    with np.errstate(all="ignore"):
        return array.astype(make.array(element, (1,)).dtype)


def _odd(make: Maker, rank: int, most: int) -> tuple[int, ...]:
    """Return sizes that tiles do not divide, now and then 1."""
    return tuple(int(make.random.choice([1, 3, 5, 7, 13, 17, 31, 33, 63, 65])) % most or 1 for _ in range(rank))


def _fill(name: str, zero: str, element: str, tensor: str, room: str) -> str:
    return f"  {name}z = arith.constant {zero} : {element}\n  {name} = linalg.fill ins({name}z : {element}) outs({room} : {tensor}) -> {tensor}"


def _generic(
    name: str, inputs: Sequence[tuple[str, str, str]], out: tuple[str, str, str], kinds: str, body: str
) -> str:
    """Return a `linalg.generic`. Operands are (value, type, the map's results); `body` has the block's arguments."""
    loops = len(kinds)
    arguments = ", ".join(f"d{axis}" for axis in range(loops))
    maps = ", ".join(f"affine_map<({arguments}) -> ({results})>" for _, _, results in (*inputs, out))
    iterators = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
    given = (
        f"ins({', '.join(value for value, _, _ in inputs)} : {', '.join(kind for _, kind, _ in inputs)})"
        if inputs
        else ""
    )
    return f"  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} {given} outs({out[0]} : {out[1]}) {{\n{body}\n  }} -> {out[1]}"


def _layer_norm(make: Maker) -> GeneratedModule:
    rows, columns = make.shape(1, 12)[0], _odd(make, 1, 99)[0]
    tensor, column = make.tensor("f32", (rows, columns)), make.tensor("f32", (rows,))
    a = make.array("f32", (rows, columns))
    a[:: int(make.random.integers(1, 4))] = 7.25  # rows of one value: their products must cancel out
    sizes, names = take_sizes("%a", tensor, 2, "n")
    cancelling = bool(make.random.integers(2))
    last = (
        "    %p = arith.mulf %x, %k : f32\n    %g = arith.mulf %m, %k : f32\n    %last = arith.subf %p, %g : f32"
        if cancelling
        else "    %g = arith.subf %x, %m : f32\n    %last = arith.mulf %g, %k : f32"
    )
    sums = _generic(
        "%s",
        [("%a", tensor, "d0, d1")],
        ("%f", column, "d0"),
        "pr",
        "  ^bb0(%x: f32, %y: f32):\n    %v = arith.addf %x, %y : f32\n    linalg.yield %v : f32",
    )
    squares = _generic(
        "%q",
        [("%a", tensor, "d0, d1"), ("%s", column, "d0")],
        ("%f", column, "d0"),
        "pr",
        "  ^bb0(%x: f32, %t: f32, %y: f32):\n    %m = arith.divf %t, %n : f32\n    %d = arith.subf %x, %m : f32\n    %e2 = arith.mulf %d, %d : f32\n    %v = arith.addf %y, %e2 : f32\n    linalg.yield %v : f32",
    )
    out = _generic(
        "%r",
        [("%a", tensor, "d0, d1"), ("%s", column, "d0"), ("%q", column, "d0")],
        ("%e", tensor, "d0, d1"),
        "pp",
        f"  ^bb0(%x: f32, %t: f32, %u: f32, %o: f32):\n    %m = arith.divf %t, %n : f32\n    %w = arith.divf %u, %n : f32\n    %h = arith.addf %w, %eps : f32\n    %k = math.rsqrt %h : f32\n{last}\n    linalg.yield %last : f32",
    )
    text = f"""
func.func @main(%a: {tensor}) -> {tensor} {{
{sizes}
  %n = arith.constant {float(columns)} : f32
  %eps = arith.constant 1.0e-5 : f32
{empty(make, "%c", column, ["%n0"])}
{empty(make, "%e", tensor, names.split(", "))}
{_fill("%f", "0.0", "f32", column, "%c")}
{sums}
{squares}
{out}
  return %r : {tensor}
}}
"""
    wide = a.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    title = f"layer norm {a.shape} {'cancelling' if cancelling else ''}"
    return GeneratedModule(title=title, text=text, inputs=(a,), expected=_result(make, expected, "f32"), tolerance=1e-3)


def _attention(make: Maker) -> GeneratedModule:
    element = make.choose(("f32", "f16"))
    batch, queries, keys, depth = (*make.shape(1, 4), *make.shape(2, 20), *make.shape(1, 17))
    q, k, v = (
        make.array(element, shape) for shape in ((batch, queries, depth), (batch, keys, depth), (batch, keys, depth))
    )
    types = {
        name: make.tensor(element, shape)
        for name, shape in {
            "q": q.shape,
            "k": k.shape,
            "t": (batch, depth, keys),
            "s": (batch, queries, keys),
            "o": (batch, queries, depth),
        }.items()
    }
    scale = 2.0 ** -int(make.random.integers(0, 4))
    sizes, _ = take_sizes("%q", types["q"], 3, "n")
    more, _ = take_sizes("%k", types["k"], 3, "m")
    scaled = _generic(
        "%w",
        [("%s", types["s"], "d0, d1, d2")],
        ("%e", types["s"], "d0, d1, d2"),
        "ppp",
        f"  ^bb0(%x: {element}, %o: {element}):\n    %v2 = arith.mulf %x, %scale : {element}\n    linalg.yield %v2 : {element}",
    )
    text = f"""
func.func @main(%q: {types["q"]}, %k: {types["k"]}, %v: {types["k"]}) -> {types["o"]} {{
{sizes}
{more}
  %scale = arith.constant {scale} : {element}
{empty(make, "%te", types["t"], ["%n0", "%n2", "%m1"])}
{empty(make, "%e", types["s"], ["%n0", "%n1", "%m1"])}
{empty(make, "%oe", types["o"], ["%n0", "%n1", "%n2"])}
{_fill("%sf", "0.0", element, types["s"], "%e")}
{_fill("%of", "0.0", element, types["o"], "%oe")}
  %t = linalg.transpose ins(%k : {types["k"]}) outs(%te : {types["t"]}) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %t : {types["q"]}, {types["t"]}) outs(%sf : {types["s"]}) -> {types["s"]}
{scaled}
  %p = linalg.softmax dimension(2) ins(%w : {types["s"]}) outs(%e : {types["s"]}) -> {types["s"]}
  %r = linalg.batch_matmul ins(%p, %v : {types["s"]}, {types["k"]}) outs(%of : {types["o"]}) -> {types["o"]}
  return %r : {types["o"]}
}}
"""
    scores = np.einsum("bqd,bkd->bqk", q.astype(np.float64), k.astype(np.float64)) * scale
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = (weights / weights.sum(axis=2, keepdims=True)) @ v.astype(np.float64)
    title = f"attention {element} {batch}x{queries}x{keys}x{depth}"
    return GeneratedModule(
        title=title,
        text=text,
        inputs=(q, k, v),
        expected=_result(make, expected, element),
        tolerance=6e-2 if element == "f16" else 1e-3,
    )


def _pooling(make: Maker) -> GeneratedModule:
    element, name = make.choose(("f32", "f16", "i8", "i32")), make.choose(("max", "sum"))
    batch, channels, window, stride = (
        int(make.random.integers(low, high)) for low, high in ((1, 3), (1, 9), (1, 4), (1, 3))
    )
    # Windows fill the input: IREE 3.13 does not compile a last one that lacks some of it, where it is the only one.
    height, width = ((int(size) // stride) * stride + window for size in make.shape(2, 12))
    a = make.array(element, (batch, height, width, channels))
    if name == "sum" and element == "i8":
        a //= 16
    windows = np.lib.stride_tricks.sliding_window_view(a, (window, window), axis=(1, 2))[:, ::stride, ::stride]
    expected = (
        windows.max(axis=(4, 5)) if name == "max" else windows.astype(np.float64).sum(axis=(4, 5)).astype(a.dtype)
    )
    before, after, shape = (
        f"tensor<{'x'.join(map(str, size))}x{element}>" for size in (a.shape, expected.shape, (window, window))
    )
    lowest = {"f32": "-1.0e30", "f16": "-6.0e4", "i8": "-128", "i32": "-2147483648"}[element]
    zero = lowest if name == "max" else "0" if element[0] == "i" else "0.0"
    text = f"""
func.func @main(%a: {before}) -> {after} {{
  %w = tensor.empty() : {shape}
  %e = tensor.empty() : {after}
{_fill("%f", zero, element, after, "%e")}
  %r = linalg.pooling_nhwc_{name} {{strides = dense<{stride}> : tensor<2xi64>}} ins(%a, %w : {before}, {shape}) outs(%f : {after}) -> {after}
  return %r : {after}
}}
"""
    return GeneratedModule(
        title=f"pooling {name} {element} {a.shape} by {window} every {stride}",
        text=text,
        inputs=(a,),
        expected=expected,
        tolerance=0.0 if element[0] == "i" else _TOLERANCE[element],
    )


def _narrow(make: Maker) -> GeneratedModule:
    """i32 → i4 in memory → i32, with an op that wraps. An odd number of i4 has no whole number of bytes, and IREE 3.13
    does not compile one that it takes by vectors."""
    shape = (4 * make.shape(1, 20)[0] + 2,)
    kind, narrow = f"tensor<{shape[0]}xi32>", f"tensor<{shape[0]}xi4>"
    name, compute = [
        ("arith.addi", np.add),
        ("arith.subi", np.subtract),
        ("arith.muli", np.multiply),
        ("arith.xori", np.bitwise_xor),
    ][int(make.random.integers(4))]
    a, b = make.array("i32", shape), make.array("i32", shape)
    text = f"""
func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %x = arith.trunci %a : {kind} to {narrow}
  %y = arith.trunci %b : {kind} to {narrow}
  %xs = util.optimization_barrier %x : {narrow}
  %ys = util.optimization_barrier %y : {narrow}
  %s = {name} %xs, %ys : {narrow}
  %h = util.optimization_barrier %s : {narrow}
  %r = arith.extsi %h : {narrow} to {kind}
  return %r : {kind}
}}
"""
    exact = compute(a.astype(np.int64), b.astype(np.int64))
    return GeneratedModule(
        title=f"i4 {name} {shape}",
        text=text,
        inputs=(a, b),
        expected=(((exact + 8) & 15) - 8).astype(np.int32),
        tolerance=0.0,
    )


_PREDICATES: dict[str, Callable[[Array, Array], Array]] = {
    "oeq": np.equal,
    "olt": np.less,
    "oge": np.greater_equal,
    "une": np.not_equal,
    "uge": lambda a, b: ~np.less(a, b),
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
}


def _booleans(make: Maker) -> GeneratedModule:
    """Comparisons with NaN, i1 in memory, logic on it, and a selection."""
    element = make.choose(("f32", "f16"))
    shape = make.shape(2, 20)
    a, b = make.array(element, shape), make.array(element, shape)
    a[make.random.random(shape) < 0.2] = np.nan
    names = [make.choose(tuple(_PREDICATES)) for _ in range(2)]
    logic, combine = [("andi", np.logical_and), ("ori", np.logical_or), ("xori", np.logical_xor)][
        int(make.random.integers(3))
    ]
    kind, flags = (f"tensor<{'x'.join(map(str, shape))}x{one}>" for one in (element, "i1"))
    text = f"""
func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %p = arith.cmpf {names[0]}, %a, %b : {kind}
  %q = arith.cmpf {names[1]}, %b, %a : {kind}
  %h = util.optimization_barrier %p : {flags}
  %l = arith.{logic} %h, %q : {flags}
  %g = util.optimization_barrier %l : {flags}
  %two = arith.constant dense<2.0> : {kind}
  %r = arith.select %g, %b, %two : {flags}, {kind}
  return %r : {kind}
}}
"""
    chosen = combine(_PREDICATES[names[0]](a, b), _PREDICATES[names[1]](b, a))
    expected = np.where(chosen, b, np.array(2, b.dtype))
    return GeneratedModule(
        title=f"i1 {logic} of {names} {element} {shape}", text=text, inputs=(a, b), expected=expected, tolerance=0.0
    )


def _bfloat(make: Maker) -> GeneratedModule:
    """Arithmetic on bf16: one op, which is rounded once."""
    name, compute = [
        ("addf", np.add),
        ("subf", np.subtract),
        ("mulf", np.multiply),
        ("divf", np.divide),
        ("maximumf", np.maximum),
    ][int(make.random.integers(5))]
    shape = make.shape(int(make.random.integers(1, 4)), 20)
    kind = make.tensor("bf16", shape)
    a, b = make.array("bf16", shape), make.array("bf16", shape)
    b = np.where(b == 0, ml_dtypes.bfloat16(1), b).astype(ml_dtypes.bfloat16)
    text = f"""
func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %r = arith.{name} %a, %b : {kind}
  return %r : {kind}
}}
"""
    expected = compute(a.astype(np.float32), b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    return GeneratedModule(title=f"bf16 {name} {shape}", text=text, inputs=(a, b), expected=expected, tolerance=8e-3)


def _mixed_matmul(make: Maker) -> GeneratedModule:
    source, target = [("i8", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("i16", "i64")][
        int(make.random.integers(5))
    ]
    rows, inner, columns = (
        (int(make.random.choice([1, 8, 16, 32, 64])) for _ in range(3))
        if make.random.integers(2)
        else _odd(make, 3, 66)
    )
    left, right, out = (
        make.tensor(kind, shape)
        for kind, shape in ((source, (rows, inner)), (source, (inner, columns)), (target, (rows, columns)))
    )
    a, b = make.array(source, (rows, inner)), make.array(source, (inner, columns))
    sizes, _ = take_sizes("%a", left, 2, "n")
    more, _ = take_sizes("%b", right, 2, "m")
    text = f"""
func.func @main(%a: {left}, %b: {right}) -> {out} {{
{sizes}
{more}
{empty(make, "%e", out, ["%n0", "%m1"])}
{_fill("%f", "0" if target[0] == "i" else "0.0", target, out, "%e")}
  %r = linalg.matmul ins(%a, %b : {left}, {right}) outs(%f : {out}) -> {out}
  return %r : {out}
}}
"""
    wide = np.int64 if target[0] == "i" else np.float64
    expected = _result(make, a.astype(wide) @ b.astype(wide), target)
    return GeneratedModule(
        title=f"matmul {source} to {target} {rows}x{inner}x{columns}",
        text=text,
        inputs=(a, b),
        expected=expected,
        tolerance=_TOLERANCE.get(target, 0.0),
    )


def _no_elements(make: Maker) -> GeneratedModule:
    """Dynamic sizes of which one is 0: a sum over nothing is 0, and of nothing there is nothing."""
    shape = [int(size) for size in make.shape(2, 9)]
    shape[int(make.random.integers(2))] = 0
    a = make.array("f32", shape)
    body = _generic(
        "%r",
        [("%a", "tensor<?x?xf32>", "d0, d1")],
        ("%f", "tensor<?xf32>", "d0"),
        "pr",
        "  ^bb0(%x: f32, %y: f32):\n    %v = arith.addf %x, %y : f32\n    linalg.yield %v : f32",
    )
    sizes, _ = take_sizes("%a", "tensor<?x?xf32>", 2, "n")
    text = f"""
func.func @main(%a: tensor<?x?xf32>) -> tensor<?xf32> {{
{sizes}
  %e = tensor.empty(%n0) : tensor<?xf32>
{_fill("%f", "0.0", "f32", "tensor<?xf32>", "%e")}
{body}
  return %r : tensor<?xf32>
}}
"""
    return GeneratedModule(title=f"empty {shape}", text=text, inputs=(a,), expected=a.sum(axis=1), tolerance=0.0)


def _rearranged(make: Maker) -> GeneratedModule:
    """A slice, transposed and padded."""
    element = make.choose(("f32", "f16", "bf16", "i8", "i16", "i64", "f64"))
    rows, columns = (size + 2 for size in make.shape(2, 20))
    top, left = (int(make.random.integers(0, size)) for size in (rows, columns))
    height, width = (int(make.random.integers(1, size - start + 1)) for size, start in ((rows, top), (columns, left)))
    low, high = (int(size) for size in make.random.integers(0, 4, 2))
    whole, part, turned, padded = (
        f"tensor<{x}x{y}x{element}>"
        for x, y in ((rows, columns), (height, width), (width, height), (width + low + high, height + high))
    )
    a = make.array(element, (rows, columns))
    text = f"""
func.func @main(%a: {whole}) -> {padded} {{
  %s = tensor.extract_slice %a[{top}, {left}] [{height}, {width}] [1, 1] : {whole} to {part}
  %e = tensor.empty() : {turned}
  %t = linalg.transpose ins(%s : {part}) outs(%e : {turned}) permutation = [1, 0]
  %z = arith.constant {"3" if element[0] == "i" else "3.0"} : {element}
  %p = tensor.pad %t low[{low}, 0] high[{high}, {high}] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %z : {element}
  }} : {turned} to {padded}
  return %p : {padded}
}}
"""
    expected = np.full((width + low + high, height + high), 3, a.dtype)
    expected[low : low + width, :height] = a[top : top + height, left : left + width].T
    return GeneratedModule(
        title=f"slice, transpose, pad {element} {a.shape}", text=text, inputs=(a,), expected=expected, tolerance=0.0
    )


def _division(make: Maker) -> GeneratedModule:
    element = make.choose(("i8", "i16", "i32", "i64"))
    name, compute = [
        ("divsi", lambda a, b: np.trunc(a / b)),
        ("remsi", np.fmod),
        ("shrsi", lambda a, b: a >> (b & 3)),
        ("floordivsi", np.floor_divide),
    ][int(make.random.integers(4))]
    shape = make.shape(1, 90)
    kind = make.tensor(element, shape)
    a, b = make.array(element, shape), make.array(element, shape)
    b[b == 0] = 3
    if name == "shrsi":
        b &= 3
    text = f"""
func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %r = arith.{name} %a, %b : {kind}
  return %r : {kind}
}}
"""
    return GeneratedModule(
        title=f"{name} {element} {shape}",
        text=text,
        inputs=(a, b),
        expected=compute(a, b).astype(a.dtype),
        tolerance=0.0,
    )


def _exact_functions(make: Maker) -> GeneratedModule:
    """Functions of f64, to which IREE's SPIR-V is blind."""
    name, compute = [
        ("exp", np.exp),
        ("log", lambda x: np.log(np.abs(x) + 1)),
        ("sin", np.sin),
        ("tanh", np.tanh),
        ("erf", np.vectorize(math.erf, otypes=[np.float64])),
    ][int(make.random.integers(5))]
    shape = make.shape(2, 12)
    kind = make.tensor("f64", shape)
    a = make.array("f64", shape)
    given = np.abs(a) + 1 if name == "log" else a
    text = f"""
func.func @main(%a: {kind}) -> {kind} {{
  %r = math.{name} %a : {kind}
  return %r : {kind}
}}
"""
    return GeneratedModule(
        title=f"{name} f64 {shape}", text=text, inputs=(given,), expected=compute(a), tolerance=1e-12
    )


ALL_KINDS = (
    *KINDS,
    _layer_norm,
    _attention,
    _pooling,
    _narrow,
    _booleans,
    _bfloat,
    _mixed_matmul,
    _no_elements,
    _rearranged,
    _division,
    _exact_functions,
)
"""One after the other, by seed."""


def generate(seed: int) -> GeneratedModule:
    """Return the module that a seed names."""
    random = np.random.default_rng(seed)
    make = Maker(random, bool(random.integers(2)))
    return ALL_KINDS[seed % len(ALL_KINDS)](make)
