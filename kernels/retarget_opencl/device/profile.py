"""Device profiles: what IREE must know of an OpenCL device to generate code for it.

A profile comes from a device (`retarget_opencl.device.devices.profile_of`) or, to compile without one, by name from
`GENERIC_PROFILES`. `target_attribute` writes it as the `#iree_gpu.target` that IREE's SPIR-V code generation reads.

The architecture name matters beyond the limits: IREE picks tile sizes and work-group shapes by it, and a name that it
does not know gets none. See `docs/opencl.md` for the table and the measurements behind it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from retarget.support.errors import RetargetError, did_you_mean

__all__ = [
    "GENERIC_PROFILES",
    "HALF_MODES",
    "MATRIX_MODES",
    "SUBGROUP_MODES",
    "DeviceProfile",
    "generic_profile",
    "target_attribute",
]

HALF_MODES = ("native", "emulated")
SUBGROUP_MODES = ("none", "khr", "ptx")
MATRIX_MODES = ("none", "ptx")

# The products that IREE may use matrix units for: of 16x16 halves, summed up in half or single precision.
_MATRIX_PRODUCTS = "<NV_WMMA_F32_16x16x16_F16>, <NV_WMMA_F16_16x16x16_F16>"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProfile:
    """What code may rely on.

    `arch` is the architecture's name as IREE knows it. `half` is `native` where the device computes in half precision
    and `emulated` where halves are computed as floats and rounded after each operation. `subgroups` is how values
    are shuffled: not at all, by `cl_khr_subgroup_shuffle`, or by inline PTX. `matrices` is how products of matrices of
    halves use matrix units: not at all, or by inline PTX. `subgroup_size` is in work-items, `local_memory` in bytes,
    `max_workgroup_sizes` in work-items per dimension. `correctly_rounded_division`: whether single precision division
    and square root can be correctly rounded.
    """

    name: str
    arch: str
    fp64: bool
    half: str
    int64: bool = True
    int64_atomics: bool = False
    subgroups: str = "none"
    subgroup_size: int = 32
    matrices: str = "none"
    max_workgroup_sizes: tuple[int, int, int] = (1024, 1024, 64)
    max_workgroup_items: int = 1024
    local_memory: int = 32768
    correctly_rounded_division: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the profile as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> DeviceProfile:
        """Return the profile that `to_json` gave. Raises `TypeError` for other data."""
        return cls(**{**data, "max_workgroup_sizes": tuple(data["max_workgroup_sizes"])})

    def fact(self) -> str:
        """Return the profile as text for the compile key; without the name, which has no effect."""
        return json.dumps({**self.to_json(), "name": ""}, sort_keys=True)

    def lacks(self, features: frozenset[str]) -> list[str]:
        """Return the features in `features` that this device does not have, in words."""
        have = {
            "fp64": self.fp64,
            "fp16": self.half == "native",
            "int64_atomics": self.int64_atomics,
            "shuffle": self.subgroups != "none",
            "matrices": self.matrices != "none",
        }
        return sorted(_FEATURE_WORDS[feature] for feature in features if not have.get(feature, True))


_FEATURE_WORDS = {
    "fp64": "double precision (cl_khr_fp64)",
    "fp16": "half precision (cl_khr_fp16)",
    "int64_atomics": "64-bit atomics (cl_khr_int64_base_atomics)",
    "shuffle": "subgroup shuffles",
    "matrices": "matrix units (PTX mma.sync)",
}


def target_attribute(profile: DeviceProfile) -> str:
    """Return the `#hal.device.target` for which IREE generates SPIR-V for this profile."""
    # Half precision is always there: where the device has none it is emulated, exactly.
    compute = [*(["fp64"] if profile.fp64 else []), "fp32", "fp16"]
    compute += [*(["int64"] if profile.int64 else []), "int32", "int16", "int8"]
    sizes = ", ".join(str(size) for size in profile.max_workgroup_sizes)
    subgroup = "none" if profile.subgroups == "none" else "shuffle|arithmetic"
    fields = [
        f"compute = {'|'.join(compute)}",
        "storage = b64|b32|b16|b8",
        f"subgroup = {subgroup}",
        "dot = none",
        f"mma = [{_MATRIX_PRODUCTS if profile.matrices != 'none' else ''}]",
        f"subgroup_size_choices = [{profile.subgroup_size}]",
        f"max_workgroup_sizes = [{sizes}]",
        f"max_thread_count_per_workgroup = {profile.max_workgroup_items}",
        f"max_workgroup_memory_bytes = {profile.local_memory}",
        "max_workgroup_counts = [2147483647, 65535, 65535]",
    ]
    target = (
        f'#iree_gpu.target<arch = "{profile.arch}", features = "spirv:v1.6,cap:Shader", wgp = <{", ".join(fields)}>>'
    )
    executable = f'#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {{iree_codegen.target_info = {target}}}>'
    return f'#hal.device.target<"vulkan", [{executable}]> : !hal.device'


_CPU = DeviceProfile(
    name="cpu", arch="cpu", fp64=True, half="emulated", int64_atomics=True, correctly_rounded_division=True
)
_NVIDIA = replace(_CPU, name="nvidia-sm80", arch="sm_80", subgroups="ptx", matrices="ptx", local_memory=49152)
_AMD = DeviceProfile(
    name="amd-gfx1100",
    arch="gfx1100",
    fp64=True,
    half="native",
    int64_atomics=True,
    subgroups="khr",
    local_memory=65536,
)
_ADRENO = DeviceProfile(name="adreno", arch="adreno", fp64=False, half="native", subgroup_size=64)
_MALI = replace(
    _ADRENO,
    name="mali-valhall",
    arch="valhall",
    subgroup_size=16,
    max_workgroup_items=512,
    max_workgroup_sizes=(512, 512, 512),
)

GENERIC_PROFILES = {
    profile.name: profile
    for profile in (
        DeviceProfile(name="generic", arch="generic", fp64=False, half="emulated"),
        _CPU,
        _NVIDIA,
        replace(_NVIDIA, name="nvidia-sm75", arch="sm_75", matrices="none"),
        replace(_NVIDIA, name="nvidia-sm86", arch="sm_86"),
        replace(_NVIDIA, name="nvidia-sm89", arch="sm_89"),
        _AMD,
        replace(_AMD, name="amd-gfx942", arch="gfx942", subgroup_size=64),
        replace(_AMD, name="intel-xe", arch="arc", fp64=False, int64_atomics=False, subgroup_size=16),
        _MALI,
        _ADRENO,
    )
}


def generic_profile(name: str) -> DeviceProfile:
    """Return a named profile. Raises `RetargetError` for an unknown name."""
    if name in GENERIC_PROFILES:
        return GENERIC_PROFILES[name]
    msg = (
        f"unknown OpenCL profile {name!r}{did_you_mean(name, GENERIC_PROFILES)}; "
        f"known: {', '.join(sorted(GENERIC_PROFILES))}, or a device URI such as opencl://0"
    )
    raise RetargetError(msg)
