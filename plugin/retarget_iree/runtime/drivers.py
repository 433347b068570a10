"""The HAL drivers of the IREE runtime. `DRIVERS` has those of IREE's own builds; a fork registers one more.

The command that runs an artifact by hand.

The requirements of a `.vmfb`, read from its bytes, in the language of `retarget.profiles.requirements`.

For each device that it is compiled for, an artifact holds a message with the device's target, for the case that there
is no such device. With it come:

    SPIR-V      the capabilities that its modules declare (OpCapability), by the features of Vulkan that allow them
    PTX         the architecture that its text names (`.target sm_80`)
    CPU code    the CPU features of the target, those that LLVM derived from a CPU's name included

Nothing is said of HIP, whose code objects run on the architecture they name alone, nor of a device with several
executable targets: the runtime selects among them when it loads the module.
"""

from __future__ import annotations

import importlib
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from retarget.extension import Device, Driver, DriverError, FunctionInfo, RunPlan, UnavailableError
from retarget.model import CompilerConfig, DeviceInfo, RuntimeConfig, Toolchain

from retarget_iree.builds import RUNTIME_PACKAGE
from retarget_iree.noise import clean_status
from retarget_iree.runtime.apis import host_vendor, library_complaints, live_features, vulkan_complaints
from retarget_iree.runtime.devices import HAL_DRIVERS, HOST_DRIVERS, describe_device, driver_of, select_device
from retarget_iree.toolchain import VARIABLE, command, describe_runtime, find_runtime, find_tool, select_runtime


@dataclass(eq=False, kw_only=True)
class IreeDriver(Driver):
    """One HAL driver by name.

    `missing` has (pattern of the runtime's message, reason) pairs; the first that occurs counts, with `hint`. A runtime
    that is installed but does not load has another reason, `broken`, with the result of `complaints`.
    """

    artifact_suffixes = (".vmfb",)
    opens_with = tuple(HAL_DRIVERS)

    name: str
    words: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    broken: str = ""
    complaints: Callable[[], Sequence[str]] = tuple
    hint: str = ""

    def import_ahead(self) -> None:
        """Import the runtime."""
        select_runtime()
        importlib.import_module("retarget_iree.runtime.program")

    def probe(self) -> Sequence[DeviceInfo]:
        """List the devices. Raises `UnavailableError` if the driver has no library or no device here."""
        select_runtime()
        return self.records(complete=True)[1]

    def runs_by_tool(self, config: RuntimeConfig) -> bool:
        """Whether `iree-run-module` runs a config's artifacts.

        It does behind `run_under` and on hosts, where the toolchain names the tool or has no Python packages. It also
        does where the work of devices is counted, and for several devices that are not all the host's cores: Python's
        bindings have no recorder, and put no Vulkan device into a group ("queue frontier already assigned" in 3.13).
        """
        toolchain = config.toolchain
        is_group = len(config.devices) > 1 and not HOST_DRIVERS.issuperset(config.drivers)
        if config.run_under or config.host is not None or is_group or any(one is not None for one in config.used):
            return True
        if toolchain is None or toolchain.run_with:
            return toolchain is not None
        try:
            return find_runtime(toolchain).packages is None
        except UnavailableError:
            return False

    def probe_on_host(self, config: RuntimeConfig) -> Sequence[DeviceInfo]:
        """List the devices that the tool finds on a host."""
        from retarget_iree.runtime.tool import listed_devices, open_place

        with closing(open_place(config)) as place:
            return listed_devices(self.name, config, place)

    def open(self, config: RuntimeConfig) -> Device:
        """Open the config's devices in order, its first or default device if it names none.

        Runtime flags are parsed first; they hold for the whole process. Raises `UnavailableError` if a device is not
        there, `DriverError` for a flag the runtime does not know, a name that fits several devices, or a device that
        does not open.
        """
        select_runtime()
        if self.runs_by_tool(config):
            from retarget_iree.runtime.tool import open_tool

            if not config.run_under and config.host is None and config.toolchain is None:
                for name in config.drivers:
                    self._named(name).records()  # says in more words than the tool why there is no device
            return open_tool(config)
        parse_runtime_flags(config)
        drivers: dict[str, tuple[Any, tuple[DeviceInfo, ...], list[dict[str, Any]]]] = {}
        from retarget_iree.runtime.program import IreeDevice

        opened, chosen = [], []
        for wanted in config.devices or ("0",):
            name = driver_of(wanted, config)
            if name not in drivers:
                drivers[name] = self._named(name).records()
            driver, infos, records = drivers[name]
            info = select_device(wanted, infos, driver=name)
            try:
                parameters = wanted.partition("?")[2]
                if parameters:  # they go with a URI only
                    opened.append(driver.create_device_by_uri(f"{info.uri}?{parameters}"))
                else:
                    opened.append(driver.create_device(records[info.ordinal]))
            except (RuntimeError, ValueError, OSError) as error:
                msg = f"{info.uri} ({info.name}) does not open: {clean_status(str(error))}"
                raise DriverError(msg) from error
            chosen.append(info)
        return IreeDevice(opened, chosen)

    def describe_build(self, toolchain: Toolchain | None) -> str:
        """Return version and build of the runtime."""
        return find_runtime(toolchain).describe()

    def toolchain_environment(self, config: CompilerConfig | RuntimeConfig) -> Sequence[tuple[str, str]]:
        """Return the variable that selects a toolchain."""
        if isinstance(config, RuntimeConfig) and self.runs_by_tool(config):
            find_tool(config.toolchain)
            return ()  # the tool of the toolchain runs the artifacts; this process needs what is installed
        return ((VARIABLE, str(find_runtime(config.toolchain).folder)),)

    def release_packages(self) -> Sequence[str]:
        """Return the package of a release."""
        return (RUNTIME_PACKAGE,)

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        """List an artifact's functions without a device. Raises `DriverError` for bytes that are no module."""
        select_runtime()
        from retarget_iree.runtime.exports import function_info, module_signatures  # imports the runtime

        return [function_info(name, signature) for name, (signature, _) in module_signatures(artifact).items()]

    def needs(self, artifact: bytes) -> Sequence[str]:
        """Return what an artifact needs of a device."""
        return artifact_needs(artifact)

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        """Return the names of the devices' drivers and their further words."""
        return tuple(word for one in map(self._named, config.drivers) for word in (one.name, *one.words))

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        """Return the command that runs one function by hand; None where no tool takes the config's devices, of a check
        module, which no tool in IREE's packages knows, and on a host, where nothing may have been pushed."""
        if config.host is not None or (kind == "check" and not self.runs_by_tool(config)):
            return None
        argv = run_module_command(config, artifact, (f"--function={function}",) if function else ())
        return None if argv is None else RunPlan(argv=argv, env=config.env)

    def records(self, *, complete: bool = False) -> tuple[Any, tuple[DeviceInfo, ...], list[dict[str, Any]]]:
        """Return the runtime's driver, the devices, and the runtime's own records of them in the same order.

        `complete`: with all that is known of them, however long it takes to find out.
        """
        import iree.runtime as rt

        if self.name not in rt.query_available_drivers():
            msg = f"this IREE runtime was built without the driver {self.name}"
            raise UnavailableError(msg, hint=f"it has: {', '.join(rt.query_available_drivers())}")
        try:
            driver = rt.get_driver(self.name)
            records = [dict(record) for record in driver.query_available_devices()]
        except (RuntimeError, ValueError, OSError) as error:
            raise self._unavailable(str(error)) from error
        if not records:
            message = "no devices"
            raise self._unavailable(message)
        infos = []
        for ordinal, record in enumerate(records):
            dump = ""
            with suppress(RuntimeError, ValueError, NotImplementedError, OSError):  # it is optional for a driver
                dump = str(driver.dump_device_info(record["device_id"]))
            features = live_features(self.name, str(record.get("path", "")), dump, complete=complete)
            info = describe_device(self.name, ordinal, record, dump)
            vendor = info.vendor or host_vendor()  # only the host's cores have none
            infos.append(replace(info, runtime=describe_runtime(), features=features, vendor=vendor))
        return driver, tuple(infos), records

    def _named(self, name: str) -> IreeDriver:
        """Return this driver, one of IREE's own, or one of which only the runtime knows more than its name."""
        return next((driver for driver in (self, *DRIVERS) if driver.name == name), IreeDriver(name=name))

    def _unavailable(self, message: str) -> UnavailableError:
        for pattern, reason in self.missing:
            if re.search(pattern, message):
                said = "; ".join(self.complaints())
                return UnavailableError(f"{self.broken}: {said}" if said else reason, hint=self.hint)
        first = clean_status(message).partition("\n")[0]
        return UnavailableError(f"the driver {self.name} does not start: {first}")


