"""linalg on tensors: contractions."""

from __future__ import annotations

import numpy as np

from generator.support import Module, exactly, module
from generator.support.products import product

F32 = np.float32


@module("linalg/matmul")
def _matmul(m: Module) -> None:
    """linalg.matmul in f32: sizes that no tile divides, tile multiples, one element, and an accumulator that is not zero.
    Numbers: NumPy's matmul in float64; small integers, so f32 is exact.
    """
    for tag, rows, inner, columns in (("odd", 37, 53, 29), ("tiled", 128, 96, 160), ("thin", 1, 67, 3)):
        a = m.input(f"lhs_{tag}", (rows, inner), seed=3)
        b = m.input(f"rhs_{tag}", (inner, columns), seed=8, modulus=7, shift=3)
        operands = {"a": f"lhs_{tag}", "b": f"rhs_{tag}"}
        product(m, f"matmul_{rows}x{inner}x{columns}", "matmul", operands, exactly(a @ b, F32))
    body = """
        %a = util.unfoldable_constant dense<3.5> : tensor<1x1xf32>
        %b = util.unfoldable_constant dense<-2.0> : tensor<1x1xf32>
        %init = util.unfoldable_constant dense<0.25> : tensor<1x1xf32>
        %c = linalg.matmul ins(%a, %b : tensor<1x1xf32>, tensor<1x1xf32>) outs(%init : tensor<1x1xf32>) -> tensor<1x1xf32>
        """
    m.function("one_element", body, {"%c": exactly(np.array([[3.5 * -2.0 + 0.25]]), F32)})
    a = m.input("lhs_odd", (37, 53), seed=3)
    b = m.input("rhs_odd", (53, 29), seed=8, modulus=7, shift=3)
    start = m.input("start", (37, 29), seed=20, modulus=101, shift=50)
    body = """
        %a, %b, %start = @lhs_odd, @rhs_odd, @start
        %c = linalg.matmul ins(%a, %b : tensor<37x53xf32>, tensor<53x29xf32>) outs(%start : tensor<37x29xf32>) -> tensor<37x29xf32>
        """
    m.function("accumulates", body, {"%c": exactly(start + a @ b, F32)})


@module("linalg/matmul-transposed")
def _matmul_transposed(m: Module) -> None:
    """linalg.matmul with indexing maps that read the left or the right operand transposed, and an explicit transpose before it.
    Numbers: NumPy's matmul of the transposed arrays in float64, exact in f32.
    """
    a = m.input("lhs", (23, 41), seed=5)
    at = m.input("lhs_t", (41, 23), seed=6)
    b = m.input("rhs", (41, 35), seed=7, modulus=7, shift=3)
    bt = m.input("rhs_t", (35, 41), seed=9, modulus=7, shift=3)
    head = """
        %init = filled 0.0 : tensor<23x35xf32>
        """
    for name, left, right, left_map, right_map, want in (
        ("right_transposed", "lhs", "rhs_t", "(m, k)", "(n, k)", a @ bt.T),
        ("left_transposed", "lhs_t", "rhs", "(k, m)", "(k, n)", at.T @ b),
    ):
        body = f"""%a = @{left}
        %b = @{right}
        %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> {left_map}>, affine_map<(m, n, k) -> {right_map}>, affine_map<(m, n, k) -> (m, n)>]
          ins(%a, %b : {m.inputs[left]}, {m.inputs[right]}) outs(%init : tensor<23x35xf32>) -> tensor<23x35xf32>
        """
        m.function(name, head + body, {"%c": exactly(want, F32)})
    body = """%a = @lhs
        %bt = @rhs_t
        %room = tensor.empty() : tensor<41x35xf32>
        %b = linalg.transpose ins(%bt : tensor<35x41xf32>) outs(%room : tensor<41x35xf32>) permutation = [1, 0]
        %c = linalg.matmul ins(%a, %b : tensor<23x41xf32>, tensor<41x35xf32>) outs(%init : tensor<23x35xf32>) -> tensor<23x35xf32>
        """
    m.function("transpose_then_matmul", head + body, {"%c": exactly(a @ bt.T, F32)})


@module("linalg/matvec")
def _matvec(m: Module) -> None:
    """linalg.matvec, linalg.vecmat and linalg.dot, which code generation treats as reductions rather than as matmuls.
    Numbers: NumPy's matmul in float64, exact in f32.
    """
    a = m.input("matrix", (77, 133), seed=2)
    x = m.input("right", (133,), seed=4, modulus=7, shift=3)
    y = m.input("left", (77,), seed=6, modulus=7, shift=3)
    product(m, "matvec_77x133", "matvec", {"a": "matrix", "x": "right"}, exactly(a @ x, F32), result="r")
    vecmat = {"a": "matrix", "y": "left"}
    product(m, "vecmat_77x133", "vecmat", vecmat, exactly(y @ a, F32), ins=("y", "a"), result="r")
    product(m, "dot_133", "dot", {"x": "right"}, exactly(np.array(x @ x), F32), ins=("x", "x"), result="r")


