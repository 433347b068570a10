"""The OpenCL program around the kernels."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from opencl_support import shipped
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.clc.source import kernel_source

KERNEL = KernelText(
    name="k",
    parameters=("const uint constant0",),
    lines=(),
    bindings=(),
    constants=(0,),
    workgroup_size=(32, 1, 1),
    local_memory=0,
    comment="k",
)


@pytest.mark.parametrize("size", [16, 32])
def test_where_subgroups_have_several_sizes_the_one_that_iree_counted_on_is_pinned(size: int) -> None:
    profile = replace(shipped("intel-xe"), subgroup_size=size)
    source = kernel_source(replace(KERNEL, helpers=frozenset({"retarget_shuffle_xor"})), profile)
    assert f"#define RETARGET_SUBGROUPS __attribute__((intel_reqd_sub_group_size({size})))" in source.prelude
    assert "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) RETARGET_SUBGROUPS\nvoid k(" in source.text


def test_kernels_without_subgroups_say_nothing_of_them() -> None:
    source = kernel_source(KERNEL, shipped("intel-xe"))
    assert "SUBGROUPS" not in source.prelude
    assert "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\nvoid k(" in source.text
