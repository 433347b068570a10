"""Reports of other tools → one profile: `clinfo --json`, `vulkaninfo --json`, and features of CPUs by LLVM's names.

Reports about Vulkan hold Vulkan's structures by name. A capability's name does not depend on its structure, except for
those of subgroups before Vulkan 1.1 became one structure.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from retarget.model import FeatureValue
from retarget.profiles import Capability, Profile
from retarget.support import (
    Diagnostic,
    DiagnosticsError,
    KeyPath,
    RetargetError,
    display_path,
    format_key_path,
    read_regular,
)

_EXPECTED = (
    "expected the output of vulkaninfo --json, clinfo --json, iree-cpuinfo, clang -### or "
    "iree-compile --iree-llvmcpu-target-cpu=host --compile-to=flow"
)


def import_profile(files: Sequence[Path], *, name: str, description: str = "", device: str = "") -> Profile:
    """Return the profile of the device that the files describe together.

    `device` chooses among several in a report: of clinfo by number or by a part of the name, of a file of Vulkan
    Profiles by the profile's name. Raises `RetargetError` for
    files that cannot be read, of no known tool, of several drivers, or that contradict each other.
    """
    reports = [_read(file, device) for file in files]
    errors = [error for report in reports for error in report.errors]
    merged: dict[str, tuple[Report, Capability]] = {}
    identity: dict[str, tuple[Report, str]] = {}
    first = reports[0]
    for report in reports:
        if report.driver != first.driver:
            message = (
                f"found a device of the driver {report.driver}, expected {first.driver} as in "
                f"{display_path(first.file)}; a profile is of one driver"
            )
            raise DiagnosticsError([Diagnostic(file=report.file, message=message)])
        for name_of, text in report.identity.items():
            other, found = identity.setdefault(name_of, (report, text))
            if found != text:
                errors.append(_contradiction(report, name_of, text, other, found))
        for capability, value in report.values.items():
            own = Capability(name=capability, value=value, source=f"{report.tool}: {report.file.name}")
            other, kept = merged.setdefault(capability, (report, own))
            if kept.value != value:
                errors.append(_contradiction(report, capability, value, other, kept.value))
    if errors:
        raise DiagnosticsError(errors)
    return Profile(
        name=name,
        driver=first.driver,
        description=description,
        identity=tuple(sorted((field, text) for field, (_, text) in identity.items())),
        capabilities=tuple(capability for _, (_, capability) in sorted(merged.items())),
    )


def _contradiction(report: Report, name: str, value: object, other: Report, kept: object) -> Diagnostic:
    message = f"found {name} = {value!r}, and {display_path(other.file)} has {kept!r}; expected files of one device"
    return Diagnostic(file=report.file, message=message)


def _read(file: Path, device: str) -> Report:
    text = _text(file)
    line = column = 0
    message = f"found text of no known tool, {_EXPECTED}"
    if text.lstrip().startswith(("{", "[")):
        try:
            data = json.loads(text)
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "found an escape \\ud800 to \\udfff that is half a character, expected whole characters"
        except json.JSONDecodeError as error:
            line, column, message = error.lineno, error.colno, f"found damaged JSON: {error.msg}"
        except ValueError:  # Python's bound on the digits of an integer, which the decoder does not place
            message = f"found a number of more than {sys.get_int_max_str_digits():,} digits, {_EXPECTED}"
        except RecursionError:
            message = f"found JSON nested too deeply, {_EXPECTED}"
        else:
            sorts = {key: type(value) for key, value in data.items()} if isinstance(data, dict) else {}
            if "VkPhysicalDeviceProperties" in sorts or sorts.get("profiles") is dict:
                return vulkan_report(file, data, device)
            if sorts.get("platforms") is list and sorts.get("devices", list) is list:
                return opencl_report(file, data, device)
            message = f"found JSON of no known tool, {_EXPECTED}"
    elif report := cpu_report(file, text):
        return report
    raise DiagnosticsError([Diagnostic(file=file, line=line, column=column, key_path="", message=message)])


def _text(file: Path) -> str:
    try:
        content = read_regular(file)
    except OSError as error:
        msg = f"{display_path(file)}: cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
    # PowerShell's `>` writes UTF-16.
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        msg = f"{display_path(file)}: found the byte 0x{content[error.start]:02x}, {_EXPECTED}"
        raise RetargetError(msg) from error


class Report(Struct, kw_only=True):
    """One device as a tool describes it. `tool` is the command that writes such reports.

    `values` has the capabilities by name, `places` the key path of each in the file, `errors` what cannot be.
    """

    file: Path
    tool: str
    driver: str
    identity: dict[str, str] = field(default_factory=dict)
    values: dict[str, FeatureValue] = field(default_factory=dict)
    places: dict[str, KeyPath] = field(default_factory=dict)
    errors: list[Diagnostic] = field(default_factory=list)

    def add(self, name: str, value: FeatureValue, place: KeyPath = ()) -> None:
        """Take a value, unless it is impossible or another one is there already."""
        if message := Capability(name=name, value=value, source=self.tool).error:
            self.error(place, message)
        elif name in self.values and self.values[name] != value:
            first = format_key_path(self.places[name])
            self.error(place, f"found {name} = {value!r}, expected {self.values[name]!r} as in {first}")
        else:
            self.values.setdefault(name, value)
            self.places.setdefault(name, place)

    def table(self, value: object, place: KeyPath) -> Mapping[str, Any]:
        """Return a value that must be a table of JSON; an empty one with an error where it is none."""
        if isinstance(value, dict):
            return value
        self.error(place, f"found {value!r}, expected a table")
        return {}

    def error(self, place: KeyPath, message: str) -> None:
        """Note an error of the file."""
        self.errors.append(Diagnostic(file=self.file, line=0, key_path=format_key_path(place), message=message))


def frozen_list(value: object) -> FeatureValue | None:
    """Return a value of JSON as that of a capability; None where it cannot be one."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        return tuple(value)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


