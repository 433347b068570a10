"""linalg on tensors: contractions, convolutions, pooling."""

from __future__ import annotations

import numpy as np

from .ir import Module, exactly, source
from .reference import conv2d, depthwise, pool

__all__ = ["modules"]

F32 = np.float32


def _new(name: str, about: str) -> Module:
    return Module(path=f"linalg/{name}", about=about, generator="linalg")


def _matmul() -> Module:
    m = _new(
        "matmul",
        "linalg.matmul in f32: sizes that no tile divides, tile multiples, one element, and an accumulator that is not zero.\nNumbers: NumPy's matmul in float64; small integers, so f32 is exact.",
    )
    for tag, rows, inner, columns in (("odd", 37, 53, 29), ("tiled", 128, 96, 160), ("thin", 1, 67, 3)):
        a = m.input(f"lhs_{tag}", (rows, inner), seed=3)
        b = m.input(f"rhs_{tag}", (inner, columns), seed=8, modulus=7, shift=3)
        m.function(
            f"matmul_{rows}x{inner}x{columns}",
            """
            %a = call @lhs_$tag() : () -> tensor<${m}x${k}xf32>
            %b = call @rhs_$tag() : () -> tensor<${k}x${n}xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${m}x${n}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>
            %c = linalg.matmul ins(%a, %b : tensor<${m}x${k}xf32>, tensor<${k}x${n}xf32>) outs(%init : tensor<${m}x${n}xf32>) -> tensor<${m}x${n}xf32>
            """,
            {"%c": exactly(a @ b, F32)},
            tag=tag, m=str(rows), k=str(inner), n=str(columns),
        )  # fmt: skip
    m.function(
        "one_element",
        """
        %a = util.unfoldable_constant dense<3.5> : tensor<1x1xf32>
        %b = util.unfoldable_constant dense<-2.0> : tensor<1x1xf32>
        %init = util.unfoldable_constant dense<0.25> : tensor<1x1xf32>
        %c = linalg.matmul ins(%a, %b : tensor<1x1xf32>, tensor<1x1xf32>) outs(%init : tensor<1x1xf32>) -> tensor<1x1xf32>
        """,
        {"%c": exactly(np.array([[3.5 * -2.0 + 0.25]]), F32)},
    )
    a = m.input("lhs_odd", (37, 53), seed=3)
    b = m.input("rhs_odd", (53, 29), seed=8, modulus=7, shift=3)
    start = m.input("start", (37, 29), seed=20, modulus=101, shift=50)
    m.function(
        "accumulates",
        """
        %a = call @lhs_odd() : () -> tensor<37x53xf32>
        %b = call @rhs_odd() : () -> tensor<53x29xf32>
        %start = call @start() : () -> tensor<37x29xf32>
        %c = linalg.matmul ins(%a, %b : tensor<37x53xf32>, tensor<53x29xf32>) outs(%start : tensor<37x29xf32>) -> tensor<37x29xf32>
        """,
        {"%c": exactly(start + a @ b, F32)},
    )
    return m


def _matmul_transposed() -> Module:
    m = _new(
        "matmul-transposed",
        "linalg.matmul with indexing maps that read the left or the right operand transposed, and an explicit transpose before it.\nNumbers: NumPy's matmul of the transposed arrays in float64, exact in f32.",
    )
    a = m.input("lhs", (23, 41), seed=5)
    at = m.input("lhs_t", (41, 23), seed=6)
    b = m.input("rhs", (41, 35), seed=7, modulus=7, shift=3)
    bt = m.input("rhs_t", (35, 41), seed=9, modulus=7, shift=3)
    head = """
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<23x35xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<23x35xf32>) -> tensor<23x35xf32>
        """
    m.function(
        "right_transposed",
        head
        + """%a = call @lhs() : () -> tensor<23x41xf32>
        %b = call @rhs_t() : () -> tensor<35x41xf32>
        %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
          ins(%a, %b : tensor<23x41xf32>, tensor<35x41xf32>) outs(%init : tensor<23x35xf32>) -> tensor<23x35xf32>
        """,
        {"%c": exactly(a @ bt.T, F32)},
    )
    m.function(
        "left_transposed",
        head
        + """%a = call @lhs_t() : () -> tensor<41x23xf32>
        %b = call @rhs() : () -> tensor<41x35xf32>
        %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
          ins(%a, %b : tensor<41x23xf32>, tensor<41x35xf32>) outs(%init : tensor<23x35xf32>) -> tensor<23x35xf32>
        """,
        {"%c": exactly(at.T @ b, F32)},
    )
    m.function(
        "transpose_then_matmul",
        head
        + """%a = call @lhs() : () -> tensor<23x41xf32>
        %bt = call @rhs_t() : () -> tensor<35x41xf32>
        %room = tensor.empty() : tensor<41x35xf32>
        %b = linalg.transpose ins(%bt : tensor<35x41xf32>) outs(%room : tensor<41x35xf32>) permutation = [1, 0]
        %c = linalg.matmul ins(%a, %b : tensor<23x41xf32>, tensor<41x35xf32>) outs(%init : tensor<23x35xf32>) -> tensor<23x35xf32>
        """,
        {"%c": exactly(a @ bt.T, F32)},
    )
    return m


