"""The devices of this machine in the Vulkan API: features, properties and limits with Vulkan's names.

IREE's description of a device has no limits and not all features. Asks the loader itself, by ctypes: the package
`vulkan` of PyPI wraps all of Vulkan, needs cffi, and takes longer to import than this takes to ask. Runs in workers.
Structures, numbers and names are those of the Vulkan 1.3 specification and of the extensions VK_KHR_cooperative_matrix
and VK_KHR_shader_bfloat16.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import sys
from collections.abc import Iterator, Mapping
from ctypes import POINTER, Structure, c_char, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any

from retarget.model import FeatureValue

_LIBRARIES = {"win32": ("vulkan-1.dll",), "darwin": ("libvulkan.dylib", "libvulkan.1.dylib")}
_DEVICE_TYPES = {1: "gpu", 2: "gpu", 3: "gpu", 4: "cpu"}
_DEVICE_LOCAL = 1
_SUBGROUP_SCOPE = 3
_STAGE_COMPUTE = 0x20
_SUBGROUP = ("BASIC", "VOTE", "ARITHMETIC", "BALLOT", "SHUFFLE", "SHUFFLE_RELATIVE", "CLUSTERED", "QUAD")
_COMPONENTS = dict(
    enumerate(("float16", "float32", "float64", "sint8", "sint16", "sint32", "sint64", "uint8", "uint16"))
)
_COMPONENTS |= {9: "uint32", 10: "uint64", 1000141000: "bfloat16"}

_CORE_FEATURES = {35: "shaderStorageBufferArrayDynamicIndexing"}
_CORE_FEATURES |= {0: "robustBufferAccess", 39: "shaderFloat64", 40: "shaderInt64", 41: "shaderInt16"}

_FEATURES = {
    1000083000: "storageBuffer16BitAccess uniformAndStorageBuffer16BitAccess storagePushConstant16",
    1000177000: "storageBuffer8BitAccess uniformAndStorageBuffer8BitAccess storagePushConstant8",
    1000082000: "shaderFloat16 shaderInt8",
    1000120000: "variablePointersStorageBuffer variablePointers",
    1000180000: "shaderBufferInt64Atomics shaderSharedInt64Atomics",
    1000211000: "vulkanMemoryModel vulkanMemoryModelDeviceScope",
    1000221000: "scalarBlockLayout",
    1000225002: "subgroupSizeControl computeFullSubgroups",
    1000257000: "bufferDeviceAddress",
    1000280000: "shaderIntegerDotProduct",
    1000506000: "cooperativeMatrix cooperativeMatrixRobustBufferAccess",
    1000141000: "shaderBFloat16Type shaderBFloat16DotProduct shaderBFloat16CooperativeMatrix",
}
"""Of each structure of features: its `VkStructureType`, and the names of its first fields."""


class _Limits(Structure):
    """The first half of `VkPhysicalDeviceLimits`; `rest` fills it up to its size of 504 bytes."""

    _fields_ = [
        ("_images", c_uint32 * 7),
        ("maxStorageBufferRange", c_uint32),
        ("maxPushConstantsSize", c_uint32),
        ("_allocations", c_uint32 * 2),
        ("_granularity", c_uint64 * 2),
        ("maxBoundDescriptorSets", c_uint32),
        ("_stages", c_uint32 * 37),
        ("maxComputeSharedMemorySize", c_uint32),
        ("maxComputeWorkGroupCount", c_uint32 * 3),
        ("maxComputeWorkGroupInvocations", c_uint32),
        ("maxComputeWorkGroupSize", c_uint32 * 3),
        ("rest", c_uint32 * 64),
    ]


class _Properties(Structure):
    """`VkPhysicalDeviceProperties2`."""

    _fields_ = [
        ("sType", c_int32),
        ("pNext", c_void_p),
        ("apiVersion", c_uint32),
        ("driverVersion", c_uint32),
        ("vendorID", c_uint32),
        ("deviceID", c_uint32),
        ("deviceType", c_int32),
        ("deviceName", c_char * 256),
        ("_pipelineCacheUUID", c_uint8 * 16),
        ("limits", _Limits),
        ("_sparse", c_uint32 * 5),
    ]


class _Chained(Structure):
    """Any structure of 32-bit words that extends another; a driver fills those that it knows."""

    _fields_ = [("sType", c_int32), ("pNext", c_void_p), ("words", c_uint32 * 64)]


class _Heap(Structure):
    _fields_ = [("size", c_uint64), ("flags", c_uint32)]


class _Memory(Structure):
    """`VkPhysicalDeviceMemoryProperties`."""

    _fields_ = [("typeCount", c_uint32), ("types", c_uint32 * 64), ("heapCount", c_uint32), ("heaps", _Heap * 16)]


class _CooperativeMatrix(Structure):
    """`VkCooperativeMatrixPropertiesKHR`: sizes M, N, K, then the types of A, B, C and of the result."""

    _fields_ = [
        ("sType", c_int32),
        ("pNext", c_void_p),
        ("sizes", c_uint32 * 3),
        ("types", c_int32 * 4),
        ("saturatingAccumulation", c_uint32),
        ("scope", c_int32),
    ]


class _Application(Structure):
    """`VkApplicationInfo`."""

    _fields_ = [("sType", c_int32), ("pNext", c_void_p), ("_name", c_void_p), ("_version", c_uint32)]
    _fields_ += [("_engine", c_void_p), ("_engineVersion", c_uint32), ("apiVersion", c_uint32)]


class _Instance(Structure):
    """`VkInstanceCreateInfo`."""

    _fields_ = [("sType", c_int32), ("pNext", c_void_p), ("flags", c_uint32), ("application", c_void_p)]
    _fields_ += [("_layers", c_void_p * 2), ("_extensions", c_void_p * 2)]


@functools.cache
def vulkan_features() -> Mapping[str, Mapping[str, FeatureValue]]:
    """Return the features of each device by its UUID in hexadecimal; none where the API cannot be asked."""
    names = _LIBRARIES.get(sys.platform, ("libvulkan.so.1", "libvulkan.so"))
    for name in names:
        with contextlib.suppress(OSError):
            return dict(_devices(ctypes.CDLL(name)))
    return {}


def _devices(api: Any) -> Iterator[tuple[str, dict[str, FeatureValue]]]:
    application = _Application(sType=0, apiVersion=1 << 22 | 3 << 12)
    creation = _Instance(sType=1, application=ctypes.cast(ctypes.pointer(application), c_void_p))
    instance = c_void_p()
    if api.vkCreateInstance(ctypes.byref(creation), None, ctypes.byref(instance)) != 0:
        return
    try:
        count = c_uint32()
        api.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
        devices = (c_void_p * count.value)()
        api.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
        for device in devices[: count.value]:
            yield _device(api, instance, c_void_p(device))
    finally:
        api.vkDestroyInstance(instance, None)


def _device(api: Any, instance: c_void_p, device: c_void_p) -> tuple[str, dict[str, FeatureValue]]:
    identity, subgroup, sizes = (_Chained(sType=number) for number in (1000071004, 1000094000, 1000225000))
    properties = _Properties(sType=1000059001, pNext=_chain(identity, subgroup, sizes))
    api.vkGetPhysicalDeviceProperties2(device, ctypes.byref(properties))
    structures = {number: _Chained(sType=number) for number in _FEATURES}
    features = _Chained(sType=1000059000, pNext=_chain(*structures.values()))
    api.vkGetPhysicalDeviceFeatures2(device, ctypes.byref(features))
    memory = _Memory()
    api.vkGetPhysicalDeviceMemoryProperties(device, ctypes.byref(memory))

    yes_no = {name: bool(features.words[index]) for index, name in _CORE_FEATURES.items()}
    for number, names in _FEATURES.items():
        yes_no |= {name: bool(structures[number].words[index]) for index, name in enumerate(names.split())}
    found: dict[str, FeatureValue] = {f"vulkan.{name}": value for name, value in yes_no.items()}
    version, limits = properties.apiVersion, properties.limits
    found["vulkan.apiVersion"] = f"{version >> 22 & 0x7F}.{version >> 12 & 0x3FF}.{version & 0xFFF}"
    found["vulkan.vendorID"], found["vulkan.deviceID"] = properties.vendorID, properties.deviceID
    for name in (field[0] for field in _Limits._fields_ if field[0].startswith("max")):
        limit = getattr(limits, name)
        found[f"vulkan.{name}"] = limit if isinstance(limit, int) else tuple(limit)
    found["vulkan.subgroupSize"] = subgroup.words[0]
    if subgroup.words[1] & _STAGE_COMPUTE:
        operations = tuple(
            f"VK_SUBGROUP_FEATURE_{name}_BIT" for bit, name in enumerate(_SUBGROUP) if subgroup.words[2] >> bit & 1
        )
        found["vulkan.subgroupSupportedOperations"] = operations
    if sizes.words[1]:
        found["vulkan.minSubgroupSize"], found["vulkan.maxSubgroupSize"] = sizes.words[0], sizes.words[1]
    if matrices := tuple(_matrices(api, instance, device)) if yes_no["cooperativeMatrix"] else ():
        found["vulkan.cooperativeMatrixProperties"] = matrices
    heaps = memory.heaps[: memory.heapCount]
    found["memory"] = max((heap.size for heap in heaps if heap.flags & _DEVICE_LOCAL), default=0)
    found["device_type"] = _DEVICE_TYPES.get(properties.deviceType, "accelerator")
    return bytes(identity.words)[:16].hex(), found


def _matrices(api: Any, instance: c_void_p, device: c_void_p) -> Iterator[str]:
    """Yield the products of matrices that a subgroup computes, as `16x16x16 float16 float16 float32 float32`."""
    api.vkGetInstanceProcAddr.restype = c_void_p
    address = api.vkGetInstanceProcAddr(instance, b"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR")
    if not address:
        return
    query = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(c_uint32), c_void_p)(address)
    count = c_uint32()
    query(device, ctypes.byref(count), None)
    products = (_CooperativeMatrix * count.value)(*(_CooperativeMatrix(sType=1000506001) for _ in range(count.value)))
    query(device, ctypes.byref(count), ctypes.cast(products, c_void_p))
    for product in products[: count.value]:
        types = [_COMPONENTS.get(number, str(number)) for number in product.types]
        if product.scope == _SUBGROUP_SCOPE:
            yield " ".join(["x".join(map(str, product.sizes)), *types])


def _chain(*structures: _Chained) -> int:
    """Let each structure point to the next, and return the address of the first."""
    for one, following in itertools.pairwise(structures):
        one.pNext = ctypes.addressof(following)
    return ctypes.addressof(structures[0])
