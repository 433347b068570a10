"""Device URIs, profiles, and the compiler's flags."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from retarget.extension import UnavailableError
from retarget.profiles.names import name_error, value_error
from retarget_opencl.device.devices import FoundDevice, find_device, info_of, list_devices, profile_of
from retarget_opencl.device.profile import compile_profile


def _found(ordinal: int, name: str, platform: str, place: int = 0, version: str = "OpenCL 3.0") -> FoundDevice:
    device: Any = SimpleNamespace(name=name)
    return FoundDevice(device=device, ordinal=ordinal, platform=platform, platform_ordinal=place, version=version)


DEVICES = (
    _found(0, "cpu-Xeon", "Portable Computing Language", version="OpenCL 3.0 PoCL 3.0-rc2  Linux"),
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
        ("opencl://pocl/0", 0),
        ("opencl://pocl%203.0/0", 0),
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


def test_the_first_device_is_a_gpu_or_that_of_pocl_and_never_that_of_a_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    def platform(name: str, version: str, *devices: tuple[str, int]) -> Any:
        made = [SimpleNamespace(name=name, type=kind) for name, kind in devices]
        return SimpleNamespace(name=name, version=version, get_devices=lambda: made)

    cl = pytest.importorskip("pyopencl")
    cpu, gpu = cl.device_type.CPU, cl.device_type.GPU
    platforms = [
        platform("Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", ("Oclgrind Simulator", cpu | gpu)),
        platform("Intel(R) OpenCL", "OpenCL 3.1 LINUX", ("Xeon", cpu)),
        platform("Portable Computing Language", "OpenCL 3.0 PoCL 3.0-rc2", ("pthread-Xeon", cpu)),
        platform("NVIDIA CUDA", "OpenCL 3.0 CUDA 13.0", ("H200", gpu), ("H100", gpu)),
    ]
    monkeypatch.setattr(cl, "get_platforms", lambda: platforms)
    found = [(one.ordinal, one.device.name, one.platform_ordinal) for one in list_devices()]
    assert found == [
        (0, "H200", 0),
        (1, "H100", 1),
        (2, "pthread-Xeon", 0),
        (3, "Xeon", 0),
        (4, "Oclgrind Simulator", 0),
    ]


def test_the_device_here_has_an_identity_and_capabilities_that_a_profile_may_have(found: FoundDevice) -> None:
    info, profile = info_of(found), profile_of(found)
    assert info.uri == "opencl://0"
    assert dict(info.capabilities)["arch"] == compile_profile(profile).arch
    assert dict(info.features) == {one.name: one.value for one in profile.capabilities}
    assert [name_error(name) or value_error(name, value) for name, value in info.features] == [None] * len(
        info.features
    )
