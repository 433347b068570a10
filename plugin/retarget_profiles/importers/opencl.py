"""Reports of `clinfo --json`: the devices of all OpenCL platforms, of which one is taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from retarget.profiles.names import OPENCL_EXTENSIONS
from retarget.support.errors import RetargetError, display_path
from retarget.support.toml.keypaths import KeyPath

from retarget_profiles.importers.report import Report, frozen_list

_TOOL = "clinfo --json"
_NAMES = {
    "CL_DEVICE_GLOBAL_MEM_SIZE": "memory",
    "CL_DEVICE_LOCAL_MEM_SIZE": "opencl.localMemSize",
    "CL_DEVICE_MAX_COMPUTE_UNITS": "opencl.maxComputeUnits",
    "CL_DEVICE_MAX_MEM_ALLOC_SIZE": "opencl.maxMemAllocSize",
    "CL_DEVICE_MAX_WORK_GROUP_SIZE": "opencl.maxWorkGroupSize",
    "CL_DEVICE_MAX_WORK_ITEM_SIZES": "opencl.maxWorkItemSizes",
    "CL_DEVICE_SUB_GROUP_SIZES_INTEL": "opencl.subgroupSizes",
    "CL_DEVICE_VENDOR": "opencl.vendor",
    "CL_DEVICE_WARP_SIZE_NV": "opencl.subgroupSizes",
    "CL_DEVICE_WAVEFRONT_WIDTH_AMD": "opencl.subgroupSizes",
}
_NUMBERS = re.compile(r"(\d+)\D+(\d+)")
_IDENTITY = {"CL_DEVICE_NAME": "name", "CL_DRIVER_VERSION": "driver_version"}


def is_opencl(data: Mapping[str, Any]) -> bool:
    """Return whether JSON is clinfo's."""
    return isinstance(data.get("platforms"), list) and isinstance(data.get("devices", []), list)


def opencl_report(file: Path, data: Mapping[str, Any], wanted: str) -> Report:
    """Return the device that a report describes. `wanted` is its number or a part of its name, needed for several.

    Raises `RetargetError` where that is none, or several.
    """
    found: list[tuple[str, KeyPath, Mapping[str, Any]]] = []
    for number, (platform, devices) in enumerate(zip(data["platforms"], data.get("devices", ()), strict=False)):
        if isinstance(platform, dict) and isinstance(devices, dict):
            for sort, members in devices.items():
                for index, device in enumerate(members if isinstance(members, list) else ()):
                    if isinstance(device, dict):
                        name = str(platform.get("CL_PLATFORM_NAME", ""))
                        found.append((name, ("devices", number, sort, index), device))
    names = [str(device.get("CL_DEVICE_NAME", "")).strip() for _, _, device in found]
    chosen = [
        number
        for number, name in enumerate(names)
        if not wanted or wanted == str(number) or (not wanted.isdigit() and wanted.lower() in name.lower())
    ]
    if len(chosen) != 1:
        listing = "; ".join(f"{number} is {name}" for number, name in enumerate(names)) or "it has none"
        expected = f"--device {wanted}, expected one of its devices" if wanted else "several devices, expected --device"
        expected = expected if names else "a report without devices, expected one with a device"
        msg = f"{display_path(file)}: found {expected}: {listing}"
        raise RetargetError(msg)
    platform_name, place, device = found[chosen[0]]
    report = Report(file=file, tool=_TOOL, driver="opencl")
    report.identity |= {field: str(device[key]).strip() for key, field in _IDENTITY.items() if key in device}
    if platform_name:
        report.add("opencl.platform", platform_name)
    _device(report, device, place)
    return report


def _device(report: Report, device: Mapping[str, Any], place: KeyPath) -> None:
    for key, value in device.items():
        path = (*place, key)
        frozen = frozen_list(value)
        if key == "CL_DEVICE_TYPE":
            words = str(value)
            types = (("_CPU", "cpu"), ("_GPU", "gpu"))
            report.add("device_type", next((name for word, name in types if word in words), "accelerator"), path)
        elif key == "CL_DEVICE_EXTENSIONS":
            extensions = set(str(value).split())
            for name in OPENCL_EXTENSIONS:
                report.add(f"opencl.{name}", f"cl_khr_{name}" in extensions, path)
            vendors = "cl_nv_device_attribute_query"
            report.add(f"opencl.{vendors}", vendors in extensions, path)
        elif key == "CL_DEVICE_PROFILE":
            has_it = "FULL" in str(value) or "cles_khr_int64" in str(device.get("CL_DEVICE_EXTENSIONS", "")).split()
            report.add("opencl.int64", has_it, path)
        elif key == "CL_DEVICE_SINGLE_FP_CONFIG":
            report.add("opencl.correctlyRoundedDivideSqrt", "CORRECTLY_ROUNDED_DIVIDE_SQRT" in str(value), path)
        elif key in {"CL_DEVICE_VERSION", "CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV", "CL_DEVICE_COMPUTE_CAPABILITY_NV"}:
            name = "opencl.version" if key == "CL_DEVICE_VERSION" else "opencl.computeCapabilityNV"
            parts = _NUMBERS.search(str(value))
            report.add(name, f"{parts[1]}.{parts[2]}" if parts else str(value), path)
        elif key in _NAMES and frozen is not None:
            is_list = _NAMES[key] == "opencl.subgroupSizes" and isinstance(frozen, int)
            report.add(_NAMES[key], (frozen,) if is_list and isinstance(frozen, int) else frozen, path)
        elif key in _NAMES:
            report.error(path, f"found {value!r}, expected a number, a text, or a list of numbers")
