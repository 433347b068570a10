"""Builds kernels, or takes them from this process or from the user's cache of binaries."""

from __future__ import annotations

import hashlib
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from retarget.extension import DriverError
from retarget.profiles.profile import Profile
from retarget.support.files import write_atomically

from retarget_opencl.artifact.file import OpenClArtifact
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.run.errors import BUILD_HINT, status_name

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["Builds"]


def _build_options(artifact: OpenClArtifact, device: Profile) -> list[str]:
    """Return the OpenCL compiler's options, for what the device offers. `docs/opencl.md` explains them."""
    # Subgroups are not in 1.2; a device says `3.0` only if its compiler takes that.
    with_subgroups = "CL3.0" if str(device.get("opencl.version") or "") >= "3" else "CL2.0"
    options = [f"-cl-std={with_subgroups if 'opencl.subgroups' in artifact.needs else 'CL1.2'}"]
    if device.get("opencl.correctlyRoundedDivideSqrt"):
        options.append("-cl-fp32-correctly-rounded-divide-sqrt")
    return options


class Builds:
    """The programs that were built for one device. `cache` is the folder of binaries; None is the user's."""

    def __init__(self, context: cl.Context, found: FoundDevice, cache: Path | None) -> None:
        import pyopencl as cl

        self._cl, self._context, self._found = cl, context, found
        self._cache = cache if cache is not None else platformdirs.user_cache_path("retarget") / "opencl"
        self._built: dict[str, cl.Program] = {}

    def build(self, artifact: OpenClArtifact, profile: Profile) -> cl.Program:
        """Return an artifact's kernels for the device of a profile. Raises `DriverError` with the compiler's log."""
        options, device = _build_options(artifact, profile), self._found.device
        words = (
            artifact.source,
            " ".join(options),
            self._found.platform,
            device.name,
            device.driver_version,
            device.version,
        )
        key = hashlib.sha256("\0".join(words).encode()).hexdigest()
        if key not in self._built:
            path = self._cache / f"{key}.bin"
            self._built[key] = self._from_cache(path) or self._from_source(artifact.source, options, path)
        return self._built[key]

    def clear(self) -> None:
        """Release the programs."""
        self._built.clear()

    def _from_cache(self, path: Path) -> cl.Program | None:
        try:
            binary = path.read_bytes()
        except OSError:
            return None
        try:
            return self._cl.Program(self._context, [self._found.device], [binary]).build(cache_dir=False)
        except self._cl.Error:
            # The driver no longer accepts this binary.
            with suppress(OSError):
                path.unlink()
            return None

    def _from_source(self, source: str, options: list[str], path: Path) -> cl.Program:
        cl = self._cl
        program = cl.Program(self._context, source)
        try:
            with warnings.catch_warnings():
                # Compiler warnings about generated code do not help its user.
                warnings.simplefilter("ignore", cl.CompilerWarning)
                program.build(options=options, cache_dir=False)
        except cl.RuntimeError as error:
            log = program.get_build_info(self._found.device, cl.program_build_info.LOG).strip()
            device = self._found.device.name.strip()
            msg = f"building the kernels failed with CL_{status_name(error)}\non {device}:\n{log or error}"
            raise DriverError(msg, BUILD_HINT, harmless=True) from error
        with suppress(OSError, cl.Error):
            binary = program.get_info(cl.program_info.BINARIES)[0]
            write_atomically(path, binary)
        return program
