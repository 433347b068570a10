"""Input dialects: TOSA and StableHLO."""

from __future__ import annotations

import re

import numpy as np

from .ir import Approximate, Module, exactly, source, type_of
from .reference import conv2d, pool

__all__ = ["modules"]

F32 = np.float32
I32 = np.int32


def _new(name: str, about: str) -> Module:
    return Module(path=name, about=about, generator="dialects")


# ---------------------------------------------------------------- TOSA


def _generic(m: Module) -> Module:
    """Write ops with attributes in MLIR's generic form: TOSA's own form of attributes changes between versions."""
    m.parts = [re.sub(r"tosa\.(\w+) ((?:%\w+(?:, )?)+) \{", r'"tosa.\1"(\2) {', part) for part in m.parts]
    return m


def _tosa_elementwise() -> Module:
    m = _new(
        "tosa/elementwise",
        "TOSA element-wise ops: add and sub with a broadcast row, maximum, clamp, negate through sub, abs, select by greater, and reciprocal.\nNumbers: NumPy in float64, exact in f32; reciprocal of powers of two.",
    )
    x = np.array([[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]])
    row = np.array([[10.0, 20.0, -30.0]])
    head = "%x = $x\n        %row = $row\n        "
    values = {"x": source(x.astype(F32)), "row": source(row.astype(F32))}
    two = "(tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>"
    one = "(tensor<2x3xf32>) -> tensor<2x3xf32>"
    for name, op, want in (
        ("add", f"tosa.add %x, %row : {two}", x + row), ("sub", f"tosa.sub %x, %row : {two}", x - row), ("maximum", f"tosa.maximum %x, %row : {two}", np.maximum(x, row)),
        ("clamp", f"tosa.clamp %x {{min_val = -1.0 : f32, max_val = 3.0 : f32}} : {one}", np.clip(x, -1, 3)), ("abs", f"tosa.abs %x : {one}", abs(x)),
        ("floor", f"tosa.floor %x : {one}", np.floor(x)),
    ):  # fmt: skip
        m.function(name, head + f"%out = {op}", {"%out": exactly(want, F32)}, **values)
    m.function("select", head + "%mask = tosa.greater %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>\n        %out = tosa.select %mask, %x, %row : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>",
               {"%out": exactly(np.where(x > row, x, np.broadcast_to(row, x.shape)), F32)}, **values)  # fmt: skip
    twos = np.array([1.0, 2.0, -4.0, 0.5], F32)
    m.function(
        "reciprocal",
        "%x = $x\n        %out = tosa.reciprocal %x : (tensor<4xf32>) -> tensor<4xf32>",
        {"%out": 1 / twos},
        x=source(twos),
    )
    return m


def _tosa_reduce() -> Module:
    m = _new(
        "tosa/reduce",
        "TOSA reductions, which keep the reduced dimension with size one: sum, max, min, product, any, all; and argmax.\nNumbers: NumPy, exact.",
    )
    x = m.input("x", (5, 9, 12), seed=3, modulus=101, shift=50)
    for name, op, axis, want in (
        ("sum", "reduce_sum", 2, x.sum(axis=2, keepdims=True)),
        ("max", "reduce_max", 1, x.max(axis=1, keepdims=True)),
        ("min", "reduce_min", 0, x.min(axis=0, keepdims=True)),
    ):
        out = exactly(want, F32)
        m.function(
            name,
            f"%x = call @x() : () -> tensor<5x9x12xf32>\n        %out = tosa.{op} %x {{axis = {axis} : i32}} : (tensor<5x9x12xf32>) -> {type_of(out)}",
            {"%out": out},
        )
    m.function(
        "argmax",
        "%x = call @x() : () -> tensor<5x9x12xf32>\n        %out = tosa.argmax %x {axis = 2 : i32} : (tensor<5x9x12xf32>) -> tensor<5x9xi32>",
        {"%out": x.argmax(axis=2).astype(I32)},
    )
    mask = np.array([[True, True, True, True], [False, True, False, False], [False] * 4])
    for name, want in (("any", mask.any(axis=1, keepdims=True)), ("all", mask.all(axis=1, keepdims=True))):
        m.function(
            name,
            f"%x = $x\n        %out = tosa.reduce_{name} %x {{axis = 1 : i32}} : (tensor<3x4xi1>) -> tensor<3x1xi1>",
            {"%out": want},
            x=source(mask),
        )
    return m


