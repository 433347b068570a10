"""The names of capabilities: those that Vulkan, OpenCL, CUDA, HIP and LLVM use, and those that all devices have; and
which values they can have.

A name with a prefix that is not listed here is one of an extension's own driver, and is taken as it is.
"""

from __future__ import annotations

import difflib
import re

from retarget.model.devices import DEVICE_TYPES, TRAITS
from retarget.model.outcomes import FeatureValue
from retarget.support.errors import did_you_mean

NEUTRAL = ("memory", "device_type", "devices")
"""Capabilities that devices of all drivers have: bytes, one of `DEVICE_TYPES`, how many devices a config opens."""

_VULKAN_FEATURES = """
shaderFloat64 shaderInt64 shaderInt16 shaderFloat16 shaderInt8 robustBufferAccess sparseBinding
shaderStorageBufferArrayDynamicIndexing shaderUniformBufferArrayDynamicIndexing
storageBuffer16BitAccess uniformAndStorageBuffer16BitAccess storagePushConstant16 storageInputOutput16
storageBuffer8BitAccess uniformAndStorageBuffer8BitAccess storagePushConstant8
variablePointers variablePointersStorageBuffer shaderBufferInt64Atomics shaderSharedInt64Atomics
scalarBlockLayout uniformBufferStandardLayout shaderSubgroupExtendedTypes hostQueryReset timelineSemaphore
bufferDeviceAddress vulkanMemoryModel vulkanMemoryModelDeviceScope descriptorIndexing
subgroupSizeControl computeFullSubgroups synchronization2 maintenance4 shaderIntegerDotProduct
shaderZeroInitializeWorkgroupMemory shaderTerminateInvocation inlineUniformBlock privateData
cooperativeMatrix cooperativeMatrixRobustBufferAccess
shaderBFloat16Type shaderBFloat16DotProduct shaderBFloat16CooperativeMatrix shaderFloat8 shaderFloat8CooperativeMatrix
shaderBufferFloat32Atomics shaderBufferFloat32AtomicAdd shaderBufferFloat64Atomics shaderBufferFloat64AtomicAdd
shaderSharedFloat32Atomics shaderSharedFloat32AtomicAdd shaderSharedFloat64Atomics shaderSharedFloat64AtomicAdd
shaderBufferFloat16Atomics shaderBufferFloat16AtomicAdd shaderSharedFloat16Atomics shaderSharedFloat16AtomicAdd
shaderSubgroupClock shaderDeviceClock workgroupMemoryExplicitLayout workgroupMemoryExplicitLayout8BitAccess
workgroupMemoryExplicitLayout16BitAccess shaderFloatControls2 shaderSubgroupRotate

subgroupQuadOperationsInAllStages integerDotProduct4x8BitPackedSignedAccelerated
integerDotProduct4x8BitPackedUnsignedAccelerated integerDotProduct4x8BitPackedMixedSignednessAccelerated
integerDotProduct8BitSignedAccelerated shaderSignedZeroInfNanPreserveFloat16 shaderSignedZeroInfNanPreserveFloat32
shaderSignedZeroInfNanPreserveFloat64 shaderDenormPreserveFloat16 shaderDenormPreserveFloat32
shaderDenormPreserveFloat64 shaderDenormFlushToZeroFloat16 shaderDenormFlushToZeroFloat32
shaderDenormFlushToZeroFloat64 shaderRoundingModeRTEFloat16 shaderRoundingModeRTEFloat32
shaderRoundingModeRTEFloat64 shaderRoundingModeRTZFloat16 shaderRoundingModeRTZFloat32 shaderRoundingModeRTZFloat64
"""

_VULKAN_OTHERS = """
apiVersion driverID driverName driverVersion vendorID deviceID deviceName conformanceVersion

maxComputeSharedMemorySize maxComputeWorkGroupCount maxComputeWorkGroupInvocations maxComputeWorkGroupSize
maxComputeWorkgroupSubgroups maxStorageBufferRange maxUniformBufferRange maxPushConstantsSize maxBufferSize
maxMemoryAllocationCount maxMemoryAllocationSize maxBoundDescriptorSets maxPerStageDescriptorStorageBuffers
maxPerStageDescriptorUniformBuffers maxPerStageResources maxDescriptorSetStorageBuffers
maxDescriptorSetStorageBuffersDynamic maxDescriptorSetUniformBuffers minStorageBufferOffsetAlignment
minUniformBufferOffsetAlignment minMemoryMapAlignment nonCoherentAtomSize subgroupSize minSubgroupSize
maxSubgroupSize requiredSubgroupSizeStages subgroupSupportedOperations subgroupSupportedStages
denormBehaviorIndependence roundingModeIndependence cooperativeMatrixProperties
"""

OPENCL_EXTENSIONS = (
    "fp64",
    "fp16",
    "int64_base_atomics",
    "int64_extended_atomics",
    "subgroups",
    "subgroup_shuffle",
    "subgroup_shuffle_relative",
    "integer_dot_product",
)
"""Capabilities of OpenCL that are extensions, by their names without `cl_khr_`."""

_OPENCL_FEATURES = (*OPENCL_EXTENSIONS, "correctlyRoundedDivideSqrt", "int64")

