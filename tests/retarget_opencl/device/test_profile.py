"""Device profiles → what code may rely on."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from opencl_support import shipped
from retarget.profiles import Capability, Profile
from retarget.support import RetargetError
from retarget_opencl.artifact.file import Kernel
from retarget_opencl.compile.target import device_needs, target_attribute
from retarget_opencl.device.profile import compile_profile, nvidia_arch

SHUFFLES = {"subgroups": True, "subgroup_shuffle": True, "subgroup_shuffle_relative": True}
LIMITS = {"opencl.maxWorkGroupSize": 4096, "opencl.maxWorkItemSizes": (4096, 4096, 64), "opencl.localMemSize": 2**20}


def _profile(name: str = "d", **values: object) -> Profile:
    own = {key if key == "device_type" else f"opencl.{key}": value for key, value in values.items()}
    capabilities = [Capability(name=key, value=value, source="s") for key, value in {**LIMITS, **own}.items()]  # type: ignore[arg-type]
    return Profile(name=name, driver="opencl", identity=(("name", name),), capabilities=tuple(capabilities))


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("x", {}, ("generic", "none", 32)),
        ("x", {"device_type": "cpu", **SHUFFLES}, ("cpu", "khr", 32)),
        ("x", {"device_type": "cpu", **SHUFFLES, "subgroup_shuffle_relative": False}, ("cpu", "none", 32)),
        ("Intel(R) Xeon(R)", {"device_type": "cpu", "vendor": "Intel(R) Corporation", **SHUFFLES}, ("cpu", "khr", 16)),
        ("x", {"computeCapabilityNV": "9.0", "subgroupSizes": (32,)}, ("sm_80", "ptx", 32)),
        ("gfx942:sramecc+", {"platform": "AMD", "subgroupSizes": (64,)}, ("gfx942", "none", 64)),
        ("gfx1100", {"vendor": "Advanced Micro Devices, Inc.", "subgroupSizes": (32,)}, ("gfx1100", "none", 32)),
        ("Radeon", {"platform": "AMD"}, ("rdna3", "none", 64)),
        ("x", {"vendor": "Intel(R)", **SHUFFLES}, ("arc", "khr", 16)),
        ("x", {"vendor": "Intel(R)", "subgroups": True, "subgroupSizes": (8, 16, 32)}, ("arc", "none", 16)),
        ("Mali-G78", {}, ("valhall", "none", 16)),
        ("x", {"vendor": "QUALCOMM"}, ("adreno", "none", 64)),
    ],
)
def test_architecture_and_subgroups_follow_from_what_the_device_reports(
    name: str, values: dict[str, object], expected: tuple[str, str, int]
) -> None:
    made = compile_profile(_profile(name, **values))
    assert (made.arch, made.subgroups, made.subgroup_size) == expected


@pytest.mark.parametrize(("capability", "matrices"), [("7.5", "none"), ("8.0", "ptx"), ("10.0", "ptx")])
def test_matrix_units_are_used_from_compute_capability_8_on(capability: str, matrices: str) -> None:
    assert compile_profile(_profile(computeCapabilityNV=capability)).matrices == matrices


def test_limits_count_up_to_what_improves_tiles() -> None:
    made = compile_profile(_profile())
    assert (made.max_workgroup_items, made.max_workgroup_sizes, made.local_memory) == (1024, (1024, 1024, 64), 65536)


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        (
            replace(_profile(), driver="vulkan"),
            "d: found a profile of the driver 'vulkan', expected one of 'opencl' for iree-opencl",
        ),
        (
            replace(_profile(), capabilities=()),
            "d: the profile does not say opencl.maxWorkItemSizes, which a compile target is made from",
        ),
        (
            _profile(maxWorkItemSizes=(1, 2)),
            "d: the profile has (1, 2) for opencl.maxWorkItemSizes, which a compile target is made from",
        ),
        (
            _profile(localMemSize="large"),
            "d: the profile has 'large' for opencl.localMemSize, which a compile target is made from",
        ),
    ],
)
def test_a_profile_that_gives_no_target_says_why(profile: Profile, error: str) -> None:
    with pytest.raises(RetargetError, match=f"^{re.escape(error)}$"):
        compile_profile(profile)


@pytest.mark.parametrize(
    ("capability", "arch"),
    [(61, "sm_60"), (75, "sm_75"), (80, "sm_80"), (86, "sm_86"), (89, "sm_89"), (90, "sm_80"), (120, "sm_89")],
)
def test_an_nvidia_device_gets_an_architecture_that_iree_knows(capability: int, arch: str) -> None:
    assert nvidia_arch(capability) == arch


def test_a_profile_asks_iree_for_no_doubles_where_the_device_has_none() -> None:
    assert "fp64" not in target_attribute(shipped("generic"))
    assert "compute = fp64|fp32|fp16|int64|int32|int16|int8" in target_attribute(shipped("cpu"))


def test_exact_division_is_needed_where_the_profile_has_it() -> None:
    assert device_needs({"rounding"}, shipped("cpu"), (), 0) == ("opencl.correctlyRoundedDivideSqrt",)
    assert device_needs({"rounding"}, shipped("adreno"), (), 0) == ()


@pytest.mark.parametrize(
    ("largest", "bound"),
    [
        (2**40, 2**30),
        (2**32, 2**30),
        (2**30, 2**30),
        (2**30 - 1, 2**29),
        (3 * 2**27, 2**28),
        (2**27, 2**27),
        (0, 2**30),
    ],
)
def test_what_one_buffer_holds_bounds_what_iree_packs_together_in_powers_of_two(largest: int, bound: int) -> None:
    assert compile_profile(_profile(maxMemAllocSize=largest)).max_allocation == bound
    assert compile_profile(_profile()).max_allocation == 2**30


def test_the_largest_work_group_and_local_memory_are_needed() -> None:
    sizes = ((8, 8, 1), (32, 4, 2))
    kernels = [Kernel(name="k", bindings=(), constants=(), workgroup_size=size, groups=0) for size in sizes]
    assert device_needs((), shipped("cpu"), kernels, 4096) == (
        "opencl.int64",
        "opencl.maxWorkGroupSize >= 256",
        "opencl.localMemSize >= 4096",
    )
