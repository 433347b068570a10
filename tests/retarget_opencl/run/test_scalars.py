"""Scalar instructions of host programs, against the semantics that MLIR gives them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from retarget_opencl.run.scalars import conversion, scalar_function

NAN, INF = math.nan, math.inf
FUNCTIONS = ["exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf"]


@pytest.mark.parametrize(
    ("name", "kind", "operands", "expected"),
    [
        ("addi", "i32", (2147483647, 1), -2147483648),
        ("addi", "i1", (1, 1), 0),
        ("muli", "i8", (100, 3), 44),
        ("subi", "index", (-(2**63), 1), 2**63 - 1),
        ("divsi", "i32", (-7, 2), -3),
        ("divui", "i32", (-2, 2), 2147483647),
        ("remsi", "i32", (-7, 2), -1),
        ("remui", "i8", (-1, 10), 5),
        ("floordivsi", "i32", (-7, 2), -4),
        ("ceildivsi", "i32", (-7, 2), -3),
        ("ceildivsi", "i32", (7, 2), 4),
        ("shli", "i32", (1, 31), -2147483648),
        ("shrui", "i32", (-1, 28), 15),
        ("shrsi", "i32", (-16, 2), -4),
        ("minui", "i32", (-1, 1), 1),
        ("maxui", "i32", (-1, 1), -1),
        ("align", "index", (65, 64), 128),
        ("math_ctlz", "i32", (1,), 31),
        ("math_cttz", "i32", (0,), 32),
        ("math_ctpop", "i8", (-1,), 8),
        ("math_absi", "i32", (-(2**31),), -(2**31)),
        ("addf", "f32", (16777216.0, 1.0), 16777216.0),
        ("addf", "f64", (16777216.0, 1.0), 16777217.0),
        ("mulf", "f16", (300.0, 300.0), INF),
        ("divf", "f32", (1.0, 0.0), INF),
        ("maximumf", "f32", (NAN, 1.0), NAN),
        ("maxnumf", "f32", (NAN, 1.0), 1.0),
        ("math_round", "f32", (2.5,), 3.0),
        ("math_round", "f32", (-2.5,), -3.0),
        ("math_round", "f64", (0.49999999999999994,), 0.0),
        ("math_round", "f64", (4503599627370497.0,), 4503599627370497.0),
        ("math_round", "f64", (-INF,), -INF),
        ("math_roundeven", "f32", (2.5,), 2.0),
        ("math_ipowi", "i32", (3, 4), 81),
        ("math_ipowi", "i32", (-3, 2**31 - 1), 1431655765),
        ("math_ipowi", "i64", (2, 63), -(2**63)),
        ("math_ipowi", "i32", (-1, -2), 1),
        ("math_ipowi", "i32", (-1, -3), -1),
        ("math_ipowi", "i32", (1, -3), 1),
        ("math_ipowi", "i32", (2, -1), 0),
        ("addi", "i32", (5, 3), 8),
        ("addi", "i32", (-2147483648, -1), 2147483647),
        ("subi", "i32", (5, 3), 2),
        ("muli", "i32", (65536, 32768), -2147483648),
        ("divsi", "i32", (7, 2), 3),
        ("divsi", "i32", (7, -2), -3),
        ("divsi", "i32", (-7, -2), 3),
        ("divsi", "i32", (0, -2), 0),
        ("divsi", "i32", (-2147483648, -1), -2147483648),
        ("divui", "i32", (7, -1), 0),
        ("remsi", "i32", (7, -2), 1),
        ("remsi", "i32", (-7, -2), -1),
        ("remui", "i32", (-1, -2), 1),
        ("remui", "i32", (-2, -1), -2),
        ("floordivsi", "i32", (7, 2), 3),
        ("floordivsi", "i32", (-2147483648, -1), -2147483648),
        ("ceildivsi", "i32", (-7, -2), 4),
        ("ceildivui", "i32", (-1, 2), -2147483648),
        ("ceildivui", "i32", (7, -1), 1),
        ("ceildivui", "i32", (8, 2), 4),
        ("andi", "i32", (12, 10), 8),
        ("ori", "i32", (12, 10), 14),
        ("xori", "i32", (12, 10), 6),
        ("shli", "i32", (3, 4), 48),
        ("shli", "i32", (3, 32), 0),
        ("shli", "i32", (3, -1), 0),
        ("shrui", "i32", (-1, 32), 0),
        ("shrui", "i32", (-1, 0), -1),
        ("shrui", "i32", (6, 1), 3),
        ("shrsi", "i32", (-16, 40), -1),
        ("shrsi", "i32", (16, 32), 0),
        ("shrsi", "i32", (1, 0), 1),
        ("minsi", "i32", (-1, 1), -1),
        ("maxsi", "i32", (-1, 1), 1),
        ("minui", "i32", (-1, -2), -2),
        ("maxui", "i32", (1, 2), 2),
        ("align", "i32", (64, 64), 64),
        ("align", "i32", (-1, 64), 0),
        ("math_absi", "i32", (-5,), 5),
        ("math_absi", "i32", (5,), 5),
        ("math_ctlz", "i32", (0,), 32),
        ("math_ctlz", "i32", (-1,), 0),
        ("math_cttz", "i32", (8,), 3),
        ("math_cttz", "i32", (-2147483648,), 31),
        ("math_cttz", "i32", (1,), 0),
        ("math_ctpop", "i32", (7,), 3),
        ("math_ipowi", "i32", (0, 0), 1),
        ("math_ipowi", "i32", (5, 0), 1),
        ("math_ipowi", "i32", (5, 1), 5),
        ("math_ipowi", "i32", (-1, -1), -1),
        ("math_ipowi", "i32", (-2, -1), 0),
        ("math_ipowi", "i32", (1, -2), 1),
        ("addi", "i1", (1, 0), 1),
        ("addi", "i16", (32767, 1), -32768),
        ("math_ctlz", "i8", (-1,), 0),
        ("math_ctpop", "i64", (-1,), 64),
        ("math_cttz", "i64", (0,), 64),
        ("subf", "f32", (3.0, 1.0), 2.0),
        ("mulf", "f32", (3.0, 2.0), 6.0),
        ("divf", "f32", (3.0, 2.0), 1.5),
        ("divf", "f32", (0.0, 0.0), NAN),
        ("divf", "f32", (-1.0, 0.0), -INF),
        ("remf", "f32", (-7.0, 2.0), -1.0),
        ("remf", "f32", (7.0, -2.0), 1.0),
        ("negf", "f32", (2.0,), -2.0),
        ("minimumf", "f32", (2.0, 1.0), 1.0),
        ("minimumf", "f32", (NAN, 1.0), NAN),
        ("minnumf", "f32", (NAN, 1.0), 1.0),
        ("minnumf", "f32", (2.0, 1.0), 1.0),
        ("maximumf", "f32", (2.0, 1.0), 2.0),
        ("maxnumf", "f32", (2.0, 1.0), 2.0),
        ("math_absf", "f32", (-2.0,), 2.0),
        ("math_ceil", "f32", (1.25,), 2.0),
        ("math_floor", "f32", (-1.25,), -2.0),
        ("math_trunc", "f32", (-1.75,), -1.0),
        ("math_round", "f32", (0.5,), 1.0),
        ("math_round", "f32", (0.25,), 0.0),
        ("math_round", "f32", (-1.75,), -2.0),
        ("math_round", "f32", (NAN,), NAN),
        ("math_roundeven", "f32", (-3.5,), -4.0),
        ("math_sqrt", "f32", (9.0,), 3.0),
        ("math_sqrt", "f32", (-1.0,), NAN),
        ("math_rsqrt", "f32", (4.0,), 0.5),
        ("math_rsqrt", "f32", (0.0,), INF),
        ("math_log", "f32", (0.0,), -INF),
        ("math_powf", "f32", (2.0, 3.0), 8.0),
        ("math_copysign", "f32", (2.0, -1.0), -2.0),
        ("math_fma", "f32", (2.0, 3.0, 4.0), 10.0),
        ("math_exp2", "f32", (3.0,), 8.0),
        ("math_log2", "f32", (8.0,), 3.0),
        ("math_log10", "f32", (1000.0,), 3.0),
        *((f"math_{name}", "f64", (0.5,), getattr(math, name)(0.5)) for name in FUNCTIONS),
        ("math_atan2", "f64", (1.0, -2.0), math.atan2(1.0, -2.0)),
        ("addf", "bf16", (256.0, 1.0), 256.0),
        ("addf", "f16", (2048.0, 1.0), 2048.0),
        ("addf", "f16", (2048.0, 3.0), 2052.0),
    ],
)
def test_a_scalar_instruction_computes_what_mlir_says(
    name: str, kind: str, operands: tuple[float, ...], expected: float
) -> None:
    actual = scalar_function(name, kind)(*operands)
    assert actual == pytest.approx(expected, rel=1e-14, abs=0, nan_ok=True)
    assert isinstance(actual, float) == ("f" in kind)


# Of 1 and -1, twice -1, -1 and 1; of 1 and 2, twice 2, 2 and 1, 1 and NaN.
INTEGERS, FLOATS = [(1, -1), (-1, -1), (-1, 1)], [(1.0, 2.0), (2.0, 2.0), (2.0, 1.0), (1.0, NAN)]
COMPARISONS = {
    "cmpi_ult": "100",
    "cmpi_slt": "001",
    "cmpf_olt": "1000",
    "cmpf_ult": "1001",
    "cmpf_one": "1010",
    "cmpf_uno": "0001",
    "cmpi_eq": "010",
    "cmpi_ne": "101",
    "cmpi_sle": "011",
    "cmpi_sgt": "100",
    "cmpi_sge": "110",
    "cmpi_ule": "110",
    "cmpi_ugt": "001",
    "cmpi_uge": "011",
    "cmpf_false": "0000",
    "cmpf_oeq": "0100",
    "cmpf_ogt": "0010",
    "cmpf_oge": "0110",
    "cmpf_ole": "1100",
    "cmpf_ord": "1110",
    "cmpf_ueq": "0101",
    "cmpf_ugt": "0011",
    "cmpf_uge": "0111",
    "cmpf_ule": "1101",
    "cmpf_une": "1011",
    "cmpf_true": "1111",
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_holds_where_mlir_says(name: str) -> None:
    kind, pairs = ("i32", INTEGERS) if name.startswith("cmpi") else ("f32", FLOATS)
    results = [scalar_function(name, kind)(*pair) for pair in pairs]
    assert "".join(map(str, results)) == COMPARISONS[name]
    assert not any(isinstance(result, float) for result in results)


@pytest.mark.parametrize(
    ("name", "source", "target", "value", "expected"),
    [
        ("extsi", "i1", "i32", 1, -1),
        ("extui", "i1", "i32", 1, 1),
        ("extui", "i8", "i32", -1, 255),
        ("trunci", "i32", "i8", 300, 44),
        ("trunci", "i32", "i1", 3, 1),
        ("index_cast", "index", "i32", 2**31, -(2**31)),
        ("index_castui", "i32", "index", -1, 2**32 - 1),
        ("sitofp", "i64", "f32", 16777217, 16777216.0),
        ("uitofp", "i32", "f32", -1, 4294967296.0),
        ("fptosi", "f32", "i32", -2.7, -2),
        ("truncf", "f32", "bf16", 1.00390625, 1.0),
        ("extf", "f16", "f32", 0.5, 0.5),
        ("bitcast", "f32", "i32", 1.0, 0x3F800000),
        ("bitcast", "i32", "f32", -1082130432, -1.0),
        ("extsi", "i1", "i32", 0, 0),
        ("extsi", "i8", "i32", -5, -5),
        ("extui", "i32", "index", -1, 2**32 - 1),
        ("index_cast", "i1", "index", 1, -1),
        ("index_castui", "i1", "index", 1, 1),
        ("trunci", "i64", "i32", 2**31, -(2**31)),
        ("sitofp", "i32", "f64", -3, -3.0),
        ("sitofp", "i32", "f16", 2049, 2048.0),
        ("uitofp", "i8", "f32", -1, 255.0),
        ("uitofp", "i1", "f32", 1, 1.0),
        ("fptosi", "f32", "i8", 300.0, 44),
        ("fptosi", "f32", "i32", NAN, 0),
        ("fptoui", "f32", "i32", 4294967295.0, -1),
        ("fptoui", "f64", "i32", INF, 0),
        ("truncf", "f64", "f32", 16777217.0, 16777216.0),
        ("truncf", "f32", "f16", 1e6, INF),
        ("extf", "f32", "f64", 0.5, 0.5),
        ("bitcast", "f16", "i16", 1.0, 0x3C00),
        ("bitcast", "i16", "f16", -0x4400, -1.0),
        ("bitcast", "f64", "i64", 1.0, 0x3FF0000000000000),
        ("bitcast", "i64", "f64", 0x3FF0000000000000, 1.0),
        ("bitcast", "i8", "i8", -7, -7),
    ],
)
def test_a_conversion_computes_what_mlir_says(
    name: str, source: str, target: str, value: float, expected: float
) -> None:
    actual = conversion(name, source, target)(value)
    assert actual == expected
    assert isinstance(actual, float) == ("f" in target)


@pytest.mark.parametrize("name", ["frobnicate", "math_frobnicate"])
def test_an_unknown_instruction_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^unknown scalar instruction {name}$"):
        scalar_function(name, "i32")


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: conversion("frobnicate", "i32", "i32"), "unknown conversion frobnicate"),
        (lambda: conversion("bitcast", "f32", "bf16"), "no bit cast from f32 to bf16 on the host"),
        (lambda: conversion("bitcast", "i1", "i8"), "no bit cast from i1 to i8 on the host"),
        (lambda: conversion("trunci", "i32", "f32"), "expected an integer type, found f32"),
        (lambda: scalar_function("addi", "x32"), "expected an integer type, found x32"),
        (lambda: scalar_function("addi", "in"), "expected an integer type, found in"),
    ],
)
def test_what_has_no_meaning_is_refused(attempt: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared
        attempt()
    assert str(caught.value) == message
