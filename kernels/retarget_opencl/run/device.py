"""Opened OpenCL devices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import Device, DriverError
from retarget.profiles.profile import Profile
from retarget.profiles.requirements import Status, answer, parse_requirement

from retarget_opencl.artifact.file import ArtifactError, KernelSource, OpenClArtifact, read_artifact
from retarget_opencl.artifact.program import Kernel
from retarget_opencl.device.devices import FoundDevice, info_of, profile_of
from retarget_opencl.device.profile import DeviceProfile, numbers
from retarget_opencl.internals import kernel_object
from retarget_opencl.run.builds import Builds
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import driver_errors
from retarget_opencl.run.memory import Pool
from retarget_opencl.run.program import OpenClProgram
from retarget_opencl.run.uploads import Uploads

if TYPE_CHECKING:
    import pyopencl as cl

    from retarget_opencl.run.transfers import OpenClTransfers

__all__ = ["OpenClDevice", "unmet_needs"]

_POOL_SHARE = 4  # the pool keeps at most a quarter of the device's memory


class OpenClDevice(Device):
    """An opened device: a context and an in-order queue. Programs built once stay built."""

    def __init__(self, found: FoundDevice, *, profiling: bool = False, cache: Path | None = None) -> None:
        import pyopencl as cl

        self._cl, self._found = cl, found
        self._info = info_of(found)
        self.infos = (self._info,)
        self.profile = profile_of(found)
        with driver_errors("opening the device", found.device.name):
            self._context = cl.Context([found.device])
            flags = cl.command_queue_properties.PROFILING_ENABLE if profiling else 0
            self._queue = cl.CommandQueue(self._context, found.device, properties=flags)
        self._pool = Pool(self._context, found.device.global_mem_size // _POOL_SHARE, found.device.max_mem_alloc_size)
        self.uploads = Uploads(self._queue, self._pool)
        self._builds = Builds(self._context, found, self.profile, cache)

    @property
    def queue(self) -> cl.CommandQueue:
        """The in-order queue."""
        return self._queue

    @property
    def pool_buffers(self) -> int:
        """Number of buffers that wait to be used again."""
        return self._pool.waiting

    def load(self, artifact: bytes) -> OpenClProgram:
        """Build an artifact's kernels and run its initialisers. Raises `DriverError`."""
        return self.load_with_parameters(artifact, ())

    def load_with_parameters(self, artifact: bytes, parameters: Sequence[tuple[str, Path]]) -> OpenClProgram:
        """Do the same with (scope, archive) pairs."""
        try:
            read = read_artifact(artifact, check_constants=False)
        except ArtifactError as error:
            raise DriverError(str(error), harmless=True) from error
        unmet = unmet_needs(read, self.profile)
        if unmet:
            msg = f"the artifact was compiled for the architecture {read.profile.arch} and needs {'; '.join(unmet)}"
            hint = f'compile for this device: target_from = "host:{self._info.uri}"'
            raise DriverError(msg, hint, harmless=True)
        with driver_errors("loading", self._info.name):
            launched = read.program.launched
            pairs = zip(read.program.kernels, read.sources, strict=True)
            sources = {kernel: source for number, (kernel, source) in enumerate(pairs) if number in launched}
            built = self._builds.build(list(sources.values()))
            programs = {kernel.name: one for kernel, one in zip(sources, built, strict=True)}
            if "opencl.subgroups" in read.needs:
                self._check_subgroups(sources, read.profile, programs)
            return OpenClProgram(read, self._commands(read.program.kernels, programs), self._info.name, parameters)

    def _commands(self, kernels: Sequence[Kernel], programs: Mapping[str, cl.Program]) -> Commands:
        del kernels
        return Commands(self._queue, self._pool, programs, self.uploads)

    def _check_subgroups(
        self, sources: Mapping[Kernel, KernelSource], compiled_for: DeviceProfile, programs: Mapping[str, cl.Program]
    ) -> None:
        """Raise `DriverError` where a kernel that uses subgroups runs in others than it was compiled for."""
        query = self._cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE
        for kernel, source in sources.items():
            if not source.uses_subgroups:
                continue
            size = kernel_object(programs[kernel.name], kernel.name).get_sub_group_info(
                self._found.device, query, kernel.workgroup_size
            )
            if size != (expected := min(compiled_for.subgroup_size, math.prod(kernel.workgroup_size))):
                found = f"{self._info.name} runs the kernel {kernel.name} in subgroups of {size}"
                msg = f"{found}; the artifact was compiled for subgroups of {expected}"
                raise DriverError(msg, f'compile for this device: target_from = "host:{self._info.uri}"', harmless=True)

    def transfers(self) -> OpenClTransfers:
        """Return the memory and queues of their own."""
        from retarget_opencl.run.transfers import OpenClTransfers  # imports pyopencl

        return OpenClTransfers(self._context, self._found.device)

    def close(self) -> None:
        """Wait for the device and release what it holds."""
        with suppress(self._cl.Error):
            self._queue.finish()
        self._pool.clear()
        self._builds.clear()


def unmet_needs(artifact: OpenClArtifact, device: Profile) -> list[str]:
    """Return what the artifact needs and the device does not have, each with the device's value."""
    answers = [(need, answer(parse_requirement(need), (device,))) for need in artifact.needs]
    # What a device does not report it does not have, but for the size of subgroups, of which each kernel is asked.
    unmet = [
        f"{need} ({found.reason})"
        for need, found in answers
        if found.status is Status.UNMET or (found.status is Status.UNKNOWN and "subgroupSizes" not in need)
    ]
    limits = numbers(device.get("opencl.maxWorkItemSizes"))
    sizes = sorted({kernel.workgroup_size for kernel in artifact.program.kernels})
    too_large = [size for size in sizes if any(items > limit for items, limit in zip(size, limits, strict=False))]
    shown = f"({device.name} has opencl.maxWorkItemSizes = {limits})"
    return [*unmet, *(f"work-groups of {size} {shown}" for size in too_large)]
