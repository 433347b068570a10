"""Device URIs, profiles, and the compiler's flags."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.extension import UnavailableError
from retarget.support.errors import RetargetError
from retarget_opencl.device.devices import FoundDevice, find_device, info_of, nvidia_arch, profile_of
from retarget_opencl.device.profile import GENERIC_PROFILES, DeviceProfile, generic_profile, target_attribute


def _found(ordinal: int, name: str, platform: str, place: int = 0) -> FoundDevice:
    device: Any = SimpleNamespace(name=name)
    return FoundDevice(device=device, ordinal=ordinal, platform=platform, platform_ordinal=place)


DEVICES = (
    _found(0, "cpu-Xeon", "Portable Computing Language"),
    _found(1, "NVIDIA H200", "NVIDIA CUDA"),
    _found(2, "NVIDIA H200", "NVIDIA CUDA", 1),
)
LISTING = (
    "opencl://0 is cpu-Xeon of Portable Computing Language; opencl://1 is NVIDIA H200 of NVIDIA CUDA; "
    "opencl://2 is NVIDIA H200 of NVIDIA CUDA"
)


@pytest.mark.parametrize(
    ("uri", "ordinal"),
    [
        ("", 0),
        ("opencl://", 0),
        ("1", 1),
        ("opencl://2", 2),
        ("opencl://nvidia/1", 2),
        ("opencl://portable%20computing/0", 0),
        ("xeon", 0),
        ("opencl://Portable", 0),
    ],
)
def test_a_uri_finds_its_device(uri: str, ordinal: int) -> None:
    assert find_device(uri, DEVICES).ordinal == ordinal


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("opencl://3", f"there is no OpenCL device 3; {LISTING}"),
        ("opencl://nvidia/5", f"there is no OpenCL device opencl://nvidia/5; {LISTING}"),
        ("H200", f"the OpenCL device 'H200' is ambiguous; {LISTING}"),
        ("mali", f"the OpenCL device 'mali' is not there; {LISTING}"),
    ],
)
def test_a_uri_that_finds_none_or_several_says_what_there_is(uri: str, message: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        find_device(uri, DEVICES)
    assert str(caught.value) == message


def test_an_ambiguous_platform_is_refused() -> None:
    devices = (*DEVICES, _found(3, "x", "NVIDIA other"))
    with pytest.raises(
        UnavailableError, match=r"^the OpenCL platform 'nvidia' is ambiguous: NVIDIA CUDA, NVIDIA other$"
    ):
        find_device("opencl://nvidia/0", devices)


@pytest.mark.parametrize(
    ("capability", "arch"),
    [(61, "sm_60"), (75, "sm_75"), (80, "sm_80"), (86, "sm_86"), (89, "sm_89"), (90, "sm_80"), (120, "sm_89")],
)
def test_an_nvidia_device_gets_an_architecture_that_iree_knows(capability: int, arch: str) -> None:
    assert nvidia_arch(capability) == arch


def test_the_device_here_has_a_profile_and_an_identity(found: FoundDevice) -> None:
    profile, info = profile_of(found), info_of(found)
    assert profile.max_workgroup_items >= 1
    assert info.uri == "opencl://0"
    assert dict(info.capabilities)["arch"] == profile.arch


@pytest.mark.parametrize("profile", GENERIC_PROFILES.values(), ids=list(GENERIC_PROFILES))
def test_a_profile_survives_json_and_its_name_is_not_in_the_key(profile: DeviceProfile) -> None:
    assert DeviceProfile.from_json(profile.to_json()) == profile
    assert replace(profile, name="other").fact() == profile.fact()
    assert replace(profile, local_memory=1).fact() != profile.fact()


def test_a_profile_asks_iree_for_no_doubles_where_the_device_has_none() -> None:
    assert "fp64" not in target_attribute(generic_profile("generic"))
    assert "compute = fp64|fp32|fp16|int64|int32|int16|int8" in target_attribute(generic_profile("cpu"))


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(
        RetargetError, match=r"^unknown OpenCL profile 'nvidia-sm8'; did you mean '[a-z0-9-]+'\?; known: "
    ):
        generic_profile("nvidia-sm8")