_LINE = re.compile(r"([a-z0-9][a-z0-9._-]*) +([01])\s*")
_CLANG = re.compile(r'"-(target-cpu|target-feature|triple)" "([^"]+)"')
_IREE = re.compile(r'"llvm-cpu", "[^"]*", \{cpu = "([^"]*)", cpu_features = "([^"]*)"')


def cpu_report(file: Path, text: str) -> Report | None:
    """Return the CPU that a report describes; None where the text is none of the three."""
    lines = [_LINE.fullmatch(line) for line in text.strip().splitlines() if line.strip()]
    if lines and all(lines):
        report = Report(file=file, tool="iree-cpuinfo", driver="local-task")
        for line in filter(None, lines):
            report.add(f"cpu.{line[1]}", line[2] == "1")
    elif '"-cc1"' in text and '"-target-cpu"' in text:
        # The first command of several compiles; others assemble or link.
        command = next(line for line in text.splitlines() if '"-target-cpu"' in line)
        report = Report(file=file, tool="clang -###", driver="local-task")
        for option in _CLANG.finditer(command):
            if option[1] == "target-feature":
                report.values[f"cpu.{option[2][1:]}"] = option[2][0] == "+"  # later ones win, as in LLVM
            else:
                report.add(f"cpu.{'name' if option[1] == 'target-cpu' else 'triple'}", option[2])
    elif target := _IREE.search(text):
        report = Report(file=file, tool="iree-compile --iree-llvmcpu-target-cpu=host", driver="local-task")
        report.add("cpu.name", target[1])
        for feature in filter(None, target[2].split(",")):
            report.values[f"cpu.{feature[1:]}"] = feature[0] == "+"
    else:
        return None
    report.add("device_type", "cpu")
    return report


_CLINFO = "clinfo --json"
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
_OPENCL_IDENTITY = {"CL_DEVICE_NAME": "name", "CL_DRIVER_VERSION": "driver_version"}


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
    report = Report(file=file, tool=_CLINFO, driver="opencl")
    report.identity |= {field: str(device[key]).strip() for key, field in _OPENCL_IDENTITY.items() if key in device}
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
            for name, has_it in Profile.of_extensions(set(str(value).split())).items():
                report.add(name, has_it, path)
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


_VULKANINFO = "vulkaninfo --json"
_DEVICE_TYPES: Mapping[int | str, str] = {
    **dict.fromkeys((0, "OTHER"), "accelerator"),
    **dict.fromkeys((1, 2, 3, "INTEGRATED_GPU", "DISCRETE_GPU", "VIRTUAL_GPU"), "gpu"),
    **dict.fromkeys((4, "CPU"), "cpu"),
}
_DEVICE_LOCAL = 1
_VULKAN_IDENTITY = {"deviceName": "name", "driverName": "driver", "driverInfo": "driver_version"}
_RENAMED = {
    "supportedStages": "subgroupSupportedStages",
    "supportedOperations": "subgroupSupportedOperations",
    "quadOperationsInAllStages": "subgroupQuadOperationsInAllStages",
}
_YES_NO = {"VK_TRUE": True, "VK_FALSE": False}
_VERSIONS = ("major", "minor", "subminor", "patch")


def vulkan_report(file: Path, data: Mapping[str, Any], wanted: str) -> Report:
    """Return the device that a report describes. `wanted` is the name of its profile, needed for several.

    Raises `RetargetError` where that is none, or several.
    """
    report = Report(file=file, tool=_VULKANINFO, driver="vulkan")
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
    if not report.values and not report.errors:
        report.error((), "found no features, properties or limits of a device, expected those of one")
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
    known = Capability.known("vulkan")
    for path, key, value in _members(report.table(structure, place), place):
        name = _RENAMED.get(key, key) if place[-1] == "VkPhysicalDeviceSubgroupProperties" else key
        if key == "deviceType":
            word = str(value).removeprefix("VK_PHYSICAL_DEVICE_TYPE_")
            if (type_ := _DEVICE_TYPES.get(value if isinstance(value, int) else word)) is not None:
                report.add("device_type", type_, path)
            else:
                report.error(path, f"found {value!r}, expected one of VkPhysicalDeviceType")
        elif key == "memoryHeaps":
            _memory(report, value, path)
        elif key in _VULKAN_IDENTITY:
            report.identity[_VULKAN_IDENTITY[key]] = str(value)
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


def _memory(report: Report, heaps: object, place: KeyPath) -> None:
    """Take the largest heap of the device."""
    try:
        sizes = [int(heap["size"]) for heap in heaps if int(heap["flags"]) & _DEVICE_LOCAL]  # type: ignore[attr-defined]
    except (TypeError, KeyError, ValueError, OverflowError):
        report.error(place, "expected a list of heaps, each with its size and its flags")
        return
    if sizes:
        report.add("memory", min(sizes) if min(sizes) < 0 else max(sizes), place)
