"""Which device a runtime config means: by URI, ordinal, or part of its name. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from retarget.extension import DriverError, UnavailableError
from retarget.model import RuntimeConfig
from retarget.model.outcomes import DeviceInfo

__all__ = ["driver_of", "select_device"]


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