def _tosa_matmul() -> Module:
    m = _new(
        "tosa/matmul",
        "tosa.matmul of f32 in batches of two, and of i8 to i32 with zero points.\nNumbers: NumPy's matmul, exact.",
    )
    a = m.input("a", (2, 11, 17), seed=3)
    b = m.input("b", (2, 17, 13), seed=8)
    qa = m.input("qa", (1, 12, 20), "i8", seed=3, modulus=251, shift=125)
    qb = m.input("qb", (1, 20, 8), "i8", seed=8, modulus=251, shift=125)
    m.function(
        "f32",
        """
        %a = call @a() : () -> tensor<2x11x17xf32>
        %b = call @b() : () -> tensor<2x17x13xf32>
        %za = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %zb = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %out = tosa.matmul %a, %b, %za, %zb : (tensor<2x11x17xf32>, tensor<2x17x13xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x11x13xf32>
        """,
        {"%out": exactly(a @ b, F32)},
    )
    m.function(
        "i8",
        """
        %a = call @qa() : () -> tensor<1x12x20xi8>
        %b = call @qb() : () -> tensor<1x20x8xi8>
        %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
        %zb = "tosa.const"() {values = dense<-7> : tensor<1xi8>} : () -> tensor<1xi8>
        %out = tosa.matmul %a, %b, %za, %zb : (tensor<1x12x20xi8>, tensor<1x20x8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x12x8xi32>
        """,
        {"%out": exactly((qa - 3) @ (qb + 7), I32)},
    )
    return m


def _tosa_conv() -> Module:
    m = _new(
        "tosa/conv2d",
        "tosa.conv2d (kernel OHWI, padding of one, bias) and tosa.max_pool2d.\nNumbers: NumPy, the sum or maximum over shifted views of the padded image; exact in f32.",
    )
    image = m.input("image", (1, 8, 9, 4), seed=3)
    kernel = m.input("kernel", (5, 3, 3, 4), seed=8, modulus=7, shift=3)
    bias = np.array([1.0, -2.0, 3.0, 0.0, 100.0])
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    m.function(
        "conv2d_padded",
        """
        %image = call @image() : () -> tensor<1x8x9x4xf32>
        %kernel = call @kernel() : () -> tensor<5x3x3x4xf32>
        %bias = $bias
        %zi = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %zk = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %out = tosa.conv2d %image, %kernel, %bias, %zi, %zk {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
          : (tensor<1x8x9x4xf32>, tensor<5x3x3x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x9x5xf32>
        """,
        {"%out": exactly(conv2d(padded, kernel.transpose(1, 2, 3, 0)) + bias, F32)},
        bias=source(bias.astype(F32)),
    )
    m.function(
        "max_pool2d",
        """
        %image = call @image() : () -> tensor<1x8x9x4xf32>
        %out = tosa.max_pool2d %image {kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 3>} : (tensor<1x8x9x4xf32>) -> tensor<1x4x3x4xf32>
        """,
        {"%out": exactly(np.max(image.reshape(1, 4, 2, 3, 3, 4), axis=(2, 4)), F32)},
    )
    return m


