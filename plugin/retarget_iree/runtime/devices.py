"""The HAL drivers of IREE's own builds: what each package of this plugin knows them by, and what their runtimes say.

The devices of a HAL driver as `DeviceInfo`, and which one a runtime config means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from retarget.extension import DriverError, UnavailableError
from retarget.model import DeviceInfo, RuntimeConfig, vendor_name


class HalDriver(Struct, frozen=True, kw_only=True):
    """One HAL driver. `device` is what IREE compiles for (`--iree-hal-target-device`), `backends` are the target
    backends that do so, `executable_format` is that of its executables, where there is only one.

    `target_flags` name the chip, or the CPU's, in the order of preference; `chip` is the feature of a device profile
    that says which it is. `cores` describes the host's cores, for a driver of these. `vendor` made all of its devices.
    `words` are further ones for `-m`. `library` is what the driver loads, `missing` and `broken` are as of
    `IreeDriver`.
    """

    name: str
    device: str
    backends: tuple[str, ...] = ()
    executable_format: str = ""
    target_flags: tuple[str, ...] = ()
    chip: str = ""
    cores: str = ""
    vendor: str = ""
    words: tuple[str, ...] = ()
    library: str = ""
    missing: tuple[tuple[str, str], ...] = ()
    broken: str = ""
    hint: str = ""


_CPU = ("llvm-cpu", "vmvx", "vmvx-inline")

HAL_DRIVERS: Mapping[str, HalDriver] = {
    driver.name: driver
    for driver in (
        HalDriver(name="local-sync", device="local", backends=_CPU, cores="CPU, in the calling thread"),
        HalDriver(name="local-task", device="local", backends=_CPU, cores="CPU, in a pool of threads"),
        HalDriver(
            name="vulkan",
            device="vulkan",
            backends=("vulkan-spirv",),
            executable_format="vulkan-spirv-fb",
            target_flags=("iree-vulkan-target",),
            missing=(
                ("VK_ERROR_INCOMPATIBLE_DRIVER", "there is no Vulkan driver (ICD) on this machine"),
                ("no devices|vkEnumeratePhysicalDevices", "the Vulkan drivers of this machine offer no device"),
                ("libvulkan", "there is no Vulkan loader (libvulkan) on this machine"),
            ),
            broken="no Vulkan driver (ICD) of this machine is usable; the loader says",
            hint="install a Vulkan driver; `apt-get install libvulkan1 mesa-vulkan-drivers` installs one that runs on "
            "the CPU",
        ),
        HalDriver(
            name="cuda",
            device="cuda",
            executable_format="cuda-nvptx-fb",
            target_flags=("iree-cuda-target",),
            chip="cuda.computeCapability",
            vendor="NVIDIA",
            library="libcuda.so.1",
            missing=(
                (r"libcuda\.so", "there is no CUDA driver library (libcuda.so) on this machine"),
                ("CUDA_ERROR_NO_DEVICE|no devices", "the CUDA driver finds no device on this machine"),
            ),
            broken="the CUDA driver library does not load",
            hint="install the NVIDIA driver for the GPU of this machine; it contains libcuda.so.1",
        ),
        HalDriver(
            name="hip",
            device="hip",
            backends=("rocm", "amdgpu"),
            executable_format="rocm-hsaco-fb",
            target_flags=("iree-rocm-target", "iree-hip-target"),
            chip="hip.gcnArchName",
            vendor="AMD",
            words=("rocm",),
            library="libamdhip64.so",
            missing=(
                (r"libamdhip64\.so", "there is no HIP runtime library (libamdhip64.so) on this machine"),
                ("hipErrorNoDevice|no devices", "the HIP runtime finds no device on this machine"),
            ),
            broken="the HIP runtime library does not load",
            hint="install ROCm for the GPU of this machine, and put libamdhip64.so where the loader looks for "
            "libraries",
        ),
    )
}
"""Each by its name. `retarget_iree.runtime.drivers` registers them; a fork registers one more with an `IreeDriver`."""

HOST_DRIVERS = frozenset(driver.name for driver in HAL_DRIVERS.values() if driver.cores)
"""The drivers whose devices are the host's cores."""


_UUID = re.compile(r"^(?:GPU-)?([0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12})$")
_FIELD = re.compile(r"^(?P<name>[\w .\[\]-]+?): (?P<value>\S.*)$")
_NOT_SHOWN = {"name", "path", "driver", "driver_info", "device_uuid", "driver_uuid", "driver-max-cuda-version"}
_MOST_FIELDS = 16
_MOST_CHARACTERS = 320