def _matvec() -> Module:
    m = _new(
        "matvec",
        "linalg.matvec, linalg.vecmat and linalg.dot, which code generation treats as reductions rather than as matmuls.\nNumbers: NumPy's matmul in float64, exact in f32.",
    )
    a = m.input("matrix", (77, 133), seed=2)
    x = m.input("right", (133,), seed=4, modulus=7, shift=3)
    y = m.input("left", (77,), seed=6, modulus=7, shift=3)
    m.function(
        "matvec_77x133",
        """
        %a = call @matrix() : () -> tensor<77x133xf32>
        %x = call @right() : () -> tensor<133xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<77xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<77xf32>) -> tensor<77xf32>
        %r = linalg.matvec ins(%a, %x : tensor<77x133xf32>, tensor<133xf32>) outs(%init : tensor<77xf32>) -> tensor<77xf32>
        """,
        {"%r": exactly(a @ x, F32)},
    )
    m.function(
        "vecmat_77x133",
        """
        %a = call @matrix() : () -> tensor<77x133xf32>
        %y = call @left() : () -> tensor<77xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<133xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<133xf32>) -> tensor<133xf32>
        %r = linalg.vecmat ins(%y, %a : tensor<77xf32>, tensor<77x133xf32>) outs(%init : tensor<133xf32>) -> tensor<133xf32>
        """,
        {"%r": exactly(y @ a, F32)},
    )
    m.function(
        "dot_133",
        """
        %x = call @right() : () -> tensor<133xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<f32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
        %r = linalg.dot ins(%x, %x : tensor<133xf32>, tensor<133xf32>) outs(%init : tensor<f32>) -> tensor<f32>
        """,
        {"%r": exactly(np.array(x @ x), F32)},
    )
    return m


def _batch_matmul() -> Module:
    m = _new(
        "batch-matmul",
        "linalg.batch_matmul, with the right operand shared by the batch as a linalg.generic, and a batch of one.\nNumbers: NumPy's matmul in float64, exact in f32.",
    )
    a = m.input("lhs", (3, 19, 23), seed=1)
    b = m.input("rhs", (3, 23, 13), seed=2, modulus=7, shift=3)
    one_a = m.input("lhs_one", (1, 33, 17), seed=1)
    one_b = m.input("rhs_one", (1, 17, 31), seed=2, modulus=7, shift=3)
    shared = m.input("shared", (23, 13), seed=12, modulus=7, shift=3)
    m.function(
        "batch_of_three",
        """
        %a = call @lhs() : () -> tensor<3x19x23xf32>
        %b = call @rhs() : () -> tensor<3x23x13xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<3x19x13xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x19x13xf32>) -> tensor<3x19x13xf32>
        %c = linalg.batch_matmul ins(%a, %b : tensor<3x19x23xf32>, tensor<3x23x13xf32>) outs(%init : tensor<3x19x13xf32>) -> tensor<3x19x13xf32>
        """,
        {"%c": exactly(a @ b, F32)},
    )
    m.function(
        "batch_of_one",
        """
        %a = call @lhs_one() : () -> tensor<1x33x17xf32>
        %b = call @rhs_one() : () -> tensor<1x17x31xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<1x33x31xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x33x31xf32>) -> tensor<1x33x31xf32>
        %c = linalg.batch_matmul ins(%a, %b : tensor<1x33x17xf32>, tensor<1x17x31xf32>) outs(%init : tensor<1x33x31xf32>) -> tensor<1x33x31xf32>
        """,
        {"%c": exactly(one_a @ one_b, F32)},
    )
    m.function(
        "right_operand_shared",
        """
        %a = call @lhs() : () -> tensor<3x19x23xf32>
        %b = call @shared() : () -> tensor<23x13xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<3x19x13xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x19x13xf32>) -> tensor<3x19x13xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
            ins(%a, %b : tensor<3x19x23xf32>, tensor<23x13xf32>) outs(%init : tensor<3x19x13xf32>) {
        ^bb0(%x: f32, %y: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<3x19x13xf32>
        """,
        {"%c": exactly(a @ shared, F32)},
    )
    return m