def _tosa_layout() -> Module:
    m = _new(
        "tosa/layout",
        "TOSA data movement: transpose, reshape, slice, concat, tile, reverse, pad and gather.\nNumbers: NumPy; values are only moved.",
    )
    x = m.input("x", (4, 6, 3), seed=3, modulus=1009, shift=0)
    head = "%x = call @x() : () -> tensor<4x6x3xf32>\n        "
    shape = (
        '%{0} = "tosa.const_shape"() {{values = dense<[{1}]> : tensor<{2}xindex>}} : () -> !tosa.shape<{2}>\n        '
    )
    cases = (
        ("transpose", "%out = tosa.transpose %x {perms = array<i32: 2, 0, 1>} : (tensor<4x6x3xf32>) -> tensor<3x4x6xf32>", x.transpose(2, 0, 1)),
        ("reshape", shape.format("s", "8, 9", 2) + "%out = tosa.reshape %x, %s : (tensor<4x6x3xf32>, !tosa.shape<2>) -> tensor<8x9xf32>", x.reshape(8, 9)),
        ("slice", shape.format("s", "1, 2, 0", 3) + shape.format("z", "2, 3, 3", 3) + "%out = tosa.slice %x, %s, %z : (tensor<4x6x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x3x3xf32>", x[1:3, 2:5]),
        ("concat", "%out = tosa.concat %x, %x {axis = 1 : i32} : (tensor<4x6x3xf32>, tensor<4x6x3xf32>) -> tensor<4x12x3xf32>", np.concatenate([x, x], 1)),
        ("tile", shape.format("s", "2, 1, 3", 3) + "%out = tosa.tile %x, %s : (tensor<4x6x3xf32>, !tosa.shape<3>) -> tensor<8x6x9xf32>", np.tile(x, (2, 1, 3))),
        ("reverse", "%out = tosa.reverse %x {axis = 1 : i32} : (tensor<4x6x3xf32>) -> tensor<4x6x3xf32>", x[:, ::-1]),
        ("pad", shape.format("s", "0, 1, 2, 0, 1, 1", 6) + '%v = "tosa.const"() {values = dense<-5.0> : tensor<1xf32>} : () -> tensor<1xf32>\n        %out = tosa.pad %x, %s, %v : (tensor<4x6x3xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<5x8x5xf32>',
         np.pad(x, ((0, 1), (2, 0), (1, 1)), constant_values=-5.0)),
    )  # fmt: skip
    for name, op, want in cases:
        m.function(name, head + op, {"%out": exactly(want, F32)})
    rows = np.array([[5, 0, 2], [1, 1, 4], [3, 5, 0], [2, 2, 2]])
    m.function("gather", head + "%i = $i\n        %out = tosa.gather %x, %i : (tensor<4x6x3xf32>, tensor<4x3xi32>) -> tensor<4x3x3xf32>",
               {"%out": exactly(np.take_along_axis(x, rows[:, :, None], axis=1), F32)}, i=source(rows.astype(I32)))  # fmt: skip
    return m


def _tosa_rescale() -> Module:
    m = _new(
        "tosa/rescale-table",
        "tosa.rescale of i32 to i8 with a multiplier of 1/4 (2^30 >> 32) and zero points, and tosa.table on i8.\nNumbers: (v - 0) * 2^30 + 2^31 >> 32, plus 3, clipped to i8, in Python integers; NumPy's indexing of the table at v + 128.",
    )
    v = np.array([0, 1, 2, 3, -1, -2, 100, -100, 400, -400, 2000, -2000], I32)
    want = np.array([min(127, max(-128, ((int(n) * 2**30 + 2**31) >> 32) + 3)) for n in v], np.int8)
    m.function(
        "rescale",
        """
        %v = $v
        %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
        %shift = "tosa.const"() {values = dense<32> : tensor<1xi8>} : () -> tensor<1xi8>
        %zi = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
        %zo = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
        %out = tosa.rescale %v, %multiplier, %shift, %zi, %zo {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}
          : (tensor<12xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<12xi8>
        """,
        {"%out": want},
        v=source(v),
    )
    table = ((np.arange(256) * 37 + 11) % 256 - 128).astype(np.int8)
    x = np.array([-128, -1, 0, 1, 127, 64, -64, 5], np.int8)
    m.function("table", "%x = $x\n        %table = $table\n        %out = tosa.table %x, %table : (tensor<8xi8>, tensor<256xi8>) -> tensor<8xi8>",
               {"%out": table[x.astype(I32) + 128]}, x=source(x), table=source(table))  # fmt: skip
    return m


# ---------------------------------------------------------------- StableHLO


def _hlo_dot() -> Module:
    m = _new(
        "stablehlo/dot-general",
        "stablehlo.dot_general: a plain product, one with a batch dimension, and one that contracts two dimensions.\nNumbers: NumPy's einsum in float64, exact in f32.",
    )
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
        m.function(name, f"""%x = call @{x}() : () -> {xt}
        %y = call @{y}() : () -> {yt}
        %out = "stablehlo.dot_general"(%x, %y) {{dot_dimension_numbers = #stablehlo.dot<{batches}lhs_contracting_dimensions = [{lhs}], rhs_contracting_dimensions = [{rhs}]>}}
          : ({xt}, {yt}) -> {type_of(out)}""", {"%out": out})  # fmt: skip
    return m


