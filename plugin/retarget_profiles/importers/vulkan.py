"""Reports of `vulkaninfo --json`: the profile of a device in the format of Vulkan Profiles, which published profiles
have too, and the older one of the device simulation layer.

Both hold Vulkan's structures by name. A capability's name does not depend on its structure, except for those of
subgroups before Vulkan 1.1 became one structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from retarget.profiles.names import known_names
from retarget.support.errors import RetargetError, display_path
from retarget.support.toml.keypaths import KeyPath

from retarget_profiles.importers.report import Report, frozen_list

_TOOL = "vulkaninfo --json"
_DEVICE_TYPES = ("accelerator", "gpu", "gpu", "gpu", "cpu")
_DEVICE_WORDS = ("OTHER", "INTEGRATED_GPU", "DISCRETE_GPU", "VIRTUAL_GPU", "CPU")
_DEVICE_LOCAL = 1
_IDENTITY = {"deviceName": "name", "driverName": "driver", "driverInfo": "driver_version"}
_RENAMED = {
    "supportedStages": "subgroupSupportedStages",
    "supportedOperations": "subgroupSupportedOperations",
    "quadOperationsInAllStages": "subgroupQuadOperationsInAllStages",
}
_YES_NO = {"VK_TRUE": True, "VK_FALSE": False}
_VERSIONS = ("major", "minor", "subminor", "patch")


def is_vulkan(data: Mapping[str, Any]) -> bool:
    """Return whether JSON is of one of the two formats."""
    return "VkPhysicalDeviceProperties" in data or isinstance(data.get("profiles"), dict)


def vulkan_report(file: Path, data: Mapping[str, Any], wanted: str) -> Report:
    """Return the device that a report describes. `wanted` is the name of its profile, needed for several.

    Raises `RetargetError` where that is none, or several.
    """
    report = Report(file=file, tool=_TOOL, driver="vulkan")
    if isinstance(profiles := data.get("profiles"), dict):
        names = [name for name in profiles if not wanted or wanted == name]
        if len(names) != 1:
            expected = (
                f"--device {wanted}, expected one of" if wanted else "several profiles, expected --device with one of"
            )
            msg = f"{display_path(file)}: found {expected} {', '.join(profiles) or 'none'}"
            raise RetargetError(msg)
        _profile(report, data, names[0], profiles[names[0]])
    else:
        for name, structure in data.items():
            if name.startswith("VkPhysicalDevice"):
                _structure(report, structure, (name,))
    return report


def _profile(report: Report, data: Mapping[str, Any], name: str, profile: object) -> None:
    """Take a profile: its version and the blocks of capabilities that it names. Alternatives promise nothing."""
    place: KeyPath = ("profiles", name)
    profile = report.table(profile, place)
    if others := profile.get("profiles"):
        report.error((*place, "profiles"), f"found a profile that builds on {others}, expected that of a device")
    if "api-version" in profile:
        report.add("vulkan.apiVersion", str(profile["api-version"]), (*place, "api-version"))
    blocks = report.table(data.get("capabilities"), ("capabilities",))
    names = profile.get("capabilities")
    for block in names if isinstance(names, list) else ():
        if isinstance(block, str):
            found = report.table(blocks.get(block), ("capabilities", block))
            for sort in ("features", "properties"):
                structures = report.table(found.get(sort, {}), ("capabilities", block, sort))
                for structure, members in structures.items():
                    _structure(report, members, ("capabilities", block, sort, structure))


def _structure(report: Report, structure: object, place: KeyPath) -> None:
    known = known_names("vulkan")
    for path, key, value in _members(report.table(structure, place), place):
        name = _RENAMED.get(key, key) if place[-1] == "VkPhysicalDeviceSubgroupProperties" else key
        if key == "deviceType":
            _device_type(report, value, path)
        elif key == "memoryHeaps":
            _memory(report, value, path)
        elif key in _IDENTITY:
            report.identity[_IDENTITY[key]] = str(value)
        elif key == "apiVersion" and isinstance(value, int):
            # The exact version of a device; that of a report's profile is the same.
            text = f"{value >> 22 & 0x7F}.{value >> 12 & 0x3FF}.{value & 0xFFF}"
            report.add("vulkan.apiVersion", text, path)
        elif key == "conformanceVersion" and isinstance(value, dict):
            text = ".".join(str(value.get(part, 0)) for part in _VERSIONS)
            report.add("vulkan.conformanceVersion", text, path)
        elif name in known and key != "driverVersion":
            _capability(report, name, value, path)


def _members(structure: Mapping[str, Any], place: KeyPath) -> Iterator[tuple[KeyPath, str, object]]:
    """Yield the members, those of `limits` too."""
    for key, value in structure.items():
        if key == "limits" and isinstance(value, dict):
            yield from _members(value, (*place, key))
        else:
            yield (*place, key), key, value


def _capability(report: Report, name: str, value: object, place: KeyPath) -> None:
    frozen = frozen_list(value)
    if "Features" in str(place[-2]) and isinstance(value, int) and value in {0, 1}:
        frozen = bool(value)  # as the older format writes it
    elif isinstance(value, str):
        frozen = _YES_NO.get(value, value)
    if frozen is None:
        report.error(place, f"found {value!r}, expected true or false, a number, a text, or a list of one of them")
    elif frozen != ():
        report.add(f"vulkan.{name}", frozen, place)


def _device_type(report: Report, value: object, place: KeyPath) -> None:
    word = str(value).removeprefix("VK_PHYSICAL_DEVICE_TYPE_")
    number = value if isinstance(value, int) else _DEVICE_WORDS.index(word) if word in _DEVICE_WORDS else -1
    if 0 <= number < len(_DEVICE_TYPES):
        report.add("device_type", _DEVICE_TYPES[number], place)
    else:
        report.error(place, f"found {value!r}, expected one of VkPhysicalDeviceType")


def _memory(report: Report, heaps: object, place: KeyPath) -> None:
    """Take the largest heap of the device."""
    try:
        sizes = [int(heap["size"]) for heap in heaps if int(heap["flags"]) & _DEVICE_LOCAL]  # type: ignore[attr-defined]
    except (TypeError, KeyError, ValueError, OverflowError):
        report.error(place, "expected a list of heaps, each with its size and its flags")
        return
    if sizes:
        report.add("memory", min(sizes) if min(sizes) < 0 else max(sizes), place)
