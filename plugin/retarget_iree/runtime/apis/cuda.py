"""The devices of this machine in the CUDA driver API, with the names of `cudaDeviceProp`. By ctypes, in workers."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from retarget.model import FeatureValue

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_NUMBERS = {
    "maxThreadsPerBlock": 1,
    "sharedMemoryPerBlock": 8,
    "warpSize": 10,
    "registersPerBlock": 12,
    "multiprocessorCount": 16,
    "maxThreadsPerMultiProcessor": 39,
    "sharedMemoryPerMultiprocessor": 81,
    "registersPerMultiprocessor": 82,
    "sharedMemoryPerBlockOptin": 97,
}
_YES_NO = {"concurrentKernels": 31, "managedMemory": 83, "cooperativeLaunch": 95, "memoryPoolsSupported": 115}
_DIMENSIONS = {"maxBlockDim": (2, 3, 4), "maxGridDim": (5, 6, 7)}
_CAPABILITY = (75, 76)
"""Numbers of `CUdevice_attribute` (cuda.h)."""


@functools.cache
def cuda_features() -> Mapping[str, Mapping[str, FeatureValue]]:
    """Return the features of each device by its UUID in hexadecimal; none where the API cannot be asked."""
    try:
        return dict(_devices(ctypes.CDLL(_LIBRARY)))
    except OSError:
        return {}


def _devices(api: Any) -> Iterator[tuple[str, dict[str, FeatureValue]]]:
    count, version = ctypes.c_int(), ctypes.c_int()
    if api.cuInit(0) != 0 or api.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return
    api.cuDriverGetVersion(ctypes.byref(version))
    for ordinal in range(count.value):
        device, uuid, memory = ctypes.c_int(), (ctypes.c_uint8 * 16)(), ctypes.c_size_t()
        if api.cuDeviceGet(ctypes.byref(device), ordinal) != 0 or api.cuDeviceGetUuid(uuid, device) != 0:
            continue
        found: dict[str, FeatureValue] = {"device_type": "gpu"}
        if api.cuDeviceTotalMem_v2(ctypes.byref(memory), device) == 0:
            found["memory"] = memory.value
        found["cuda.driverVersion"] = f"{version.value // 1000}.{version.value % 1000 // 10}"
        found["cuda.computeCapability"] = ".".join(str(_attribute(api, device, number)) for number in _CAPABILITY)
        found |= {f"cuda.{name}": _attribute(api, device, number) for name, number in _NUMBERS.items()}
        found |= {f"cuda.{name}": bool(_attribute(api, device, number)) for name, number in _YES_NO.items()}
        for name, numbers in _DIMENSIONS.items():
            found[f"cuda.{name}"] = tuple(_attribute(api, device, number) for number in numbers)
        yield bytes(uuid).hex(), found


def _attribute(api: Any, device: ctypes.c_int, number: int) -> int:
    value = ctypes.c_int()
    api.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value