def _hlo_conv() -> Module:
    m = _new(
        "stablehlo/convolution",
        "stablehlo.convolution with padding and with stride two, NHWC image and HWIO kernel, and stablehlo.reduce_window for max pooling.\nNumbers: NumPy, the sum or maximum over shifted views; exact in f32.",
    )
    image = m.input("image", (1, 9, 11, 3), seed=3)
    kernel = m.input("kernel", (3, 3, 3, 4), seed=8, modulus=7, shift=3)
    for name, pad, stride in (("padded", 1, 1), ("stride_two", 0, 2)):
        out = exactly(conv2d(np.pad(image, ((0, 0), (pad, pad), (pad, pad), (0, 0))), kernel, stride), F32)
        m.function(name, f"""%image = call @image() : () -> tensor<1x9x11x3xf32>
        %kernel = call @kernel() : () -> tensor<3x3x3x4xf32>
        %out = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<1x9x11x3xf32>, tensor<3x3x3x4xf32>) -> {type_of(out)}""", {"%out": out})  # fmt: skip
    m.function(
        "max_pooling",
        """
        %image = call @image() : () -> tensor<1x9x11x3xf32>
        %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %out = "stablehlo.reduce_window"(%image, %lowest) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %r = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %r : tensor<f32>
        }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<1x9x11x3xf32>, tensor<f32>) -> tensor<1x4x5x3xf32>
        """,
        {"%out": exactly(pool(image, (3, 3), "max", 2), F32)},
    )
    return m


def _hlo_reduce() -> Module:
    m = _new(
        "stablehlo/reduce",
        "stablehlo.reduce with add, maximum and multiply, along one and along two dimensions.\nNumbers: NumPy in float64, exact in f32.",
    )
    x = m.input("x", (7, 12, 15), seed=3)
    small = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -0.25]])
    for name, op, start, dims, want in (
        ("sum", "add", "0.0", "2", x.sum(axis=2)),
        ("max", "maximum", "0xFF800000", "0, 2", x.max(axis=(0, 2))),
    ):
        out = exactly(want, F32)
        m.function(name, f"""%x = call @x() : () -> tensor<7x12x15xf32>
        %start = stablehlo.constant dense<{start}> : tensor<f32>
        %out = stablehlo.reduce(%x init: %start) applies stablehlo.{op} across dimensions = [{dims}] : (tensor<7x12x15xf32>, tensor<f32>) -> {type_of(out)}""", {"%out": out})  # fmt: skip
    m.function("product", """%x = $x
        %start = stablehlo.constant dense<1.0> : tensor<f32>
        %out = stablehlo.reduce(%x init: %start) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>""",
               {"%out": exactly(small.prod(axis=1), F32)}, x=source(small.astype(F32)))  # fmt: skip
    return m


def _hlo_layout() -> Module:
    m = _new(
        "stablehlo/layout",
        "StableHLO data movement: iota, broadcast_in_dim, transpose, reshape, slice with strides, concatenate, pad with interior padding, reverse.\nNumbers: NumPy; values are only moved.",
    )
    x = m.input("x", (5, 8), seed=3, modulus=1009, shift=0)
    head = "%x = call @x() : () -> tensor<5x8xf32>\n        "
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
    return m


def _hlo_gather() -> Module:
    m = _new(
        "stablehlo/gather-scatter",
        "stablehlo.gather of rows, dynamic_slice and dynamic_update_slice with starts that are clamped, and a scatter that adds.\nNumbers: NumPy's indexing and np.add.at; starts clamped by hand (7 with size 4 of 8 becomes 4).",
    )
    table = m.input("table", (10, 6), seed=3, modulus=1009, shift=0)
    rows = np.array([9, 0, 4, 4, 7])
    m.function("rows", """%table = call @table() : () -> tensor<10x6xf32>
        %rows = $rows
        %out = "stablehlo.gather"(%table, %rows) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 6>, indices_are_sorted = false} : (tensor<10x6xf32>, tensor<5xi32>) -> tensor<5x6xf32>""",
               {"%out": exactly(table[rows], F32)}, rows=source(rows.astype(I32)))  # fmt: skip
    line = np.arange(8, dtype=I32) * 11
    scalars = "%line = $line\n        %start = util.unfoldable_constant dense<7> : tensor<i32>\n        "
    m.function("dynamic_slice", scalars + "%out = stablehlo.dynamic_slice %line, %start, sizes = [4] : (tensor<8xi32>, tensor<i32>) -> tensor<4xi32>",
               {"%out": line[4:8]}, line=source(line))  # fmt: skip
    updated = line.copy()
    updated[5:8] = [-1, -2, -3]
    m.function("dynamic_update_slice", scalars.replace("%line = $line", "%data = $line\n        %zeros = util.unfoldable_constant dense<0> : tensor<8xi32>\n        %line = stablehlo.add %data, %zeros : tensor<8xi32>") + "%new = util.unfoldable_constant dense<[-1, -2, -3]> : tensor<3xi32>\n        %out = stablehlo.dynamic_update_slice %line, %new, %start : (tensor<8xi32>, tensor<3xi32>, tensor<i32>) -> tensor<8xi32>",
               {"%out": updated}, line=source(line))  # fmt: skip
    places, updates = np.array([[2], [5], [2]]), np.array([100, 200, 300], I32)
    added = line * 3
    np.add.at(added, places[:, 0], updates)
    m.function("scatter_adds", """%line = $line
        %three = stablehlo.constant dense<3> : tensor<8xi32>
        %base = stablehlo.multiply %line, %three : tensor<8xi32>
        %places = $places
        %updates = $updates
        %out = "stablehlo.scatter"(%base, %places, %updates) ({
        ^bb0(%old: tensor<i32>, %update: tensor<i32>):
          %sum = stablehlo.add %old, %update : tensor<i32>
          stablehlo.return %sum : tensor<i32>
        }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}
          : (tensor<8xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<8xi32>""",
               {"%out": added}, line=source(line), places=source(places.astype(I32)), updates=source(updates))  # fmt: skip
    return m