def parse_runtime_flags(config: RuntimeConfig) -> None:
    """Give the config's flags to the runtime, for the whole process. Raises `DriverError` naming a flag it refuses."""
    from iree.runtime import flags

    for flag in config.flags:
        name = flag.lstrip("-").partition("=")[0]
        if not flag.startswith("--") or name == "help":
            msg = f"{flag!r} is no runtime flag; expected --name=value"
            raise DriverError(msg)
        try:
            flags.parse_flags(flag)
        except (RuntimeError, ValueError) as error:
            msg = f"the IREE runtime refuses {flag}: {clean_status(str(error))}"
            hint = f"`iree-run-module --help` lists the flags; `{flag.partition('=')[0]}` must be among them"
            raise DriverError(msg, hint=hint) from error


_COMPLAINTS: dict[str, Callable[[], Sequence[str]]] = {"vulkan": vulkan_complaints}
_COMPLAINTS |= {hal.name: partial(library_complaints, hal.library) for hal in HAL_DRIVERS.values() if hal.library}
DRIVERS = tuple(
    IreeDriver(
        name=hal.name,
        words=hal.words,
        missing=hal.missing,
        broken=hal.broken,
        complaints=_COMPLAINTS.get(hal.name, tuple),
        hint=hal.hint,
    )
    for hal in HAL_DRIVERS.values()
)


def run_module_command(config: RuntimeConfig, artifact: Path, arguments: Sequence[str]) -> tuple[str, ...] | None:
    """Return the `iree-run-module` command for an artifact, without `run_under`.

    None where a device of the config is not named by a URI: the tool takes no ordinals and no names.
    """
    uris = [_tool_uri(device) for device in config.devices] or [config.driver]
    if None in uris:
        return None
    devices = (f"--device={uri}" for uri in uris)
    tool = command("iree-run-module", config.toolchain)
    return (tool, *devices, f"--module={artifact}", *arguments, *config.flags)


def _tool_uri(device: str) -> str | None:
    """Return a device as IREE's own tools take it: a URI with a path of the driver's, not an ordinal or a name."""
    driver, separator, path = device.partition("://")
    if not separator:
        return None
    if not path:
        return driver
    return device if re.match(r"GPU-|[0-9a-fA-F]{8}", path) else None


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
