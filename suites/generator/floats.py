"""f16, bf16 and f64."""

from __future__ import annotations

import numpy as np

from .ir import Approximate, Array, Module, exactly, pattern, source, type_of
from .reference import conv2d, softmax

__all__ = ["modules"]


def _new(name: str, about: str) -> Module:
    return Module(path=name, about=about, generator="floats")


def _apply(op: str, kind: str, out: str, inputs: int) -> str:
    element, result = (text.split("x")[-1].rstrip(">") for text in (kind, out))
    names = ["%x", "%y"][:inputs]
    arguments = ", ".join(f"{a}: {element}" for a in ["%a", "%b"][:inputs])
    return f"""
        %empty = tensor.empty() : {out}
        %out = linalg.generic {{indexing_maps = [{", ".join(["affine_map<(i) -> (i)>"] * (inputs + 1))}], iterator_types = ["parallel"]}}
            ins({", ".join(names)} : {", ".join([kind] * inputs)}) outs(%empty : {out}) {{
        ^bb0({arguments}, %unused: {result}):
          %r = {op}
          linalg.yield %r : {result}
        }} -> {out}
        """


def _matmul(path: str, about: str, element: str, acc: str, sizes: tuple[int, int, int]) -> Module:
    m = _new(path, about)
    rows, inner, columns = sizes
    a = m.input("a", (rows, inner), element, seed=3)
    b = m.input("b", (inner, columns), element, seed=8, modulus=7, shift=3)
    want = a @ b
    dtype = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}[acc]
    if (abs(a) @ abs(b)).max() > {"f16": 2048, "bf16": 256, "f32": 2**24, "f64": 2**53}[acc]:
        msg = f"{path}: a partial sum could be rounded"
        raise ValueError(msg)
    m.function(
        f"matmul_{rows}x{inner}x{columns}",
        """
        %a = call @a() : () -> tensor<${m}x${k}x$e>
        %b = call @b() : () -> tensor<${k}x${n}x$e>
        %zero = arith.constant 0.0 : $acc
        %empty = tensor.empty() : tensor<${m}x${n}x$acc>
        %init = linalg.fill ins(%zero : $acc) outs(%empty : tensor<${m}x${n}x$acc>) -> tensor<${m}x${n}x$acc>
        %c = linalg.matmul ins(%a, %b : tensor<${m}x${k}x$e>, tensor<${k}x${n}x$e>) outs(%init : tensor<${m}x${n}x$acc>) -> tensor<${m}x${n}x$acc>
        """,
        {"%c": exactly(want, dtype)},
        m=str(rows), k=str(inner), n=str(columns), e=element, acc=acc,
    )  # fmt: skip
    return m


def _f16_elementwise() -> Module:
    m = _new(
        "float16/elementwise",
        "f16 arithmetic whose results are exact in f16, and division and square root within one part in 1000 (f16 keeps 11 bits: 2^-11 = 4.9e-4).\nNumbers: NumPy in float64; exact results are made sure of.",
    )
    x = np.array([1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0])
    y = np.array([2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0])
    kind = "tensor<8xf16>"
    values = {"x": source(x.astype(np.float16)), "y": source(y.astype(np.float16))}
    for op, want in (
        ("addf", x + y),
        ("subf", x - y),
        ("mulf", x * y),
        ("maximumf", np.maximum(x, y)),
        ("minimumf", np.minimum(x, y)),
    ):
        m.function(
            op,
            "%x = $x\n        %y = $y" + _apply(f"arith.{op} %a, %b : f16", kind, kind, 2),
            {"%out": exactly(want, np.float16)},
            **values,
        )
    m.function("divf", "%x = $x\n        %y = $y" + _apply("arith.divf %a, %b : f16", kind, kind, 2),
               {"%out": Approximate(value=(x / y).astype(np.float16), rtol=1e-3)}, **values)  # fmt: skip
    m.function("sqrt", "%x = $x" + _apply("math.sqrt %a : f16", kind, kind, 1),
               {"%out": Approximate(value=np.sqrt(abs(x)).astype(np.float16), atol=1e-4, rtol=1e-3)}, x=source(abs(x).astype(np.float16)))  # fmt: skip
    return m


def _f16_casts() -> Module:
    m = _new(
        "float16/casts",
        "f16 to f32 and back: rounding to nearest even, overflow to infinity, subnormals of f16, and integers.\nNumbers: NumPy's astype, which rounds to nearest even as IEEE 754 asks.",
    )
    x = np.array([0.0, 1.0, -1.5, 65504.0, 6.103515625e-05, 0.333251953125, np.inf, -np.inf], np.float16)
    f = np.array([1.0, 2049.0, 2051.0, 1e-3, 65519.0, -65504.0, 0.1, 3.1415927], np.float32)
    m.function(
        "extf",
        "%x = $x" + _apply("arith.extf %a : f16 to f32", "tensor<8xf16>", "tensor<8xf32>", 1),
        {"%out": x.astype(np.float32)},
        x=source(x),
    )
    m.function(
        "truncf",
        "%x = $x" + _apply("arith.truncf %a : f32 to f16", "tensor<8xf32>", "tensor<8xf16>", 1),
        {"%out": f.astype(np.float16)},
        x=source(f),
    )
    i = np.array([0, 1, -1, 2048, -2048, 100, -37, 7], np.int32)
    m.function(
        "sitofp",
        "%x = $x" + _apply("arith.sitofp %a : i32 to f16", "tensor<8xi32>", "tensor<8xf16>", 1),
        {"%out": i.astype(np.float16)},
        x=source(i),
    )
    return m


