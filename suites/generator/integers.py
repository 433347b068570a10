"""Integer arithmetic and logic."""

from __future__ import annotations

import numpy as np

from .ir import Array, Module, exactly, source, type_of

__all__ = ["modules"]


def _new(name: str, about: str) -> Module:
    return Module(path=name, about=about, generator="integers")


def _apply(op: str, kind: str, out: str, *, two: bool = True, result: str | None = None) -> str:
    """A linalg.generic over one dimension that applies `op` to %a (and %b)."""
    element = kind.rpartition("x")[2].rstrip(">")
    inputs = "%x, %y" if two else "%x"
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (3 if two else 2))
    arguments = f"%a: {element}, %b: {element}" if two else f"%a: {element}"
    return f"""
        %empty = tensor.empty() : {out}
        %out = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
            ins({inputs} : {", ".join([kind] * (2 if two else 1))}) outs(%empty : {out}) {{
        ^bb0({arguments}, %unused: {result or element}):
          %r = {op}
          linalg.yield %r : {result or element}
        }} -> {out}
        """


def _binary_cases(m: Module, x: Array, y: Array, cases: tuple[tuple[str, Array], ...]) -> None:
    kind = type_of(x)
    element = kind.rpartition("x")[2].rstrip(">")
    for op, want in cases:
        m.function(
            op,
            "%x = $x\n        %y = $y" + _apply(f"arith.{op} %a, %b : {element}", kind, kind),
            {"%out": want},
            x=source(x),
            y=source(y),
        )


def _trunc_div(x: Array, y: Array) -> Array:
    wide = np.sign(x.astype(object)) * np.sign(y.astype(object)) * (abs(x.astype(object)) // abs(y.astype(object)))
    return wide.astype(x.dtype)


def _operands(width: int) -> tuple[Array, Array, np.dtype]:
    dtype = np.dtype(f"int{width}")
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, high, -1, 7, -7, 100, -100, 0, 1, high - 3, 64, low + 5], dtype)
    y = np.array([-1, 1, high, 3, 3, 100, 27, 5, low, 17, 2, -3], dtype)
    return x, y, np.dtype(f"uint{width}")


def _wrap(width: int) -> Module:
    x, y, unsigned = _operands(width)
    module = _new(
        f"integer/wrap-i{width}",
        f"i{width} addition, subtraction and multiplication on values that overflow and wrap; signed and unsigned minima and maxima.\nNumbers: NumPy's {x.dtype} and {unsigned} arithmetic.",
    )
    with np.errstate(over="ignore"):
        _binary_cases(module, x, y, (("addi", x + y), ("subi", x - y), ("muli", x * y)))
    u, v = x.view(unsigned), y.view(unsigned)
    _binary_cases(module, x, y, (
        ("minsi", np.minimum(x, y)), ("maxsi", np.maximum(x, y)),
        ("minui", np.minimum(u, v).view(x.dtype)), ("maxui", np.maximum(u, v).view(x.dtype)),
    ))  # fmt: skip
    return module


