"""linalg on tensors: reductions, and what models make of them."""

from __future__ import annotations

import numpy as np

from generator.support import Approximate, Module, exactly, module
from generator.support.products import reduction
from generator.support.reference import softmax

F32 = np.float32
INF = np.inf


@module("linalg/reduce-sum", "sum", "addf", "0.0")
@module("linalg/reduce-max", "max", "maximumf", "0xFF800000")
@module("linalg/reduce-min", "min", "minimumf", "0x7F800000")
def _reductions(m: Module, kind: str, op: str, start: str) -> None:
    m.about = (
        f"linalg.reduce with arith.{op} of a 9x34x47 tensor along the last, the middle and the first dimension, along two and along all.\n"
        f"Numbers: NumPy's {kind} in float64; small integers, so f32 is exact in any order."
    )
    x = m.input("x", (9, 34, 47), seed=3, modulus=1009, shift=504)
    along = {"last": (2,), "middle": (1,), "first": (0,), "outer_two": (0, 1), "inner_two": (1, 2), "all": (0, 1, 2)}
    for name, axes in along.items():
        out = exactly(np.asarray({"sum": np.sum, "max": np.max, "min": np.min}[kind](x, axis=axes)), F32)
        reduction(m, f"along_{name}", op, start, out, ", ".join(map(str, axes)))


@module("linalg/reduce-long")
def _reduce_long(m: Module) -> None:
    """Reductions of one long row (2503 elements, a prime) and of many short rows, which take different paths in code generation.
    Numbers: NumPy's sum and max in float64, exact in f32.
    """
    x = m.input("x", (1, 2503), seed=3, modulus=13, shift=6)
    y = m.input("y", (301, 3), seed=4, modulus=1009, shift=504)
    for called, values, names in (("x", x, ("row_sum", "row_max")), ("y", y, ("short_sums", "short_max"))):
        reduction(m, names[0], "addf", "0.0", exactly(values.sum(axis=1), F32), called=called)
        reduction(m, names[1], "maximumf", "0xFF800000", exactly(values.max(axis=1), F32), called=called)


@module("linalg/argmax")
def _argmax(m: Module) -> None:
    """Argmax as a linalg.generic with two results, along the last and along the first dimension. The first of equal values wins.
    Numbers: NumPy's max and argmax.
    """
    x = m.input("x", (29, 61), seed=3, modulus=101, shift=50)
    for name, axis, size in (("along_last", 1, 29), ("along_first", 0, 61)):
        body = """
            %x = @x
            %lowest = arith.constant 0xFF800000 : f32
            %first = arith.constant 0 : i32
            %room_v = tensor.empty() : tensor<${size}xf32>
            %room_i = tensor.empty() : tensor<${size}xi32>
            %init_v = linalg.fill ins(%lowest : f32) outs(%room_v : tensor<${size}xf32>) -> tensor<${size}xf32>
            %init_i = linalg.fill ins(%first : i32) outs(%room_i : tensor<${size}xi32>) -> tensor<${size}xi32>
            %best:2 = linalg.generic {indexing_maps = [affine_map<(o, r) -> ($map)>, affine_map<(o, r) -> (o)>, affine_map<(o, r) -> (o)>],
                iterator_types = ["parallel", "reduction"]} ins(%x : tensor<29x61xf32>) outs(%init_v, %init_i : tensor<${size}xf32>, tensor<${size}xi32>) {
            ^bb0(%v: f32, %best_v: f32, %best_i: i32):
              %position = linalg.index 1 : index
              %i = arith.index_cast %position : index to i32
              %greater = arith.cmpf ogt, %v, %best_v : f32
              %next_v = arith.select %greater, %v, %best_v : f32
              %next_i = arith.select %greater, %i, %best_i : i32
              linalg.yield %next_v, %next_i : f32, i32
            } -> (tensor<${size}xf32>, tensor<${size}xi32>)
            """
        m.function(name, body, {"%best#0": exactly(x.max(axis=axis), F32), "%best#1": x.argmax(axis=axis).astype(np.int32)},
                   size=size, map="o, r" if axis == 1 else "r, o")  # fmt: skip


@module("linalg/softmax")
def _softmax(m: Module) -> None:
    """linalg.softmax along the last, the middle and the first dimension, and of values so large that exp alone would overflow.
    Numbers: NumPy in float64, the largest value subtracted first. rtol 2e-5: exp and a sum of at most 33 terms in f32, each good to some
    2e-7, with room for an approximated exp; atol 1e-7 for weights near zero.
    """
    x = m.input("x", (5, 9, 33), seed=3, modulus=17, shift=8, scale=0.25)
    for name, axis in (("last", 2), ("middle", 1), ("first", 0)):
        body = """
            %x = @x
            %empty = tensor.empty() : tensor<5x9x33xf32>
            %out = linalg.softmax dimension($axis) ins(%x : tensor<5x9x33xf32>) outs(%empty : tensor<5x9x33xf32>) -> tensor<5x9x33xf32>
            %part = tensor.extract_slice %out[1, 2, 0] [2, 4, 33] [1, 1, 1] : tensor<5x9x33xf32> to tensor<2x4x33xf32>
            """
        m.function(
            f"along_{name}",
            body,
            {"%part": Approximate(value=softmax(x, axis)[1:3, 2:6].astype(F32), atol=1e-7, rtol=2e-5)},
            axis=axis,
        )
    big = np.array([[1000.0, 1001.0, 999.0, 1000.0], [-1000.0, -1000.0, -1000.0, -1000.0], [0.0, 500.0, -500.0, 499.0]])
    body = """
        %x = $big
        %empty = tensor.empty() : tensor<3x4xf32>
        %out = linalg.softmax dimension(1) ins(%x : tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
        """
    m.function(
        "large_values",
        body,
        {"%out": Approximate(value=softmax(big, 1).astype(F32), atol=1e-7, rtol=2e-5)},
        big=big.astype(F32),
    )


