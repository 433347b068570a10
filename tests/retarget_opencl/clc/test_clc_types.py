"""Names of types: what a variable has, and what memory holds."""

from __future__ import annotations

import pytest
from retarget_opencl.clc.types import TypeNames, TypeSyntaxError, memory_size, parse_type


def test_types_that_are_the_same_in_memory_share_a_name() -> None:
    names = TypeNames(native_half=True)
    kind = parse_type("!spirv.struct<(f16, i32)>")
    assert names.value(kind) == names.memory(kind) == "struct_0"


@pytest.mark.parametrize("text", ["!spirv.rtarray<f32, stride=4>", "!spirv.ptr<f32, StorageBuffer>"])
def test_a_type_of_no_size_has_no_name_and_takes_no_known_room(text: str) -> None:
    kind = parse_type(text)
    for ask, words in (
        (TypeNames(native_half=True).value, "no OpenCL C value type for"),
        (memory_size, "expected a type of a known size, found"),
    ):
        with pytest.raises(TypeSyntaxError) as caught:
            ask(kind)
        assert str(caught.value) == f"{words} {kind}"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("i1", 1),
        ("vector<3xf32>", 16),
        ("vector<4xi1>", 4),
        ("vector<16xi8>", 16),
        ("!spirv.array<3 x vector<2xf16>>", 12),
        ("!spirv.struct<(i64, !spirv.array<2 x i16>)>", 12),
    ],
)
def test_a_type_takes_so_many_bytes_of_memory(text: str, size: int) -> None:
    assert memory_size(parse_type(text)) == size


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("vector<5xf32>", ""),
        ("vector<1xf32>", ""),
        ("vector<2x!spirv.array<2 x f32>>", ""),
        ("i128", ""),
        ("!spirv.sampled_image<f32>", ""),
        ("!spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>", ""),
        ("!spirv.coopmatrix<16x16xi32, Subgroup, MatrixA>", ""),
        ("!spirv.coopmatrix<16x16xf32, Workgroup, MatrixA>", ""),
        ("!spirv.struct<(f32 [0], f8E4M3FN [4])>", "f8E4M3FN"),
    ],
)
def test_a_type_that_opencl_c_does_not_have_is_refused(text: str, named: str) -> None:
    with pytest.raises(TypeSyntaxError) as caught:
        parse_type(text)
    assert str(caught.value) == f"no OpenCL C type for the SPIR-V type {named or text}"
