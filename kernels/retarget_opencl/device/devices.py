"""OpenCL platforms and devices: listing them, finding one by URI, and what each can do."""

from __future__ import annotations

import ctypes
import importlib.metadata
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retarget.extension import UnavailableError
from retarget.model.outcomes import DeviceInfo
from retarget.support.installing import install_hint

from retarget_opencl.device.profile import DeviceProfile

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["FoundDevice", "find_device", "info_of", "list_devices", "profile_of", "runtime_version"]

SCHEME = "opencl"
_INSTALL = "`pip install pocl-binary-distribution` for OpenCL on the CPU, or install the GPU vendor's OpenCL driver"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDevice:
    """A device, its index in the list of all devices, its platform's name and its index in the platform."""

    device: cl.Device
    ordinal: int
    platform: str
    platform_ordinal: int


def list_devices() -> tuple[FoundDevice, ...]:
    """List the devices of all platforms. Raises `UnavailableError` if there is no pyopencl, platform or device."""
    try:
        import pyopencl as cl
    except ImportError as error:
        msg = f"the driver opencl needs the package pyopencl of the extra [opencl], which is not installed ({error})"
        raise UnavailableError(msg, install_hint("opencl")) from error
    found: list[FoundDevice] = []
    try:
        platforms = cl.get_platforms()
    except cl.LogicError as error:
        msg = "there is no OpenCL platform on this machine"
        raise UnavailableError(msg, _INSTALL) from error
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except cl.Error:
            # A platform without devices answers CL_DEVICE_NOT_FOUND.
            continue
        for index, device in enumerate(devices):
            found.append(FoundDevice(device=device, ordinal=len(found), platform=platform.name, platform_ordinal=index))
    if not found:
        msg = f"none of the OpenCL platforms here ({', '.join(item.name for item in platforms) or 'none'}) has a device"
        raise UnavailableError(msg, _INSTALL)
    return tuple(found)


def _matches(name: str, wanted: str) -> bool:
    return wanted.lower() in name.lower()


def find_device(uri: str, devices: Sequence[FoundDevice]) -> FoundDevice:
    """Return the device that `uri` names.

    `opencl://` is the first device, `opencl://1` or `1` the second of all, `opencl://nvidia/0` the first of the
    platform whose name contains `nvidia`; any other text is looked for in the names of devices and platforms.
    Raises `UnavailableError` for a name that nothing has, or that several devices have.
    """
    wanted = uri.removeprefix(f"{SCHEME}://").strip("/")
    listing = "; ".join(f"opencl://{item.ordinal} is {item.device.name} of {item.platform}" for item in devices)
    if not wanted or wanted == SCHEME:
        return devices[0]
    if wanted.isdigit():
        if int(wanted) < len(devices):
            return devices[int(wanted)]
        msg = f"there is no OpenCL device {wanted}; {listing}"
        raise UnavailableError(msg)
    match = re.fullmatch(r"(.+)/(\d+)", wanted)
    if match is not None:
        name, number = match[1].replace("%20", " "), int(match[2])
        platforms = {item.platform for item in devices if _matches(item.platform, name)}
        if len(platforms) > 1:
            msg = f"the OpenCL platform {name!r} is ambiguous: {', '.join(sorted(platforms))}"
            raise UnavailableError(msg, "write more of the name, or opencl://N")
        for item in devices:
            if item.platform in platforms and item.platform_ordinal == number:
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


