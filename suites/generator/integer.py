"""The suite `integer`: arithmetic and logic."""

from __future__ import annotations

import numpy as np

from generator.support import Array, Module, each, exactly, module
from generator.support.products import matmul, reduction


def _binary_cases(m: Module, x: Array, y: Array, **cases: Array) -> None:
    for op, want in cases.items():
        m.elementwise(op, f"arith.{op} %a, %b", want, x, y)


def _trunc_div(x: Array, y: Array) -> Array:
    wide = np.sign(x.astype(object)) * np.sign(y.astype(object)) * (abs(x.astype(object)) // abs(y.astype(object)))
    return wide.astype(x.dtype)


def _operands(width: int) -> tuple[Array, Array, np.dtype]:
    dtype = np.dtype(f"int{width}")
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, high, -1, 7, -7, 100, -100, 0, 1, high - 3, 64, low + 5], dtype)
    y = np.array([-1, 1, high, 3, 3, 100, 27, 5, low, 17, 2, -3], dtype)
    return x, y, np.dtype(f"uint{width}")


@each("integer/wrap-i{0}", 64, 32, 16, 8)
def _wrap(m: Module, width: int) -> None:
    """i{0} addition, subtraction and multiplication on values that overflow and wrap; signed and unsigned minima and maxima.
    Numbers: NumPy's int{0} and uint{0} arithmetic.
    """
    x, y, unsigned = _operands(width)
    with np.errstate(over="ignore"):
        _binary_cases(m, x, y, addi=x + y, subi=x - y, muli=x * y)
    u, v = x.view(unsigned), y.view(unsigned)
    _binary_cases(m, x, y, minsi=np.minimum(x, y), maxsi=np.maximum(x, y))
    _binary_cases(m, x, y, minui=np.minimum(u, v).view(x.dtype), maxui=np.maximum(u, v).view(x.dtype))


