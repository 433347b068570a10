"""The driver `opencl`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retarget.extension import Driver, DriverError, FunctionInfo, UnavailableError
from retarget.model import DeviceInfo, RuntimeConfig, Toolchain
from retarget.support import install_hint
from retarget_iree.builds import installed_folder

from retarget_opencl.artifact import ARTIFACT_SUFFIX
from retarget_opencl.builds import runtime_build
from retarget_opencl.device.devices import OCLGRIND, find_device, info_of, list_devices

if TYPE_CHECKING:
    from retarget_opencl.run.device import OpenClDevice


class OpenClDriver(Driver):
    """Runs OpenCL artifacts through pyopencl. Devices are named by URIs: see `devices.find_device`."""

    name = "opencl"
    artifact_suffixes = (ARTIFACT_SUFFIX,)
    sanitizers = ("oclgrind",)
    maps_artifacts = True

    def probe(self) -> Sequence[DeviceInfo]:
        """List the devices of all OpenCL platforms; compilers that have failed are tried again. Raises
        `UnavailableError`."""
        return tuple(info_of(found) for found in list_devices(again=True))

    def open(self, config: RuntimeConfig) -> OpenClDevice:
        """Open the config's device. Raises `UnavailableError` or `DriverError`."""
        if len(config.devices) > 1:
            msg = f"the opencl driver runs on one device, the runtime config {config.name} names {len(config.devices)}"
            raise DriverError(msg, "declare one runtime config for each device")
        if config.flags:
            msg = f"the opencl driver has no flags, found {config.flags[0]!r}"
            raise DriverError(msg, f"remove it from the runtime config {config.name}")
        if config.sanitize:
            return self._sanitized(config)
        found = find_device(config.devices[0] if config.devices else "", list_devices())
        installed_folder("runtime")  # its virtual machine executes the host's part of a program
        from retarget_opencl.run.device import OpenClDevice  # imports NumPy, which pytest's process does not need

        return OpenClDevice(found)

    def _sanitized(self, config: RuntimeConfig) -> OpenClDevice:
        """Open Oclgrind's device. Raises `UnavailableError` where it is not installed."""
        try:
            found = find_device(config.devices[0] if config.devices else f"opencl://{OCLGRIND}/0", list_devices())
        except UnavailableError as error:
            msg = f"sanitize = true needs Oclgrind: {error}"
            raise UnavailableError(msg, install_hint("opencl")) from error
        if found.platform != OCLGRIND:
            msg = f"found sanitize = true for the device {found.device.name} of {found.platform}, expected Oclgrind's"
            raise DriverError(msg, "declare no device beside it")
        from retarget_opencl.run.sanitizer import SanitizedDevice  # imports pyopencl

        return SanitizedDevice(found)

    def describe_build(self, toolchain: Toolchain | None) -> str:
        """Name pyopencl and the build of this driver."""
        del toolchain
        return runtime_build()

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        """List an artifact's functions without a device. Raises `DriverError` for bytes that are no artifact."""
        from retarget_opencl.artifact.file import ArtifactError, read_artifact
        from retarget_opencl.artifact.show import function_info  # imports NumPy, which pytest's process does not need

        try:
            return tuple(map(function_info, read_artifact(artifact, check_constants=False).program.exports))
        except ArtifactError as error:
            raise DriverError(str(error)) from error

    def needs(self, artifact: bytes) -> Sequence[str]:
        """Return what an artifact says that it needs."""
        from retarget_opencl.artifact.file import ArtifactError, read_artifact

        try:
            return read_artifact(artifact, check_constants=False).needs
        except ArtifactError:
            return ()

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        """`opencl`, and the platform's name if the device's URI has it."""
        words = [self.name, *(("sanitize",) if config.sanitize else ())]
        for device in config.devices:
            parts = device.removeprefix("opencl://").split("/")
            if len(parts) == 2 and parts[0].isalnum():
                words.append(parts[0].lower())
        return tuple(words)
