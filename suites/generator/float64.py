"""The suite `float64`."""

from __future__ import annotations

import numpy as np

from generator.support import Approximate, Array, Module, exactly, module, pattern


@module("float64/arithmetic")
def _arithmetic(m: Module) -> None:
    """f64 arithmetic with results that f32 could not hold: 2^53 - 1, 1 + 2^-40, products of 27-bit numbers, a range beyond 1e38.
    Numbers: NumPy's float64, which is the same IEEE 754 arithmetic; compared exactly.
    """
    x = np.array([9007199254740991.0, 1.0, 134217727.0, 1e200, -3.0, 1e-280])
    y = np.array([-1.0, 2.0**-40, 134217729.0, 1e100, 7.0, 1e10])
    for op, want in (("addf", x + y), ("subf", x - y), ("mulf", x * y), ("divf", x / y)):
        m.elementwise(op, f"arith.{op} %a, %b : f64", want, x, y)


@module("float64/casts")
def _casts(m: Module) -> None:
    """f32 to f64, which is exact, and f64 to f32, which rounds to nearest even and overflows to infinity.
    Numbers: NumPy's astype, the same IEEE 754 conversions.
    """
    f = np.array([1.0, 0.1, -2.5, 1e-30], np.float32)
    m.elementwise("extf", "arith.extf %a : f32 to f64", f.astype(np.float64), f)
    g = np.array([0.1, 1.0 + 2.0**-24, 1.0 + 3 * 2.0**-24, -1e39])
    with np.errstate(over="ignore"):
        m.elementwise("truncf", "arith.truncf %a : f64 to f32", g.astype(np.float32), g)


@module("float64/matmul")
def _matmul(m: Module) -> None:
    """linalg.matmul in f64 of integers around 2^25, whose products f32 could not hold.
    Numbers: NumPy's matmul in int64; below 2^53, exact.
    """
    a = 2**25 + (np.arange(9 * 17).reshape(9, 17) * 7) % 23
    b = (np.arange(17 * 11).reshape(17, 11) * 5) % 13 - 6
    body = """
        %a = $a
        %b = $b
        %init = filled 0.0 : tensor<9x11xf64>
        %c = linalg.matmul ins(%a, %b : tensor<9x17xf64>, tensor<17x11xf64>) outs(%init : tensor<9x11xf64>) -> tensor<9x11xf64>
        """
    m.function("matmul_9x17x11", body, {"%c": exactly(a @ b, np.float64)},
               a=a.astype(np.float64), b=b.astype(np.float64))  # fmt: skip


@module("float64/math")
def _math(m: Module) -> None:
    """sqrt, exp, log and absf in f64.
    Numbers: NumPy's float64. rtol 1e-6, atol 1e-7: IREE evaluates some of them with approximations made for f32, which this holds it to.
    """
    x = np.arange(17) / 4 + 0.25
    for op, want in (("sqrt", np.sqrt(x)), ("exp", np.exp(x)), ("log", np.log(x)), ("absf", abs(x))):
        m.elementwise(f"{op}_of_17", f"math.{op} %a : f64", Approximate(value=want, atol=1e-7, rtol=1e-6), x)


@module("float64/reduce")
def _reduce(m: Module) -> None:
    """f64 sums of small integers added to 2^40, which f32 sums would lose, along both dimensions.
    Numbers: NumPy's sum in float64; integers below 2^53, exact in any order.
    """
    small: Array = pattern((9, 31), seed=3)
    for name, axis, size in (("rows", 1, 9), ("columns", 0, 31)):
        body = """
            %x = $x
            %start = util.unfoldable_constant 1099511627776.0 : f64
            %empty = tensor.empty() : tensor<${size}xf64>
            %init = linalg.fill ins(%start : f64) outs(%empty : tensor<${size}xf64>) -> tensor<${size}xf64>
            %out = linalg.reduce { arith.addf } ins(%x : tensor<9x31xf64>) outs(%init : tensor<${size}xf64>) dimensions = [$axis]
            """
        m.function(name, body, {"%out": small.sum(axis=axis) + 2.0**40}, size=size, axis=axis, x=small)
