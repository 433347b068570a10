"""Integer matrix products and the arithmetic of quantised models."""

from __future__ import annotations

import numpy as np

from .ir import Module, exactly, source
from .reference import conv2d

__all__ = ["modules"]


def _new(name: str, about: str) -> Module:
    return Module(path=name, about=about, generator="quantised")


def _matmul(
    element: str, acc: str, path: str, sizes: tuple[int, int, int], about: str, *, modulus: int, shift: int
) -> Module:
    m = _new(path, about)
    rows, inner, columns = sizes
    a = m.input("a", (rows, inner), element, seed=3, modulus=modulus, shift=shift)
    b = m.input("b", (inner, columns), element, seed=8, modulus=modulus, shift=shift)
    want = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32 if acc == "i32" else np.int64)
    m.function(
        f"matmul_{rows}x{inner}x{columns}",
        """
        %a = call @a() : () -> tensor<${m}x${k}x$e>
        %b = call @b() : () -> tensor<${k}x${n}x$e>
        %zero = arith.constant 0 : $acc
        %empty = tensor.empty() : tensor<${m}x${n}x$acc>
        %init = linalg.fill ins(%zero : $acc) outs(%empty : tensor<${m}x${n}x$acc>) -> tensor<${m}x${n}x$acc>
        %c = linalg.matmul ins(%a, %b : tensor<${m}x${k}x$e>, tensor<${k}x${n}x$e>) outs(%init : tensor<${m}x${n}x$acc>) -> tensor<${m}x${n}x$acc>
        """,
        {"%c": want},
        m=str(rows), k=str(inner), n=str(columns), e=element, acc=acc,
    )  # fmt: skip
    return m


def _quantized_matmul() -> Module:
    m = _new(
        "quantised/quantized-matmul",
        "linalg.quantized_matmul: i8 operands with zero points that are not zero, accumulated in i32.\nNumbers: NumPy, (a - 7) @ (b + 12) in int64, exact.",
    )
    a = m.input("a", (20, 44), "i8", seed=3, modulus=251, shift=125)
    b = m.input("b", (44, 26), "i8", seed=8, modulus=251, shift=125)
    want = ((a - 7) @ (b + 12)).astype(np.int32)
    m.function(
        "zero_points_7_and_minus_12",
        """
        %a = call @a() : () -> tensor<20x44xi8>
        %b = call @b() : () -> tensor<44x26xi8>
        %za = util.unfoldable_constant 7 : i32
        %zb = util.unfoldable_constant -12 : i32
        %zero = arith.constant 0 : i32
        %empty = tensor.empty() : tensor<20x26xi32>
        %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<20x26xi32>) -> tensor<20x26xi32>
        %c = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<20x44xi8>, tensor<44x26xi8>, i32, i32) outs(%init : tensor<20x26xi32>) -> tensor<20x26xi32>
        """,
        {"%c": want},
    )
    return m


def _conv() -> Module:
    m = _new(
        "quantised/conv2d-i8",
        "linalg.conv_2d_nhwc_hwcf with i8 operands accumulated in i32, and linalg.conv_2d_nhwc_hwcf_q with zero points.\nNumbers: NumPy, the sum over shifted views in exact integers (float64 below 2^53).",
    )
    image = m.input("image", (1, 9, 10, 4), "i8", seed=3, modulus=251, shift=125)
    kernel = m.input("kernel", (3, 3, 4, 6), "i8", seed=8, modulus=251, shift=125)
    head = """
        %image = call @image() : () -> tensor<1x9x10x4xi8>
        %kernel = call @kernel() : () -> tensor<3x3x4x6xi8>
        %zero = arith.constant 0 : i32
        %empty = tensor.empty() : tensor<1x7x8x6xi32>
        %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
        """
    m.function(
        "i8_to_i32",
        head
        + """%out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
          ins(%image, %kernel : tensor<1x9x10x4xi8>, tensor<3x3x4x6xi8>) outs(%init : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
        """,
        {"%out": exactly(conv2d(image, kernel), np.int32)},
    )
    m.function(
        "zero_points_minus_5_and_9",
        head
        + """%zi = util.unfoldable_constant -5 : i32
        %zk = util.unfoldable_constant 9 : i32
        %out = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
          ins(%image, %kernel, %zi, %zk : tensor<1x9x10x4xi8>, tensor<3x3x4x6xi8>, i32, i32) outs(%init : tensor<1x7x8x6xi32>) -> tensor<1x7x8x6xi32>
        """,
        {"%out": exactly(conv2d(image + 5, kernel - 9), np.int32)},
    )
    return m