def describe_device(driver: str, ordinal: int, record: Mapping[str, object], dump: str) -> DeviceInfo:
    """Describe the device that the runtime lists as `record` and describes in `dump`.

    A GPU is known by its UUID, which Vulkan and CUDA report alike, so that the same card under two drivers has one
    physical id. Devices on the host's cores (`local-*`, a software Vulkan) have the physical id `cpu`.
    """
    path = str(record.get("path", ""))
    if driver in HOST_DRIVERS:
        return DeviceInfo(
            driver=driver,
            uri=f"{driver}://",
            ordinal=ordinal,
            name=HAL_DRIVERS[driver].cores,
            physical_id="cpu",
            exclusive=False,
            driver_name="IREE",
            type="cpu",
        )
    fields = _fields(dump)
    uuid = _UUID.match(path)
    if fields.get("type", "").lower() == "cpu":
        physical = "cpu"
    elif uuid is not None:
        physical = f"gpu-{uuid[1].replace('-', '').lower()}"
    else:
        physical = f"{driver}-{path or ordinal}"
    version = " ".join(filter(None, (fields.get("driver", ""), fields.get("driver_info", ""))))
    if "driver-max-cuda-version" in fields:
        version = f"CUDA {fields['driver-max-cuda-version']}"
    sort, number = fields.get("type", "").lower(), fields.get("vendor_id", "0")
    vendor = HAL_DRIVERS[driver].vendor if driver in HAL_DRIVERS else ""
    return DeviceInfo(
        driver=driver,
        uri=f"{driver}://{path}",
        ordinal=ordinal,
        name=str(record.get("name", "")) or fields.get("name", "") or f"{driver} device {ordinal}",
        physical_id=physical,
        driver_version=version,
        vendor=vendor or vendor_name(str(record.get("name", "")), int(number, 0)),
        driver_name=fields.get("driver", "") or driver.upper(),
        type=next((one for one in ("cpu", "gpu") if one in sort), "gpu" if vendor else "accelerator"),
        capabilities=tuple(
            (name, value if len(value) <= _MOST_CHARACTERS else f"{value[:_MOST_CHARACTERS].rsplit(' ', 1)[0]} …")
            for name, value in fields.items()
            if name not in _NOT_SHOWN
        )[:_MOST_FIELDS],
    )


def _fields(dump: str) -> dict[str, str]:
    """Return the `name: value` lines at the margin of a dump; its lists of extensions are left out."""
    matches = (_FIELD.match(line.removeprefix("- ")) for line in dump.splitlines() if not line.startswith(" "))
    return {match["name"]: match["value"].strip() for match in matches if match is not None}


def driver_of(wanted: str, config: RuntimeConfig) -> str:
    """Return the driver of a device of a config: that of its URI, else the config's."""
    return wanted.partition("://")[0] if "://" in wanted else config.driver


def select_device(wanted: str, infos: Sequence[DeviceInfo], *, driver: str) -> DeviceInfo:
    """Return the device that `wanted` names.

    `0` and `vulkan://0` are ordinals, `vulkan://` and the driver's name are the first device, `vulkan://GPU-…` and
    `GPU-…` are paths, `vulkan://…?…` carries parameters; anything else is part of a name, whatever its case, also after
    `vulkan://`.

    Raises `UnavailableError` if there is no such device, `DriverError` for another driver's URI and for a name that
    fits several devices.
    """
    scheme, separator, path = wanted.partition("://")
    if separator and scheme != driver:
        msg = f"the device {wanted!r} belongs to the driver {scheme!r}; the config's driver is {driver!r}: {driver}://…"
        raise DriverError(msg)
    key = path.partition("?")[0] if separator else wanted
    if not key or key == driver:
        return infos[0]
    if key.isdigit():
        if int(key) < len(infos):
            return infos[int(key)]
        raise _missing(wanted, infos, driver)
    for info in infos:
        if key == info.uri.partition("://")[2]:
            return info
    fitting = [info for info in infos if key.lower() in info.name.lower()]
    if not fitting:
        raise _missing(wanted, infos, driver)
    if len(fitting) > 1:
        msg = f"the name {wanted!r} fits {len(fitting)} devices: {_listing(fitting)}; name one by its URI or ordinal"
        raise DriverError(msg)
    return fitting[0]


def _missing(wanted: str, infos: Sequence[DeviceInfo], driver: str) -> UnavailableError:
    reason = f"the driver {driver} has no device {wanted!r}; it has: {_listing(infos)}"
    return UnavailableError(reason, hint="`retarget devices` lists the devices of this machine")


def _listing(infos: Sequence[DeviceInfo]) -> str:
    return ", ".join(f"{info.ordinal} = {info.uri} ({info.name})" for info in infos)