@each("integer/divide-i{0}", 64, 32, 16, 8)
def _divide(m: Module, width: int) -> None:
    """i{0} division and remainder, signed (towards zero) and unsigned. Division by zero and lowest / -1 are undefined and left out.
    Numbers: the sign times the quotient of the absolute values in Python integers; NumPy's uint{0} division.
    """
    dtype, unsigned = np.dtype(f"int{width}"), np.dtype(f"uint{width}")
    high = np.iinfo(dtype).max
    x = np.array([-high, high, -1, 7, -7, 100, -100, 0, 1, high - 3, 64, 5 - high], dtype)
    y = np.array([3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3], dtype)
    quotient = _trunc_div(x, y)
    unsigned_quotient = (x.view(unsigned) // y.view(unsigned)).view(dtype)
    with np.errstate(over="ignore"):
        rest, unsigned_rest = x - quotient * y, x - unsigned_quotient * y
    _binary_cases(m, x, y, divsi=quotient, remsi=rest, divui=unsigned_quotient, remui=unsigned_rest)


@module("integer/divide-lowest")
def _divide_lowest(m: Module) -> None:
    """i32 division and remainder of the lowest value, -2^31, whose absolute value does not fit i32.
    Numbers: the sign times the quotient of the absolute values in Python integers.
    """
    x = np.full(8, -(2**31), np.int32)
    y = np.array([3, -3, 7, -7, 2, 1000, 2**31 - 1, -(2**31)], np.int32)
    quotient = _trunc_div(x, y)
    with np.errstate(over="ignore"):
        _binary_cases(m, x, y, divsi=quotient, remsi=x - quotient * y)


@module("integer/bits-i32")
def _bits(m: Module) -> None:
    """Bit operations on i32: and, or, xor, shifts left, right with zeros and right with the sign, at distances 0 to 31.
    Numbers: NumPy's bit operations on int32 and uint32.
    """
    x = np.array([0, -1, 0x12345678, -0x12345678, 1, -(2**31), 2**31 - 1, 0x0F0F0F0F], np.int32)
    y = np.array([-1, 0x0000FFFF, 0x00FF00FF, 0x55555555, 3, 1, -(2**31), -16], np.int32)
    s = np.array([0, 31, 4, 8, 31, 31, 1, 16], np.int32)
    _binary_cases(m, x, y, andi=x & y, ori=x | y, xori=x ^ y)
    unsigned_shift = (x.view(np.uint32) >> s.view(np.uint32)).view(np.int32)
    _binary_cases(m, x, s, shli=x << s, shrsi=x >> s, shrui=unsigned_shift)


@module("integer/bit-counts")
def _counts(m: Module) -> None:
    """math.cttz and math.ctpop on i32; zero has 32 trailing zeros.
    Numbers: Python's bit_length() and bit_count() of the unsigned values.
    """
    x = np.array([0, 1, -1, 2, 3, 0x00F0, 2**31 - 1, -(2**31), 0x12345678, -2, 0x00010000], np.int32)
    words = [int(v) & 0xFFFFFFFF for v in x]
    cases = (
        ("cttz", [32 if w == 0 else (w & -w).bit_length() - 1 for w in words]),
        ("ctpop", [w.bit_count() for w in words]),
    )
    for op, want in cases:
        m.elementwise(f"{op}_of_11", f"math.{op} %a", np.array(want, np.int32), x)


@module("integer/leading-zeros")
def _leading_zeros(m: Module) -> None:
    """math.ctlz (zero has 32 leading zeros) and math.absi on i32.
    Numbers: 32 minus Python's bit_length() of the unsigned value; NumPy's abs.
    """
    x = np.array([0, 1, -1, 2, 3, 0x00F0, 2**31 - 1, -(2**31), 0x12345678, -2, 0x00010000], np.int32)
    want = np.array([32 - (int(v) & 0xFFFFFFFF).bit_length() for v in x], np.int32)
    m.elementwise("ctlz_of_11", "math.ctlz %a", want, x)
    small = x[x != -(2**31)]
    m.elementwise("absi_of_10", "math.absi %a", abs(small), small)


@module("integer/compare-i32")
def _compare(m: Module) -> None:
    """All ten predicates of arith.cmpi on i32, signed and unsigned, with results of i1.
    Numbers: NumPy's comparisons of int32 and uint32.
    """
    x = np.array([0, -1, 1, 2**31 - 1, -(2**31), 5, 5, -7], np.int32)
    y = np.array([0, 1, -1, -(2**31), 2**31 - 1, 5, 6, -8], np.int32)
    u, v = x.view(np.uint32), y.view(np.uint32)
    cases = (("eq", x == y), ("ne", x != y), ("slt", x < y), ("sle", x <= y), ("sgt", x > y), ("sge", x >= y),
             ("ult", u < v), ("ule", u <= v), ("ugt", u > v), ("uge", u >= v))  # fmt: skip
    for name, want in cases:
        m.elementwise(f"cmpi_{name}", f"arith.cmpi {name}, %a, %b", want, x, y)


@module("integer/logic-i1")
def _logic(m: Module) -> None:
    """i1 tensors: and, or, xor, not by xor, select by a mask, and reductions to any and all.
    Numbers: NumPy's logical operations.
    """
    x = np.array([True, True, False, False, True, False, True, True])
    y = np.array([True, False, True, False, False, False, True, False])
    _binary_cases(m, x, y, andi=x & y, ori=x | y, xori=x ^ y)
    a, b = np.arange(8, dtype=np.int32), -np.arange(8, dtype=np.int32) * 10
    m.function("select", "%out = arith.select %m, %a, %b : tensor<8xi1>, tensor<8xi32>",
               {"%out": np.where(x, a, b)}, m=x, a=a, b=b)  # fmt: skip
    rows = np.array([[True] * 5, [False] * 5, [True, False, True, True, True], [False, False, False, True, False]])
    for name, op, start, want in (("all", "andi", "true", rows.all(axis=1)), ("any", "ori", "false", rows.any(axis=1))):
        body = """
            %x = $x
            %start = arith.constant $start
            %empty = tensor.empty() : tensor<4xi1>
            %init = linalg.fill ins(%start : i1) outs(%empty : tensor<4xi1>) -> tensor<4xi1>
            %out = linalg.reduce { arith.$op } ins(%x : tensor<4x5xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
            """
        m.function(f"{name}_along_rows", body, {"%out": want}, x=rows, op=op, start=start)


@module("integer/casts")
def _casts(m: Module) -> None:
    """Conversions: sign and zero extension, truncation, integer to float and back with both signs.
    Numbers: NumPy's astype between the same types; floats are whole numbers in range.
    """
    i8 = np.array([0, 1, -1, 127, -128, 85, -86, 64], np.int8)
    wide = np.array([0, 1, -1, 127, -128, 300, -300, 65535], np.int32)
    f = np.array([0.0, 1.0, -1.0, 127.0, -128.0, 16777216.0], np.float32)
    cases = (
        ("extsi", i8, "arith.extsi %a : i8 to i32", i8.astype(np.int32)),
        ("extui", i8, "arith.extui %a : i8 to i32", i8.view(np.uint8).astype(np.int32)),
        ("trunci_i8", wide, "arith.trunci %a : i32 to i8", wide.astype(np.int8)),
        ("trunci_i16", wide, "arith.trunci %a : i32 to i16", wide.astype(np.int16)),
        ("sitofp", wide, "arith.sitofp %a : i32 to f32", wide.astype(np.float32)),
        ("uitofp", i8, "arith.uitofp %a : i8 to f32", i8.view(np.uint8).astype(np.float32)),
        ("fptosi", f, "arith.fptosi %a : f32 to i32", np.trunc(f).astype(np.int32)),
        ("fptoui", abs(f), "arith.fptoui %a : f32 to i32", np.trunc(abs(f)).astype(np.int32)),
    )
    for name, x, op, want in cases:
        m.elementwise(name, op, want, x)


@module("integer/float-to-int")
def _float_to_int(m: Module) -> None:
    """arith.fptosi and arith.fptoui of numbers with a fraction, which is dropped (towards zero).
    Numbers: NumPy's trunc.
    """
    f = np.array([0.0, 1.75, -1.75, 127.5, -128.0, 99.99, 0.5, -0.5], np.float32)
    m.elementwise("fptosi", "arith.fptosi %a : f32 to i32", np.trunc(f).astype(np.int32), f)
    m.elementwise("fptoui", "arith.fptoui %a : f32 to i32", np.trunc(abs(f)).astype(np.int32), abs(f))


@module("integer/saturation")
def _saturate(m: Module) -> None:
    """Saturating i8 addition and subtraction, built from a wider sum and a clamp, and clamps of i32 with fixed bounds.
    Numbers: NumPy's clip of the int32 sum.
    """
    x = np.array([127, -128, 100, -100, 5, 0, 64, -1], np.int8)
    y = np.array([1, -1, 100, -100, -7, 0, 63, 127], np.int8)
    for name, op, want in (("add", "addi", x.astype(np.int32) + y), ("subtract", "subi", x.astype(np.int32) - y)):
        body = """
            %x = $x
            %y = $y
            %empty = tensor.empty() : tensor<8xi8>
            %low = arith.constant -128 : i32
            %high = arith.constant 127 : i32
            %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
                ins(%x, %y : tensor<8xi8>, tensor<8xi8>) outs(%empty : tensor<8xi8>) {
            ^bb0(%a: i8, %b: i8, %unused: i8):
              %wide_a = arith.extsi %a : i8 to i32
              %wide_b = arith.extsi %b : i8 to i32
              %sum = arith.$op %wide_a, %wide_b : i32
              %above = arith.maxsi %sum, %low : i32
              %within = arith.minsi %above, %high : i32
              %r = arith.trunci %within : i32 to i8
              linalg.yield %r : i8
            } -> tensor<8xi8>
            """
        m.function(name, body, {"%out": np.clip(want, -128, 127).astype(np.int8)}, x=x, y=y, op=op)


@module("integer/extended-i32")
def _extended(m: Module) -> None:
    """arith.mulsi_extended and arith.mului_extended (both halves of a 64-bit product) and arith.addui_extended (sum and carry).
    Numbers: Python integers, split into halves.
    """
    x = np.array([0, -1, 2**31 - 1, -(2**31), 123456789, -987654321, 65536], np.int32)
    y = np.array([5, -1, 2**31 - 1, -(2**31), 987654321, 123456789, 65536], np.int32)

    def halves(values: list[int]) -> tuple[Array, Array]:
        low = np.array([v & 0xFFFFFFFF for v in values], np.uint32).view(np.int32)
        return low, np.array([(v >> 32) & 0xFFFFFFFF for v in values], np.uint32).view(np.int32)

    ux, uy = x.view(np.uint32), y.view(np.uint32)
    for op, values in (("mulsi_extended", [int(a) * int(b) for a, b in zip(x, y, strict=True)]),
                       ("mului_extended", [int(a) * int(b) for a, b in zip(ux, uy, strict=True)])):  # fmt: skip
        low, high = halves(values)
        m.function(op, "%low, %high = arith." + op + " %x, %y : tensor<7xi32>",
                   {"%low": low, "%high": high}, x=x, y=y)  # fmt: skip
    sums = [int(a) + int(b) for a, b in zip(ux, uy, strict=True)]
    m.function("addui_extended", "%sum, %carry = arith.addui_extended %x, %y : tensor<7xi32>, tensor<7xi1>",
               {"%sum": halves(sums)[0], "%carry": np.array([s >> 32 == 1 for s in sums])}, x=x, y=y)  # fmt: skip


@module("integer/reduce-i32")
def _reductions(m: Module) -> None:
    """Integer reductions of a 23x71 tensor: sum, product of a few, signed and unsigned maximum and minimum, and, or, xor.
    Numbers: NumPy's reductions of int32 and uint32.
    """
    x = exactly(m.input("x", (23, 71), "i32", seed=3, modulus=1009, shift=504), np.int32)
    cases = (
        ("addi", 0, x.sum(axis=1, dtype=np.int32)), ("maxsi", -(2**31), x.max(axis=1)), ("minsi", 2**31 - 1, x.min(axis=1)),
        ("maxui", 0, x.view(np.uint32).max(axis=1).view(np.int32)), ("minui", -1, x.view(np.uint32).min(axis=1).view(np.int32)),
        ("andi", -1, np.bitwise_and.reduce(x, axis=1)), ("ori", 0, np.bitwise_or.reduce(x, axis=1)), ("xori", 0, np.bitwise_xor.reduce(x, axis=1)),
    )  # fmt: skip
    for op, start, want in cases:
        reduction(m, f"{op}_along_rows", op, start, want)


@module("integer/matmul-i32", "i32", (21, 35, 18), about="linalg.matmul in i32, at sizes that no tile divides.\nNumbers: NumPy's matmul in int64, exact.")  # fmt: skip
@module("integer/matmul-i64", "i64", (9, 17, 11), about="linalg.matmul in i64.\nNumbers: NumPy's matmul in int64, exact.")  # fmt: skip
def _matmul(m: Module, element: str, sizes: tuple[int, int, int]) -> None:
    matmul(m, element, element, sizes, left=(1009, 504), right=(1009, 504))
