"""The features of a live device, as a device profile has them: from the API of its driver, by its UUID;
and why a driver's library does not load.

The devices of this machine in the Vulkan API: features, properties and limits with Vulkan's names.

IREE's description of a device has no limits and not all features. Asks the loader itself, by ctypes: the package
`vulkan` of PyPI wraps all of Vulkan, needs cffi, and takes longer to import than this takes to ask. Runs in workers.
Structures, numbers and names are those of the Vulkan 1.3 specification and of the extensions VK_KHR_cooperative_matrix
and VK_KHR_shader_bfloat16.

The devices of this machine in the CUDA driver API, with the names of `cudaDeviceProp`. By ctypes, in workers.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import itertools
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from ctypes import POINTER, Structure, c_char, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from retarget.model import FeatureValue, vendor_name

from retarget_iree.runtime.devices import HAL_DRIVERS, HOST_DRIVERS

_HOST = (
    "-",
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--compile-to=preprocessing",
)
_EMPTY = "util.func public @probe() {\n  util.return\n}\n"
_TARGET = re.compile(r'\{cpu = "(?P<cpu>[^"]*)", cpu_features = "(?P<features>[^"]*)"')
_CPU_LINE = re.compile(r"(?m)^(?P<name>\S+) +(?P<has>[01])$")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_SYSTEMS = {"Linux": "unknown-linux-gnu", "Darwin": "apple-darwin", "Windows": "pc-windows-msvc"}


def live_features(driver: str, path: str, dump: str, *, complete: bool) -> tuple[tuple[str, FeatureValue], ...]:
    """Return the features of a device that IREE's runtime knows by `path` (`GPU-` and its UUID) and describes in
    `dump`; none for a driver of which nothing is known.

    Those of the CPU are what `iree-cpuinfo` reports; `complete` ones are also all that LLVM knows, which takes IREE's
    compiler a quarter of a second.
    """
    if driver in HOST_DRIVERS:
        return _cpu_features(complete=complete)
    uuid = _UUID.search(path)
    key = uuid[0].replace("-", "").lower() if uuid is not None else ""
    found: Mapping[str, FeatureValue] = {}
    if driver == "vulkan":
        found = vulkan_features().get(key, {})
    elif driver == "cuda":
        found = cuda_features().get(key, {})
    elif driver in HAL_DRIVERS and (architecture := re.search(r"\bgfx[0-9a-f]+\b", dump)):
        found = {"device_type": "gpu", HAL_DRIVERS[driver].chip: architecture[0]}
    return tuple(sorted(found.items()))


@functools.cache
def host_vendor() -> str:
    """Return the vendor of the host's CPU; empty where the system does not say."""
    with contextlib.suppress(OSError):
        named = re.search(r"(?m)^vendor_id\s*: *(\S+)", Path("/proc/cpuinfo").read_text(errors="replace"))
        return vendor_name(named[1]) if named is not None else ""
    return "Apple" if platform.system() == "Darwin" and platform.machine() == "arm64" else ""


def host_triple() -> str:
    """Return the target triple of this host, as LLVM writes it."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return f"{machine}-{_SYSTEMS.get(platform.system(), 'unknown')}"


def host_memory() -> int:
    """Return this machine's memory in bytes, 0 where the system does not say. It is less by up to an eighth: systems
    keep a part for themselves, which differs from one start to the next."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    step = 1 << max(size.bit_length() - 4, 0)
    return size // step * step


@functools.cache
def _cpu_features(*, complete: bool) -> tuple[tuple[str, FeatureValue], ...]:
    found: dict[str, FeatureValue] = {"device_type": "cpu", "cpu.triple": host_triple()}
    if memory := host_memory():
        found["memory"] = memory
    reported = _output("iree._runtime_libs", "iree-cpuinfo")
    found |= {f"cpu.{line['name']}": line["has"] == "1" for line in _CPU_LINE.finditer(reported)}
    if complete and (
        target := _TARGET.search(_output("iree.compiler", "_mlir_libs/iree-compile", *_HOST, input=_EMPTY))
    ):
        found["cpu.name"] = target["cpu"]
        for feature in filter(None, target["features"].split(",")):  # later ones win, as in LLVM
            found[f"cpu.{feature[1:]}"] = feature[0] == "+"
    return tuple(sorted(found.items()))


def _output(package: str, tool: str, *arguments: str, input: str = "") -> str:  # noqa: A002 - as subprocess has it
    """Return what a tool in a package's folder prints; nothing where there is none."""
    with contextlib.suppress(OSError, subprocess.SubprocessError, ModuleNotFoundError):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            argv = [str(Path(folder) / tool), *arguments]
            return subprocess.run(argv, input=input, capture_output=True, text=True, check=True, timeout=60).stdout
    return ""


_CREATE_INSTANCE = "from retarget_iree.runtime.apis import vulkan_features; vulkan_features()"
_SAID = re.compile(r"(?m)^(?:\[Vulkan Loader\] )?(?:ERROR|WARNING)[^:]*: *(.*)$")
_SECONDS = 60


def library_complaints(name: str) -> tuple[str, ...]:
    """Return why a library is there and does not load; none if it loads, or is not there."""
    try:
        ctypes.CDLL(name)
    except OSError as error:
        if not str(error).startswith(f"{name}: cannot open shared object file: No such file"):
            return (str(error),)
    return ()


def vulkan_complaints() -> tuple[str, ...]:
    """Return what the Vulkan loader says of the drivers (ICDs) that it does not start, each once.

    It reads once in a process what it is to say, so another one asks it.
    """
    if found := library_complaints("libvulkan.so.1"):
        return found
    environment = os.environ | {"VK_LOADER_DEBUG": "error,warn", "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", _CREATE_INSTANCE]
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ()
    said = dict.fromkeys(match[1].strip() for match in _SAID.finditer(done.stderr))
    return tuple(line for line in said if "Found no drivers" not in line)


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
        return dict(_cuda_devices(ctypes.CDLL(_LIBRARY)))
    except OSError:
        return {}


def _cuda_devices(api: Any) -> Iterator[tuple[str, dict[str, FeatureValue]]]:
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