def _divide(width: int) -> Module:
    _, _, unsigned = _operands(width)
    dtype = np.dtype(f"int{width}")
    high = np.iinfo(dtype).max
    x = np.array([-high, high, -1, 7, -7, 100, -100, 0, 1, high - 3, 64, 5 - high], dtype)
    y = np.array([3, -2, 7, 3, 3, -7, 27, 5, 1, 17, -2, -3], dtype)
    module = _new(
        f"integer/divide-i{width}",
        f"i{width} division and remainder, signed (towards zero) and unsigned. Division by zero and lowest / -1 are undefined and left out.\nNumbers: the sign times the quotient of the absolute values in Python integers; NumPy's {unsigned} division.",
    )
    quotient = _trunc_div(x, y)
    unsigned_quotient = (x.view(unsigned) // y.view(unsigned)).view(dtype)
    with np.errstate(over="ignore"):
        rest, unsigned_rest = x - quotient * y, x - unsigned_quotient * y
    _binary_cases(
        module, x, y, (("divsi", quotient), ("remsi", rest), ("divui", unsigned_quotient), ("remui", unsigned_rest))
    )
    return module


def _divide_lowest() -> Module:
    m = _new(
        "integer/divide-lowest",
        "i32 division and remainder of the lowest value, -2^31, whose absolute value does not fit i32.\nNumbers: the sign times the quotient of the absolute values in Python integers.",
    )
    x = np.full(8, -(2**31), np.int32)
    y = np.array([3, -3, 7, -7, 2, 1000, 2**31 - 1, -(2**31)], np.int32)
    quotient = _trunc_div(x, y)
    with np.errstate(over="ignore"):
        _binary_cases(m, x, y, (("divsi", quotient), ("remsi", x - quotient * y)))
    return m


def _bits() -> Module:
    m = _new(
        "integer/bits-i32",
        "Bit operations on i32: and, or, xor, shifts left, right with zeros and right with the sign, at distances 0 to 31.\nNumbers: NumPy's bit operations on int32 and uint32.",
    )
    x = np.array([0, -1, 0x12345678, -0x12345678, 1, -(2**31), 2**31 - 1, 0x0F0F0F0F], np.int32)
    y = np.array([-1, 0x0000FFFF, 0x00FF00FF, 0x55555555, 3, 1, -(2**31), -16], np.int32)
    s = np.array([0, 31, 4, 8, 31, 31, 1, 16], np.int32)
    _binary_cases(m, x, y, (("andi", x & y), ("ori", x | y), ("xori", x ^ y)))
    _binary_cases(
        m,
        x,
        s,
        (("shli", x << s), ("shrsi", x >> s), ("shrui", (x.view(np.uint32) >> s.view(np.uint32)).view(np.int32))),
    )
    return m


def _counts() -> Module:
    m = _new(
        "integer/bit-counts",
        "math.cttz and math.ctpop on i32; zero has 32 trailing zeros.\nNumbers: Python's bit_length() and bit_count() of the unsigned values.",
    )
    x = np.array([0, 1, -1, 2, 3, 0x00F0, 2**31 - 1, -(2**31), 0x12345678, -2, 0x00010000], np.int32)
    words = [int(v) & 0xFFFFFFFF for v in x]
    cases = (
        ("cttz", [32 if w == 0 else (w & -w).bit_length() - 1 for w in words]),
        ("ctpop", [w.bit_count() for w in words]),
    )
    kind = type_of(x)
    for op, want in cases:
        m.function(
            f"{op}_of_11",
            "%x = $x" + _apply(f"math.{op} %a : i32", kind, kind, two=False),
            {"%out": np.array(want, np.int32)},
            x=source(x),
        )
    return m


def _leading_zeros() -> Module:
    m = _new(
        "integer/leading-zeros",
        "math.ctlz (zero has 32 leading zeros) and math.absi on i32.\nNumbers: 32 minus Python's bit_length() of the unsigned value; NumPy's abs.",
    )
    x = np.array([0, 1, -1, 2, 3, 0x00F0, 2**31 - 1, -(2**31), 0x12345678, -2, 0x00010000], np.int32)
    kind = type_of(x)
    want = np.array([32 - (int(v) & 0xFFFFFFFF).bit_length() for v in x], np.int32)
    m.function(
        "ctlz_of_11", "%x = $x" + _apply("math.ctlz %a : i32", kind, kind, two=False), {"%out": want}, x=source(x)
    )
    small = x[x != -(2**31)]
    kind = type_of(small)
    m.function(
        "absi_of_10",
        "%x = $x" + _apply("math.absi %a : i32", kind, kind, two=False),
        {"%out": abs(small)},
        x=source(small),
    )
    return m


def _compare() -> Module:
    m = _new(
        "integer/compare-i32",
        "All ten predicates of arith.cmpi on i32, signed and unsigned, with results of i1.\nNumbers: NumPy's comparisons of int32 and uint32.",
    )
    x = np.array([0, -1, 1, 2**31 - 1, -(2**31), 5, 5, -7], np.int32)
    y = np.array([0, 1, -1, -(2**31), 2**31 - 1, 5, 6, -8], np.int32)
    u, v = x.view(np.uint32), y.view(np.uint32)
    cases = (("eq", x == y), ("ne", x != y), ("slt", x < y), ("sle", x <= y), ("sgt", x > y), ("sge", x >= y),
             ("ult", u < v), ("ule", u <= v), ("ugt", u > v), ("uge", u >= v))  # fmt: skip
    for name, want in cases:
        m.function(f"cmpi_{name}", "%x = $x\n        %y = $y" + _apply(f"arith.cmpi {name}, %a, %b : i32", "tensor<8xi32>", "tensor<8xi1>", result="i1"),
                   {"%out": want}, x=source(x), y=source(y))  # fmt: skip
    return m


def _logic() -> Module:
    m = _new(
        "integer/logic-i1",
        "i1 tensors: and, or, xor, not by xor, select by a mask, and reductions to any and all.\nNumbers: NumPy's logical operations.",
    )
    x = np.array([True, True, False, False, True, False, True, True])
    y = np.array([True, False, True, False, False, False, True, False])
    cases = (("andi", x & y), ("ori", x | y), ("xori", x ^ y))
    _binary_cases(m, x, y, cases)
    a, b = np.arange(8, dtype=np.int32), -np.arange(8, dtype=np.int32) * 10
    m.function("select", "%m = $m\n        %a = $a\n        %b = $b\n        %out = arith.select %m, %a, %b : tensor<8xi1>, tensor<8xi32>",
               {"%out": np.where(x, a, b)}, m=source(x), a=source(a), b=source(b))  # fmt: skip
    rows = np.array([[True] * 5, [False] * 5, [True, False, True, True, True], [False, False, False, True, False]])
    for name, op, start, want in (("all", "andi", "true", rows.all(axis=1)), ("any", "ori", "false", rows.any(axis=1))):
        m.function(
            f"{name}_along_rows",
            """
            %x = $x
            %start = arith.constant $start
            %empty = tensor.empty() : tensor<4xi1>
            %init = linalg.fill ins(%start : i1) outs(%empty : tensor<4xi1>) -> tensor<4xi1>
            %out = linalg.reduce { arith.$op } ins(%x : tensor<4x5xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
            """,
            {"%out": want},
            x=source(rows), op=op, start=start,
        )  # fmt: skip
    return m


def _casts() -> Module:
    m = _new(
        "integer/casts",
        "Conversions: sign and zero extension, truncation, integer to float and back with both signs.\nNumbers: NumPy's astype between the same types; floats are whole numbers in range.",
    )
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
        out = type_of(want)
        m.function(
            f"{name}",
            "%x = $x" + _apply(op, type_of(x), out, two=False, result=out.split("x")[-1].rstrip(">")),
            {"%out": want},
            x=source(x),
        )
    return m


def _float_to_int() -> Module:
    m = _new(
        "integer/float-to-int",
        "arith.fptosi and arith.fptoui of numbers with a fraction, which is dropped (towards zero).\nNumbers: NumPy's trunc.",
    )
    f = np.array([0.0, 1.75, -1.75, 127.5, -128.0, 99.99, 0.5, -0.5], np.float32)
    kind, out = type_of(f), type_of(f.astype(np.int32))
    m.function(
        "fptosi",
        "%x = $x" + _apply("arith.fptosi %a : f32 to i32", kind, out, two=False, result="i32"),
        {"%out": np.trunc(f).astype(np.int32)},
        x=source(f),
    )
    m.function("fptoui", "%x = $x" + _apply("arith.fptoui %a : f32 to i32", kind, out, two=False, result="i32"), {"%out": np.trunc(abs(f)).astype(np.int32)},
               x=source(abs(f)))  # fmt: skip
    return m


def _odd_bytes() -> Module:
    m = _new(
        "quantised/odd-bytes",
        "i8 and i16 tensors whose size in bytes is no multiple of four: the last, partial word must be read and written too.\nNumbers: NumPy's int64 matmul and astype, exact.",
    )
    x = np.array([1, -2, 3, -4, 5, -6], np.int8)
    m.function("six_of_i8", "%x = $x" + _apply("arith.extsi %a : i8 to i32", "tensor<6xi8>", "tensor<6xi32>", two=False, result="i32"),
               {"%out": x.astype(np.int32)}, x=source(x))  # fmt: skip
    y = x[:5].astype(np.int16) * 100
    m.function(
        "five_of_i16",
        "%x = $x" + _apply("arith.addi %a, %a : i16", "tensor<5xi16>", "tensor<5xi16>", two=False),
        {"%out": y * 2},
        x=source(y),
    )
    a = m.input("a", (35, 70), "i8", seed=3, modulus=251, shift=125)
    b = m.input("b", (70, 30), "i8", seed=8, modulus=251, shift=125)
    m.function(
        "matmul_i8_35x70x30",
        """
        %a = call @a() : () -> tensor<35x70xi8>
        %b = call @b() : () -> tensor<70x30xi8>
        %zero = arith.constant 0 : i32
        %empty = tensor.empty() : tensor<35x30xi32>
        %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<35x30xi32>) -> tensor<35x30xi32>
        %c = linalg.matmul ins(%a, %b : tensor<35x70xi8>, tensor<70x30xi8>) outs(%init : tensor<35x30xi32>) -> tensor<35x30xi32>
        """,
        {"%c": exactly(a @ b, np.int32)},
    )
    return m


def _saturate() -> Module:
    m = _new(
        "integer/saturation",
        "Saturating i8 addition and subtraction, built from a wider sum and a clamp, and clamps of i32 with fixed bounds.\nNumbers: NumPy's clip of the int32 sum.",
    )
    x = np.array([127, -128, 100, -100, 5, 0, 64, -1], np.int8)
    y = np.array([1, -1, 100, -100, -7, 0, 63, 127], np.int8)
    for name, op, want in (("add", "addi", x.astype(np.int32) + y), ("subtract", "subi", x.astype(np.int32) - y)):
        m.function(
            name,
            """
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
            """,
            {"%out": np.clip(want, -128, 127).astype(np.int8)},
            x=source(x), y=source(y), op=op,
        )  # fmt: skip
    return m


def _extended() -> Module:
    m = _new(
        "integer/extended-i32",
        "arith.mulsi_extended and arith.mului_extended (both halves of a 64-bit product) and arith.addui_extended (sum and carry).\nNumbers: Python integers, split into halves.",
    )
    x = np.array([0, -1, 2**31 - 1, -(2**31), 123456789, -987654321, 65536], np.int32)
    y = np.array([5, -1, 2**31 - 1, -(2**31), 987654321, 123456789, 65536], np.int32)

    def halves(values: list[int]) -> tuple[Array, Array]:
        low = np.array([v & 0xFFFFFFFF for v in values], np.uint32).view(np.int32)
        return low, np.array([(v >> 32) & 0xFFFFFFFF for v in values], np.uint32).view(np.int32)

    ux, uy = x.view(np.uint32), y.view(np.uint32)
    for op, values in (("mulsi_extended", [int(a) * int(b) for a, b in zip(x, y, strict=True)]),
                       ("mului_extended", [int(a) * int(b) for a, b in zip(ux, uy, strict=True)])):  # fmt: skip
        low, high = halves(values)
        m.function(op, "%x = $x\n        %y = $y\n        %low, %high = arith." + op + " %x, %y : tensor<7xi32>",
                   {"%low": low, "%high": high}, x=source(x), y=source(y))  # fmt: skip
    sums = [int(a) + int(b) for a, b in zip(ux, uy, strict=True)]
    m.function("addui_extended", "%x = $x\n        %y = $y\n        %sum, %carry = arith.addui_extended %x, %y : tensor<7xi32>, tensor<7xi1>",
               {"%sum": halves(sums)[0], "%carry": np.array([s >> 32 == 1 for s in sums])}, x=source(x), y=source(y))  # fmt: skip
    return m


def _reductions() -> Module:
    m = _new(
        "integer/reduce-i32",
        "Integer reductions of a 23x71 tensor: sum, product of a few, signed and unsigned maximum and minimum, and, or, xor.\nNumbers: NumPy's reductions of int32 and uint32.",
    )
    x = exactly(m.input("x", (23, 71), "i32", seed=3, modulus=1009, shift=504), np.int32)
    cases = (
        ("addi", 0, x.sum(axis=1, dtype=np.int32)), ("maxsi", -(2**31), x.max(axis=1)), ("minsi", 2**31 - 1, x.min(axis=1)),
        ("maxui", 0, x.view(np.uint32).max(axis=1).view(np.int32)), ("minui", -1, x.view(np.uint32).min(axis=1).view(np.int32)),
        ("andi", -1, np.bitwise_and.reduce(x, axis=1)), ("ori", 0, np.bitwise_or.reduce(x, axis=1)), ("xori", 0, np.bitwise_xor.reduce(x, axis=1)),
    )  # fmt: skip
    for op, start, want in cases:
        m.function(
            f"{op}_along_rows",
            """
            %x = call @x() : () -> tensor<23x71xi32>
            %start = arith.constant $start : i32
            %empty = tensor.empty() : tensor<23xi32>
            %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
            %out = linalg.reduce { arith.$op } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
            """,
            {"%out": want},
            op=op, start=str(start),
        )  # fmt: skip
    return m


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        *(_wrap(width) for width in (8, 16, 32, 64)),
        *(_divide(width) for width in (8, 16, 32, 64)),
        _divide_lowest(),
        _bits(),
        _counts(),
        _leading_zeros(),
        _float_to_int(),
        _compare(),
        _logic(),
        _casts(),
        _saturate(),
        _extended(),
        _reductions(),
        _odd_bytes(),
    ]
