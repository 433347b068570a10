"""Vulkan profiles as targets of IREE."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.profiles import Profile
from retarget_iree.compiler.vulkan_targets import vulkan_target

LAVAPIPE = """
format = 1
driver = "vulkan"
[identity]
name = "llvmpipe"
[[capabilities]]
source = "vulkaninfo"
[capabilities.vulkan]
apiVersion = "1.3.230"
vendorID = 65541
shaderFloat16 = true
shaderFloat64 = false
shaderInt8 = true
shaderInt16 = true
shaderInt64 = true
shaderIntegerDotProduct = true
storageBuffer8BitAccess = true
storageBuffer16BitAccess = true
subgroupSize = 8
subgroupSizeControl = true
minSubgroupSize = 4
maxSubgroupSize = 16
subgroupSupportedOperations = ["VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", "VK_SUBGROUP_FEATURE_SHUFFLE_BIT"]
maxComputeWorkGroupSize = [1024, 512, 64]
maxComputeWorkGroupInvocations = 1024
maxComputeSharedMemorySize = 32768
maxComputeWorkGroupCount = [4294967295, 65535, 65535]
"""


def fields(folder: Path, text: str) -> dict[str, str]:
    file = folder / "device.toml"
    file.write_text(text)
    return vulkan_target(Profile.read(file)).fields()


def test_features_and_limits_become_fields_of_the_target(tmp_path: Path) -> None:
    assert fields(tmp_path, LAVAPIPE) == {
        "arch": '"unknown"',
        "features": '"spirv:v1.6,cap:Shader"',
        "compute": "fp32|fp16|int64|int32|int16|int8",
        "storage": "b64|b32|b16|b8",
        "subgroup": "arithmetic",  # to shuffle, IREE needs relative shuffles too
        "dot": "dp4xi8toi32",
        "mma": "[]",
        "subgroup_size_choices": "[4, 8, 16]",
        "max_workgroup_sizes": "[1024, 512, 64]",
        "max_thread_count_per_workgroup": "1024",
        "max_workgroup_memory_bytes": "32768",
        "max_workgroup_counts": "[2147483647, 65535, 65535]",
    }


def test_what_a_profile_does_not_say_is_what_every_device_has(tmp_path: Path) -> None:
    found = fields(tmp_path, 'format = 1\ndriver = "vulkan"\n')
    assert (found["compute"], found["storage"], found["subgroup"]) == ("fp32|int32", "b32", "none")
    assert (found["max_workgroup_sizes"], found["max_workgroup_memory_bytes"]) == ("[128, 128, 64]", "16384")
    assert (found["features"], found["subgroup_size_choices"]) == ('"spirv:v1.3,cap:Shader"', "[64]")


@pytest.mark.parametrize(
    ("vendor", "name", "result", "expected"),
    [
        (0x10DE, "NVIDIA H200", "float32", ("sm_80", "<NV_WMMA_F32_16x16x16_F16>")),
        (0x10DE, "NVIDIA H200", "float16", ("sm_80", "<NV_WMMA_F16_16x16x16_F16>")),
        (0x1002, "AMD Radeon (RADV GFX1100)", "float32", ("gfx1100", "<WMMAR3_F32_16x16x16_F16>")),
        (0x5143, "Adreno (TM) 740", "float16", ("adreno", "")),
    ],
)
def test_vendors_give_architecture_and_matrix_products(
    tmp_path: Path, vendor: int, name: str, result: str, expected: tuple[str, str]
) -> None:
    text = f'format = 1\ndriver = "vulkan"\n[identity]\nname = "{name}"\n[[capabilities]]\nsource = "measured"\n'
    text += f"[capabilities.vulkan]\nvendorID = {vendor}\n"
    products = ["8x8x16 float16 float16 float32 float32", f"16x16x16 float16 float16 {result} {result}"]
    text += f"cooperativeMatrixProperties = {products}\n"
    found = fields(tmp_path, text)
    assert (found["arch"], found["mma"]) == (f'"{expected[0]}"', f"[{expected[1]}]")
