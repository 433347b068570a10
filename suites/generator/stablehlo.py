"""The suite `stablehlo`."""

from __future__ import annotations

import numpy as np

from generator.support import Approximate, Module, exactly, module, type_of
from generator.support.reference import conv2d, pool

F32 = np.float32
I32 = np.int32


@module("stablehlo/dot-general")
def _dot(m: Module) -> None:
    """stablehlo.dot_general: a plain product, one with a batch dimension, and one that contracts two dimensions.
    Numbers: NumPy's einsum in float64, exact in f32.
    """
    a = m.input("a", (19, 27), seed=3)
    b = m.input("b", (27, 23), seed=8)
    c = m.input("c", (3, 9, 14), seed=4)
    d = m.input("d", (3, 14, 8), seed=5)
    e = m.input("e", (9, 14, 5), seed=6)
    for name, x, y, lhs, rhs, batch, want in (
        ("plain", "a", "b", "1", "0", "", a @ b), ("batched", "c", "d", "2", "1", "0", c @ d), ("two_dimensions", "c", "e", "1, 2", "0, 1", "", np.einsum("bkl,kln->bn", c, e)),
    ):  # fmt: skip
        shapes = {"a": a, "b": b, "c": c, "d": d, "e": e}
        xt, yt = (type_of(shapes[n].astype(F32)) for n in (x, y))
        out = exactly(want, F32)
        batches = f"lhs_batching_dimensions = [{batch}], rhs_batching_dimensions = [{batch}], " if batch else ""
        body = f"""%x = call @{x}() : () -> {xt}
        %y = call @{y}() : () -> {yt}
        %out = "stablehlo.dot_general"(%x, %y) {{dot_dimension_numbers = #stablehlo.dot<{batches}lhs_contracting_dimensions = [{lhs}], rhs_contracting_dimensions = [{rhs}]>}}
          : ({xt}, {yt}) -> {type_of(out)}"""
        m.function(name, body, {"%out": out})


@module("stablehlo/convolution")
def _conv(m: Module) -> None:
    """stablehlo.convolution with padding and with stride two, NHWC image and HWIO kernel, and stablehlo.reduce_window for max pooling.
    Numbers: NumPy, the sum or maximum over shifted views; exact in f32.
    """
    image = m.input("image", (1, 9, 11, 3), seed=3)
    kernel = m.input("kernel", (3, 3, 3, 4), seed=8, modulus=7, shift=3)
    for name, pad, stride in (("padded", 1, 1), ("stride_two", 0, 2)):
        out = exactly(conv2d(np.pad(image, ((0, 0), (pad, pad), (pad, pad), (0, 0))), kernel, stride), F32)
        body = f"""%image = @image
        %kernel = @kernel
        %out = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<1x9x11x3xf32>, tensor<3x3x3x4xf32>) -> {type_of(out)}"""
        m.function(name, body, {"%out": out})
    body = """
        %image = @image
        %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %out = "stablehlo.reduce_window"(%image, %lowest) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %r = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %r : tensor<f32>
        }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<1x9x11x3xf32>, tensor<f32>) -> tensor<1x4x5x3xf32>
        """
    m.function("max_pooling", body, {"%out": exactly(pool(image, (3, 3), "max", 2), F32)})


@module("stablehlo/reduce")
def _reduce(m: Module) -> None:
    """stablehlo.reduce with add, maximum and multiply, along one and along two dimensions.
    Numbers: NumPy in float64, exact in f32.
    """
    x = m.input("x", (7, 12, 15), seed=3)
    small = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -0.25]])
    for name, op, start, dims, want in (
        ("sum", "add", "0.0", "2", x.sum(axis=2)),
        ("max", "maximum", "0xFF800000", "0, 2", x.max(axis=(0, 2))),
    ):
        out = exactly(want, F32)
        body = f"""%x = @x
        %start = stablehlo.constant dense<{start}> : tensor<f32>
        %out = stablehlo.reduce(%x init: %start) applies stablehlo.{op} across dimensions = [{dims}] : (tensor<7x12x15xf32>, tensor<f32>) -> {type_of(out)}"""
        m.function(name, body, {"%out": out})
    m.function("product", """%start = stablehlo.constant dense<1.0> : tensor<f32>
        %out = stablehlo.reduce(%x init: %start) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>""",
               {"%out": exactly(small.prod(axis=1), F32)}, x=small.astype(F32))  # fmt: skip