@module("linalg/batch-matmul")
def _batch_matmul(m: Module) -> None:
    """linalg.batch_matmul, with the right operand shared by the batch as a linalg.generic, and a batch of one.
    Numbers: NumPy's matmul in float64, exact in f32.
    """
    a = m.input("lhs", (3, 19, 23), seed=1)
    b = m.input("rhs", (3, 23, 13), seed=2, modulus=7, shift=3)
    one_a = m.input("lhs_one", (1, 33, 17), seed=1)
    one_b = m.input("rhs_one", (1, 17, 31), seed=2, modulus=7, shift=3)
    shared = m.input("shared", (23, 13), seed=12, modulus=7, shift=3)
    product(m, "batch_of_three", "batch_matmul", {"a": "lhs", "b": "rhs"}, exactly(a @ b, F32))
    product(m, "batch_of_one", "batch_matmul", {"a": "lhs_one", "b": "rhs_one"}, exactly(one_a @ one_b, F32))
    body = """
        %a, %b = @lhs, @shared
        %init = filled 0.0 : tensor<3x19x13xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
            ins(%a, %b : tensor<3x19x23xf32>, tensor<23x13xf32>) outs(%init : tensor<3x19x13xf32>) {
        ^bb0(%x: f32, %y: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<3x19x13xf32>
        """
    m.function("right_operand_shared", body, {"%c": exactly(a @ shared, F32)})


@module("linalg/matmul-epilogue")
def _matmul_epilogue(m: Module) -> None:
    """A dense layer: matmul, bias added along rows, ReLU, then a second layer; what fuses into the matmul's dispatch must not change it.
    Numbers: NumPy in float64, exact in f32 (values are multiples of 1/4).
    """
    x = m.input("x", (18, 45), seed=1)
    w = m.input("w", (45, 34), seed=2, modulus=5, shift=2, scale=0.25)
    bias = m.input("bias", (34,), seed=3, modulus=13, shift=6)
    v = m.input("v", (34, 9), seed=4, modulus=5, shift=2)
    hidden = np.maximum(x @ w + bias, 0.0)
    body = """
        %x, %w, %bias, %v = @x, @w, @bias, @v
        %zero = arith.constant 0.0 : f32
        %room = tensor.empty() : tensor<18x34xf32>
        %init = linalg.fill ins(%zero : f32) outs(%room : tensor<18x34xf32>) -> tensor<18x34xf32>
        %product = linalg.matmul ins(%x, %w : tensor<18x45xf32>, tensor<45x34xf32>) outs(%init : tensor<18x34xf32>) -> tensor<18x34xf32>
        %hidden = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%product, %bias : tensor<18x34xf32>, tensor<34xf32>) outs(%room : tensor<18x34xf32>) {
        ^bb0(%p: f32, %b: f32, %unused: f32):
          %sum = arith.addf %p, %b : f32
          %relu = arith.maximumf %sum, %zero : f32
          linalg.yield %relu : f32
        } -> tensor<18x34xf32>
        %room2 = tensor.empty() : tensor<18x9xf32>
        %init2 = linalg.fill ins(%zero : f32) outs(%room2 : tensor<18x9xf32>) -> tensor<18x9xf32>
        %out = linalg.matmul ins(%hidden, %v : tensor<18x34xf32>, tensor<34x9xf32>) outs(%init2 : tensor<18x9xf32>) -> tensor<18x9xf32>
        """
    m.function("two_layers", body, {"%hidden": exactly(hidden, F32), "%out": exactly(hidden @ v, F32)})


@module("linalg/contraction")
def _contraction(m: Module) -> None:
    """Contractions that have no named op: two reduction dimensions, an outer product, and a trace-like diagonal read.
    Numbers: NumPy's einsum in float64, exact in f32.
    """
    a = m.input("a", (7, 11, 13), seed=1)
    b = m.input("b", (11, 13, 17), seed=2, modulus=7, shift=3)
    u = m.input("u", (31,), seed=3)
    v = m.input("v", (21,), seed=4)
    square = m.input("square", (19, 19), seed=5)
    body = """
        %a, %b = @a, @b
        %init = filled 0.0 : tensor<7x17xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, l, n)>, affine_map<(m, n, k, l) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<7x11x13xf32>, tensor<11x13x17xf32>) outs(%init : tensor<7x17xf32>) {
        ^bb0(%x: f32, %y: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<7x17xf32>
        """
    m.function("two_reduction_dimensions", body, {"%c": exactly(np.einsum("mkl,kln->mn", a, b), F32)})
    body = """
        %u, %v = @u, @v
        %empty = tensor.empty() : tensor<31x21xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%u, %v : tensor<31xf32>, tensor<21xf32>) outs(%empty : tensor<31x21xf32>) {
        ^bb0(%x: f32, %y: f32, %unused: f32):
          %product = arith.mulf %x, %y : f32
          linalg.yield %product : f32
        } -> tensor<31x21xf32>
        """
    m.function("outer_product", body, {"%c": exactly(np.outer(u, v), F32)})
    body = """
        %a = @square
        %empty = tensor.empty() : tensor<19xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<19xf32>) {
        ^bb0(%unused: f32):
          %i = linalg.index 0 : index
          %element = tensor.extract %a[%i, %i] : tensor<19x19xf32>
          linalg.yield %element : f32
        } -> tensor<19xf32>
        """
    m.function("diagonal", body, {"%c": exactly(np.diagonal(square), F32)})
