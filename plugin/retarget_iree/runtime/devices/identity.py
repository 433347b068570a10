"""The devices of a HAL driver as `DeviceInfo`, and which one a runtime config means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retarget.extension import DriverError, UnavailableError
from retarget.model import DeviceInfo, RuntimeConfig, vendor_name

from retarget_iree.runtime.devices.hal import HAL_DRIVERS, HOST_DRIVERS

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