def _f16_reduce() -> Module:
    m = _new(
        "float16/reduce",
        "f16 rows reduced to their sum and maximum in f16, and softmax in f16.\nNumbers: NumPy in float64; partial sums stay below 2048 and are exact in f16. Softmax within rtol 5e-3, atol 1e-3: exp and a sum in f16 (2^-11 each).",
    )
    x = m.input("x", (12, 40), "f16", seed=3)
    for name, op, start, want in (
        ("sums", "addf", "0.0", x.sum(axis=1)),
        ("maxima", "maximumf", "0xFC00", x.max(axis=1)),
    ):
        m.function(
            name,
            """
            %x = call @x() : () -> tensor<12x40xf16>
            %start = arith.constant $start : f16
            %empty = tensor.empty() : tensor<12xf16>
            %init = linalg.fill ins(%start : f16) outs(%empty : tensor<12xf16>) -> tensor<12xf16>
            %out = linalg.reduce { arith.$op } ins(%x : tensor<12x40xf16>) outs(%init : tensor<12xf16>) dimensions = [1]
            """,
            {"%out": exactly(want, np.float16)},
            op=op, start=start,
        )  # fmt: skip
    m.function(
        "softmax",
        """
        %x = call @x() : () -> tensor<12x40xf16>
        %empty = tensor.empty() : tensor<12x40xf16>
        %out = linalg.softmax dimension(1) ins(%x : tensor<12x40xf16>) outs(%empty : tensor<12x40xf16>) -> tensor<12x40xf16>
        """,
        {"%out": Approximate(value=softmax(x, 1).astype(np.float16), atol=1e-3, rtol=5e-3)},
    )
    return m


def _f16_conv() -> Module:
    m = _new(
        "float16/conv2d",
        "linalg.conv_2d_nhwc_hwcf with f16 operands accumulated in f32.\nNumbers: NumPy, the sum over shifted views in float64; exact in f32.",
    )
    image = m.input("image", (1, 8, 10, 4), "f16", seed=3)
    kernel = m.input("kernel", (3, 3, 4, 8), "f16", seed=8, modulus=7, shift=3)
    m.function(
        "accumulated_in_f32",
        """
        %image = call @image() : () -> tensor<1x8x10x4xf16>
        %kernel = call @kernel() : () -> tensor<3x3x4x8xf16>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<1x6x8x8xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
        %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
          ins(%image, %kernel : tensor<1x8x10x4xf16>, tensor<3x3x4x8xf16>) outs(%init : tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
        """,
        {"%out": exactly(conv2d(image, kernel), np.float32)},
    )
    return m


def _bf16() -> Module:
    m = _new(
        "float16/bf16-casts",
        "bf16 to f32 and back with rounding to nearest even, and bf16 addition and multiplication of exact values.\nNumbers: bit arithmetic on NumPy's uint32 view: add 0x7FFF plus the lowest kept bit, keep the upper 16 bits.",
    )
    f = np.array([1.0, 1.00390625, 1.01171875, -3.1415927, 1e30, 0.1, 65536.5, -(2.0**-126)], np.float32)
    bits = f.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    x = np.array([1.0, -2.0, 0.5, 128.0, -0.125, 3.0, 96.0, 0.0], np.float32)
    y = np.array([2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0], np.float32)
    bf = "tensor<8xbf16>"
    m.function("truncf_extf", "%x = $x" + _apply("arith.truncf %a : f32 to bf16", "tensor<8xf32>", bf, 1) + """%kept = util.optimization_barrier %out : tensor<8xbf16>
        %wide = arith.extf %kept : tensor<8xbf16> to tensor<8xf32>
        """, {"%out": Approximate(value=rounded, element="bf16"), "%wide": rounded}, x=source(f))  # fmt: skip
    for op, want in (("addf", x + y), ("mulf", x * y)):
        m.function(op, "%x = $x\n        %y = $y" + _apply(f"arith.{op} %a, %b : bf16", bf, bf, 2), {"%out": Approximate(value=want, element="bf16")},
                   x=source(x, "bf16"), y=source(y, "bf16"))  # fmt: skip
    return m


def _f64_arithmetic() -> Module:
    m = _new(
        "float64/arithmetic",
        "f64 arithmetic with results that f32 could not hold: 2^53 - 1, 1 + 2^-40, products of 27-bit numbers, a range beyond 1e38.\nNumbers: NumPy's float64, which is the same IEEE 754 arithmetic; compared exactly.",
    )
    x = np.array([9007199254740991.0, 1.0, 134217727.0, 1e200, -3.0, 1e-280])
    y = np.array([-1.0, 2.0**-40, 134217729.0, 1e100, 7.0, 1e10])
    kind = type_of(x)
    for op, want in (("addf", x + y), ("subf", x - y), ("mulf", x * y), ("divf", x / y)):
        m.function(
            op,
            "%x = $x\n        %y = $y" + _apply(f"arith.{op} %a, %b : f64", kind, kind, 2),
            {"%out": want},
            x=source(x),
            y=source(y),
        )
    return m


