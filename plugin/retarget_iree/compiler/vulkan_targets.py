"""A Vulkan device profile → what IREE's SPIR-V code generation may rely on, as `#iree_gpu.target`. Pure.

Values that a profile lacks are those that the Vulkan specification requires of every device (table "Required Limits").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from retarget.model import FeatureValue
from retarget.profiles import Profile

_NVIDIA, _AMD = 0x10DE, 0x1002
_VENDORS = {_NVIDIA: "sm_80", _AMD: "rdna3", 0x13B5: "valhall1", 0x5143: "adreno", 0x106B: "apple", 0x8086: "arc"}
_PRODUCTS = {
    _NVIDIA: {"float32": "NV_WMMA_F32_16x16x16_F16", "float16": "NV_WMMA_F16_16x16x16_F16"},
    _AMD: {"float32": "WMMAR3_F32_16x16x16_F16", "float16": "WMMAR3_F16_16x16x16_F16"},
}
_COMPUTE: Mapping[str, Sequence[str]] = {
    "fp64": ("shaderFloat64",),
    "fp32": (),
    "fp16": ("shaderFloat16",),
    "int64": ("shaderInt64",),
    "int32": (),
    "int16": ("shaderInt16",),
    "int8": ("shaderInt8",),
}
_STORAGE: Mapping[str, Sequence[str]] = {
    "b64": ("shaderFloat64", "shaderInt64"),
    "b32": (),
    "b16": ("storageBuffer16BitAccess",),
    "b8": ("storageBuffer8BitAccess",),
}
_DOT = {"dp4xi8toi32": ("shaderIntegerDotProduct",)}
"""Words of IREE for what a device can do, and the features of which it needs one."""

_SPIRV = {"1.2": "1.5", "1.3": "1.6", "1.4": "1.6"}
"""The version of SPIR-V that a version of Vulkan takes."""

_INT32_MAX = 2**31 - 1
_UNKNOWN_SUBGROUP = 64

CAPABILITIES = {
    "arch": ("vendorID", "deviceName"),
    "features": ("apiVersion",),
    "compute": tuple(chain(*_COMPUTE.values())),
    "storage": tuple(chain(*_STORAGE.values())),
    "subgroup": ("subgroupSupportedOperations",),
    "dot": tuple(chain(*_DOT.values())),
    "mma": ("cooperativeMatrixProperties", "vendorID"),
    "subgroup_size_choices": ("subgroupSizeControl", "minSubgroupSize", "maxSubgroupSize", "subgroupSize"),
    "max_workgroup_sizes": ("maxComputeWorkGroupSize",),
    "max_thread_count_per_workgroup": ("maxComputeWorkGroupInvocations",),
    "max_workgroup_memory_bytes": ("maxComputeSharedMemorySize",),
    "max_workgroup_counts": ("maxComputeWorkGroupCount",),
}
"""The capabilities, without `vulkan.`, that each field of the target comes from."""


def vulkan_target(profile: Profile) -> GpuTarget:
    """Return the target of the devices that a profile describes."""
    sizes = _numbers(profile, "maxComputeWorkGroupSize", (128, 128, 64))
    counts = _numbers(profile, "maxComputeWorkGroupCount", (65535, 65535, 65535))
    return GpuTarget(
        arch=_architecture(profile),
        compute=_words(profile, _COMPUTE),
        storage=_words(profile, _STORAGE),
        subgroup=list(_subgroup(profile)),
        dot=_words(profile, _DOT),
        mma=list(_products(profile)),
        subgroup_sizes=_subgroup_sizes(profile),
        max_workgroup_sizes=sizes,
        max_workgroup_items=_numbers(profile, "maxComputeWorkGroupInvocations", (128,))[0],
        workgroup_memory=_numbers(profile, "maxComputeSharedMemorySize", (16384,))[0],
        max_workgroup_counts=[min(count, _INT32_MAX) for count in counts],
        spirv=_SPIRV.get(str(_get(profile, "apiVersion"))[:3], "1.3"),
    )


def _get(profile: Profile, name: str) -> FeatureValue | None:
    return profile.get(f"vulkan.{name}")


def _has(profile: Profile, name: str) -> bool:
    return _get(profile, name) is True


def _words(profile: Profile, table: Mapping[str, Sequence[str]]) -> list[str]:
    return [word for word, names in table.items() if not names or any(_has(profile, name) for name in names)]


def _numbers(profile: Profile, name: str, default: Sequence[int]) -> Sequence[int]:
    value = _get(profile, name)
    values = value if isinstance(value, tuple) else (value,)
    numbers = [one for one in values if isinstance(one, int)]
    return numbers if len(numbers) == len(default) else default


def _architecture(profile: Profile) -> str:
    """Return the name by which IREE chooses tiles: of the vendor's GPUs, or the device's own, which IREE need not know.

    Vulkan does not report an architecture. AMD's open driver writes it into the name of the device.
    """
    name = str(_get(profile, "deviceName") or dict(profile.identity).get("name", ""))
    if found := re.search(r"\bgfx\d+[0-9a-f]*\b", name.lower()):
        return found[0]
    vendor = _get(profile, "vendorID")
    return _VENDORS.get(vendor, "unknown") if isinstance(vendor, int) else "unknown"


def _subgroup(profile: Profile) -> Iterator[str]:
    operations = _get(profile, "subgroupSupportedOperations")
    names = set(operations) if isinstance(operations, tuple) else set()
    if {"VK_SUBGROUP_FEATURE_SHUFFLE_BIT", "VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT"} <= names:
        yield "shuffle"
    if "VK_SUBGROUP_FEATURE_ARITHMETIC_BIT" in names:
        yield "arithmetic"


def _products(profile: Profile) -> Iterator[str]:
    """Yield the matrix products of halves that the device's cooperative matrices compute and IREE has a name for."""
    found, vendor = _get(profile, "cooperativeMatrixProperties"), _get(profile, "vendorID")
    names = _PRODUCTS.get(vendor, {}) if isinstance(vendor, int) else {}
    for result, name in names.items():
        if isinstance(found, tuple) and f"16x16x16 float16 float16 {result} {result}" in found:
            yield name


