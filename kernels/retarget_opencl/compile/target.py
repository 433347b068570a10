"""The target that IREE compiles for, and what a compiled module needs of a device."""

from __future__ import annotations

from collections.abc import Iterable

from retarget_iree.compiler.targets.attribute import GpuTarget, device_target, spirv_executable

from retarget_opencl.artifact.program import Kernel
from retarget_opencl.device.profile import DeviceProfile

__all__ = ["device_needs", "target_attribute"]


def target_attribute(profile: DeviceProfile) -> str:
    """Return the `#hal.device.target` for which IREE generates SPIR-V for this profile."""
    target = GpuTarget(
        arch=profile.arch,
        # Half precision is always there: where the device has none it is emulated, exactly.
        compute=(*(("fp64",) if profile.fp64 else ()), "fp32", "fp16", "int64", "int32", "int16", "int8"),
        storage=("b64", "b32", "b16", "b8"),
        subgroup=() if profile.subgroups == "none" else ("shuffle", "arithmetic"),
        # Of 16x16 halves, summed up in half or single precision.
        mma=() if profile.matrices == "none" else ("NV_WMMA_F32_16x16x16_F16", "NV_WMMA_F16_16x16x16_F16"),
        subgroup_sizes=(profile.subgroup_size,),
        max_workgroup_sizes=profile.max_workgroup_sizes,
        max_workgroup_items=profile.max_workgroup_items,
        workgroup_memory=profile.local_memory,
    )
    return device_target("vulkan", (spirv_executable(target),))


_NEEDS = {
    "fp64": ("opencl.fp64",),
    "fp16": ("opencl.fp16",),
    "int64_atomics": ("opencl.int64_base_atomics", "opencl.int64_extended_atomics"),
    # PTX has shfl.sync on all that OpenCL drivers still serve, mma.sync of 16x8x16 halves since 8.0.
    ("shuffle", "ptx"): ("opencl.computeCapabilityNV >= 3.0",),
    ("shuffle", "khr"): ("opencl.subgroups", "opencl.subgroup_shuffle", "opencl.subgroup_shuffle_relative"),
    "matrices": ("opencl.computeCapabilityNV >= 8.0",),
}


def device_needs(
    features: Iterable[str], profile: DeviceProfile, kernels: Iterable[Kernel], local_memory: int
) -> tuple[str, ...]:
    """Return what kernels need of a device, as requirements (`retarget.profiles.requirements`).

    `features` are those that the kernels use, `local_memory` the bytes of the kernel that takes most.
    """
    needs: list[str] = []
    for feature in sorted(features):
        needs += _NEEDS.get(feature) or _NEEDS[feature, profile.subgroups]
        if feature in {"shuffle", "matrices"}:
            needs.append(f"opencl.subgroupSizes = {profile.subgroup_size}")
    items = max((x * y * z for x, y, z in (kernel.workgroup_size for kernel in kernels)), default=0)
    needs += [f"opencl.maxWorkGroupSize >= {items}"] if items else []
    needs += [f"opencl.localMemSize >= {local_memory}"] if local_memory else []
    return tuple(dict.fromkeys(needs))
