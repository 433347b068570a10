"""Device profiles, of devices and files: found by reference, read, and written so that equal profiles give equal bytes.

format = 1
driver = "vulkan"
description = "Mesa's Vulkan on the CPU"

[identity]
name = "llvmpipe"

[[capabilities]]                      # one for each source
source = "vulkaninfo --json"
memory = 8589934592                   # bytes
device_type = "cpu"

[capabilities.vulkan]
shaderFloat16 = true
maxComputeSharedMemorySize = 32768

The names of capabilities: those that Vulkan, OpenCL, CUDA, HIP and LLVM use, and those that all devices have; and
which values they can have.

A name with a prefix that is not listed here is one of an extension's own driver, and is taken as it is.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from retarget.model.devices import DEVICE_TYPES, TRAITS, DeviceTraits, version_in
from retarget.model.outcomes import DeviceInfo, FeatureValue
from retarget.support.errors import DiagnosticsError, RetargetError, did_you_mean, display_path, nearest
from retarget.support.files import user_path, write_files
from retarget.support.toml import KeyPath, Problem, format_key_path, read_toml, toml_string, toml_value

FORMAT = 1
"""Raised when a file of today would be read wrongly."""

_KEYS = ("format", "driver", "description", "identity", "capabilities")


def _pairs(values: Mapping[str, FeatureValue]) -> Iterable[str]:
    """Yield a line for each value, by key."""
    for key, value in sorted(values.items()):
        name = format_key_path((key,))
        yield f"{name} = {toml_value(value, before=len(name) + 3)}"


def _capabilities(groups: object, problems: list[Problem]) -> Iterable[Capability]:
    """Yield the capabilities of all groups, one for each source."""
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        problems.append(Problem(("capabilities",), "expected [[capabilities]] tables, each with its source"))
        return
    first: dict[str, str] = {}
    for index, group in enumerate(groups):
        path: KeyPath = ("capabilities", index)
        source = group.get("source")
        if not isinstance(source, str) or not source.strip():
            problems.append(Problem((*path, "source"), "found no source, expected where these values came from"))
            source = ""
        for keys, value in _values(group):
            name = ".".join(keys)
            if name == "source":
                continue
            if (frozen := _frozen(value)) is None:
                expected = "expected true or false, a number, a text, or a list of numbers or of texts"
                problems.append(Problem((*path, *keys), f"found {value!r}, {expected}"))
            elif message := name_error(name) or value_error(name, frozen):
                problems.append(Problem((*path, *keys), message))
            elif name in first:
                message = f"found {name} a second time, expected it once; it is from {first[name]!r} already"
                problems.append(Problem((*path, *keys), message))
            else:
                first[name] = source
                yield Capability(name=name, value=frozen, source=source)


def _values(group: dict[str, object]) -> Iterable[tuple[tuple[str, ...], object]]:
    """Yield all values of nested tables, in the order of the file; tables may be nested as deeply as TOML is read."""
    tables: list[tuple[tuple[str, ...], Iterator[tuple[str, object]]]] = [((), iter(group.items()))]
    while tables:
        keys, items = tables[-1]
        for key, value in items:
            if isinstance(value, dict):
                tables.append(((*keys, key), iter(value.items())))
                break
            yield (*keys, key), value
        else:
            tables.pop()


def _frozen(value: object) -> FeatureValue | None:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(one, int) and not isinstance(one, bool) for one in value):
            return tuple(value)
        if all(isinstance(one, str) for one in value):
            return tuple(value)
    return None


GROUP = "retarget.profiles"


@cache
def shipped_profiles() -> Mapping[str, Path]:
    """Return the files of all profiles that installed packages ship, by name.

    Raises `RetargetError` for a package that is not there, and for two files of one name.
    """
    from importlib.metadata import entry_points

    found: dict[str, Path] = {}
    for entry_point in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        try:
            spec = importlib.util.find_spec(entry_point.value)
        except ModuleNotFoundError:
            spec = None
        if spec is None or not spec.submodule_search_locations:
            msg = f"entry point {entry_point.name!r} of {GROUP}: found {entry_point.value!r}, expected a package"
            raise RetargetError(msg)
        for folder in map(Path, spec.submodule_search_locations):
            for file in sorted(folder.rglob("*.toml")):
                if found.setdefault(file.stem, file) != file:
                    msg = f"two shipped profiles have the name {file.stem!r}: {found[file.stem]} and {file}"
                    raise RetargetError(msg)
    return dict(sorted(found.items()))


def profile_file(reference: str, *, others: Iterable[str] = ()) -> Path:
    """Return the file of a profile. `reference` is a path that ends in `.toml`, or the name of a shipped profile.

    `others` are words that the caller knows in addition, for what may have been meant.
    Raises `RetargetError` for a name that no package ships.
    """
    if reference.endswith(".toml"):
        return Path(reference)
    shipped = shipped_profiles()
    if reference not in shipped:
        meant = did_you_mean(reference, [*shipped, *others])
        expected = "expected a file that ends in .toml or the name of a shipped profile (`retarget profile list`)"
        msg = f"found the device profile {reference!r}, {expected}{meant}"
        raise RetargetError(msg)
    return shipped[reference]


class Capability(Struct, frozen=True, kw_only=True):
    """One thing that a device has. `name` is as Vulkan, OpenCL, CUDA or LLVM call it, with their prefix
    (`vulkan.shaderFloat16`, `opencl.fp64`, `cuda.computeCapability`, `cpu.avx512f`), or one that all devices have
    (`memory` in bytes, `device_type`). `source` says where the value came from."""

    name: str
    value: FeatureValue
    source: str

    @staticmethod
    def known(prefix: str) -> tuple[str, ...]:
        """Return the names with a prefix that are listed here, without it."""
        return _KNOWN[prefix]

    @property
    def error(self) -> str | None:
        """Why it cannot have the value; None if it can."""
        return value_error(self.name, self.value)


class Profile(Struct, frozen=True, kw_only=True):
    """A device's capabilities. `driver` is that of runtime configs (`vulkan`, `opencl`, `cuda`, `local-task`).

    `description` is one line. `identity` has (field, text) pairs: `name`, `vendor`, `driver` (its own name),
    `driver_version`. Both pairs and capabilities are sorted by name. `file` is None for a device of this host.
    """

    name: str
    driver: str
    description: str = ""
    identity: tuple[tuple[str, str], ...] = ()
    capabilities: tuple[Capability, ...] = ()
    file: Path | None = None

    @property
    def label(self) -> str:
        """How messages name it: a shipped one by its name, another by its file."""
        if self.file is None or self.file == shipped_profiles().get(self.name):
            return self.name
        return display_path(self.file)

    @property
    def traits(self) -> DeviceTraits:
        """The properties of the device itself for requirements (`device.vendor`)."""
        known = dict(self.identity)
        texts = {trait: known.get(trait, "") for trait in ("driver", "vendor", "name")}
        version, sort = version_in(known.get("driver_version", "")), str(self.get("device_type") or "")
        return DeviceTraits(version=version, type=sort, **texts)

    def get(self, name: str) -> FeatureValue | None:
        """Return the value of a capability; None where the profile does not say."""
        return next((one.value for one in self.capabilities if one.name == name), None)

    def is_of_family(self, drivers: Iterable[str]) -> bool:
        """Return whether one of the drivers reports its device: the first word of their names is that of its driver, as
        of `local-task` and `local-sync`."""
        return self.driver.partition("-")[0] in {other.partition("-")[0] for other in drivers}

    @classmethod
    def read(cls, file: Path) -> Profile:
        """Read a profile. Raises `DiagnosticsError` with every error of the file."""
        text, data, unreadable = read_toml(file)
        if unreadable:
            raise DiagnosticsError(unreadable)
        problems: list[Problem] = []
        for key in data:
            if key not in _KEYS:
                expected = f"expected one of {', '.join(_KEYS)}{did_you_mean(key, _KEYS)}"
                problems.append(Problem((key,), f"found the unknown key {key!r}, {expected}"))
        if data.get("format") != FORMAT:
            problems.append(Problem(("format",), f"found {data.get('format')!r}, expected format = {FORMAT}"))
        driver = data.get("driver")
        if not isinstance(driver, str) or not driver:
            problems.append(Problem(("driver",), f"found {driver!r}, expected the name of a driver, such as vulkan"))
        description = data.get("description", "")
        if not isinstance(description, str):
            problems.append(Problem(("description",), f"found {description!r}, expected one line of text"))
        identity = data.get("identity", {})
        if not isinstance(identity, dict) or not all(isinstance(value, str) for value in identity.values()):
            problems.append(Problem(("identity",), "expected a table of texts, such as name and driver_version"))
            identity = {}
        capabilities = _capabilities(data.get("capabilities", []), problems)
        ordered = tuple(sorted(capabilities, key=lambda capability: capability.name))
        if problems:
            raise DiagnosticsError(Problem.locate(file, text, problems))
        return cls(
            name=file.stem,
            driver=str(driver),
            description=str(description),
            identity=tuple(sorted(identity.items())),
            capabilities=ordered,
            file=file,
        )

    @classmethod
    def find(cls, reference: str, *, others: Iterable[str] = (), prefix: str = "") -> Profile:
        """Read a profile by path or name; `others` is as for `profile_file`. The name of a shipped one may lack the
        `prefix`. Raises `RetargetError`: `DiagnosticsError` for what is wrong in its file."""
        prefixed = f"{prefix}{reference}"
        return cls.read(profile_file(prefixed if prefixed in shipped_profiles() else reference, others=others))

    @classmethod
    def shipped(cls) -> list[Profile]:
        """Read all profiles that installed packages ship. Raises as `find` does."""
        return [*map(cls.read, shipped_profiles().values())]

    @staticmethod
    def of_extensions(extensions: Collection[str]) -> dict[str, bool]:
        """Return which capabilities an OpenCL device has by its extensions."""
        vendors = "cl_nv_device_attribute_query"
        known = {f"opencl.{name}": f"cl_khr_{name}" in extensions for name in _OPENCL_EXTENSIONS}
        return known | {f"opencl.{vendors}": vendors in extensions}

    @staticmethod
    def located(file: Path, reference: str) -> str:
        """Return a reference to a profile that `file` writes: that to a profile file as an absolute path."""
        return str(file.parent / user_path(reference)) if reference.endswith(".toml") else reference

    @classmethod
    def reference_error(cls, reference: str) -> str | None:
        """Return what is wrong with an entry of `target_from`; None if nothing is. No device is asked."""
        if reference == "host" or (reference.startswith("host:") and reference.partition("://")[1]):
            return None
        if reference.startswith("host:"):
            return f"found {reference!r}, expected host, or host: and the URI of a device, such as host:vulkan://0"
        try:
            cls.find(reference, others=["host"])
        except DiagnosticsError as error:
            return f"the device profile cannot be used: {error}"
        except RetargetError as error:
            return str(error)
        return None

    @classmethod
    def of_device(cls, info: DeviceInfo, source: str) -> Profile:
        """Return the profile of a device that its driver has reported. `source` is where its values came from."""
        identity = [("name", info.name), ("driver_version", info.driver_version or info.traits.version)]
        identity += [("vendor", info.vendor), ("driver", info.driver_name)]
        return cls(
            name=info.name,
            driver=info.driver,
            identity=tuple(sorted((field, text) for field, text in identity if text)),
            capabilities=tuple(
                Capability(name=name, value=value, source=source) for name, value in sorted(info.features)
            ),
        )

    def text(self) -> str:
        """Return a profile as the text of a file, from which `read` gives the same profile."""
        lines = [f"format = {FORMAT}", f"driver = {toml_string(self.driver)}"]
        if self.description:
            lines.append(f"description = {toml_string(self.description)}")
        if self.identity:
            lines += ["", "[identity]", *_pairs(dict(self.identity))]
        by_source = sorted(self.capabilities, key=lambda one: (one.source, "." in one.name, one.name))
        for source, group in groupby(by_source, lambda one: one.source):
            lines += ["", "[[capabilities]]", f"source = {toml_string(source)}"]
            for prefix, members in groupby(
                group, lambda one: one.name.rpartition(".")[0] and one.name.partition(".")[0]
            ):
                if prefix:
                    lines += ["", f"[capabilities.{format_key_path((prefix,))}]"]
                lines += _pairs({one.name.removeprefix(f"{prefix}."): one.value for one in members})
        return "\n".join(lines) + "\n"

    def write(self, output: Path | None) -> None:
        """Write a profile to a file, or to standard output. Raises `RetargetError` for one that cannot be written."""
        text = self.text()
        if output is None:
            sys.stdout.write(text)
            return
        if output.suffix != ".toml":
            msg = f"found the file name {output.name!r} for a profile, expected one that ends in .toml"
            raise RetargetError(msg)
        write_files([(output, text)], force=True)
        sys.stdout.write(f"{display_path(output)}: {len(self.capabilities)} capabilities, driver {self.driver}\n")


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

_OPENCL_EXTENSIONS = (
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

_OPENCL_FEATURES = (*_OPENCL_EXTENSIONS, "correctlyRoundedDivideSqrt", "int64")

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
        near = did_you_mean(name, [f"{prefix}.{known}" for known in _KNOWN[prefix]])
        return f"found the unknown capability {name!r}, expected {_expected(prefix)}{near}"
    if dot and own and prefix and not nearest(prefix, _KNOWN, cutoff=0.75):
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


def _unprefixed(name: str) -> str:
    """Return the hint for a name that is known with a prefix: `shaderFloat64`."""
    found = [f"{prefix}.{name}" for prefix, names in _KNOWN.items() if name in names]
    return f"; did you mean {found[0]!r}?" if found else ""


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
