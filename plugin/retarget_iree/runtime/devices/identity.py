"""The devices of a HAL driver as `DeviceInfo`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from retarget.model.devices import vendor_name
from retarget.model.outcomes import DeviceInfo

from retarget_iree.runtime.devices.hal import HAL_DRIVERS, HOST_DRIVERS

__all__ = ["describe_device"]

_UUID = re.compile(r"^(?:GPU-)?([0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12})$")
_FIELD = re.compile(r"^(?P<name>[\w .\[\]-]+?): (?P<value>\S.*)$")
_NOT_SHOWN = {"name", "path", "driver", "driver_info", "device_uuid", "driver_uuid", "driver-max-cuda-version"}
_MOST_FIELDS = 16
_MOST_CHARACTERS = 320


def describe_device(driver: str, ordinal: int, record: Mapping[str, object], dump: str) -> DeviceInfo:
    """Describe the device that the runtime lists as `record` and describes in `dump`.

    A GPU is known by its UUID, which Vulkan and CUDA report alike, so that the same card under two drivers has one
    physical id. What runs on the host's cores (`local-*`, a software Vulkan) has the physical id `cpu`.
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
        capabilities=tuple((name, _clip(value)) for name, value in fields.items() if name not in _NOT_SHOWN)[
            :_MOST_FIELDS
        ],
    )


def _clip(value: str) -> str:
    return value if len(value) <= _MOST_CHARACTERS else f"{value[:_MOST_CHARACTERS].rsplit(' ', 1)[0]} …"


def _fields(dump: str) -> dict[str, str]:
    """Return the `name: value` lines at the margin of a dump; its lists of extensions are left out."""
    matches = (_FIELD.match(line.removeprefix("- ")) for line in dump.splitlines() if not line.startswith(" "))
    return {match["name"]: match["value"].strip() for match in matches if match is not None}