_OPENCL_OTHERS = """
platform vendor version maxComputeUnits maxWorkGroupSize maxWorkItemSizes localMemSize maxMemAllocSize subgroupSizes
computeCapabilityNV
"""

_CUDA = """
computeCapability multiprocessorCount warpSize maxThreadsPerBlock maxThreadsPerMultiProcessor maxBlockDim maxGridDim
sharedMemoryPerBlock sharedMemoryPerBlockOptin sharedMemoryPerMultiprocessor registersPerBlock
registersPerMultiprocessor memoryPoolsSupported managedMemory concurrentKernels cooperativeLaunch driverVersion
"""

_HIP = f"gcnArchName {_CUDA}"

_KNOWN = {
    "vulkan": (*_VULKAN_FEATURES.split(), *_VULKAN_OTHERS.split()),
    "opencl": (*_OPENCL_FEATURES, *_OPENCL_OTHERS.split()),
    "cuda": tuple(_CUDA.split()),
    "hip": tuple(_HIP.split()),
    "cpu": ("avx2", "avx512f", "fma", "f16c", "neon", "sve", "v", "cpu"),
}

PREFIXES = tuple(_KNOWN)
"""The prefixes whose names are known here."""

_YES_NO = {*(f"vulkan.{name}" for name in _VULKAN_FEATURES.split()), *(f"opencl.{name}" for name in _OPENCL_FEATURES)}
_VERSIONS = {
    "vulkan.apiVersion",
    "vulkan.conformanceVersion",
    "opencl.version",
    "opencl.computeCapabilityNV",
    "cuda.computeCapability",
    "hip.computeCapability",
}
_OF_CPU = {"cpu.name", "cpu.triple"}
_DIMENSIONS = {"vulkan.maxComputeWorkGroupSize", "vulkan.maxComputeWorkGroupCount"}
_AXES = 3
_POSITIVE = re.compile(r"memory|\w+\.max\w*(Work[Gg]roup|WorkItem|Thread|Block|Grid|SharedMemory)\w*|\w+\.localMemSize")
_SUBGROUP_SIZE = re.compile(r"\w+\.((min|max)?[sS]ubgroupSizes?|warpSize)")

_ALSO = {"vulkan": r"VK_[A-Z]+_\w+", "opencl": r"cl_\w+|CL_DEVICE_\w+", "cpu": r"[a-z0-9][a-z0-9.+-]*"}
"""What else is a name: extensions of devices, and LLVM's features, of which each architecture has hundreds."""


def name_error(name: str) -> str | None:
    """Return what is wrong with the name of a capability, with the nearest that is known; None if nothing is."""
    prefix, dot, own = name.partition(".")
    if (not dot and name in NEUTRAL) or (prefix == "device" and own in TRAITS):
        return None
    if dot and prefix == "device":
        traits = [f"device.{trait}" for trait in TRAITS]
        return f"found the unknown name {name!r}, expected one of {', '.join(traits)}{did_you_mean(name, traits)}"
    if dot and prefix in _KNOWN:
        if own in _KNOWN[prefix] or re.fullmatch(_ALSO.get(prefix, "(?!)"), own):
            return None
        return f"found the unknown capability {name!r}, expected {_expected(prefix)}{_nearest(name, prefix)}"
    if dot and own and prefix and not difflib.get_close_matches(prefix, _KNOWN, n=1, cutoff=0.75):
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


def known_names(prefix: str) -> tuple[str, ...]:
    """Return the names with a prefix that are listed here, without it."""
    return _KNOWN[prefix]


def value_error(name: str, value: FeatureValue) -> str | None:
    """Return why a capability cannot have a value; None if it can."""
    ones = value if isinstance(value, tuple) else (value,)
    expected = ""
    if name == "device_type":
        expected = (
            "" if value in DEVICE_TYPES else f"one of {', '.join(DEVICE_TYPES)}{did_you_mean(str(value), DEVICE_TYPES)}"
        )
    elif name in _YES_NO:
        expected = "" if isinstance(value, bool) else "true or false"
    elif name in _VERSIONS:
        is_version = isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)+", value)
        expected = "" if is_version else 'a version in quotes, such as "1.3"'
    elif _SUBGROUP_SIZE.fullmatch(name):
        are_powers = all(type(one) is int and one > 0 and one.bit_count() == 1 for one in ones)
        expected = "" if are_powers else "a power of two (work-items)"
    elif name in _OF_CPU:
        is_word = isinstance(value, str) and re.fullmatch(r"[\w.+-]+", value, re.ASCII)
        expected = "" if is_word else "a word of letters, digits and any of _ . + -"
    elif name.startswith("cpu."):
        expected = "" if isinstance(value, bool) else "true or false"
    elif name in _DIMENSIONS and len(ones) != _AXES:
        expected = "three numbers: of x, y and z"
    elif _POSITIVE.fullmatch(name):
        expected = "" if all(type(one) is int and one > 0 for one in ones) else "a whole number above 0"
    elif any(isinstance(one, int | float) and one < 0 for one in ones):
        expected = "0 or more"
    return f"found {name} = {value!r}, expected {expected}" if expected else None
