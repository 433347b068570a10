"""A device profile, and the one of a device that a driver reports."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from retarget.model.devices import DeviceTraits, version_in
from retarget.model.outcomes import DeviceInfo, FeatureValue


class Capability(Struct, frozen=True, kw_only=True):
    """One thing that a device has. `name` is as Vulkan, OpenCL, CUDA or LLVM call it, with their prefix
    (`vulkan.shaderFloat16`, `opencl.fp64`, `cuda.computeCapability`, `cpu.avx512f`), or one that all devices have
    (`memory` in bytes, `device_type`). `source` says where the value came from."""

    name: str
    value: FeatureValue
    source: str


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
    def traits(self) -> DeviceTraits:
        """The properties of the device itself for requirements (`device.vendor`)."""
        known = dict(self.identity)
        texts = {trait: known.get(trait, "") for trait in ("driver", "vendor", "name")}
        version, sort = version_in(known.get("driver_version", "")), str(self.get("device_type") or "")
        return DeviceTraits(version=version, type=sort, **texts)

    def get(self, name: str) -> FeatureValue | None:
        """Return the value of a capability; None where the profile does not say."""
        return next((one.value for one in self.capabilities if one.name == name), None)


def profile_of_device(info: DeviceInfo, source: str) -> Profile:
    """Return the profile of a device that its driver has reported. `source` is where its values came from."""
    identity = [("name", info.name), ("driver_version", info.driver_version or info.traits.version)]
    identity += [("vendor", info.vendor), ("driver", info.driver_name)]
    return Profile(
        name=info.name,
        driver=info.driver,
        identity=tuple(sorted((field, text) for field, text in identity if text)),
        capabilities=tuple(Capability(name=name, value=value, source=source) for name, value in sorted(info.features)),
    )
