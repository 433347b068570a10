"""Opened OpenCL devices, and the kernels that were built for them.

Kernels that are not there are built together, as many as there are processors to build with, since a program costs a
compiler much more than one more kernel in it. The cache has, under a kernel's key, the key of the binary with this
kernel (of the text, for PoCL), so that only kernels that change are built again.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from retarget.extension import Device, DriverError
from retarget.profiles import Profile, parse_requirement
from retarget.worker import KeptFiles, available_cores

from retarget_opencl.artifact.file import ArtifactError, Kernel, KernelSource, OpenClArtifact, joined, read_artifact
from retarget_opencl.device.devices import OCLGRIND, FoundDevice, info_of, profile_of
from retarget_opencl.device.implementations import icd_libraries
from retarget_opencl.device.profile import DeviceProfile, numbers
from retarget_opencl.internals import kernel_object
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import BUILD_HINT, driver_errors, status_name
from retarget_opencl.run.memory import Pool
from retarget_opencl.run.program import OpenClProgram

if TYPE_CHECKING:
    import pyopencl as cl

    from retarget_opencl.run.transfers import OpenClTransfers

_FEWEST = 8
"""Kernels in a program before it is worth a second one."""

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def build_options(device: Profile, prelude: str) -> list[str]:
    """Return the OpenCL compiler's options, for what the device offers. `docs/opencl.md` explains them."""
    # Subgroups and integer dot products are not in 1.2; a device says `3.0` only if its compiler takes that.
    newer = "CL3.0" if str(device.get("opencl.version") or "") >= "3" else "CL2.0"
    uses_newer = any(name in prelude for name in ("cl_khr_subgroups", "cl_khr_integer_dot_product"))
    options = [f"-cl-std={newer if uses_newer else 'CL1.2'}"]
    if device.get("opencl.correctlyRoundedDivideSqrt"):
        options.append("-cl-fp32-correctly-rounded-divide-sqrt")
    if device.get("opencl.platform") == OCLGRIND:
        options.append("-cl-opt-disable")  # it does not know each instruction that LLVM's optimisations write
    return options