def _requantise() -> Module:
    m = _new(
        "quantised/requantise",
        "A quantised layer: i8 matmul to i32, then i32 to i8 by a fixed-point factor 77 / 2^14, rounded to nearest (add half, shift), a zero point, and a clamp.\nNumbers: NumPy in int64: (c * 77 + 2^13) >> 14, plus 3, clipped to [-128, 127].",
    )
    a = m.input("a", (16, 34), "i8", seed=3, modulus=251, shift=125)
    b = m.input("b", (34, 22), "i8", seed=8, modulus=101, shift=50)
    c = a.astype(np.int64) @ b.astype(np.int64)
    if abs(c * 77).max() >= 2**31:
        msg = "requantise: the product leaves i32"
        raise ValueError(msg)
    want = np.clip(((c * 77 + 2**13) >> 14) + 3, -128, 127).astype(np.int8)
    m.function(
        "matmul_then_requantise",
        """
        %a = call @a() : () -> tensor<16x34xi8>
        %b = call @b() : () -> tensor<34x22xi8>
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
        """,
        {"%out": want},
    )
    return m


def _dequantise(*, fused: bool) -> Module:
    path = "quantised/dequantise" + ("-fused" if fused else "")
    how = "free to fuse into one dispatch" if fused else "kept in a dispatch of its own"
    m = _new(
        path,
        f"Dequantisation {how}: weights of i8 with a scale per column (powers of two) and a zero point, dequantised to f32 and fed to an f32 matmul, as weight-only quantised models do.\nNumbers: NumPy in float64; multiples of 1/8 well below 2^24, exact in f32.",
    )
    x = m.input("x", (7, 40), seed=3)
    w = m.input("w", (40, 18), "i8", seed=8, modulus=101, shift=50)
    scales = 2.0 ** (np.arange(18) % 4 - 3)
    m.function(
        "weight_only",
        """
        %x = call @x() : () -> tensor<7x40xf32>
        %w = call @w() : () -> tensor<40x18xi8>
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
        """,
        {"%c": exactly(x @ ((w - 4) * scales), np.float32)},
        scales=source(scales.astype(np.float32)),
        kept="// no barrier here" if fused else "%kept = util.optimization_barrier %weights : tensor<40x18xf32>",
        weights="%weights" if fused else "%kept",
    )
    return m


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        _matmul(
            "i32",
            "i32",
            "integer/matmul-i32",
            (21, 35, 18),
            "linalg.matmul in i32, at sizes that no tile divides.\nNumbers: NumPy's matmul in int64, exact.",
            modulus=1009,
            shift=504,
        ),
        _matmul(
            "i64",
            "i64",
            "integer/matmul-i64",
            (9, 17, 11),
            "linalg.matmul in i64.\nNumbers: NumPy's matmul in int64, exact.",
            modulus=1009,
            shift=504,
        ),
        _matmul(
            "i8",
            "i32",
            "quantised/matmul-i8",
            (36, 70, 30),
            "linalg.matmul of i8 accumulated in i32, where x86 and arm64 have dot product instructions.\nNumbers: NumPy's matmul in int64, exact; the full range of i8 occurs.",
            modulus=251,
            shift=125,
        ),
        _matmul(
            "i16",
            "i32",
            "quantised/matmul-i16",
            (18, 33, 22),
            "linalg.matmul of i16 accumulated in i32.\nNumbers: NumPy's matmul in int64, exact.",
            modulus=1009,
            shift=504,
        ),
        _quantized_matmul(),
        _conv(),
        _requantise(),
        _dequantise(fused=False),
        _dequantise(fused=True),
    ]
