"""Names of types: what a variable has, and what memory holds."""

from __future__ import annotations

from retarget_opencl.clc.types import TypeNames, parse_type


def test_members_in_memory_have_memory_types() -> None:
    names = TypeNames(native_half=False)
    kind = parse_type("!spirv.struct<(f16, i1, !spirv.array<2 x f16>)>")
    assert (names.value(kind), names.memory(kind)) == ("struct_1", "struct_3")
    assert [text for _, text in names.typedefs.values()] == [
        "typedef struct { float e[2]; } array_0;",
        "typedef struct { float m0; bool m1; array_0 m2; } struct_1;",
        "typedef struct { ushort e[2]; } array_2;",
        "typedef struct { ushort m0; uchar m1; array_2 m2; } struct_3;",
    ]


def test_types_that_are_the_same_in_memory_share_a_name() -> None:
    names = TypeNames(native_half=True)
    kind = parse_type("!spirv.struct<(f16, i32)>")
    assert names.value(kind) == names.memory(kind) == "struct_0"