class Builds:
    """The kernels that were built for one device. `cache` is the folder of the cache; None is the session's."""

    def __init__(self, context: cl.Context, found: FoundDevice, profile: Profile, cache: Path | None) -> None:
        import pyopencl as cl

        self._cl, self._context, self._device, self._profile = cl, context, found.device, profile
        self._kept = KeptFiles(cache)
        # Oclgrind 21.10 crashes at times where two threads compile.
        self._threads = 1 if found.platform == OCLGRIND else available_cores()
        # Asked for a binary, PoCL compiles all kernels, and again for the size of their first launch. What it compiles,
        # it keeps by the program's text, so that the text is all that is kept here. To find a program costs the same
        # whatever is in it, and its kernels are compiled where they are launched: one program is enough.
        self._keeps_text = "pocl" in found.version.lower()
        about = (found.platform, self._device.name, self._device.driver_version, self._device.version)
        self._identity = (*about, str(icd_libraries()))
        self._programs: dict[str, cl.Program] = {}

    def build(self, sources: Sequence[KernelSource]) -> list[cl.Program]:
        """Return for each kernel the program that has it. Raises `DriverError` with the compiler's log."""
        keys = [self._key(source) for source in sources]
        missing = {key: source for key, source in zip(keys, sources, strict=True) if key not in self._programs}
        with warnings.catch_warnings():
            # Warnings of the compiler about generated code do not help its user, nor pyopencl's about its own cache.
            warnings.simplefilter("ignore", UserWarning)
            self._take_kept(missing)
            self._build_missing({key: source for key, source in missing.items() if key not in self._programs})
        return [self._programs[key] for key in keys]

    def clear(self) -> None:
        """Release the programs."""
        self._programs.clear()

    def _key(self, source: KernelSource) -> str:
        words = (source.prelude, source.text, *build_options(self._profile, source.prelude), *self._identity)
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def _take_kept(self, keys: Mapping[str, object]) -> None:
        kernels: dict[str, list[str]] = {}
        for key in keys:
            if (binary := self._kept.read(key)) is not None:
                kernels.setdefault(binary.decode(), []).append(key)
        for found, program in zip(
            kernels.values(), _in_threads(self._from_kept, list(kernels), self._threads), strict=True
        ):
            if program is not None:
                self._programs.update(dict.fromkeys(found, program))

    def _from_kept(self, key: str) -> cl.Program | None:
        content = self._kept.read(key)
        if content is None:
            return None
        try:
            if self._keeps_text:
                text = content.decode()
                return self._cl.Program(self._context, text).build(build_options(self._profile, text), cache_dir=False)
            return self._cl.Program(self._context, [self._device], [content]).build(cache_dir=False)
        except (self._cl.Error, UnicodeDecodeError):  # the driver no longer accepts it
            return None

    def _build_missing(self, missing: Mapping[str, KernelSource]) -> None:
        alike: dict[str, list[str]] = {}
        for key, source in missing.items():
            alike.setdefault(source.prelude, []).append(key)
        parts = []
        for keys in alike.values():
            count = 1 if self._keeps_text else max(1, min(self._threads, len(keys) // _FEWEST))
            parts += [keys[start::count] for start in range(count)]
        programs = _in_threads(lambda part: self._from_source([missing[key] for key in part]), parts, self._threads)
        for part, program in zip(parts, programs, strict=True):
            self._programs.update(dict.fromkeys(part, program))
            with suppress(self._cl.Error):
                together = hashlib.sha256("".join(sorted(part)).encode()).hexdigest()
                self._kept.write(together, self._to_keep(program))
                for key in part:
                    self._kept.write(key, together.encode())

    def _to_keep(self, program: cl.Program) -> bytes:
        info = self._cl.program_info
        if self._keeps_text:
            return str(program.get_info(info.SOURCE)).encode()
        return bytes(program.get_info(info.BINARIES)[0])

    def _from_source(self, sources: Sequence[KernelSource]) -> cl.Program:
        cl, text = self._cl, joined(sources)
        program = cl.Program(self._context, text)
        try:
            program.build(build_options(self._profile, text), cache_dir=False)
        except cl.RuntimeError as error:
            log = program.get_build_info(self._device, cl.program_build_info.LOG).strip()
            device = self._device.name.strip()
            msg = f"building the kernels failed with CL_{status_name(error)}\non {device}:\n{log or error}"
            raise DriverError(msg, BUILD_HINT, harmless=True) from error
        return program


def _in_threads(function: Callable[[ItemT], ResultT], items: Sequence[ItemT], count: int) -> list[ResultT]:
    """Return what a function gives for each item; threads are worth it for several."""
    if min(count, len(items)) < 2:
        return list(map(function, items))
    with ThreadPoolExecutor(min(len(items), count)) as threads:
        return list(threads.map(function, items))


_POOL_SHARE = 4  # the pool keeps at most a quarter of the device's memory


class OpenClDevice(Device):
    """An opened device: a context and an in-order queue. Programs built once stay built."""

    def __init__(self, found: FoundDevice, *, cache: Path | None = None) -> None:
        import pyopencl as cl

        self._cl, self._found = cl, found
        self._info = info_of(found)
        self.infos = (self._info,)
        self.profile = profile_of(found)
        with driver_errors("opening the device", found.device.name):
            self._context = cl.Context([found.device])
            self.queue = cl.CommandQueue(self._context, found.device)
        self._pool = Pool(self.queue, found.device.global_mem_size // _POOL_SHARE, found.device.max_mem_alloc_size)
        self._builds = Builds(self._context, found, self.profile, cache)

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
        return Commands(self._pool, programs)

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
            self.queue.finish()
        self._pool.clear()
        self._builds.clear()


def unmet_needs(artifact: OpenClArtifact, device: Profile) -> list[str]:
    """Return what the artifact needs and the device does not have, each with the device's value."""
    answers = [(need, parse_requirement(need).answer((device,))) for need in artifact.needs]
    # What a device does not report it does not have, but for the size of subgroups, of which each kernel is asked.
    unmet = [
        f"{need} ({found.reason})"
        for need, found in answers
        if found.is_unmet or (found.is_unknown and "subgroupSizes" not in need)
    ]
    limits = numbers(device.get("opencl.maxWorkItemSizes"))
    sizes = sorted({kernel.workgroup_size for kernel in artifact.program.kernels})
    too_large = [size for size in sizes if any(items > limit for items, limit in zip(size, limits, strict=False))]
    shown = f"({device.name} has opencl.maxWorkItemSizes = {limits})"
    return [*unmet, *(f"work-groups of {size} {shown}" for size in too_large)]