def _hlo_control() -> Module:
    m = _new(
        "stablehlo/control-flow",
        "stablehlo.while, stablehlo.if, stablehlo.case and select by compare.\nNumbers by hand: 1 doubled until it is at least 1000 is 1024; the rest is told by the branch taken.",
    )
    m.function(
        "while_doubles",
        """
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
        """,
        {"%out": np.array(1024, I32)},
    )
    m.function(
        "if_takes_the_second",
        """
        %condition = util.unfoldable_constant dense<false> : tensor<i1>
        %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
        %out = "stablehlo.if"(%condition) ({
          %a = stablehlo.add %x, %x : tensor<2xf32>
          stablehlo.return %a : tensor<2xf32>
        }, {
          %b = stablehlo.negate %x : tensor<2xf32>
          stablehlo.return %b : tensor<2xf32>
        }) : (tensor<i1>) -> tensor<2xf32>
        """,
        {"%out": np.array([-1.0, -2.0], F32)},
    )
    m.function(
        "select_by_compare",
        """
        %x = util.unfoldable_constant dense<[1, -5, 7, 0]> : tensor<4xi32>
        %y = util.unfoldable_constant dense<[2, -6, 7, -1]> : tensor<4xi32>
        %mask = stablehlo.compare GE, %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
        %out = stablehlo.select %mask, %x, %y : tensor<4xi1>, tensor<4xi32>
        """,
        {"%out": np.array([2, -5, 7, 0], I32)},
    )
    return m


def _hlo_math() -> Module:
    m = _new(
        "stablehlo/math",
        "StableHLO element-wise maths in f32: exponential, log, tanh, logistic, rsqrt, power, remainder, clamp, sort.\nNumbers: NumPy in float64. rtol 1e-5, atol 1e-6 for the approximated functions, exact for the others.",
    )
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
            f"%x = $x\n        %out = stablehlo.{name} %x : tensor<23xf32>",
            {"%out": Approximate(value=want.astype(F32), atol=1e-6, rtol=1e-5)},
            x=source(x.astype(F32)),
        )
    m.function("clamp", "%x = $x\n        %low = stablehlo.constant dense<1.5> : tensor<f32>\n        %high = stablehlo.constant dense<4.0> : tensor<f32>\n        %out = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<23xf32>, tensor<f32>) -> tensor<23xf32>",
               {"%out": exactly(np.clip(x, 1.5, 4.0), F32)}, x=source(x.astype(F32)))  # fmt: skip
    a, b = np.array([7, -7, 7, -7], I32), np.array([3, 3, -3, -3], I32)
    m.function(
        "remainder",
        "%a = $a\n        %b = $b\n        %out = stablehlo.remainder %a, %b : tensor<4xi32>",
        {"%out": np.fmod(a, b)},
        a=source(a),
        b=source(b),
    )
    return m


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        *(
            _generic(m)
            for m in (
                _tosa_elementwise(),
                _tosa_reduce(),
                _tosa_matmul(),
                _tosa_conv(),
                _tosa_layout(),
                _tosa_rescale(),
            )
        ),
        _hlo_dot(),
        _hlo_conv(),
        _hlo_reduce(),
        _hlo_layout(),
        _hlo_gather(),
        _hlo_control(),
        _hlo_math(),
    ]
