"""The suite `tosa`: the input dialect TOSA."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps

import numpy as np

from generator.support import Module, Writer, exactly, module, type_of
from generator.support.reference import conv2d

F32 = np.float32
I32 = np.int32


def _generic(path: str) -> Callable[[Callable[[Module], None]], Writer]:
    """Write ops with attributes in MLIR's generic form: TOSA's own form of attributes changes between versions."""

    def mark(fill: Callable[[Module], None]) -> Writer:
        @wraps(fill)
        def rewritten(m: Module) -> None:
            fill(m)
            m.parts = [re.sub(r"tosa\.(\w+) ((?:%\w+(?:, )?)+) \{", r'"tosa.\1"(\2) {', part) for part in m.parts]

        return module(path)(rewritten)

    return mark


@_generic("tosa/elementwise")
def _elementwise(m: Module) -> None:
    """TOSA element-wise ops: add and sub with a broadcast row, maximum, clamp, negate through sub, abs, select by greater, and reciprocal.
    Numbers: NumPy in float64, exact in f32; reciprocal of powers of two.
    """
    x = np.array([[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]])
    row = np.array([[10.0, 20.0, -30.0]])
    values = {"x": x.astype(F32), "row": row.astype(F32)}
    two = "(tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>"
    one = "(tensor<2x3xf32>) -> tensor<2x3xf32>"
    for name, op, want in (
        ("add", f"tosa.add %x, %row : {two}", x + row), ("sub", f"tosa.sub %x, %row : {two}", x - row), ("maximum", f"tosa.maximum %x, %row : {two}", np.maximum(x, row)),
        ("clamp", f"tosa.clamp %x {{min_val = -1.0 : f32, max_val = 3.0 : f32}} : {one}", np.clip(x, -1, 3)), ("abs", f"tosa.abs %x : {one}", abs(x)),
        ("floor", f"tosa.floor %x : {one}", np.floor(x)),
    ):  # fmt: skip
        m.function(name, f"%out = {op}", {"%out": exactly(want, F32)}, **values)
    m.function("select", "%mask = tosa.greater %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>\n        %out = tosa.select %mask, %x, %row : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>",
               {"%out": exactly(np.where(x > row, x, np.broadcast_to(row, x.shape)), F32)}, **values)  # fmt: skip
    twos = np.array([1.0, 2.0, -4.0, 0.5], F32)
    m.function("reciprocal", "%out = tosa.reciprocal %x : (tensor<4xf32>) -> tensor<4xf32>", {"%out": 1 / twos}, x=twos)


@_generic("tosa/reduce")
def _reduce(m: Module) -> None:
    """TOSA reductions, which keep the reduced dimension with size one: sum, max, min, product, any, all; and argmax.
    Numbers: NumPy, exact.
    """
    x = m.input("x", (5, 9, 12), seed=3, modulus=101, shift=50)
    for name, op, axis, want in (
        ("sum", "reduce_sum", 2, x.sum(axis=2, keepdims=True)),
        ("max", "reduce_max", 1, x.max(axis=1, keepdims=True)),
        ("min", "reduce_min", 0, x.min(axis=0, keepdims=True)),
    ):
        out = exactly(want, F32)
        m.function(
            name,
            f"%x = @x\n        %out = tosa.{op} %x {{axis = {axis} : i32}} : (tensor<5x9x12xf32>) -> {type_of(out)}",
            {"%out": out},
        )
    m.function(
        "argmax",
        "%x = @x\n        %out = tosa.argmax %x {axis = 2 : i32} : (tensor<5x9x12xf32>) -> tensor<5x9xi32>",
        {"%out": x.argmax(axis=2).astype(I32)},
    )
    mask = np.array([[True, True, True, True], [False, True, False, False], [False] * 4])
    for name, want in (("any", mask.any(axis=1, keepdims=True)), ("all", mask.all(axis=1, keepdims=True))):
        m.function(
            name,
            f"%out = tosa.reduce_{name} %x {{axis = 1 : i32}} : (tensor<3x4xi1>) -> tensor<3x1xi1>",
            {"%out": want},
            x=mask,
        )


@_generic("tosa/matmul")
def _matmul(m: Module) -> None:
    """tosa.matmul of f32 in batches of two, and of i8 to i32 with zero points.
    Numbers: NumPy's matmul, exact.
    """
    a = m.input("a", (2, 11, 17), seed=3)
    b = m.input("b", (2, 17, 13), seed=8)
    qa = m.input("qa", (1, 12, 20), "i8", seed=3, modulus=251, shift=125)
    qb = m.input("qb", (1, 20, 8), "i8", seed=8, modulus=251, shift=125)
    body = """
        %a, %b = @a, @b
        %za = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %zb = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %out = tosa.matmul %a, %b, %za, %zb : (tensor<2x11x17xf32>, tensor<2x17x13xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x11x13xf32>
        """
    m.function("f32", body, {"%out": exactly(a @ b, F32)})
    body = """
        %a, %b = @qa, @qb
        %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
        %zb = "tosa.const"() {values = dense<-7> : tensor<1xi8>} : () -> tensor<1xi8>
        %out = tosa.matmul %a, %b, %za, %zb : (tensor<1x12x20xi8>, tensor<1x20x8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x12x8xi32>
        """
    m.function("i8", body, {"%out": exactly((qa - 3) @ (qb + 7), I32)})


@_generic("tosa/conv2d")
def _conv(m: Module) -> None:
    """tosa.conv2d (kernel OHWI, padding of one, bias) and tosa.max_pool2d.
    Numbers: NumPy, the sum or maximum over shifted views of the padded image; exact in f32.
    """
    image = m.input("image", (1, 8, 9, 4), seed=3)
    kernel = m.input("kernel", (5, 3, 3, 4), seed=8, modulus=7, shift=3)
    bias = np.array([1.0, -2.0, 3.0, 0.0, 100.0])
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    body = """
        %image, %kernel = @image, @kernel
        %bias = $bias
        %zi = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %zk = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
        %out = tosa.conv2d %image, %kernel, %bias, %zi, %zk {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
          : (tensor<1x8x9x4xf32>, tensor<5x3x3x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x9x5xf32>
        """
    m.function(
        "conv2d_padded",
        body,
        {"%out": exactly(conv2d(padded, kernel.transpose(1, 2, 3, 0)) + bias, F32)},
        bias=bias.astype(F32),
    )
    body = """
        %image = @image
        %out = tosa.max_pool2d %image {kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 3>} : (tensor<1x8x9x4xf32>) -> tensor<1x4x3x4xf32>
        """
    m.function("max_pool2d", body, {"%out": exactly(np.max(image.reshape(1, 4, 2, 3, 3, 4), axis=(2, 4)), F32)})


@_generic("tosa/layout")
def _layout(m: Module) -> None:
    """TOSA data movement: transpose, reshape, slice, concat, tile, reverse, pad and gather.
    Numbers: NumPy; values are only moved.
    """
    x = m.input("x", (4, 6, 3), seed=3, modulus=1009, shift=0)
    head = "%x = @x\n        "
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
               {"%out": exactly(np.take_along_axis(x, rows[:, :, None], axis=1), F32)}, i=rows.astype(I32))  # fmt: skip


@_generic("tosa/rescale-table")
def _rescale(m: Module) -> None:
    """tosa.rescale of i32 to i8 with a multiplier of 1/4 (2^30 >> 32) and zero points, and tosa.table on i8.
    Numbers: (v - 0) * 2^30 + 2^31 >> 32, plus 3, clipped to i8, in Python integers; NumPy's indexing of the table at v + 128.
    """
    v = np.array([0, 1, 2, 3, -1, -2, 100, -100, 400, -400, 2000, -2000], I32)
    want = np.array([min(127, max(-128, ((int(n) * 2**30 + 2**31) >> 32) + 3)) for n in v], np.int8)
    body = """
        %v = $v
        %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
        %shift = "tosa.const"() {values = dense<32> : tensor<1xi8>} : () -> tensor<1xi8>
        %zi = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
        %zo = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
        %out = tosa.rescale %v, %multiplier, %shift, %zi, %zo {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}
          : (tensor<12xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<12xi8>
        """
    m.function("rescale", body, {"%out": want}, v=v)
    table = ((np.arange(256) * 37 + 11) % 256 - 128).astype(np.int8)
    x = np.array([-128, -1, 0, 1, 127, 64, -64, 5], np.int8)
    m.function("table", "%out = tosa.table %x, %table : (tensor<8xi8>, tensor<256xi8>) -> tensor<8xi8>",
               {"%out": table[x.astype(I32) + 128]}, x=x, table=table)  # fmt: skip