def _matmul_epilogue() -> Module:
    m = _new(
        "matmul-epilogue",
        "A dense layer: matmul, bias added along rows, ReLU, then a second layer; what fuses into the matmul's dispatch must not change it.\nNumbers: NumPy in float64, exact in f32 (values are multiples of 1/4).",
    )
    x = m.input("x", (18, 45), seed=1)
    w = m.input("w", (45, 34), seed=2, modulus=5, shift=2, scale=0.25)
    bias = m.input("bias", (34,), seed=3, modulus=13, shift=6)
    v = m.input("v", (34, 9), seed=4, modulus=5, shift=2)
    hidden = np.maximum(x @ w + bias, 0.0)
    m.function(
        "two_layers",
        """
        %x = call @x() : () -> tensor<18x45xf32>
        %w = call @w() : () -> tensor<45x34xf32>
        %bias = call @bias() : () -> tensor<34xf32>
        %v = call @v() : () -> tensor<34x9xf32>
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
        """,
        {"%hidden": exactly(hidden, F32), "%out": exactly(hidden @ v, F32)},
    )
    return m


def _contraction() -> Module:
    m = _new(
        "contraction",
        "Contractions that have no named op: two reduction dimensions, an outer product, and a trace-like diagonal read.\nNumbers: NumPy's einsum in float64, exact in f32.",
    )
    a = m.input("a", (7, 11, 13), seed=1)
    b = m.input("b", (11, 13, 17), seed=2, modulus=7, shift=3)
    u = m.input("u", (31,), seed=3)
    v = m.input("v", (21,), seed=4)
    square = m.input("square", (19, 19), seed=5)
    m.function(
        "two_reduction_dimensions",
        """
        %a = call @a() : () -> tensor<7x11x13xf32>
        %b = call @b() : () -> tensor<11x13x17xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<7x17xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x17xf32>) -> tensor<7x17xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, l, n)>, affine_map<(m, n, k, l) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<7x11x13xf32>, tensor<11x13x17xf32>) outs(%init : tensor<7x17xf32>) {
        ^bb0(%x: f32, %y: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<7x17xf32>
        """,
        {"%c": exactly(np.einsum("mkl,kln->mn", a, b), F32)},
    )
    m.function(
        "outer_product",
        """
        %u = call @u() : () -> tensor<31xf32>
        %v = call @v() : () -> tensor<21xf32>
        %empty = tensor.empty() : tensor<31x21xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%u, %v : tensor<31xf32>, tensor<21xf32>) outs(%empty : tensor<31x21xf32>) {
        ^bb0(%x: f32, %y: f32, %unused: f32):
          %product = arith.mulf %x, %y : f32
          linalg.yield %product : f32
        } -> tensor<31x21xf32>
        """,
        {"%c": exactly(np.outer(u, v), F32)},
    )
    m.function(
        "diagonal",
        """
        %a = call @square() : () -> tensor<19x19xf32>
        %empty = tensor.empty() : tensor<19xf32>
        %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<19xf32>) {
        ^bb0(%unused: f32):
          %i = linalg.index 0 : index
          %element = tensor.extract %a[%i, %i] : tensor<19x19xf32>
          linalg.yield %element : f32
        } -> tensor<19xf32>
        """,
        {"%c": exactly(np.diagonal(square), F32)},
    )
    return m