@module("linalg/layer-norm")
def _layer_norm(m: Module) -> None:
    """Layer normalisation as models write it: mean, variance, rsqrt, scale and shift in four generics that fuse or not.
    Numbers: NumPy in float64. rtol 2e-5, atol 2e-6: sums of 48 terms and an rsqrt in f32, values up to 2.
    """
    x = m.input("x", (6, 48), seed=3, modulus=23, shift=11, scale=0.5)
    gamma = m.input("gamma", (48,), seed=4, modulus=5, shift=-1, scale=0.25)
    beta = m.input("beta", (48,), seed=5, modulus=7, shift=3, scale=0.25)
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    want = (x - mean) / np.sqrt(variance + 0.0009765625) * gamma + beta
    body = """
        %x, %gamma, %beta = @x, @gamma, @beta
        %zero = arith.constant 0.0 : f32
        %count = arith.constant 48.0 : f32
        %epsilon = arith.constant 0.0009765625 : f32
        %column = tensor.empty() : tensor<6xf32>
        %room = tensor.empty() : tensor<6x48xf32>
        %init = linalg.fill ins(%zero : f32) outs(%column : tensor<6xf32>) -> tensor<6xf32>
        %sums = linalg.reduce { arith.addf } ins(%x : tensor<6x48xf32>) outs(%init : tensor<6xf32>) dimensions = [1]
        %centred = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%x, %sums : tensor<6x48xf32>, tensor<6xf32>) outs(%room : tensor<6x48xf32>) {
        ^bb0(%v: f32, %sum: f32, %unused: f32):
          %mean = arith.divf %sum, %count : f32
          %r = arith.subf %v, %mean : f32
          linalg.yield %r : f32
        } -> tensor<6x48xf32>
        %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
            iterator_types = ["parallel", "reduction"]} ins(%centred : tensor<6x48xf32>) outs(%init : tensor<6xf32>) {
        ^bb0(%v: f32, %sum: f32):
          %square = arith.mulf %v, %v : f32
          %r = arith.addf %sum, %square : f32
          linalg.yield %r : f32
        } -> tensor<6xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%centred, %squares, %gamma, %beta : tensor<6x48xf32>, tensor<6xf32>, tensor<48xf32>, tensor<48xf32>) outs(%room : tensor<6x48xf32>) {
        ^bb0(%v: f32, %sum: f32, %g: f32, %b: f32, %unused: f32):
          %variance = arith.divf %sum, %count : f32
          %safe = arith.addf %variance, %epsilon : f32
          %factor = math.rsqrt %safe : f32
          %normal = arith.mulf %v, %factor : f32
          %scaled = arith.mulf %normal, %g : f32
          %r = arith.addf %scaled, %b : f32
          linalg.yield %r : f32
        } -> tensor<6x48xf32>
        """
    m.function("six_rows_of_48", body, {"%out": Approximate(value=want.astype(F32), atol=2e-6, rtol=2e-5)})


@module("linalg/attention")
def _attention(m: Module) -> None:
    """Single-head attention in three ops: scores = Q K^T, softmax along keys, weights times V.
    Numbers: NumPy in float64. rtol 5e-5, atol 1e-5: softmax weights good to 2e-5, then 24 terms of size up to 3.
    """
    q = m.input("q", (12, 16), seed=3, modulus=5, shift=2, scale=0.25)
    k = m.input("k", (24, 16), seed=4, modulus=7, shift=3, scale=0.5)
    v = m.input("v", (24, 10), seed=5, modulus=7, shift=3)
    body = """
        %q, %k, %v = @q, @k, @v
        %zero = arith.constant 0.0 : f32
        %room = tensor.empty() : tensor<12x24xf32>
        %init = linalg.fill ins(%zero : f32) outs(%room : tensor<12x24xf32>) -> tensor<12x24xf32>
        %scores = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
            ins(%q, %k : tensor<12x16xf32>, tensor<24x16xf32>) outs(%init : tensor<12x24xf32>) -> tensor<12x24xf32>
        %weights = linalg.softmax dimension(1) ins(%scores : tensor<12x24xf32>) outs(%room : tensor<12x24xf32>) -> tensor<12x24xf32>
        %room2 = tensor.empty() : tensor<12x10xf32>
        %init2 = linalg.fill ins(%zero : f32) outs(%room2 : tensor<12x10xf32>) -> tensor<12x10xf32>
        %out = linalg.matmul ins(%weights, %v : tensor<12x24xf32>, tensor<24x10xf32>) outs(%init2 : tensor<12x10xf32>) -> tensor<12x10xf32>
        """
    m.function(
        "twelve_queries", body, {"%out": Approximate(value=(softmax(q @ k.T, 1) @ v).astype(F32), atol=1e-5, rtol=5e-5)}
    )
