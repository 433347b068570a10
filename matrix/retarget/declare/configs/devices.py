"""The devices of runtime configs: what their tables mean, and how roles fit the devices of compiler configs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from retarget.model import CompilerConfig, RuntimeConfig
from retarget.support.errors import did_you_mean, display_path
from retarget.support.toml import KeyPath, Problem

if TYPE_CHECKING:
    from retarget.declare.schema.tables import CompilerConfigTable, DeviceTable, RuntimeConfigTable
    from retarget.extension.registry import Registry


def main_driver(table: RuntimeConfigTable) -> str:
    """Return the driver that opens a config's devices: its own, else that of its first device; empty where a device
    names none."""
    drivers = [_driver(one) for one in table.devices]
    return table.driver or (drivers[0] if drivers and all(drivers) else "")


def device_values(table: RuntimeConfigTable) -> dict[str, Any]:
    """Return the values of the fields of `RuntimeConfig` that the devices and the driver give."""
    several = table.devices if table.device is None else []
    uris = [_uri(one, table) for one in several] if table.device is None else [_with_driver(table.device, table)]
    return {
        "driver": main_driver(table),
        "devices": tuple(uris),
        "roles": tuple(one.role for one in several) if any(one.role for one in several) else (),
        "used": tuple(one.used for one in several) if any(one.used is not None for one in several) else (),
    }


def device_problems(registry: Registry | None, table: RuntimeConfigTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with a runtime config's devices by themselves."""
    devices = table.devices
    first_role: dict[str, int] = {}
    first_device: dict[str, int] = {}
    for index, one in enumerate(devices):
        where = (*path, "devices", index)
        if not one.role and any(other.role for other in devices):
            yield Problem(where, "found a device without a role, expected one: other devices of this config have roles")
        if one.role and first_role.setdefault(one.role, index) != index:
            expected = "expected one device for each role"
            yield Problem((*where, "role"), f"found the role {one.role!r} a second time, {expected}")
        if table.distinct and first_device.setdefault(_uri(one, table), index) != index:
            expected = "expected distinct ones, because of distinct = true"
            yield Problem(where, f"found the device {_uri(one, table)!r} a second time, {expected}")
        scheme = one.device.partition("://")[0] if "://" in one.device else ""
        if one.driver and scheme not in {"", one.driver}:
            message = f"found the device {one.device!r} of the driver {scheme!r}, expected one of {one.driver!r}"
            yield Problem((*where, "device"), message)
    if table.distinct and len(devices) < 2:
        yield Problem((*path, "distinct"), "found distinct = true, expected it beside two devices or more")
    drivers = [_driver(one) for one in devices]
    if table.driver and drivers and all(drivers) and table.driver not in drivers:
        message = f"found the driver {table.driver!r}, but devices of {_words(dict.fromkeys(drivers))}"
        yield Problem((*path, "driver"), f"{message}; expected one of these, or no such key")
    main = main_driver(table)
    if registry is None or not main:
        return
    if table.sanitize and (message := registry.not_sanitized(main)):
        yield Problem((*path, "sanitize"), message)
    for index, driver in enumerate(drivers):
        if message := registry.not_beside(main, driver or main):
            yield Problem((*path, "devices", index), message)
            return


def compile_device_problems(registry: Registry | None, table: CompilerConfigTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what a compiler config's compiler finds wrong with its compile devices."""
    compiler = None if registry is None else registry.compilers.get(table.compiler or "")
    if compiler is not None:
        for name, message in compiler.device_problems(table.devices):
            yield Problem((*path, "devices", name), message)


def role_problems(
    compilers: Sequence[CompilerConfig], runtimes: Sequence[RuntimeConfig], path: KeyPath, registry: Registry | None
) -> Iterable[Problem]:
    """Yield where the roles of a runtime config are not the compile devices of a compiler config: of each runtime
    config the first fault."""
    for runtime in runtimes:
        messages = (
            message for compiler in compilers if runtime.roles and (message := _role_fault(compiler, runtime, registry))
        )
        if message := next(messages, ""):
            yield Problem((*path, "runtimes"), message)


def _role_fault(compiler: CompilerConfig, runtime: RuntimeConfig, registry: Registry | None) -> str:
    names = [name for name, _ in compiler.devices]
    devices = f"the compile devices of {compiler.name!r} ({_place(compiler)}): {_words(names) or 'none'}"
    for index, role in enumerate(runtime.roles):
        if role not in names:
            place = _place(runtime, f".devices[{index}].role")
            return (
                f"found the role {role!r} of runtime config {runtime.name!r} ({place}), expected one of "
                f"{devices}{did_you_mean(role, names)}"
            )
    needed = {} if registry is None else registry.runtime_devices(compiler.compiler, dict(compiler.devices))
    for name in names:
        if name not in runtime.roles and needed.get(name, True):
            return (
                f"found no device with the role {name!r} in runtime config {runtime.name!r} ({_place(runtime)}), "
                f"expected one for each of {devices}"
            )
    return ""


def _place(config: CompilerConfig | RuntimeConfig, further: str = "") -> str:
    return f"{display_path(config.origin.file)}: {config.origin.key_path}{further}"


def _words(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _driver(one: DeviceTable) -> str:
    """Return the driver that a device names, by itself or by its URI; the empty string where it names none."""
    return one.driver or (one.device.partition("://")[0] if "://" in one.device else "")


def _uri(one: DeviceTable, table: RuntimeConfigTable) -> str:
    return _with_driver(one.device, table, one.driver or (main_driver(table) if one.role else ""))


def _with_driver(device: str, table: RuntimeConfigTable, driver: str = "") -> str:
    """Return the URI of a device of a driver; without one, what the table's driver takes for it."""
    driver = driver or ("" if device else main_driver(table))
    return f"{driver}://{device}" if driver and "://" not in device else device