def profile_of(found: FoundDevice) -> DeviceProfile:
    """Return the profile of a device. `docs/opencl.md` explains how the architecture is chosen."""
    import pyopencl as cl

    device = found.device
    extensions = set(device.extensions.split())
    vendor = f"{device.vendor} {found.platform}".lower()
    is_cpu = bool(device.type & cl.device_type.CPU)
    arch, subgroup_size, subgroups, matrices = "generic", 32, "none", "none"
    if is_cpu:
        arch = "cpu"
    elif "nvidia" in vendor:
        major = _query(device, "compute_capability_major_nv", 0)
        minor = _query(device, "compute_capability_minor_nv", 0)
        arch = nvidia_arch(major * 10 + minor)
        subgroup_size, subgroups = int(_query(device, "warp_size_nv", 32)), "ptx"
        # mma.sync of 16x8x16 halves came with compute capability 8.0.
        matrices = "ptx" if major >= 8 else "none"
    elif "advanced micro devices" in vendor or "amd" in vendor.split():
        arch = device.name.partition(":")[0] if device.name.startswith("gfx") else "rdna3"
        subgroup_size = int(_query(device, "wavefront_width_amd", 64))
    elif "intel" in vendor:
        arch, subgroup_size = "arc", 16
    elif "arm" in vendor.split() or "mali" in device.name.lower():
        arch, subgroup_size = "valhall", 16
    elif "qualcomm" in vendor:
        arch, subgroup_size = "adreno", 64
    if subgroups == "none" and not is_cpu and {"cl_khr_subgroups", "cl_khr_subgroup_shuffle"} <= extensions:
        subgroups = "khr"
    sizes = [int(size) for size in device.max_work_item_sizes]
    single = int(_query(device, "single_fp_config", 0))
    return DeviceProfile(
        name=device.name,
        arch=arch,
        fp64="cl_khr_fp64" in extensions,
        half="native" if "cl_khr_fp16" in extensions else "emulated",
        int64_atomics={"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} <= extensions,
        subgroups=subgroups,
        subgroup_size=subgroup_size,
        matrices=matrices,
        max_workgroup_sizes=(min(sizes[0], 1024), min(sizes[1], 1024), min(sizes[2], 1024)),
        max_workgroup_items=min(int(device.max_work_group_size), 1024),
        # Beyond 64 KiB IREE's tiles get no better, and a CPU's "local" memory is its cache.
        local_memory=min(int(device.local_mem_size), 65536),
        correctly_rounded_division=bool(single & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT),
    )


# Architectures that IREE has tuning tables for; newer ones get the newest of these.
_NVIDIA_KNOWN = (60, 70, 75, 80, 86, 89)


def nvidia_arch(capability: int) -> str:
    """Return the newest `sm_XX` that IREE knows and that is no newer than a compute capability (90 for 9.0).

    IREE's kernel choice for `sm_80` is the best that OpenCL C can use on newer data-centre devices too.
    """
    if capability in {87, 90, 100, 103}:
        return "sm_80"
    known = [number for number in _NVIDIA_KNOWN if number <= capability]
    return f"sm_{known[-1] if known else _NVIDIA_KNOWN[0]}"


_UUID_KHR = 0x106A  # CL_DEVICE_UUID_KHR, which pyopencl does not know


def _uuid(device: cl.Device) -> str:
    """Return a device's UUID in hexadecimal; empty if it reports none. Vulkan and CUDA report the same."""
    import pyopencl as cl

    if "cl_khr_device_uuid" not in device.extensions.split():
        return ""
    content = (ctypes.c_ubyte * 16)()
    try:
        # The library that pyopencl is linked with is found through pyopencl's own.
        query = ctypes.CDLL(cl._cl.__file__).clGetDeviceInfo  # noqa: SLF001 - the path of the loaded library
    except (OSError, AttributeError):
        return ""
    query.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
    query.restype = ctypes.c_int
    return bytes(content).hex() if query(device.int_ptr, _UUID_KHR, 16, content, None) == 0 else ""


def runtime_version() -> str:
    """Return the version of pyopencl. Raises `UnavailableError` where it is not installed."""
    try:
        return f"pyopencl {importlib.metadata.version('pyopencl')}"
    except importlib.metadata.PackageNotFoundError as error:
        msg = "pyopencl is not installed"
        raise UnavailableError(msg, hint="pip install pyopencl") from error


def info_of(found: FoundDevice) -> DeviceInfo:
    """Return what `retarget devices` shows of a device."""
    device, profile = found.device, profile_of(found)
    uuid = _uuid(device)
    physical = f"gpu-{uuid}" if uuid else f"{SCHEME}-{found.platform}-{found.platform_ordinal}"
    return DeviceInfo(
        driver=SCHEME,
        uri=f"{SCHEME}://{found.ordinal}",
        ordinal=found.ordinal,
        name=device.name.strip(),
        physical_id="cpu" if profile.arch == "cpu" else physical,
        driver_version=device.driver_version,
        runtime=runtime_version(),
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