def _conv2d_nhwc() -> Module:
    m = _new(
        "conv2d-nhwc",
        "linalg.conv_2d_nhwc_hwcf: stride one, stride two, dilation two, a 1x1 kernel, and a batch of two.\nNumbers: NumPy, the sum over shifted views of the image in float64; exact in f32.",
    )
    image = m.input("image", (1, 13, 15, 5), seed=1)
    kernel = m.input("kernel", (3, 3, 5, 6), seed=2, modulus=7, shift=3)
    point = m.input("point", (1, 1, 5, 7), seed=3, modulus=7, shift=3)
    pair = m.input("pair", (2, 7, 6, 3), seed=4)
    wide = m.input("wide", (2, 3, 3, 8), seed=5, modulus=7, shift=3)
    cases = (
        ("stride_one", "image", image, "kernel", kernel, 1, 1),
        ("stride_two", "image", image, "kernel", kernel, 2, 1),
        ("dilation_two", "image", image, "kernel", kernel, 1, 2),
        ("pointwise", "image", image, "point", point, 1, 1),
        ("batch_of_two", "pair", pair, "wide", wide, 1, 1),
    )
    for name, i_name, i, k_name, k, stride, dilation in cases:
        out = exactly(conv2d(i, k, stride, dilation), F32)
        m.function(
            name,
            """
            %image = call @$i() : () -> tensor<${it}xf32>
            %kernel = call @$k() : () -> tensor<${kt}xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %kernel : tensor<${it}xf32>, tensor<${kt}xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            i=i_name, k=k_name, s=str(stride), d=str(dilation), it=shape(i), kt=shape(k), ot=shape(out),
        )  # fmt: skip
    return m


def _conv2d_nchw() -> Module:
    m = _new(
        "conv2d-nchw",
        "linalg.conv_2d_nchw_fchw, the layout of PyTorch and ONNX, with stride one and stride two.\nNumbers: NumPy, the sum over shifted views in float64 after moving the channels last; exact in f32.",
    )
    image = m.input("image", (1, 4, 14, 11), seed=1)
    kernel = m.input("kernel", (6, 4, 3, 3), seed=2, modulus=7, shift=3)
    for name, stride in (("stride_one", 1), ("stride_two", 2)):
        nhwc = conv2d(image.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0), stride)
        out = exactly(nhwc.transpose(0, 3, 1, 2), F32)
        m.function(
            name,
            """
            %image = call @image() : () -> tensor<1x4x14x11xf32>
            %kernel = call @kernel() : () -> tensor<6x4x3x3xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %kernel : tensor<1x4x14x11xf32>, tensor<6x4x3x3xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            s=str(stride), ot=shape(out),
        )  # fmt: skip
    return m


def _conv1d() -> Module:
    m = _new(
        "conv1d",
        "linalg.conv_1d_nwc_wcf, and a one-dimensional filter written as a linalg.generic with an affine sum in its map.\nNumbers: NumPy, the sum over shifted views in float64; exact in f32.",
    )
    signal = m.input("signal", (2, 37, 3), seed=1)
    kernel = m.input("kernel", (5, 3, 4), seed=2, modulus=7, shift=3)
    views = np.stack([signal[:, w : w + 33, :] for w in range(5)], axis=2)
    m.function(
        "conv_1d_nwc_wcf",
        """
        %signal = call @signal() : () -> tensor<2x37x3xf32>
        %kernel = call @kernel() : () -> tensor<5x3x4xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<2x33x4xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x33x4xf32>) -> tensor<2x33x4xf32>
        %out = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
          ins(%signal, %kernel : tensor<2x37x3xf32>, tensor<5x3x4xf32>) outs(%init : tensor<2x33x4xf32>) -> tensor<2x33x4xf32>
        """,
        {"%out": exactly(np.einsum("nxwc,wcf->nxf", views, kernel), F32)},
    )
    line = m.input("line", (64,), seed=3)
    taps = np.array([0.25, 0.5, 0.25])
    m.function(
        "smoothing_filter",
        """
        %line = call @line() : () -> tensor<64xf32>
        %taps = $taps
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<62xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<62xf32>) -> tensor<62xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
            iterator_types = ["parallel", "reduction"]} ins(%line, %taps : tensor<64xf32>, tensor<3xf32>) outs(%init : tensor<62xf32>) {
        ^bb0(%x: f32, %t: f32, %sum: f32):
          %product = arith.mulf %x, %t : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<62xf32>
        """,
        {"%out": exactly(sum(taps[k] * line[k : k + 62] for k in range(3)), F32)},
        taps=source(taps.astype(F32)),
    )
    return m


