"""The suite `quantised`: products of small integers and the arithmetic of quantised models."""

from __future__ import annotations

import numpy as np

from generator.support import Module, exactly, module
from generator.support.products import convolution, matmul, product
from generator.support.reference import conv2d


@module("quantised/matmul-i8", "i8", (36, 70, 30), (251, 125), about="linalg.matmul of i8 accumulated in i32, where x86 and arm64 have dot product instructions.\nNumbers: NumPy's matmul in int64, exact; the full range of i8 occurs.")  # fmt: skip
@module("quantised/matmul-i16", "i16", (18, 33, 22), (1009, 504), about="linalg.matmul of i16 accumulated in i32.\nNumbers: NumPy's matmul in int64, exact.")  # fmt: skip
@module("quantised/matmul-i8-words", "i8", (64, 64, 64), (251, 125), about="linalg.matmul of i8 accumulated in i32, of sizes where SPIR-V code generation loads 8 elements as words of 32 bits.\nNumbers: NumPy's matmul in int64, exact.")  # fmt: skip
@module("quantised/matmul-i16-words", "i16", (64, 64, 64), (251, 125), about="linalg.matmul of i16 accumulated in i32, of sizes where SPIR-V code generation loads 4 elements as words of 32 bits.\nNumbers: NumPy's matmul in int64, exact.")  # fmt: skip
def _matmul(m: Module, element: str, sizes: tuple[int, int, int], values: tuple[int, int]) -> None:
    matmul(m, element, "i32", sizes, left=values, right=values)


@module("quantised/odd-bytes")
def _odd_bytes(m: Module) -> None:
    """i8 and i16 tensors whose size in bytes is no multiple of four: the last, partial word must be read and written too.
    Numbers: NumPy's int64 matmul and astype, exact.
    """
    x = np.array([1, -2, 3, -4, 5, -6], np.int8)
    m.elementwise("six_of_i8", "arith.extsi %a : i8 to i32", x.astype(np.int32), x)
    y = x[:5].astype(np.int16) * 100
    m.elementwise("five_of_i16", "arith.addi %a, %a", y * 2, y)
    a = m.input("a", (35, 70), "i8", seed=3, modulus=251, shift=125)
    b = m.input("b", (70, 30), "i8", seed=8, modulus=251, shift=125)
    product(m, "matmul_i8_35x70x30", "matmul", {"a": "a", "b": "b"}, exactly(a @ b, np.int32))


@module("quantised/quantized-matmul")
def _quantized_matmul(m: Module) -> None:
    """linalg.quantized_matmul: i8 operands with zero points that are not zero, accumulated in i32.
    Numbers: NumPy, (a - 7) @ (b + 12) in int64, exact.
    """
    a = m.input("a", (20, 44), "i8", seed=3, modulus=251, shift=125)
    b = m.input("b", (44, 26), "i8", seed=8, modulus=251, shift=125)
    want = ((a - 7) @ (b + 12)).astype(np.int32)
    body = """
        %a, %b = @a, @b
        %za = util.unfoldable_constant 7 : i32
        %zb = util.unfoldable_constant -12 : i32
        %init = filled 0 : tensor<20x26xi32>
        %c = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<20x44xi8>, tensor<44x26xi8>, i32, i32) outs(%init : tensor<20x26xi32>) -> tensor<20x26xi32>
        """
    m.function("zero_points_7_and_minus_12", body, {"%c": want})


@module("quantised/conv2d-i8")
def _conv(m: Module) -> None:
    """linalg.conv_2d_nhwc_hwcf with i8 operands accumulated in i32, and linalg.conv_2d_nhwc_hwcf_q with zero points.
    Numbers: NumPy, the sum over shifted views in exact integers (float64 below 2^53).
    """
    image = m.input("image", (1, 9, 10, 4), "i8", seed=3, modulus=251, shift=125)
    kernel = m.input("kernel", (3, 3, 4, 6), "i8", seed=8, modulus=251, shift=125)
    convolution(m, "i8_to_i32", "conv_2d_nhwc_hwcf", exactly(conv2d(image, kernel), np.int32))
    body = """
        %image, %kernel = @image, @kernel
        %init = filled 0 : tensor<1x7x8x6xi32>
        %zi = util.unfoldable_constant -5 : i32
        %zk = util.unfoldable_constant 9 : i32
        %out = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
          ins(%image, %kernel, %zi, %zk : tensor<1x9x10x4xi8>, tensor<3x3x4x6xi8>, i32, i32) outs(%init : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
        """
    m.function("zero_points_minus_5_and_9", body, {"%out": exactly(conv2d(image + 5, kernel - 9), np.int32)})


