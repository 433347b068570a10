"""OpenCL platforms and devices: listing them, finding one by URI, and what each can do."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from retarget.extension import UnavailableError
from retarget.model.outcomes import DeviceInfo, FeatureValue
from retarget.profiles.names import OPENCL_EXTENSIONS
from retarget.profiles.profile import Profile, profile_of_device
from retarget.support.installing import install_hint

from retarget_opencl.builds import runtime_build
from retarget_opencl.device.icds import icd_complaints, icds_registered
from retarget_opencl.device.profile import DRIVER, compile_profile

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["OCLGRIND", "FoundDevice", "features_of", "find_device", "info_of", "list_devices", "profile_of"]

SOURCE = "clGetDeviceInfo"
OCLGRIND = "Oclgrind"
_INSTALL = "`pip install pocl-binary-distribution` for OpenCL on the CPU, or install the GPU vendor's OpenCL driver"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDevice:
    """A device, its index in the list of all devices, its platform's name and version, its index in the platform."""

    device: cl.Device
    ordinal: int
    platform: str
    platform_ordinal: int
    version: str = ""


def list_devices() -> tuple[FoundDevice, ...]:
    """List the devices of all platforms: GPUs and accelerators, PoCL's, those of other implementations for the CPU, and
    Oclgrind's, which is a checker, last. Raises `UnavailableError` if there is no pyopencl, platform or device."""
    try:
        import pyopencl as cl
    except ImportError as error:
        msg = f"the driver opencl needs the package pyopencl of the extra [opencl], which is not installed ({error})"
        raise UnavailableError(msg, install_hint("opencl")) from error
    found: list[tuple[int, cl.Device, cl.Platform, int]] = []
    try:
        with icds_registered():
            platforms = cl.get_platforms()
    except cl.LogicError as error:
        said = "; ".join(icd_complaints())
        msg = (
            f"no OpenCL driver (ICD) of this machine loads: {said}"
            if said
            else "there is no OpenCL platform on this machine"
        )
        raise UnavailableError(msg, _INSTALL) from error
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except cl.Error:
            # A platform without devices answers CL_DEVICE_NOT_FOUND.
            continue
        found += [(_rank(device, platform), device, platform, index) for index, device in enumerate(devices)]
    if not found:
        msg = f"none of the OpenCL platforms here ({', '.join(item.name for item in platforms) or 'none'}) has a device"
        raise UnavailableError(msg, _INSTALL)
    found.sort(key=lambda one: one[0])
    return tuple(
        FoundDevice(
            device=device, ordinal=ordinal, platform=platform.name, platform_ordinal=index, version=platform.version
        )
        for ordinal, (_, device, platform, index) in enumerate(found)
    )


def _rank(device: cl.Device, platform: cl.Platform) -> int:
    import pyopencl as cl

    if platform.name == OCLGRIND:
        return 3
    if not device.type & cl.device_type.CPU:
        return 0
    return 1 if "pocl" in platform.version.lower() else 2


def _matches(name: str, wanted: str) -> bool:
    return wanted.lower() in name.lower()


def find_device(uri: str, devices: Sequence[FoundDevice]) -> FoundDevice:
    """Return the device that `uri` names.

    `opencl://` is the first device, `opencl://1` or `1` the second of all, `opencl://nvidia/0` the first of the
    platform whose name contains `nvidia`, or else whose version does (`opencl://pocl/0`); any other text is looked for
    in the names of devices and platforms.
    Raises `UnavailableError` for a name that nothing has, or that several devices have.
    """
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
        candidates = [item for item in devices if _matches(item.platform, name)]
        candidates = candidates or [item for item in devices if _matches(item.version, name)]
        platforms = {item.platform for item in candidates}
        if len(platforms) > 1:
            msg = f"the OpenCL platform {name!r} is ambiguous: {', '.join(sorted(platforms))}"
            raise UnavailableError(msg, "write more of the name, or opencl://N")
        for item in candidates:
            if item.platform_ordinal == number:
                return item
        msg = f"there is no OpenCL device {uri}; {listing}"
        raise UnavailableError(msg)
    named = [item for item in devices if _matches(item.device.name, wanted)]
    named = named or [item for item in devices if _matches(item.platform, wanted)]
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


def features_of(found: FoundDevice) -> tuple[tuple[str, FeatureValue], ...]:
    """Return the capabilities of a device, by the names of `retarget.profiles.names`."""
    import pyopencl as cl

    device = found.device
    extensions = set(device.extensions.split())
    types = ((cl.device_type.CPU, "cpu"), (cl.device_type.GPU, "gpu"))
    single = int(_query(device, "single_fp_config", 0))
    features: dict[str, FeatureValue] = {
        "device_type": next((name for bit, name in types if device.type & bit), "accelerator"),
        "memory": int(device.global_mem_size),
        **{f"opencl.{name}": f"cl_khr_{name}" in extensions for name in OPENCL_EXTENSIONS},
        "opencl.cl_nv_device_attribute_query": "cl_nv_device_attribute_query" in extensions,
        # Of an embedded profile, 64-bit integers are an extension; since 3.0, sub-groups need none.
        "opencl.int64": device.profile == "FULL_PROFILE" or "cles_khr_int64" in extensions,
        "opencl.subgroups": "cl_khr_subgroups" in extensions or bool(_query(device, "max_num_sub_groups", 0)),
        "opencl.correctlyRoundedDivideSqrt": bool(single & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT),
        "opencl.localMemSize": int(device.local_mem_size),
        "opencl.maxComputeUnits": int(device.max_compute_units),
        "opencl.maxMemAllocSize": int(device.max_mem_alloc_size),
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
    return profile_of_device(info_of(found), SOURCE)


# Queries that pyopencl does not know.
_SUBGROUP_SIZES_INTEL = 0x4108  # CL_DEVICE_SUB_GROUP_SIZES_INTEL, of size_t
_UUID_KHR = 0x106A  # CL_DEVICE_UUID_KHR


def _raw(device: cl.Device, name: int) -> bytes:
    """Return the bytes that a device answers to a query; none if it does not know it."""
    import pyopencl as cl

    content, size = (ctypes.c_ubyte * 256)(), ctypes.c_size_t()
    try:
        # The library that pyopencl is linked with is found through pyopencl's own.
        query = ctypes.CDLL(cl._cl.__file__).clGetDeviceInfo  # noqa: SLF001 - the path of the loaded library
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
    )
    profile = compile_profile(profile_of_device(info, SOURCE))
    return replace(
        info,
        capabilities=(
            ("platform", found.platform),
            ("version", device.version.strip()),
            ("arch", profile.arch),
            ("fp64", "yes" if profile.fp64 else "no"),
            ("fp16", profile.half),
            ("int64_atomics", "yes" if profile.int64_atomics else "no"),
            ("subgroups", f"{profile.subgroups}, {profile.subgroup_size}"),
            ("matrices", profile.matrices),
            ("compute_units", str(device.max_compute_units)),
            ("max_workgroup", str(device.max_work_group_size)),
            ("local_memory", f"{device.local_mem_size // 1024} KiB"),
            ("memory", f"{device.global_mem_size // 2**20} MiB"),
        ),
    )
