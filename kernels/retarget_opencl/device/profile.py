"""The properties of an OpenCL device for code generation, from its device profile: limits, features, IREE's name for
it.

`compile_profile` is the one mapping, for profiles of files and of devices alike.

The architecture name matters beyond the limits: IREE picks tile sizes and work-group shapes by it, and a name that it
does not know gets none. See `docs/opencl.md` for the table.
"""

from __future__ import annotations

import json

from msgspec import Struct
from msgspec.structs import asdict
from retarget.model import FeatureValue
from retarget.profiles import Profile
from retarget.support import RetargetError

DRIVER = "opencl"
MODES = {
    "half": ("native", "emulated"),
    "subgroups": ("none", "khr", "ptx"),
    "matrices": ("none", "ptx"),
    "dot": ("none", "khr", "ptx"),
    "contract": ("off", "on"),
}
"""The values of fields of a profile that are words."""
SUBGROUPS = ("opencl.subgroups", "opencl.subgroup_shuffle", "opencl.subgroup_shuffle_relative")
"""What the mode `khr` of subgroups needs of a device. PoCL 5.0 lacks the last one."""
_LARGEST = 2**30
"""Bytes of constants that are worth one allocation: what devices have beyond that changes no code."""


class DeviceProfile(Struct, frozen=True, kw_only=True):
    """The properties that code may rely on.

    `arch` is the architecture's name as IREE knows it. `half` is `native` where the device computes in half precision
    and `emulated` where halves are computed as floats and rounded after each operation. `subgroups` is how values
    are shuffled: not at all, by extensions (`SUBGROUPS`), or by inline PTX. `matrices` is how products of matrices of
    halves use matrix units: not at all, or by inline PTX. `dot` is how dot products of four 8-bit integers are taken:
    in plain arithmetic, by `cl_khr_integer_dot_product`, or by inline PTX. `subgroup_size` is in work-items,
    `local_memory` in bytes,
    `max_workgroup_sizes` in work-items per dimension. `contract` says whether the OpenCL compiler may fuse a
    product and a sum; no device decides that. `correct_rounding` is that of division and square root in single
    precision. `max_allocation` bounds what IREE packs together, in bytes: a power of two.
    """

    arch: str
    fp64: bool
    half: str
    subgroups: str
    subgroup_size: int
    matrices: str
    max_workgroup_sizes: tuple[int, int, int]
    max_workgroup_items: int
    local_memory: int
    contract: str = "off"
    correct_rounding: bool = False
    dot: str = "none"
    max_allocation: int = _LARGEST

    def fact(self) -> str:
        """Return the profile as text for the compile key."""
        return json.dumps(asdict(self), sort_keys=True)


def compile_profile(profile: Profile) -> DeviceProfile:
    """Return what code for the device of a profile may rely on. `docs/opencl.md` explains the choices.

    Raises `RetargetError` for a profile of another driver, and for one that does not state the limits.
    """
    if profile.driver != DRIVER:
        found = f"a profile of the driver {profile.driver!r}, expected one of {DRIVER!r}"
        msg = f"{profile.label}: found {found} for iree-opencl"
        raise RetargetError(msg)
    arch, subgroup_size = _architecture(profile)
    subgroups, matrices = "none", "none"
    dot = "khr" if profile.get("opencl.integer_dot_product") else "none"
    if capability := profile.get("opencl.computeCapabilityNV"):
        # NVIDIA's OpenCL reports no subgroups, but its compiler takes inline PTX.
        subgroups = "ptx"
        # mma.sync of 16x8x16 halves came with compute capability 8.0.
        matrices = "ptx" if int(str(capability).partition(".")[0]) >= 8 else "none"
        # dp4a came with 6.1.
        dot = "ptx" if tuple(map(int, str(capability).split("."))) >= (6, 1) else "none"
    elif all(map(profile.get, SUBGROUPS)):
        subgroups = "khr"
    reported = numbers(profile.get("opencl.subgroupSizes"))
    if reported and subgroup_size not in reported:
        subgroup_size = max(reported)
    sizes = numbers(_limit(profile, "opencl.maxWorkItemSizes"))
    largest = filter(None, numbers(profile.get("opencl.maxMemAllocSize")))
    return DeviceProfile(
        arch=arch,
        fp64=bool(profile.get("opencl.fp64")),
        half="native" if profile.get("opencl.fp16") else "emulated",
        subgroups=subgroups,
        subgroup_size=subgroup_size,
        matrices=matrices,
        max_workgroup_sizes=(min(sizes[0], 1024), min(sizes[1], 1024), min(sizes[2], 1024)),
        max_workgroup_items=min(*numbers(_limit(profile, "opencl.maxWorkGroupSize")), 1024),
        # Beyond 64 KiB IREE's tiles get no better, and a CPU's "local" memory is its cache.
        local_memory=min(*numbers(_limit(profile, "opencl.localMemSize")), 65536),
        correct_rounding=bool(profile.get("opencl.correctlyRoundedDivideSqrt")),
        dot=dot,
        max_allocation=1 << min((_LARGEST, *largest)).bit_length() - 1,
    )


def _limit(profile: Profile, name: str) -> FeatureValue:
    value = profile.get(name)
    if value is None or len(numbers(value)) != (3 if name.endswith("Sizes") else 1):
        found = "does not say" if value is None else f"has {value!r} for"
        msg = f"{profile.label}: the profile {found} {name}, which a compile target is made from"
        raise RetargetError(msg)
    return value


def numbers(value: FeatureValue | None) -> tuple[int, ...]:
    """Return the numbers that a capability's value is; none where it has no value or another."""
    return tuple(one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, int))


def _architecture(profile: Profile) -> tuple[str, int]:
    """Return IREE's name for the architecture, and the subgroup size to use if the device has it or names none."""
    name = dict(profile.identity).get("name", "")
    vendor = f"{profile.get('opencl.vendor') or ''} {profile.get('opencl.platform') or ''}".lower()
    if profile.get("device_type") == "cpu":
        return "cpu", 16 if "intel(r)" in vendor else 32
    if capability := profile.get("opencl.computeCapabilityNV"):
        major, _, minor = str(capability).partition(".")
        return nvidia_arch(int(major) * 10 + int(minor)), 32
    if "advanced micro devices" in vendor or "amd" in vendor.split():
        return (name.partition(":")[0] if name.startswith("gfx") else "rdna3"), 64
    if "intel" in vendor:
        return "arc", 16
    if "arm" in vendor.split() or "mali" in name.lower():
        return "valhall", 16
    return ("adreno", 64) if "qualcomm" in vendor else ("generic", 32)


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