def _subgroup_sizes(profile: Profile) -> Sequence[int]:
    (usual,) = _numbers(profile, "subgroupSize", (_UNKNOWN_SUBGROUP,))
    least, most = (_numbers(profile, name, (usual,))[0] for name in ("minSubgroupSize", "maxSubgroupSize"))
    if not _has(profile, "subgroupSizeControl"):
        return [usual]
    return [size for size in (2**power for power in range(16)) if least <= size <= most]


class GpuTarget(Struct, frozen=True, kw_only=True):
    """The capabilities that IREE's SPIR-V code generation may rely on.

    `arch` decides tile sizes and work-group shapes; a name that IREE does not know gets generic ones. `compute` and
    `storage` are words such as `fp16`, `int8`, `b16`; `subgroup` are `shuffle` and `arithmetic`, `dot` `dp4xi8toi32`,
    `mma` are names of IREE's matrix products. Sizes are in work-items, `workgroup_memory` is in bytes.
    """

    arch: str
    compute: Sequence[str]
    storage: Sequence[str]
    subgroup: Sequence[str] = ()
    dot: Sequence[str] = ()
    mma: Sequence[str] = ()
    subgroup_sizes: Sequence[int]
    max_workgroup_sizes: Sequence[int]
    max_workgroup_items: int
    workgroup_memory: int
    max_workgroup_counts: Sequence[int]
    spirv: str = "1.6"

    def fields(self) -> dict[str, str]:
        """Return the fields of the attribute, as they are written."""
        return {
            "arch": f'"{self.arch}"',
            "features": f'"spirv:v{self.spirv},cap:Shader"',
            "compute": "|".join(self.compute),
            "storage": "|".join(self.storage),
            "subgroup": "|".join(self.subgroup) or "none",
            "dot": "|".join(self.dot) or "none",
            "mma": _list(f"<{name}>" for name in self.mma),
            "subgroup_size_choices": _list(self.subgroup_sizes),
            "max_workgroup_sizes": _list(self.max_workgroup_sizes),
            "max_thread_count_per_workgroup": str(self.max_workgroup_items),
            "max_workgroup_memory_bytes": str(self.workgroup_memory),
            "max_workgroup_counts": _list(self.max_workgroup_counts),
        }


def spirv_executable(target: GpuTarget) -> str:
    """Return the `#hal.executable.target` for which IREE generates SPIR-V."""
    fields = target.fields()
    outer = ", ".join(f"{name} = {fields.pop(name)}" for name in ("arch", "features"))
    inner = ", ".join(f"{name} = {value}" for name, value in fields.items())
    info = f"#iree_gpu.target<{outer}, wgp = <{inner}>>"
    return f'#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {{iree_codegen.target_info = {info}}}>'


def device_target(device: str, executables: Sequence[str]) -> str:
    """Return the target of a device of this id (`vulkan`, `local`) with code for each executable target."""
    return f'#hal.device.target<"{device}", {_list(executables)}> : !hal.device'


def _list(values: Iterable[object]) -> str:
    return f"[{', '.join(map(str, values))}]"