@module("stablehlo/layout")
def _layout(m: Module) -> None:
    """StableHLO data movement: iota, broadcast_in_dim, transpose, reshape, slice with strides, concatenate, pad with interior padding, reverse.
    Numbers: NumPy; values are only moved.
    """
    x = m.input("x", (5, 8), seed=3, modulus=1009, shift=0)
    head = "%x = @x\n        "
    spread = np.full((12, 9), -1.0)
    spread[1:11:2, 0:8] = x
    cases = (
        ("iota_added", "%i = stablehlo.iota dim = 1 : tensor<5x8xf32>\n        %out = stablehlo.add %x, %i : tensor<5x8xf32>", x + np.arange(8.0)),
        ("broadcast_in_dim", "%out = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x8xf32>) -> tensor<5x3x8xf32>", np.broadcast_to(x[:, None], (5, 3, 8))),
        ("transpose", "%out = stablehlo.transpose %x, dims = [1, 0] : (tensor<5x8xf32>) -> tensor<8x5xf32>", x.T),
        ("reshape", "%out = stablehlo.reshape %x : (tensor<5x8xf32>) -> tensor<4x10xf32>", x.reshape(4, 10)),
        ("slice", "%out = stablehlo.slice %x [0:5:2, 1:4] : (tensor<5x8xf32>) -> tensor<3x3xf32>", x[0:5:2, 1:4]),
        ("concatenate", "%out = stablehlo.concatenate %x, %x, dim = 0 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<10x8xf32>", np.concatenate([x, x])),
        ("pad_interior", "%v = stablehlo.constant dense<-1.0> : tensor<f32>\n        %out = stablehlo.pad %x, %v, low = [1, 0], high = [2, 1], interior = [1, 0] : (tensor<5x8xf32>, tensor<f32>) -> tensor<12x9xf32>", spread),
        ("reverse", "%out = stablehlo.reverse %x, dims = [0] : tensor<5x8xf32>", x[::-1]),
    )  # fmt: skip
    for name, op, want in cases:
        m.function(name, head + op, {"%out": exactly(np.ascontiguousarray(want), F32)})


@module("stablehlo/gather-scatter")
def _gather(m: Module) -> None:
    """stablehlo.gather of rows, dynamic_slice and dynamic_update_slice with starts that are clamped, and a scatter that adds.
    Numbers: NumPy's indexing and np.add.at; starts clamped by hand (7 with size 4 of 8 becomes 4).
    """
    table = m.input("table", (10, 6), seed=3, modulus=1009, shift=0)
    rows = np.array([9, 0, 4, 4, 7])
    body = """%table = @table
        %rows = $rows
        %out = "stablehlo.gather"(%table, %rows) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 6>, indices_are_sorted = false} : (tensor<10x6xf32>, tensor<5xi32>) -> tensor<5x6xf32>"""
    m.function("rows", body, {"%out": exactly(table[rows], F32)}, rows=rows.astype(I32))
    line = np.arange(8, dtype=I32) * 11
    start = "%start = util.unfoldable_constant dense<7> : tensor<i32>\n        "
    m.function("dynamic_slice", start + "%out = stablehlo.dynamic_slice %line, %start, sizes = [4] : (tensor<8xi32>, tensor<i32>) -> tensor<4xi32>",
               {"%out": line[4:8]}, line=line)  # fmt: skip
    updated = line.copy()
    updated[5:8] = [-1, -2, -3]
    m.function("dynamic_update_slice", "%line = stablehlo.add %data, %zeros : tensor<8xi32>\n        " + start + "%new = util.unfoldable_constant dense<[-1, -2, -3]> : tensor<3xi32>\n        %out = stablehlo.dynamic_update_slice %line, %new, %start : (tensor<8xi32>, tensor<3xi32>, tensor<i32>) -> tensor<8xi32>",
               {"%out": updated}, data=line, zeros=np.zeros_like(line))  # fmt: skip
    places, updates = np.array([[2], [5], [2]]), np.array([100, 200, 300], I32)
    added = line * 3
    np.add.at(added, places[:, 0], updates)
    body = """%three = stablehlo.constant dense<3> : tensor<8xi32>
        %base = stablehlo.multiply %line, %three : tensor<8xi32>
        %places = $places
        %updates = $updates
        %out = "stablehlo.scatter"(%base, %places, %updates) ({
        ^bb0(%old: tensor<i32>, %update: tensor<i32>):
          %sum = stablehlo.add %old, %update : tensor<i32>
          stablehlo.return %sum : tensor<i32>
        }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}
          : (tensor<8xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<8xi32>"""
    m.function("scatter_adds", body, {"%out": added}, line=line, places=places.astype(I32), updates=updates)


