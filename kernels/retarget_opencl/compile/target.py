"""The target that IREE compiles for, and what a compiled module needs of a device."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from retarget.extension import TargetPart
from retarget.profiles import Profile
from retarget_iree.compiler.combined_targets import source_of
from retarget_iree.compiler.vulkan_targets import GpuTarget, device_target, spirv_executable

from retarget_opencl.device.profile import SUBGROUPS, DeviceProfile, compile_profile

if TYPE_CHECKING:
    from retarget_opencl.artifact.file import Kernel


# Of 16x16 halves, summed up in half or single precision, and of bytes: IREE has no name of NVIDIA's for these.
_MATRICES = ("NV_WMMA_F32_16x16x16_F16", "NV_WMMA_F16_16x16x16_F16", "WMMAR3_I32_16x16x16_I8")

_CAPABILITIES = {
    "arch": ("device_type", "opencl.computeCapabilityNV", "opencl.vendor", "opencl.platform"),
    "compute": ("opencl.fp64",),
    "subgroup": ("opencl.computeCapabilityNV", "opencl.subgroups", "opencl.subgroup_shuffle"),
    "dot": ("opencl.computeCapabilityNV", "opencl.integer_dot_product"),
    "mma": ("opencl.computeCapabilityNV",),
    "subgroup_size_choices": ("opencl.subgroupSizes", "opencl.vendor"),
    "max_workgroup_sizes": ("opencl.maxWorkItemSizes",),
    "max_thread_count_per_workgroup": ("opencl.maxWorkGroupSize",),
    "max_workgroup_memory_bytes": ("opencl.localMemSize",),
}
"""The capabilities that each field of the target comes from."""


def gpu_target(profile: DeviceProfile) -> GpuTarget:
    """Return the GPU for which IREE generates SPIR-V for this profile."""
    return GpuTarget(
        arch=profile.arch,
        # Half precision is always there: where the device has none it is emulated, exactly.
        compute=(*(("fp64",) if profile.fp64 else ()), "fp32", "fp16", "int64", "int32", "int16", "int8"),
        storage=("b64", "b32", "b16", "b8"),
        subgroup=() if profile.subgroups == "none" else ("shuffle", "arithmetic"),
        mma=() if profile.matrices == "none" else _MATRICES,
        dot=() if profile.dot == "none" else ("dp4xi8toi32",),
        subgroup_sizes=(profile.subgroup_size,),
        max_workgroup_sizes=profile.max_workgroup_sizes,
        max_workgroup_items=profile.max_workgroup_items,
        workgroup_memory=profile.local_memory,
        max_workgroup_counts=(2147483647, 65535, 65535),
    )


def target_attribute(profile: DeviceProfile) -> str:
    """Return the `#hal.device.target` of this profile."""
    return device_target("vulkan", (spirv_executable(gpu_target(profile)),))


def parts_of(profile: Profile) -> tuple[TargetPart, ...]:
    """Return the fields of a profile's target, each with where its value came from. Raises `RetargetError`."""
    return tuple(
        TargetPart(name=name, value=value, source=source_of(profile, _CAPABILITIES.get(name, ())))
        for name, value in gpu_target(compile_profile(profile)).fields().items()
    )


_NEEDS = {
    "rounding": (),  # where the profile has it
    "fp64": ("opencl.fp64",),
    "fp16": ("opencl.fp16",),
    # The compilers of devices with NVIDIA's extension take inline PTX: shfl.sync, and mma.sync of 16x8x16 halves since
    # compute capability 8.0.
    ("shuffle", "ptx"): ("opencl.cl_nv_device_attribute_query",),
    ("shuffle", "khr"): SUBGROUPS,
    ("dot", "none"): (),
    ("dot", "khr"): ("opencl.integer_dot_product",),
    ("dot", "ptx"): ("opencl.cl_nv_device_attribute_query", "opencl.computeCapabilityNV >= 6.1"),
    "matrices": ("opencl.cl_nv_device_attribute_query", "opencl.computeCapabilityNV >= 8.0"),
}


def device_needs(
    features: Collection[str], profile: DeviceProfile, kernels: Iterable[Kernel], local_memory: int
) -> tuple[str, ...]:
    """Return what kernels need of a device, as requirements (`retarget.profiles.requirements`).

    `features` are those that the kernels use, `local_memory` the bytes of the kernel that takes most.
    """
    needs = ["opencl.correctlyRoundedDivideSqrt"] if "rounding" in features and profile.correct_rounding else []
    modes = {"shuffle": profile.subgroups, "dot": profile.dot}
    for feature in sorted(features):
        needs += _NEEDS[feature, modes[feature]] if feature in modes else _NEEDS[feature]
        if feature in {"shuffle", "matrices"}:
            needs.append(f"opencl.subgroupSizes = {profile.subgroup_size}")
    items = max((x * y * z for x, y, z in (kernel.workgroup_size for kernel in kernels)), default=0)
    # A kernel takes its buffers' offsets as 64-bit integers.
    needs += ["opencl.int64", f"opencl.maxWorkGroupSize >= {items}"] if items else []
    needs += [f"opencl.localMemSize >= {local_memory}"] if local_memory else []
    return tuple(dict.fromkeys(needs))
