"""What artifacts of IREE say that they need of a device."""

from __future__ import annotations

import struct

import pytest
from iree_support import Compile
from retarget.profiles import parse_requirement
from retarget_iree.runtime.drivers import artifact_needs

SUM = """\
func.func @sum(%a: tensor<16x{type}>) -> tensor<16x{type}> {{
  %sum = arith.add{kind} %a, %a : tensor<16x{type}>
  return %sum : tensor<16x{type}>
}}
"""


def message(*executables: str) -> bytes:
    """What an artifact holds for the case that there is no device for these targets."""
    targets = ", ".join(f"#hal.executable.target<{one}>" for one in executables)
    return f'\x03HAL device `__device_0` not found or unavailable: #hal.device.target<"d", [{targets}]>\x79'.encode()


def spirv(*capabilities: int) -> bytes:
    words = [0x07230203, 0x10300, 0, 42, 0, *(word for one in capabilities for word in (2 << 16 | 17, one)), 0x3000E]
    return struct.pack(f"<{len(words)}I", *words)


def padded(*parts: bytes) -> bytes:
    return b"".join(part + b"\0" * (-len(part) % 4) for part in parts)


VULKAN = '"vulkan-spirv", "vulkan-spirv-fb", {}'


@pytest.mark.parametrize(
    ("artifact", "needs"),
    [
        pytest.param(
            padded(message(VULKAN), spirv(1, 11, 4433), spirv(1, 10, 65)),
            [
                "vulkan.shaderFloat64",
                "vulkan.shaderInt64",
                "vulkan.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_SHUFFLE_BIT",
                "vulkan.storageBuffer16BitAccess",
            ],
            id="all SPIR-V modules together",
        ),
        pytest.param(padded(message(VULKAN), b"\0", spirv(1, 99999)), [], id="capabilities without a feature"),
        pytest.param(padded(message(VULKAN)) + spirv(11)[:-7], [], id="bytes that end early"),
        pytest.param(padded(message(VULKAN), b"abcd")[:-2] + spirv(11), [], id="a number that is no module"),
        pytest.param(padded(message(VULKAN, VULKAN), spirv(11)), [], id="executables to choose from"),
        pytest.param(padded(message('"vmvx", "vmvx-bytecode-fb"'), spirv(11)), [], id="another backend"),
        pytest.param(spirv(11), [], id="no target"),
        pytest.param(
            message('"cuda", "cuda-nvptx-fb"') + b".version 8.0\n.target sm_86\n\n.version 8.0\n.target sm_90a\n",
            ["cuda.computeCapability >= 8.6", "cuda.computeCapability = 9.0"],
            id="PTX",
        ),
        pytest.param(
            message('"llvm-cpu", "embedded-elf-x86_64", {cpu = "", cpu_features = "+avx2,-fma4,+sse4.2"}'),
            ["cpu.avx2", "cpu.sse4.2"],
            id="CPU features that are on",
        ),
        pytest.param(message('"llvm-cpu", "embedded-elf-x86_64", {cpu_features = ""}'), [], id="no CPU features"),
    ],
)
def test_needs_are_read_from_the_bytes(artifact: bytes, needs: list[str]) -> None:
    assert artifact_needs(artifact) == needs
    assert [parse_requirement(one).text for one in needs] == needs


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("flags", "kind", "needed"),
    [
        (("--iree-hal-target-device=vulkan", "--iree-vulkan-target=ampere"), ("i", "i64"), "vulkan.shaderInt64"),
        (("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"), ("f", "f32"), "cuda.computeCapability >= 8.0"),
        (
            (
                "--iree-hal-target-device=local",
                "--iree-hal-local-target-device-backends=llvm-cpu",
                "--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu",
                "--iree-llvmcpu-target-cpu=skylake-avx512",
            ),
            ("f", "f32"),
            "cpu.avx512f",
        ),
    ],
)
def test_what_iree_compiles_says_what_it_needs(
    compile_module: Compile, flags: tuple[str, ...], kind: tuple[str, str], needed: str
) -> None:
    artifact = compile_module(SUM.format(kind=kind[0], type=kind[1]), *flags)
    assert needed in artifact_needs(artifact)
