from __future__ import annotations

from retarget_iree.compiler.vulkan_targets import GpuTarget, device_target, spirv_executable


def test_a_gpu_target_is_written_as_attribute_of_iree() -> None:
    target = GpuTarget(
        arch="valhall1",
        compute=("fp32", "fp16", "int32"),
        storage=("b32", "b16"),
        subgroup=("shuffle", "arithmetic"),
        mma=("NV_WMMA_F32_16x16x16_F16",),
        subgroup_sizes=(8, 16),
        max_workgroup_sizes=(512, 512, 64),
        max_workgroup_items=512,
        workgroup_memory=32768,
    )
    assert device_target("vulkan", [spirv_executable(target)]) == (
        '#hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", '
        '{iree_codegen.target_info = #iree_gpu.target<arch = "valhall1", features = "spirv:v1.6,cap:Shader", '
        "wgp = <compute = fp32|fp16|int32, storage = b32|b16, subgroup = shuffle|arithmetic, dot = none, "
        "mma = [<NV_WMMA_F32_16x16x16_F16>], subgroup_size_choices = [8, 16], max_workgroup_sizes = [512, 512, 64], "
        "max_thread_count_per_workgroup = 512, max_workgroup_memory_bytes = 32768, "
        "max_workgroup_counts = [2147483647, 65535, 65535]>>}>]> : !hal.device"
    )