@module("stablehlo/control-flow")
def _control(m: Module) -> None:
    """stablehlo.while, stablehlo.if, stablehlo.case and select by compare.
    Numbers by hand: 1 doubled until it is at least 1000 is 1024; the branch taken decides the rest.
    """
    body = """
        %start = util.unfoldable_constant dense<1> : tensor<i32>
        %limit = stablehlo.constant dense<1000> : tensor<i32>
        %out = stablehlo.while(%value = %start) : tensor<i32>
        cond {
          %more = stablehlo.compare LT, %value, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        } do {
          %next = stablehlo.add %value, %value : tensor<i32>
          stablehlo.return %next : tensor<i32>
        }
        """
    m.function("while_doubles", body, {"%out": np.array(1024, I32)})
    body = """
        %condition = util.unfoldable_constant dense<false> : tensor<i1>
        %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
        %out = "stablehlo.if"(%condition) ({
          %a = stablehlo.add %x, %x : tensor<2xf32>
          stablehlo.return %a : tensor<2xf32>
        }, {
          %b = stablehlo.negate %x : tensor<2xf32>
          stablehlo.return %b : tensor<2xf32>
        }) : (tensor<i1>) -> tensor<2xf32>
        """
    m.function("if_takes_the_second", body, {"%out": np.array([-1.0, -2.0], F32)})
    body = """
        %x = util.unfoldable_constant dense<[1, -5, 7, 0]> : tensor<4xi32>
        %y = util.unfoldable_constant dense<[2, -6, 7, -1]> : tensor<4xi32>
        %mask = stablehlo.compare GE, %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
        %out = stablehlo.select %mask, %x, %y : tensor<4xi1>, tensor<4xi32>
        """
    m.function("select_by_compare", body, {"%out": np.array([2, -5, 7, 0], I32)})


@module("stablehlo/math")
def _math(m: Module) -> None:
    """StableHLO element-wise maths in f32: exponential, log, tanh, logistic, rsqrt, power, remainder, clamp, sort.
    Numbers: NumPy in float64. rtol 1e-5, atol 1e-6 for the approximated functions, exact for the others.
    """
    x = np.arange(23) / 4 + 0.25
    for name, want in (
        ("exponential", np.exp(x)),
        ("log", np.log(x)),
        ("tanh", np.tanh(x)),
        ("logistic", 1 / (1 + np.exp(-x))),
        ("rsqrt", 1 / np.sqrt(x)),
    ):
        m.function(
            f"{name}_of_23",
            f"%out = stablehlo.{name} %x : tensor<23xf32>",
            {"%out": Approximate(value=want.astype(F32), atol=1e-6, rtol=1e-5)},
            x=x.astype(F32),
        )
    m.function("clamp", "%low = stablehlo.constant dense<1.5> : tensor<f32>\n        %high = stablehlo.constant dense<4.0> : tensor<f32>\n        %out = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<23xf32>, tensor<f32>) -> tensor<23xf32>",
               {"%out": exactly(np.clip(x, 1.5, 4.0), F32)}, x=x.astype(F32))  # fmt: skip
    a, b = np.array([7, -7, 7, -7], I32), np.array([3, 3, -3, -3], I32)
    m.function("remainder", "%out = stablehlo.remainder %a, %b : tensor<4xi32>", {"%out": np.fmod(a, b)}, a=a, b=b)
