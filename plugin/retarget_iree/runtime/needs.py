"""The requirements of a `.vmfb`, read from its bytes, in the language of `retarget.profiles.requirements`.

For each device that it is compiled for, an artifact holds a message with the device's target, for the case that there
is no such device. With it come:

    SPIR-V      the capabilities that its modules declare (OpCapability), by the features of Vulkan that allow them
    PTX         the architecture that its text names (`.target sm_80`)
    CPU code    the CPU features of the target, those that LLVM derived from a CPU's name included

Nothing is said of HIP, whose code objects run on the architecture they name alone, nor of a device with several
executable targets: the runtime selects among them when it loads the module.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator

_TARGET = re.compile(rb"not found or unavailable: (#hal\.device\.target<[\x20-\x7e]*)")
_EXECUTABLE = re.compile(r'#hal\.executable\.target<"([\w-]+)"')
_CPU_FEATURES = re.compile(r'\bcpu_features = "([^"]*)"')
_PTX_TARGET = re.compile(rb"\n\.target sm_(\d+)(\d)(a?)")

_SPIRV_MAGIC = struct.pack("<I", 0x07230203)
_SPIRV_HEADER = 20  # bytes: magic, version, generator, bound, schema
_OP_CAPABILITY = 2 << 16 | 17  # two words

_FEATURES = {
    9: "shaderFloat16",
    10: "shaderFloat64",
    11: "shaderInt64",
    12: "shaderBufferInt64Atomics",
    22: "shaderInt16",
    39: "shaderInt8",
    4433: "storageBuffer16BitAccess",
    4434: "uniformAndStorageBuffer16BitAccess",
    4435: "storagePushConstant16",
    4441: "variablePointersStorageBuffer",
    4442: "variablePointers",
    4448: "storageBuffer8BitAccess",
    4449: "uniformAndStorageBuffer8BitAccess",
    4450: "storagePushConstant8",
    5116: "shaderBFloat16Type",
    5117: "shaderBFloat16DotProduct",
    5118: "shaderBFloat16CooperativeMatrix",
    5345: "vulkanMemoryModel",
    5346: "vulkanMemoryModelDeviceScope",
    5347: "bufferDeviceAddress",
    6019: "shaderIntegerDotProduct",
    6022: "cooperativeMatrix",
    6033: "shaderBufferFloat32AtomicAdd",
    6034: "shaderBufferFloat64AtomicAdd",
    6095: "shaderBufferFloat16AtomicAdd",
}
"""Of capabilities of SPIR-V, the features of Vulkan that a device must have (Vulkan, appendix "SPIR-V Environment")."""

_SUBGROUPS = {62: "VOTE", 63: "ARITHMETIC", 64: "BALLOT", 65: "SHUFFLE", 66: "SHUFFLE_RELATIVE"}
_SUBGROUPS |= {67: "CLUSTERED", 68: "QUAD"}
_SPIRV_NEEDS = {number: f"vulkan.{name}" for number, name in _FEATURES.items()}
_SPIRV_NEEDS |= {
    number: f"vulkan.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_{name}_BIT"
    for number, name in _SUBGROUPS.items()
}


def artifact_needs(artifact: bytes) -> list[str]:
    """Return the requirements of an artifact; none for one that does not say what it is compiled for."""
    needs: dict[str, None] = {}
    targets = [match[1].decode("ascii") for match in _TARGET.finditer(artifact)]
    executables = [_EXECUTABLE.findall(target) for target in targets]
    alternatives = {backend for backends in executables if len(backends) > 1 for backend in backends}
    for target, backends in zip(targets, executables, strict=True):
        if len(backends) == 1 and backends[0] not in alternatives:
            needs |= dict.fromkeys(_needs_of(backends[0], target, artifact))
    return list(needs)


def _needs_of(backend: str, target: str, artifact: bytes) -> Iterable[str]:
    match backend:
        case "vulkan-spirv":
            return (_SPIRV_NEEDS[one] for one in sorted({*_capabilities(artifact)} & _SPIRV_NEEDS.keys()))
        case "cuda":
            # Code for `sm_90a` runs on 9.0 alone.
            return (
                f"cuda.computeCapability {'=' if match[3] else '>='} {int(match[1])}.{int(match[2])}"
                for match in _PTX_TARGET.finditer(artifact)
            )
        case "llvm-cpu":
            found = _CPU_FEATURES.search(target)
            features = found[1].split(",") if found is not None else []
            return (f"cpu.{feature[1:]}" for feature in features if feature.startswith("+"))
    return ()


def _capabilities(artifact: bytes) -> Iterator[int]:
    """Yield the capabilities of all SPIR-V modules: they come first in each, at a multiple of 4 bytes."""
    start = artifact.find(_SPIRV_MAGIC)
    while start >= 0:
        position = start + _SPIRV_HEADER
        while start % 4 == 0 and position + 8 <= len(artifact):
            instruction, capability = struct.unpack_from("<II", artifact, position)
            if instruction != _OP_CAPABILITY:
                break
            yield capability
            position += 8
        start = artifact.find(_SPIRV_MAGIC, start + 1)