def _depthwise() -> Module:
    m = _new(
        "depthwise-conv2d",
        "linalg.depthwise_conv_2d_nhwc_hwc with stride and dilation, and the form with a channel multiplier.\nNumbers: NumPy, per channel the sum over shifted views in float64; exact in f32.",
    )
    image = m.input("image", (1, 12, 13, 18), seed=1)
    kernel = m.input("kernel", (3, 3, 18), seed=2, modulus=7, shift=3)
    for name, stride, dilation in (("stride_one", 1, 1), ("stride_two", 2, 1), ("dilation_two", 1, 2)):
        out = exactly(depthwise(image, kernel, stride, dilation), F32)
        m.function(
            name,
            """
            %image = call @image() : () -> tensor<1x12x13x18xf32>
            %kernel = call @kernel() : () -> tensor<3x3x18xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %kernel : tensor<1x12x13x18xf32>, tensor<3x3x18xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            s=str(stride), d=str(dilation), ot=shape(out),
        )  # fmt: skip
    small = m.input("small", (1, 6, 7, 3), seed=3)
    many = m.input("many", (3, 3, 3, 2), seed=4, modulus=7, shift=3)
    m.function(
        "channel_multiplier",
        """
        %image = call @small() : () -> tensor<1x6x7x3xf32>
        %kernel = call @many() : () -> tensor<3x3x3x2xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<1x4x5x3x2xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x5x3x2xf32>) -> tensor<1x4x5x3x2xf32>
        %out = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
          ins(%image, %kernel : tensor<1x6x7x3xf32>, tensor<3x3x3x2xf32>) outs(%init : tensor<1x4x5x3x2xf32>) -> tensor<1x4x5x3x2xf32>
        """,
        {"%out": exactly(np.stack([depthwise(small, many[..., k]) for k in range(2)], axis=-1), F32)},
    )
    return m


def _pooling(kind: str, op: str, start: str) -> Module:
    m = _new(
        f"pooling-{kind}",
        f"linalg.{op}: overlapping windows, windows side by side, dilated windows, and one window over all.\nNumbers: NumPy, {kind} over shifted views in float64; exact in f32.",
    )
    image = m.input("image", (1, 12, 14, 6), seed=1, modulus=101, shift=50)
    cases = (
        ("overlapping", (3, 3), 1, 1),
        ("side_by_side", (2, 2), 2, 1),
        ("dilated", (2, 3), 1, 2),
        ("over_all", (12, 14), 1, 1),
    )
    for name, window, stride, dilation in cases:
        out = exactly(pool(image, window, kind, stride, dilation), F32)
        m.function(
            name,
            """
            %image = call @image() : () -> tensor<1x12x14x6xf32>
            %window = tensor.empty() : tensor<${wt}xf32>
            %start = arith.constant $start : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%start : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.$op {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %window : tensor<1x12x14x6xf32>, tensor<${wt}xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            s=str(stride), d=str(dilation), ot=shape(out), wt=f"{window[0]}x{window[1]}", start=start, op=op,
        )  # fmt: skip
    return m


def shape(value: np.ndarray) -> str:
    """Write a shape as MLIR does: `2x3`."""
    return "x".join(str(size) for size in value.shape)


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        _matmul(), _matmul_transposed(), _matvec(), _batch_matmul(), _matmul_epilogue(), _contraction(),
        _conv2d_nhwc(), _conv2d_nchw(), _conv1d(), _depthwise(),
        _pooling("max", "pooling_nhwc_max", "0xFF800000"),
        _pooling("min", "pooling_nhwc_min", "0x7F800000"),
        _pooling("sum", "pooling_nhwc_sum", "0.0"),
    ]  # fmt: skip
