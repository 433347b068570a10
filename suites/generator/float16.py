"""The suite `float16`: f16 and bf16."""

from __future__ import annotations

import numpy as np

from generator.support import Approximate, Module, applied, exactly, module
from generator.support.products import convolution, matmul, reduction
from generator.support.reference import conv2d, softmax

F16 = np.float16
F32 = np.float32


@module("float16/elementwise")
def _elementwise(m: Module) -> None:
    """f16 arithmetic whose results are exact in f16, and division and square root within one part in 1000 (f16 keeps 11 bits: 2^-11 = 4.9e-4).
    Numbers: NumPy in float64; exact results are made sure of.
    """
    x = np.array([1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0])
    y = np.array([2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0])
    exact = {"addf": x + y, "subf": x - y, "mulf": x * y, "maximumf": np.maximum(x, y), "minimumf": np.minimum(x, y)}
    for op, want in exact.items():
        m.elementwise(op, f"arith.{op} %a, %b : f16", exactly(want, F16), x.astype(F16), y.astype(F16))
    divided = Approximate(value=(x / y).astype(F16), rtol=1e-3)
    m.elementwise("divf", "arith.divf %a, %b : f16", divided, x.astype(F16), y.astype(F16))
    root = Approximate(value=np.sqrt(abs(x)).astype(F16), atol=1e-4, rtol=1e-3)
    m.elementwise("sqrt", "math.sqrt %a : f16", root, abs(x).astype(F16))


@module("float16/casts")
def _casts(m: Module) -> None:
    """f16 to f32 and back: rounding to nearest even, overflow to infinity, subnormals of f16, and integers.
    Numbers: NumPy's astype, which rounds to nearest even as IEEE 754 asks.
    """
    x = np.array([0.0, 1.0, -1.5, 65504.0, 6.103515625e-05, 0.333251953125, np.inf, -np.inf], F16)
    f = np.array([1.0, 2049.0, 2051.0, 1e-3, 65519.0, -65504.0, 0.1, 3.1415927], F32)
    i = np.array([0, 1, -1, 2048, -2048, 100, -37, 7], np.int32)
    m.elementwise("extf", "arith.extf %a : f16 to f32", x.astype(F32), x)
    m.elementwise("truncf", "arith.truncf %a : f32 to f16", f.astype(F16), f)
    m.elementwise("sitofp", "arith.sitofp %a : i32 to f16", i.astype(F16), i)


@module("float16/reduce")
def _reduce(m: Module) -> None:
    """f16 rows reduced to their sum and maximum in f16, and softmax in f16.
    Numbers: NumPy in float64; partial sums stay below 2048 and are exact in f16. Softmax within rtol 5e-3, atol 1e-3: exp and a sum in f16 (2^-11 each).
    """
    x = m.input("x", (12, 40), "f16", seed=3)
    reduction(m, "sums", "addf", "0.0", exactly(x.sum(axis=1), F16))
    reduction(m, "maxima", "maximumf", "0xFC00", exactly(x.max(axis=1), F16))
    body = """
        %x = @x
        %empty = tensor.empty() : tensor<12x40xf16>
        %out = linalg.softmax dimension(1) ins(%x : tensor<12x40xf16>) outs(%empty : tensor<12x40xf16>) -> tensor<12x40xf16>
        """
    m.function("softmax", body, {"%out": Approximate(value=softmax(x, 1).astype(F16), atol=1e-3, rtol=5e-3)})


@module("float16/conv2d")
def _conv2d(m: Module) -> None:
    """linalg.conv_2d_nhwc_hwcf with f16 operands accumulated in f32.
    Numbers: NumPy, the sum over shifted views in float64; exact in f32.
    """
    image = m.input("image", (1, 8, 10, 4), "f16", seed=3)
    kernel = m.input("kernel", (3, 3, 4, 8), "f16", seed=8, modulus=7, shift=3)
    convolution(m, "accumulated_in_f32", "conv_2d_nhwc_hwcf", exactly(conv2d(image, kernel), F32))


@module("float16/bf16-casts")
def _bf16(m: Module) -> None:
    """bf16 to f32 and back with rounding to nearest even, and bf16 addition and multiplication of exact values.
    Numbers: bit arithmetic on NumPy's uint32 view: add 0x7FFF plus the lowest kept bit, keep the upper 16 bits.
    """
    f = np.array([1.0, 1.00390625, 1.01171875, -3.1415927, 1e30, 0.1, 65536.5, -(2.0**-126)], F32)
    bits = f.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(F32)
    x = np.array([1.0, -2.0, 0.5, 128.0, -0.125, 3.0, 96.0, 0.0], F32)
    y = np.array([2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0], F32)
    widened = """%kept = util.optimization_barrier %out : tensor<8xbf16>
        %wide = arith.extf %kept : tensor<8xbf16> to tensor<8xf32>
        """
    m.function(
        "truncf_extf",
        applied("arith.truncf %a : f32 to bf16", "tensor<8xbf16>", "tensor<8xf32>") + widened,
        {"%out": Approximate(value=rounded, element="bf16"), "%wide": rounded},
        x=f,
    )
    for op, want in (("addf", x + y), ("mulf", x * y)):
        result = Approximate(value=want, element="bf16")
        m.elementwise(op, f"arith.{op} %a, %b : bf16", result, x, y, element="bf16")


@module("float16/matmul", "f16", "f32", (36, 54, 30), about="linalg.matmul of f16 accumulated in f32.\nNumbers: NumPy's matmul in float64, exact in f32.")  # fmt: skip
@module("float16/matmul-f16", "f16", "f16", (20, 24, 18), about="linalg.matmul of f16 accumulated in f16; all partial sums are below 2048 and exact.\nNumbers: NumPy's matmul in float64, exact in f16.")  # fmt: skip
@module("float16/matmul-bf16", "bf16", "f32", (36, 54, 30), about="linalg.matmul of bf16 accumulated in f32.\nNumbers: NumPy's matmul in float64, exact in f32.")  # fmt: skip
def _matmul(m: Module, element: str, acc: str, sizes: tuple[int, int, int]) -> None:
    matmul(m, element, acc, sizes, left=(11, 5), right=(7, 3))
