"""The names of capabilities: those that Vulkan, OpenCL, CUDA, HIP and LLVM use, and those that all devices have.

A name with a prefix that is not listed here is one of an extension's own driver, and is taken as it is.
"""

from __future__ import annotations

import difflib
import re

from retarget.support.errors import did_you_mean

__all__ = ["DEVICE_TYPES", "NEUTRAL", "name_error"]

NEUTRAL = ("memory", "device_type", "devices")
"""Capabilities that devices of all drivers have: bytes, one of `DEVICE_TYPES`, how many devices a config opens."""

DEVICE_TYPES = ("gpu", "cpu", "accelerator")

_VULKAN = """
apiVersion driverID driverName driverVersion vendorID deviceID deviceName conformanceVersion

shaderFloat64 shaderInt64 shaderInt16 shaderFloat16 shaderInt8 robustBufferAccess sparseBinding
shaderStorageBufferArrayDynamicIndexing shaderUniformBufferArrayDynamicIndexing
storageBuffer16BitAccess uniformAndStorageBuffer16BitAccess storagePushConstant16 storageInputOutput16
storageBuffer8BitAccess uniformAndStorageBuffer8BitAccess storagePushConstant8
variablePointers variablePointersStorageBuffer shaderBufferInt64Atomics shaderSharedInt64Atomics
scalarBlockLayout uniformBufferStandardLayout shaderSubgroupExtendedTypes hostQueryReset timelineSemaphore
bufferDeviceAddress vulkanMemoryModel vulkanMemoryModelDeviceScope descriptorIndexing
subgroupSizeControl computeFullSubgroups synchronization2 maintenance4 shaderIntegerDotProduct
shaderZeroInitializeWorkgroupMemory shaderTerminateInvocation inlineUniformBlock privateData
cooperativeMatrix cooperativeMatrixRobustBufferAccess cooperativeMatrixProperties
shaderBFloat16Type shaderBFloat16DotProduct shaderBFloat16CooperativeMatrix shaderFloat8 shaderFloat8CooperativeMatrix
shaderBufferFloat32Atomics shaderBufferFloat32AtomicAdd shaderBufferFloat64Atomics shaderBufferFloat64AtomicAdd
shaderSharedFloat32Atomics shaderSharedFloat32AtomicAdd shaderSharedFloat64Atomics shaderSharedFloat64AtomicAdd
shaderBufferFloat16Atomics shaderBufferFloat16AtomicAdd shaderSharedFloat16Atomics shaderSharedFloat16AtomicAdd
shaderSubgroupClock shaderDeviceClock workgroupMemoryExplicitLayout workgroupMemoryExplicitLayout8BitAccess
workgroupMemoryExplicitLayout16BitAccess shaderFloatControls2 shaderSubgroupRotate

maxComputeSharedMemorySize maxComputeWorkGroupCount maxComputeWorkGroupInvocations maxComputeWorkGroupSize
maxComputeWorkgroupSubgroups maxStorageBufferRange maxUniformBufferRange maxPushConstantsSize maxBufferSize
maxMemoryAllocationCount maxMemoryAllocationSize maxBoundDescriptorSets maxPerStageDescriptorStorageBuffers
maxPerStageDescriptorUniformBuffers maxPerStageResources maxDescriptorSetStorageBuffers
maxDescriptorSetStorageBuffersDynamic maxDescriptorSetUniformBuffers minStorageBufferOffsetAlignment
minUniformBufferOffsetAlignment minMemoryMapAlignment nonCoherentAtomSize
subgroupSize minSubgroupSize maxSubgroupSize requiredSubgroupSizeStages subgroupSupportedOperations
subgroupSupportedStages subgroupQuadOperationsInAllStages
integerDotProduct4x8BitPackedSignedAccelerated integerDotProduct4x8BitPackedUnsignedAccelerated
integerDotProduct4x8BitPackedMixedSignednessAccelerated integerDotProduct8BitSignedAccelerated
shaderSignedZeroInfNanPreserveFloat16 shaderSignedZeroInfNanPreserveFloat32 shaderSignedZeroInfNanPreserveFloat64
shaderDenormPreserveFloat16 shaderDenormPreserveFloat32 shaderDenormPreserveFloat64
shaderDenormFlushToZeroFloat16 shaderDenormFlushToZeroFloat32 shaderDenormFlushToZeroFloat64
shaderRoundingModeRTEFloat16 shaderRoundingModeRTEFloat32 shaderRoundingModeRTEFloat64
shaderRoundingModeRTZFloat16 shaderRoundingModeRTZFloat32 shaderRoundingModeRTZFloat64
denormBehaviorIndependence roundingModeIndependence
"""