@module("quantised/requantise")
def _requantise(m: Module) -> None:
    """A quantised layer: i8 matmul to i32, then i32 to i8 by a fixed-point factor 77 / 2^14, rounded to nearest (add half, shift), a zero point, and a clamp.
    Numbers: NumPy in int64: (c * 77 + 2^13) >> 14, plus 3, clipped to [-128, 127].
    """
    a = m.input("a", (16, 34), "i8", seed=3, modulus=251, shift=125)
    b = m.input("b", (34, 22), "i8", seed=8, modulus=101, shift=50)
    c = a.astype(np.int64) @ b.astype(np.int64)
    if abs(c * 77).max() >= 2**31:
        msg = "requantise: the product leaves i32"
        raise ValueError(msg)
    want = np.clip(((c * 77 + 2**13) >> 14) + 3, -128, 127).astype(np.int8)
    body = """
        %a, %b = @a, @b
        %zero = arith.constant 0 : i32
        %factor = arith.constant 77 : i32
        %half = arith.constant 8192 : i32
        %distance = arith.constant 14 : i32
        %point = arith.constant 3 : i32
        %low = arith.constant -128 : i32
        %high = arith.constant 127 : i32
        %empty = tensor.empty() : tensor<16x22xi32>
        %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<16x22xi32>) -> tensor<16x22xi32>
        %c = linalg.matmul ins(%a, %b : tensor<16x34xi8>, tensor<34x22xi8>) outs(%init : tensor<16x22xi32>) -> tensor<16x22xi32>
        %room = tensor.empty() : tensor<16x22xi8>
        %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
            ins(%c : tensor<16x22xi32>) outs(%room : tensor<16x22xi8>) {
        ^bb0(%v: i32, %unused: i8):
          %scaled = arith.muli %v, %factor : i32
          %moved = arith.addi %scaled, %half : i32
          %shifted = arith.shrsi %moved, %distance : i32
          %pointed = arith.addi %shifted, %point : i32
          %above = arith.maxsi %pointed, %low : i32
          %within = arith.minsi %above, %high : i32
          %r = arith.trunci %within : i32 to i8
          linalg.yield %r : i8
        } -> tensor<16x22xi8>
        """
    m.function("matmul_then_requantise", body, {"%out": want})


@module("quantised/dequantise", False)
@module("quantised/dequantise-fused", True)
def _dequantise(m: Module, fused: bool) -> None:
    how = "free to fuse into one dispatch" if fused else "kept in a dispatch of its own"
    m.about = (
        f"Dequantisation {how}: weights of i8 with a scale per column (powers of two) and a zero point, dequantised to f32 and fed to an f32 matmul, as weight-only quantised models do.\n"
        "Numbers: NumPy in float64; multiples of 1/8 well below 2^24, exact in f32."
    )
    x = m.input("x", (7, 40), seed=3)
    w = m.input("w", (40, 18), "i8", seed=8, modulus=101, shift=50)
    scales = 2.0 ** (np.arange(18) % 4 - 3)
    body = """
        %x, %w = @x, @w
        %scales = $scales
        %point = arith.constant 4 : i32
        %zero = arith.constant 0.0 : f32
        %room = tensor.empty() : tensor<40x18xf32>
        %weights = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%w, %scales : tensor<40x18xi8>, tensor<18xf32>) outs(%room : tensor<40x18xf32>) {
        ^bb0(%q: i8, %s: f32, %unused: f32):
          %wide = arith.extsi %q : i8 to i32
          %centred = arith.subi %wide, %point : i32
          %float = arith.sitofp %centred : i32 to f32
          %r = arith.mulf %float, %s : f32
          linalg.yield %r : f32
        } -> tensor<40x18xf32>
        $kept
        %empty = tensor.empty() : tensor<7x18xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x18xf32>) -> tensor<7x18xf32>
        %c = linalg.matmul ins(%x, $weights : tensor<7x40xf32>, tensor<40x18xf32>) outs(%init : tensor<7x18xf32>) -> tensor<7x18xf32>
        """
    m.function(
        "weight_only",
        body,
        {"%c": exactly(x @ ((w - 4) * scales), np.float32)},
        scales=scales.astype(np.float32),
        kept="// no barrier here" if fused else "%kept = util.optimization_barrier %weights : tensor<40x18xf32>",
        weights="%weights" if fused else "%kept",
    )
