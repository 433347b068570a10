"""Element types, declared types and lists of types, as text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from retarget.model.element_types import ELEMENT_TYPES, DeclaredType, mlir_name, split_types


@pytest.mark.parametrize(
    ("text", "element", "dtype", "shape", "is_signless"),
    [
        ("tensor<2x?xf32>", "f32", "float32", (2, None), False),
        ("tensor<f8E4M3FNUZ>", "f8E4M3FNUZ", "float8_e4m3fnuz", (), False),
        ("tensor<3xcomplex<f64>>", "complex<f64>", "complex128", (3,), False),
        ("tensor<3xindex>", "index", "int64", (3,), True),
        ("tensor<2x3xf32, #hal.encoding<x, y>>", "f32", "float32", (2, 3), False),
        ("vector<4xbf16>", "bf16", "bfloat16", (4,), False),
        ("i8", "i8", "int8", (), True),
        ("si8", "si8", "int8", (), False),
        ("ui8", "ui8", "uint8", (), False),
        ("i1", "i1", "bool", (), False),
        ("tensor<*xf32>", "f32", "float32", None, False),
        ("tensor<2xi4>", "i4", "int4", (2,), True),
        ("tensor<2xui2>", "ui2", "uint2", (2,), False),
        ("tensor<2xf4E2M1FN>", "f4E2M1FN", "float4_e2m1fn", (2,), False),
        ("f6E3M2FN", "f6E3M2FN", "float6_e3m2fn", (), False),
        ("tensor<2xi3>", "i3", None, (2,), False),
        ("!hal.buffer_view", None, None, None, False),
    ],
)
def test_declared_types_are_read(
    text: str, element: str | None, dtype: str | None, shape: tuple[int | None, ...] | None, is_signless: bool
) -> None:
    declared = DeclaredType.parse(text)
    assert declared == DeclaredType(text=text, element=element, dtype=dtype, shape=shape)
    assert declared.is_signless is is_signless


def test_element_types_of_numpy_have_a_name_in_mlir() -> None:
    assert [mlir_name(name) for name in ("float32", "int64", "bool", "void16")] == ["f32", "i64", "i1", "void16"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("i32", ["i32"]),
        ("(i1, i2), i3", ["(i1, i2)", "i3"]),
        ("%a: tensor<2xf32, #e<1, 2>>, (i32, f32) -> f32", ["%a: tensor<2xf32, #e<1, 2>>", "(i32, f32) -> f32"]),
        ('f32 {name = "a, \\", b"}, i1', ['f32 {name = "a, \\", b"}', "i1"]),
    ],
)
def test_lists_are_split_outside_brackets_and_texts(text: str, parts: list[str]) -> None:
    assert split_types(text) == parts


@pytest.mark.parametrize(("sizes", "fits"), [(None, True), ((2, None), True), ((2,), False), ((1, None), False)])
def test_a_shape_fits_sizes_that_are_as_many_and_equal_or_open(sizes: Any, fits: bool) -> None:
    assert DeclaredType(text="t", dtype=None, shape=sizes).fits((2, 3)) is fits


def test_a_name_says_the_bits_of_a_type() -> None:
    said = {name: int(re.sub(r"\D*(\d+).*", r"\1", name)) for name in ELEMENT_TYPES if name != "index"}
    said |= {name: 2 * bits for name, bits in said.items() if name.startswith("complex")} | {"index": 64}
    assert {name: element.bits for name, element in ELEMENT_TYPES.items()} == said
