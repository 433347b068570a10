"""OpenCL platforms and devices: listing them, finding one by URI, and what each can do."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import re
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo, FeatureValue, vendor_name
from retarget.profiles import Profile
from retarget_iree.runtime.apis import host_memory

from retarget_opencl.builds import runtime_build
from retarget_opencl.device.implementations import INSTALL, known_fault, platforms_here
from retarget_opencl.device.profile import DRIVER, compile_profile
from retarget_opencl.internals import loaded_library

if TYPE_CHECKING:
    import pyopencl as cl

SOURCE = "clGetDeviceInfo"
OCLGRIND = "Oclgrind"


class FoundDevice(Struct, frozen=True, kw_only=True):
    """A device, its index in the list of all devices, its platform's name and version, its index in the platform.

    `fault` says in one line why its compiler builds no kernels, empty for one that does, or that was not `tried`: a
    machine may be too busy for it. `passed_over` are the faults of the devices that would be the first in place of this
    one.
    """

    device: cl.Device
    ordinal: int
    platform: str
    platform_ordinal: int
    version: str = ""
    fault: str = ""
    tried: bool = True
    passed_over: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """What driver and device say of themselves; PoCL has LLVM's name of the CPU in the device's version."""
        device = self.device
        return self.platform, self.version, device.name, device.version, device.driver_version

    @property
    def implementation(self) -> str:
        """`PoCL 3.0-rc2`, `Oclgrind 21.10`; of others the platform's name and the driver's version."""
        found = re.search(r"(PoCL|Oclgrind) [\w.-]+", self.version)
        return found[0] if found else f"{self.platform} {self.device.driver_version}"


def list_devices(*, again: bool = False) -> tuple[FoundDevice, ...]:
    """List the devices of all platforms: GPUs and accelerators, PoCL's, the newest first, those of other
    implementations for the CPU, Oclgrind's, which interprets, then those for the CPU that could not be tried, and last
    those whose compiler builds no kernels. With `again`, these are tried once more. Raises `UnavailableError` if there
    is no pyopencl, platform or device."""
    platforms = platforms_here()
    import pyopencl as cl

    found: list[FoundDevice] = []
    places: dict[tuple[str, ...], tuple[int, int]] = {}  # of devices that are alike, the first is tried
    for number, platform in enumerate(platforms):
        try:
            devices = platform.get_devices()
        except cl.Error:
            # A platform without devices answers CL_DEVICE_NOT_FOUND.
            continue
        for index, device in enumerate(devices):
            name, version = platform.name, platform.version
            found.append(FoundDevice(device=device, ordinal=0, platform=name, platform_ordinal=index, version=version))
            places.setdefault(found[-1].identity, (number, index))
    if not found:
        msg = f"none of the OpenCL platforms here ({', '.join(item.name for item in platforms) or 'none'}) has a device"
        raise UnavailableError(msg, INSTALL)
    with ThreadPoolExecutor(len(places)) as threads:  # they wait for processes
        tried = list(threads.map(partial(known_fault, again=again), places, places.values()))
    faults = dict(zip(places, tried, strict=True))
    judged = ((one, faults[one.identity]) for one in found)
    preferred = sorted((replace(one, fault=said or "", tried=said is not None) for one, said in judged), key=_rank)
    # A GPU that does not open is another's just now, and is waited for.
    ordered = sorted(preferred, key=lambda one: (bool(one.fault), not one.tried and _rank(one) > (0,)))
    ordered[0] = replace(ordered[0], passed_over=_reasons(preferred[: preferred.index(ordered[0])]))
    return tuple(replace(one, ordinal=ordinal) for ordinal, one in enumerate(ordered))


def _reasons(devices: Sequence[FoundDevice]) -> tuple[str, ...]:
    why = ((one.implementation, one.fault or "could not be tried") for one in devices)
    return tuple(dict.fromkeys(f"{implementation}: {fault}" for implementation, fault in why))


def _rank(found: FoundDevice) -> tuple[int, ...]:
    import pyopencl as cl

    if found.platform == OCLGRIND:
        return (3,)
    if not found.device.type & cl.device_type.CPU:
        return (0,)
    pocl = re.search(r"PoCL (\d+)\.(\d+)", found.version)
    return (1, -int(pocl[1]), -int(pocl[2])) if pocl else (2,)


def find_device(uri: str, devices: Sequence[FoundDevice]) -> FoundDevice:
    """Return the device that `uri` names.

    `opencl://` is the first device, `opencl://1` or `1` the second of all, `opencl://nvidia/0` the first of the
    platform whose name contains `nvidia`, or else whose version does (`opencl://pocl/0`); any other text is looked for
    in the names of devices and platforms.
    Raises `UnavailableError` for a name that nothing has, that several devices have, or whose device builds no kernels.
    """
    found = _named(uri, devices)
    if found.fault:
        msg = (
            f"the OpenCL device {found.device.name.strip()} of {found.implementation} builds no kernels: {found.fault}"
        )
        if all(one.fault for one in devices):
            msg = f"no OpenCL device here builds kernels: {'; '.join(_reasons(devices))}"
        raise UnavailableError(msg, INSTALL)
    return found


def _named(uri: str, devices: Sequence[FoundDevice]) -> FoundDevice:
    """Return the device that a URI names, one that works where several have the name."""
    wanted = uri.removeprefix(f"{DRIVER}://").strip("/")
    listing = "; ".join(f"opencl://{item.ordinal} is {item.device.name} of {item.platform}" for item in devices)
    if not wanted or wanted == DRIVER:
        return devices[0]
    if wanted.isdigit():
        if int(wanted) < len(devices):
            return devices[int(wanted)]
        msg = f"there is no OpenCL device {wanted}; {listing}"
        raise UnavailableError(msg)
    match = re.fullmatch(r"(.+)/(\d+)", wanted)
    if match is not None:
        name, number = match[1].replace("%20", " "), int(match[2])
        candidates = [item for item in devices if name.lower() in item.platform.lower()]
        candidates = candidates or [item for item in devices if name.lower() in item.version.lower()]
        platforms = {item.platform for item in candidates}
        if len(platforms) > 1:
            msg = f"the OpenCL platform {name!r} is ambiguous: {', '.join(sorted(platforms))}"
            raise UnavailableError(msg, "write more of the name, or opencl://N")
        for item in candidates:
            if item.platform_ordinal == number:
                return item
        msg = f"there is no OpenCL device {uri}; {listing}"
        raise UnavailableError(msg)
    named = [item for item in devices if wanted.lower() in item.device.name.lower()]
    named = named or [item for item in devices if wanted.lower() in item.platform.lower()]
    named = [item for item in named if not item.fault] or named[:1]
    if len(named) == 1:
        return named[0]
    what = "is ambiguous" if named else "is not there"
    msg = f"the OpenCL device {wanted!r} {what}; {listing}"
    raise UnavailableError(msg, "write more of the name, or opencl://N" if named else "")


def _query(device: cl.Device, name: str, default: Any) -> Any:
    import pyopencl as cl

    try:
        return getattr(device, name)
    except (cl.Error, AttributeError):
        return default


def _memory(found: FoundDevice) -> tuple[int, int]:
    """Return a device's memory and the most of it that one buffer takes, in bytes.

    PoCL derives both from what the system has at that moment, on which no compile key, profile or requirement may
    depend: its memory is the machine's, or `POCL_MEMORY_LIMIT` in GiB, and a buffer takes a quarter, as a power of two.
    """
    import pyopencl as cl

    device, whole = found.device, host_memory()
    memory, largest = int(device.global_mem_size), int(device.max_mem_alloc_size)
    if whole and device.type & cl.device_type.CPU:
        memory = min(memory, whole)
        if "pocl" in found.version.lower():
            limit = os.environ.get("POCL_MEMORY_LIMIT", "")
            memory = min(whole, int(limit) << 30) if limit.isdigit() and int(limit) else whole
            largest = 1 << (memory // 4).bit_length() - 1
    return memory, largest


def features_of(found: FoundDevice) -> tuple[tuple[str, FeatureValue], ...]:
    """Return the capabilities of a device, by the names of `retarget.profiles.files`."""
    import pyopencl as cl

    device = found.device
    extensions = set(device.extensions.split())
    types = ((cl.device_type.CPU, "cpu"), (cl.device_type.GPU, "gpu"))
    single = int(_query(device, "single_fp_config", 0))
    memory, largest = _memory(found)
    features: dict[str, FeatureValue] = {
        "device_type": next((name for bit, name in types if device.type & bit), "accelerator"),
        "memory": memory,
        **Profile.of_extensions(extensions),
        # Of an embedded profile, 64-bit integers are an extension; since 3.0, sub-groups need none.
        "opencl.int64": device.profile == "FULL_PROFILE" or "cles_khr_int64" in extensions,
        "opencl.subgroups": "cl_khr_subgroups" in extensions or bool(_query(device, "max_num_sub_groups", 0)),
        "opencl.correctlyRoundedDivideSqrt": bool(single & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT),
        "opencl.localMemSize": int(device.local_mem_size),
        "opencl.maxComputeUnits": int(device.max_compute_units),
        "opencl.maxMemAllocSize": largest,
        "opencl.maxWorkGroupSize": int(device.max_work_group_size),
        "opencl.maxWorkItemSizes": tuple(int(size) for size in device.max_work_item_sizes),
        "opencl.platform": found.platform,
        "opencl.vendor": device.vendor,
        # "OpenCL 3.0 CUDA"
        "opencl.version": device.version.split()[1],
    }
    if major := int(_query(device, "compute_capability_major_nv", 0)):
        minor = int(_query(device, "compute_capability_minor_nv", 0))
        features["opencl.computeCapabilityNV"] = f"{major}.{minor}"
    for name in ("warp_size_nv", "wavefront_width_amd"):
        if size := int(_query(device, name, 0)):
            features["opencl.subgroupSizes"] = (size,)
    if "cl_intel_required_subgroup_size" in extensions:
        sizes = _raw(device, _SUBGROUP_SIZES_INTEL)
        if found_sizes := struct.unpack(f"{len(sizes) // 8}Q", sizes):
            features["opencl.subgroupSizes"] = tuple(int(size) for size in found_sizes)
    return tuple(sorted(features.items()))


def profile_of(found: FoundDevice) -> Profile:
    """Return the profile of a device."""
    return Profile.of_device(info_of(found), SOURCE)


# Queries that pyopencl does not know.
_SUBGROUP_SIZES_INTEL = 0x4108  # CL_DEVICE_SUB_GROUP_SIZES_INTEL, of size_t
_UUID_KHR = 0x106A  # CL_DEVICE_UUID_KHR


def _raw(device: cl.Device, name: int) -> bytes:
    """Return the bytes that a device answers to a query; none if it does not know it."""
    content, size = (ctypes.c_ubyte * 256)(), ctypes.c_size_t()
    try:
        query = loaded_library().clGetDeviceInfo
    except (OSError, AttributeError):
        return b""
    query.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    query.restype = ctypes.c_int
    status = query(device.int_ptr, name, ctypes.sizeof(content), content, ctypes.byref(size))
    return bytes(content)[: size.value] if status == 0 else b""


def _uuid(device: cl.Device) -> str:
    """Return a device's UUID in hexadecimal; empty if it reports none. Vulkan and CUDA report the same."""
    return _raw(device, _UUID_KHR).hex() if "cl_khr_device_uuid" in device.extensions.split() else ""


