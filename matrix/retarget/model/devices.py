"""The traits of devices for rules and requirements: `on(vendor='NVIDIA', version='>=580')`, `device.vendor = "NVIDIA"`.

A device has five traits, from what its driver reports when it is opened. What is wanted of one is a glob, whatever its
case; of a version it may be comparisons instead (`>=3.0`, `>=580, <590`), which go part by part.
"""

from __future__ import annotations

import fnmatch
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from retarget.model.names import is_glob
from retarget.support.errors import did_you_mean, nearest

TRAITS = ("driver", "vendor", "name", "version", "type")
"""The traits of a device; those that tell devices apart best come first."""

DEVICE_TYPES = ("gpu", "cpu", "accelerator")

_VENDORS = {
    "AMD": ((0x1002, 0x1022), r"amd\b|authenticamd|advanced micro devices"),
    "Apple": ((0x106B,), "apple"),
    "ARM": ((0x13B5,), r"arm\b"),
    "Broadcom": ((0x14E4,), "broadcom"),
    "Imagination": ((0x1010,), "imagination|imgtec"),
    "Intel": ((0x8086,), "intel|genuineintel"),
    "Mesa": ((0x10005,), "mesa"),
    "Microsoft": ((0x1414,), "microsoft"),
    "NVIDIA": ((0x10DE,), "nvidia"),
    "Qualcomm": ((0x5143,), "qualcomm"),
}
"""Of each vendor its numbers, which are those of the PCI-SIG or of `VkVendorId` in Khronos' vk.xml, and how the texts
begin by which OpenCL and CPUs (CPUID) call it, in lower case."""

_DRIVERS = ("CUDA", "HIP", "IREE", "NVIDIA", "NVIDIA CUDA", "Oclgrind", "PoCL", "llvmpipe", "radv")
"""Those that are known, as they report themselves."""

_COMPARISON = re.compile(r"\s*(?P<sign>>=|<=|!=|=|>|<)\s*(?P<version>\d+(\.\d+)*)\s*")
OPERATORS: dict[str, Callable[..., bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTraits:
    """The traits of a device, each empty where it is not reported. `driver` is what the device's own driver is called
    (`llvmpipe`, `NVIDIA`, `PoCL`), `type` one of `DEVICE_TYPES`."""

    driver: str = ""
    vendor: str = ""
    name: str = ""
    version: str = ""
    type: str = ""

    def __str__(self) -> str:
        """As `on(…)` says it."""
        return f"on({', '.join(f'{trait}={getattr(self, trait)!r}' for trait in TRAITS if getattr(self, trait))})"


def has_traits(device: DeviceTraits, wanted: Iterable[tuple[str, object]]) -> bool:
    """Return whether a device has all wanted (trait, glob or comparisons) pairs. A device lacks what it does not
    report."""
    return all(_has(trait, getattr(device, trait), str(text)) for trait, text in wanted)


def _has(trait: str, value: str, wanted: str) -> bool:
    if not value or value.casefold() == wanted.casefold():
        return bool(value)
    if trait == "version" and _COMPARISON.match(wanted):
        compared = [_COMPARISON.fullmatch(part) for part in wanted.split(",")]
        return value[0].isdigit() and all(
            one is not None and OPERATORS[one["sign"]](version_parts(value), version_parts(one["version"]))
            for one in compared
        )
    return fnmatch.fnmatchcase(value.casefold(), wanted.casefold())


def version_in(text: str) -> str:
    """Return the first version in a text, `22.3.6` of `llvmpipe Mesa 22.3.6 (LLVM 15.0.6)`; empty without one."""
    found = re.search(r"(?<![\w.])\d+(\.\d+)*", text)
    return found[0] if found is not None else ""


def version_parts(text: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with, without zeros at the end: 10.0 is above 9.3 and equal to 10."""
    numbers = re.match(r"\d+(\.\d+)*", text)
    parts = [int(part) for part in numbers[0].split(".")] if numbers is not None else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def trait_error(trait: str, wanted: object) -> str | None:
    """Return what is wrong with what is wanted of a trait, with the nearest that is known; None if nothing is."""
    if trait not in TRAITS:
        return f"found {trait!r}, expected one of {', '.join(TRAITS)}{did_you_mean(trait, TRAITS)}"
    if not isinstance(wanted, str) or not wanted.strip():
        return f"found {wanted!r} as the {trait} of a device, expected a text in quotes, such as a glob"
    known: Iterable[str] = ()
    if trait == "type" and wanted.casefold() not in DEVICE_TYPES:
        known = DEVICE_TYPES
    elif trait in {"driver", "vendor"} and not is_glob(wanted):  # any other text may be what a driver reports
        folded = {name.casefold(): name for name in (_VENDORS if trait == "vendor" else _DRIVERS)}
        near = nearest(wanted.casefold(), folded, cutoff=0.75)
        alias = vendor_name(wanted).casefold() if trait == "vendor" else ""
        names = [folded[name] for name in (near, alias) if name in folded]
        known = names[:1] if wanted.casefold() not in folded else ()
    elif trait == "version" and re.match(r"\s*[<>=!]", wanted):
        if all(_COMPARISON.fullmatch(part) for part in wanted.split(",")):
            return None
        return f"found the version {wanted!r}, expected a glob, or comparisons such as '>=3.0' or '>=580, <590'"
    if not known:
        return None
    return f"found the {trait} {wanted!r}, expected {' or '.join(known)}{did_you_mean(wanted, known)}"


def vendor_name(text: str, number: int = 0) -> str:
    """Return what a vendor is called here, by its number where that is known, else by the text for it; the text itself
    for a vendor that is not known."""
    for name, (numbers, begins) in _VENDORS.items():
        if number in numbers or re.match(begins, text.strip().lower()):
            return name
    return text.strip()
