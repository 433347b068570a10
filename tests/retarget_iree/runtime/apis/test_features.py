"""Features of live devices: what the APIs of their drivers say, under the names of device profiles."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iree_support import driver_named
from retarget.profiles.files import name_error, value_error
from retarget_iree.runtime import apis
from retarget_iree.runtime.apis import host_memory, host_triple, host_vendor, live_features


@pytest.mark.needs_vulkan
def test_the_features_of_a_vulkan_device_are_those_that_iree_prints() -> None:
    info = driver_named("vulkan").probe()[0]
    features = dict(info.features)
    printed = dict(re.findall(r"(\w+)=(yes|no)", dict(info.capabilities)["features"]))
    both = [name for name in printed if f"vulkan.{name}" in features]
    assert len(both) >= 8
    assert {name: features[f"vulkan.{name}"] for name in both} == {name: printed[name] == "yes" for name in both}
    assert features["vulkan.apiVersion"] == dict(info.capabilities)["api"]
    assert f"size={features['vulkan.subgroupSize']} " in dict(info.capabilities)["subgroup"]
    assert [message for name, value in info.features if (message := name_error(name) or value_error(name, value))] == []


def test_the_features_of_the_cpu_are_those_of_llvm() -> None:
    info = driver_named("local-sync").probe()[0]
    features = dict(info.features)
    assert features["cpu.triple"] == host_triple()
    assert features["device_type"] == "cpu"
    assert isinstance(features["cpu.name"], str)
    quick = dict(live_features("local-sync", "", "", complete=False))
    assert quick.items() <= features.items()
    assert [message for name, value in info.features if (message := name_error(name) or value_error(name, value))] == []


def test_products_of_matrices_are_those_that_a_subgroup_computes() -> None:
    def answer(_: object, count: Any, products: int | None) -> int:
        count[0] = 2
        for at, scope in enumerate((2, 3)) if products else ():
            found = ctypes.cast(products, ctypes.POINTER(apis._CooperativeMatrix))[at]
            found.sizes, found.types, found.scope = (16 * at, 8, 32), (0, 0, 1, 77), scope
        return 0

    query = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint32), ctypes.c_void_p)(answer)
    api: Any = SimpleNamespace(vkGetInstanceProcAddr=lambda *_: ctypes.cast(query, ctypes.c_void_p).value)
    asked = (api, ctypes.c_void_p(), ctypes.c_void_p())
    assert [*apis._matrices(*asked)] == ["16x8x32 float16 float16 float32 77"]
    api.vkGetInstanceProcAddr = lambda *_: None
    assert [*apis._matrices(*asked)] == []


def test_a_device_that_no_api_knows_has_no_features() -> None:
    assert live_features("vulkan", "GPU-00000000-0000-0000-0000-000000000001", "", complete=True) == ()
    assert live_features("metal", "", "", complete=True) == ()
    assert live_features("hip", "", "- gpu-arch-name: gfx942\n", complete=True) == (
        ("device_type", "gpu"),
        ("hip.gcnArchName", "gfx942"),
    )


@given(st.integers(1, 2**34))
def test_the_memory_of_a_machine_is_less_by_an_eighth_at_most(pages: int) -> None:
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": pages}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sysconf", sizes.__getitem__)
        memory = host_memory()
    assert pages * 4096 * 7 / 8 < memory <= pages * 4096


def test_the_memory_of_a_machine_is_the_same_whatever_its_system_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for kept in range(0, 512, 7):  # MiB, of 24 GiB
        sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": ((24 << 10) - 1 - kept) << 8}
        monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
        found.add(host_memory())
    assert found == {22 << 30}
    monkeypatch.delattr(os, "sysconf")
    assert host_memory() == 0


@pytest.mark.parametrize(
    ("said", "here", "vendor"),
    [
        ("processor : 0\nvendor_id\t: GenuineIntel\n", ("Linux", "x86_64"), "Intel"),
        ("processor : 0\n", ("Linux", "aarch64"), ""),
        ("", ("Darwin", "arm64"), "Apple"),
        ("", ("Darwin", "x86_64"), ""),
        ("", ("Windows", "arm64"), ""),
    ],
)
def test_the_vendor_of_the_cpu_is_what_the_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, here: tuple[str, str], vendor: str
) -> None:
    if said:
        (tmp_path / "cpuinfo").write_text(said)
    monkeypatch.setattr(apis, "Path", lambda _: tmp_path / "cpuinfo")
    monkeypatch.setattr(apis, "platform", SimpleNamespace(system=lambda: here[0], machine=lambda: here[1]))
    assert host_vendor.__wrapped__() == vendor