def info_of(found: FoundDevice) -> DeviceInfo:
    """Return what `retarget devices` shows of a device."""
    device = found.device
    uuid = _uuid(device)
    physical = f"gpu-{uuid}" if uuid else f"{DRIVER}-{found.platform}-{found.platform_ordinal}"
    features = features_of(found)
    info = DeviceInfo(
        driver=DRIVER,
        uri=f"{DRIVER}://{found.ordinal}",
        ordinal=found.ordinal,
        name=device.name.strip(),
        physical_id="cpu" if ("device_type", "cpu") in features else physical,
        driver_version=device.driver_version,
        runtime=runtime_build(),
        features=features,
        note="; ".join((found.implementation, *(f"not used: {one}" for one in found.passed_over))),
        unusable=found.fault,
        remedy=INSTALL if found.fault else "",
        vendor=vendor_name(device.vendor),
        driver_name="PoCL" if found.platform == "Portable Computing Language" else found.platform,
        type=str(dict(features)["device_type"]),
    )
    profile = compile_profile(Profile.of_device(info, SOURCE))
    return dataclasses.replace(
        info,
        capabilities=(
            ("platform", found.platform),
            ("version", device.version.strip()),
            ("arch", profile.arch),
            ("fp64", "yes" if profile.fp64 else "no"),
            ("fp16", profile.half),
            ("subgroups", f"{profile.subgroups}, {profile.subgroup_size}"),
            ("matrices", profile.matrices),
            ("compute_units", str(device.max_compute_units)),
            ("max_workgroup", str(device.max_work_group_size)),
            ("local_memory", f"{device.local_mem_size // 1024} KiB"),
            ("memory", f"{_memory(found)[0] // 2**20} MiB"),
        ),
    )
