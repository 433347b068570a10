"""The features of CUDA devices, with a double of the driver's API that answers by the numbers of `cuda.h`."""

from __future__ import annotations

from typing import Any

import pytest
from retarget_iree.runtime import apis

CUDA_H = """
MAX_THREADS_PER_BLOCK 1 1024
MAX_BLOCK_DIM_X 2 1023
MAX_BLOCK_DIM_Y 3 1022
MAX_BLOCK_DIM_Z 4 64
MAX_GRID_DIM_X 5 2147483647
MAX_GRID_DIM_Y 6 65535
MAX_GRID_DIM_Z 7 65534
MAX_SHARED_MEMORY_PER_BLOCK 8 49152
WARP_SIZE 10 32
MAX_REGISTERS_PER_BLOCK 12 65536
MULTIPROCESSOR_COUNT 16 132
CONCURRENT_KERNELS 31 1
MAX_THREADS_PER_MULTIPROCESSOR 39 2048
COMPUTE_CAPABILITY_MAJOR 75 9
COMPUTE_CAPABILITY_MINOR 76 0
MAX_SHARED_MEMORY_PER_MULTIPROCESSOR 81 233472
MAX_REGISTERS_PER_MULTIPROCESSOR 82 65537
MANAGED_MEMORY 83 1
COOPERATIVE_LAUNCH 95 0
MAX_SHARED_MEMORY_PER_BLOCK_OPTIN 97 232448
MEMORY_POOLS_SUPPORTED 115 1
"""
"""Numbers of CU_DEVICE_ATTRIBUTE_…, and what an H100 may say."""

H100 = {
    "device_type": "gpu",
    "memory": 1 << 36,
    "cuda.driverVersion": "12.8",
    "cuda.computeCapability": "9.0",
    "cuda.maxThreadsPerBlock": 1024,
    "cuda.sharedMemoryPerBlock": 49152,
    "cuda.warpSize": 32,
    "cuda.registersPerBlock": 65536,
    "cuda.multiprocessorCount": 132,
    "cuda.maxThreadsPerMultiProcessor": 2048,
    "cuda.sharedMemoryPerMultiprocessor": 233472,
    "cuda.registersPerMultiprocessor": 65537,
    "cuda.sharedMemoryPerBlockOptin": 232448,
    "cuda.concurrentKernels": True,
    "cuda.managedMemory": True,
    "cuda.cooperativeLaunch": False,
    "cuda.memoryPoolsSupported": True,
    "cuda.maxBlockDim": (1023, 1022, 64),
    "cuda.maxGridDim": (2147483647, 65535, 65534),
}


class Api:
    """Devices of which some calls fail: the names of the calls, with the ordinal of the device."""

    def __init__(self, count: int, *failing: str) -> None:
        self.count, self.failing = count, failing
        self.values = {int(line.split()[1]): int(line.split()[2]) for line in CUDA_H.strip().splitlines()}

    def _ended(self, name: str, device: Any = "") -> int:
        return int(f"{name}{getattr(device, 'value', device)}" in self.failing)

    def cuInit(self, flags: int) -> int:  # noqa: N802
        assert flags == 0
        return self._ended("init")

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = self.count
        return self._ended("count")

    def cuDriverGetVersion(self, version: Any) -> int:  # noqa: N802
        version._obj.value = 12080
        return 0

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:  # noqa: N802
        device._obj.value = ordinal
        return self._ended("get", ordinal)

    def cuDeviceGetUuid(self, uuid: Any, device: Any) -> int:  # noqa: N802
        uuid[0], uuid[15] = 0xAB, device.value
        return self._ended("uuid", device)

    def cuDeviceTotalMem_v2(self, memory: Any, device: Any) -> int:  # noqa: N802
        memory._obj.value = 1 << 36
        return self._ended("memory", device)

    def cuDeviceGetAttribute(self, value: Any, number: int, device: Any) -> int:  # noqa: N802
        value._obj.value = self.values[number]
        return 0


FIRST, SECOND = (f"ab{'0' * 28}0{ordinal}" for ordinal in (0, 1))


@pytest.mark.parametrize(
    ("api", "found"),
    [
        (Api(2), {FIRST: H100, SECOND: H100}),
        (Api(0), {}),
        (Api(1, "init"), {}),
        (Api(1, "count"), {}),
        (Api(2, "get0"), {SECOND: H100}),
        (Api(2, "uuid1"), {FIRST: H100}),
        (Api(1, "memory0"), {FIRST: {name: value for name, value in H100.items() if name != "memory"}}),
    ],
)
def test_each_device_has_its_features_by_its_uuid(monkeypatch: pytest.MonkeyPatch, api: Api, found: object) -> None:
    monkeypatch.setattr(apis.ctypes, "CDLL", {"libcuda.so.1": api}.__getitem__)
    assert apis.cuda_features.__wrapped__() == found


def test_without_the_library_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise OSError

    monkeypatch.setattr(apis.ctypes, "CDLL", missing)
    assert apis.cuda_features.__wrapped__() == {}