def _f64_casts() -> Module:
    m = _new(
        "float64/casts",
        "f32 to f64, which is exact, and f64 to f32, which rounds to nearest even and overflows to infinity.\nNumbers: NumPy's astype, the same IEEE 754 conversions.",
    )
    f = np.array([1.0, 0.1, -2.5, 1e-30], np.float32)
    m.function(
        "extf",
        "%x = $x" + _apply("arith.extf %a : f32 to f64", "tensor<4xf32>", "tensor<4xf64>", 1),
        {"%out": f.astype(np.float64)},
        x=source(f),
    )
    g = np.array([0.1, 1.0 + 2.0**-24, 1.0 + 3 * 2.0**-24, -1e39])
    with np.errstate(over="ignore"):
        m.function(
            "truncf",
            "%x = $x" + _apply("arith.truncf %a : f64 to f32", "tensor<4xf64>", "tensor<4xf32>", 1),
            {"%out": g.astype(np.float32)},
            x=source(g),
        )
    return m


def _f64_matmul() -> Module:
    m = _new(
        "float64/matmul",
        "linalg.matmul in f64 of integers around 2^25, whose products f32 could not hold.\nNumbers: NumPy's matmul in int64; below 2^53, exact.",
    )
    a = 2**25 + (np.arange(9 * 17).reshape(9, 17) * 7) % 23
    b = (np.arange(17 * 11).reshape(17, 11) * 5) % 13 - 6
    m.function(
        "matmul_9x17x11",
        """
        %a = $a
        %b = $b
        %zero = arith.constant 0.0 : f64
        %empty = tensor.empty() : tensor<9x11xf64>
        %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<9x11xf64>) -> tensor<9x11xf64>
        %c = linalg.matmul ins(%a, %b : tensor<9x17xf64>, tensor<17x11xf64>) outs(%init : tensor<9x11xf64>) -> tensor<9x11xf64>
        """,
        {"%c": exactly(a @ b, np.float64)},
        a=source(a.astype(np.float64)), b=source(b.astype(np.float64)),
    )  # fmt: skip
    return m


def _f64_math() -> Module:
    m = _new(
        "float64/math",
        "sqrt, exp, log and absf in f64.\nNumbers: NumPy's float64. rtol 1e-6, atol 1e-7: IREE evaluates some of them with approximations made for f32, which this holds it to.",
    )
    x = np.arange(17) / 4 + 0.25
    kind = type_of(x)
    for op, want in (("sqrt", np.sqrt(x)), ("exp", np.exp(x)), ("log", np.log(x)), ("absf", abs(x))):
        m.function(
            f"{op}_of_17",
            "%x = $x" + _apply(f"math.{op} %a : f64", kind, kind, 1),
            {"%out": Approximate(value=want, atol=1e-7, rtol=1e-6)},
            x=source(x),
        )
    return m


def _f64_reduce() -> Module:
    m = _new(
        "float64/reduce",
        "f64 sums of small integers added to 2^40, which f32 sums would lose, along both dimensions.\nNumbers: NumPy's sum in float64; integers below 2^53, exact in any order.",
    )
    small: Array = pattern((9, 31), seed=3)
    for name, axis, size in (("rows", 1, 9), ("columns", 0, 31)):
        m.function(
            name,
            """
            %x = $x
            %start = util.unfoldable_constant 1099511627776.0 : f64
            %empty = tensor.empty() : tensor<${size}xf64>
            %init = linalg.fill ins(%start : f64) outs(%empty : tensor<${size}xf64>) -> tensor<${size}xf64>
            %out = linalg.reduce { arith.addf } ins(%x : tensor<9x31xf64>) outs(%init : tensor<${size}xf64>) dimensions = [$axis]
            """,
            {"%out": small.sum(axis=axis) + 2.0**40},
            size=str(size), axis=str(axis), x=source(small),
        )  # fmt: skip
    return m


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        _f16_elementwise(), _f16_casts(), _f16_reduce(), _f16_conv(), _bf16(),
        _matmul("float16/matmul", "linalg.matmul of f16 accumulated in f32.\nNumbers: NumPy's matmul in float64, exact in f32.", "f16", "f32", (36, 54, 30)),
        _matmul("float16/matmul-f16", "linalg.matmul of f16 accumulated in f16; all partial sums are below 2048 and exact.\nNumbers: NumPy's matmul in float64, exact in f16.", "f16", "f16", (20, 24, 18)),
        _matmul("float16/matmul-bf16", "linalg.matmul of bf16 accumulated in f32.\nNumbers: NumPy's matmul in float64, exact in f32.", "bf16", "f32", (36, 54, 30)),
        _f64_arithmetic(), _f64_casts(), _f64_matmul(), _f64_math(), _f64_reduce(),
    ]  # fmt: skip