_OPENCL = "fp64 fp16 int64_atomics shuffle matrices version platform extensions"

_CUDA = """
computeCapability multiprocessorCount warpSize maxThreadsPerBlock maxThreadsPerMultiProcessor maxBlockDim maxGridDim
sharedMemoryPerBlock sharedMemoryPerBlockOptin sharedMemoryPerMultiprocessor registersPerBlock
registersPerMultiprocessor memoryPoolsSupported managedMemory concurrentKernels cooperativeLaunch driverVersion
"""

_HIP = f"gcnArchName {_CUDA}"

_KNOWN = {name: tuple(text.split()) for name, text in (("vulkan", _VULKAN), ("opencl", _OPENCL), ("cuda", _CUDA))}
_KNOWN |= {"hip": tuple(_HIP.split()), "cpu": ("avx2", "avx512f", "fma", "f16c", "neon", "sve", "v", "cpu")}

_ALSO = {"vulkan": r"VK_[A-Z]+_\w+", "opencl": r"cl_\w+|CL_DEVICE_\w+", "cpu": r"[a-z0-9][a-z0-9.+-]*"}
"""What else is a name: extensions of devices, and LLVM's features, of which each architecture has hundreds."""


def name_error(name: str) -> str | None:
    """Return what is wrong with the name of a capability, with the nearest that is known; None if nothing is."""
    prefix, dot, own = name.partition(".")
    if not dot and name in NEUTRAL:
        return None
    if dot and prefix in _KNOWN:
        if own in _KNOWN[prefix] or re.fullmatch(_ALSO.get(prefix, "(?!)"), own):
            return None
        return f"found the unknown capability {name!r}, expected {_expected(prefix)}{_nearest(name, prefix)}"
    if dot and own and not difflib.get_close_matches(prefix, _KNOWN, n=1, cutoff=0.75):
        return None
    expected = f"expected {', '.join(NEUTRAL)}, or a name with one of the prefixes {', '.join(_KNOWN)}"
    known = [*NEUTRAL, *(f"{other}.{one}" for other, names in _KNOWN.items() for one in names)]
    hint = did_you_mean(name, known) or (did_you_mean(prefix, _KNOWN) if dot else _unprefixed(name))
    return f"found the unknown capability {name!r}, {expected}{hint}"


def _expected(prefix: str) -> str:
    sorts = {
        "vulkan": "a feature, property or limit of Vulkan that code generation depends on, or an extension (VK_…)",
        "opencl": f"one of {', '.join(_KNOWN['opencl'])}, or an extension (cl_…)",
        "cpu": "a feature as LLVM names it, in lower case",
    }
    return sorts.get(prefix, f"one of {', '.join(_KNOWN[prefix])}")


def _nearest(name: str, prefix: str) -> str:
    return did_you_mean(name, [f"{prefix}.{known}" for known in _KNOWN[prefix]])


def _unprefixed(name: str) -> str:
    """Return the hint for a name that is known with a prefix: `shaderFloat64`."""
    found = [f"{prefix}.{name}" for prefix, names in _KNOWN.items() if name in names]
    return f"; did you mean {found[0]!r}?" if found else ""
