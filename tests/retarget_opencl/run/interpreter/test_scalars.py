"""Scalar instructions of host programs, against the semantics that MLIR gives them."""

from __future__ import annotations

import math

import pytest
from retarget_opencl.run.interpreter.scalars import affine_function, conversion, scalar_function

NAN, INF = math.nan, math.inf


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
        ("cmpi_ult", "i32", (-1, 1), 0),
        ("cmpi_slt", "i32", (-1, 1), 1),
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
        ("cmpf_olt", "f32", (NAN, 1.0), 0),
        ("cmpf_ult", "f32", (NAN, 1.0), 1),
        ("cmpf_one", "f32", (1.0, 2.0), 1),
        ("cmpf_uno", "f32", (NAN, 1.0), 1),
    ],
)
def test_a_scalar_instruction_computes_what_mlir_says(
    name: str, kind: str, operands: tuple[float, ...], expected: float
) -> None:
    actual = scalar_function(name, kind)(*operands)
    assert actual == expected or (math.isnan(actual) and math.isnan(expected))


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
    ],
)
def test_a_conversion_computes_what_mlir_says(
    name: str, source: str, target: str, value: float, expected: float
) -> None:
    assert conversion(name, source, target)(value) == expected


def test_an_affine_expression_takes_dimensions_then_symbols() -> None:
    expression = ("+", ("*", ("d", 0), ("s", 0)), ("ceildiv", ("s", 1), ("c", 4)))
    assert affine_function(expression, 1)([3, 10, 5]) == 32


@pytest.mark.parametrize("name", ["frobnicate", "math_frobnicate"])
def test_an_unknown_instruction_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^unknown scalar instruction {name}$"):
        scalar_function(name, "i32")
