"""What executes the jobs of an executor on a machine: compiles in processes, runs on devices."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from retarget.extension import UnavailableError
from retarget.extension.registry import load_extensions
from retarget.model import CompilerConfig, RuntimeConfig
from retarget.model.outcomes import DeviceInfo, RunOutcome
from retarget.session.compile.pool import CompilePool
from retarget.session.executor import CompileJob, RunJob
from retarget.session.limits import TIMEOUTS
from retarget.session.run.service import RunService
from retarget.support.dependencies import code_judging
from retarget.support.errors import RetargetError
from retarget.support.files import files_below, read_regular
from retarget.support.scratch import ScratchFolder
from retarget.worker.messages import CompiledModule, Refused
from retarget.worker.process import available_cores

_ConfigT = TypeVar("_ConfigT", CompilerConfig, RuntimeConfig)


class Finding(Struct, frozen=True, kw_only=True):
    """A driver's devices, or the reason why there are none, or none that is usable: it is absent (`unavailable`) or
    failing (`error`)."""

    driver: str
    devices: tuple[DeviceInfo, ...] = ()
    unavailable: str = ""
    hint: str = ""
    error: str = ""

    @property
    def absence(self) -> str:
        """Why there are no devices."""
        reason = self.error or self.unavailable or "it lists none"
        return f"{self.driver}: no devices: {reason}" + (f" ({self.hint})" if self.hint else "")

    @property
    def usable(self) -> tuple[DeviceInfo, ...]:
        """The devices on which something runs."""
        return tuple(info for info in self.devices if not info.unusable)


class LocalEngine:
    """Compiles and runs for jobs that name files of this machine. Safe from several threads. To be closed."""

    def __init__(self, *, extensions: Sequence[str], cores: int, toolchains: Mapping[str, Path]) -> None:
        """`extensions` are loaded in addition to the installed ones. `toolchains` says where those lie whose folder is
        another one here. Raises `RetargetError` for an extension that cannot be loaded."""
        self._extensions = tuple(extensions)
        self._toolchains = toolchains
        self.registry = load_extensions(self._extensions)
        products = (*self.registry.case_loaders.values(), *self.registry.drivers.values())
        self._code = dict(code_judging(*(type(one).__module__ for one in products)))  # files may be edited later
        self._pool = CompilePool(extensions=self._extensions, max_idle=2 * cores)
        self._builds: dict[tuple[CompilerConfig, str, tuple[str, ...]], str] = {}
        self._idle: list[RunService] = []
        self._services: dict[RunService, set[RuntimeConfig]] = {}
        """All of them, with what each has opened."""
        self._lock = threading.Lock()
        self._asking = threading.Lock()

    def lacks_build(self, config: CompilerConfig, fingerprint: str, build_ids: tuple[str, ...]) -> str:
        """Return why this machine cannot compile for a config; empty if it has the same builds of its compiler."""
        ask = config, fingerprint, build_ids
        with self._asking:
            if ask not in self._builds:
                self._builds[ask] = self._compare_build(self._here(config), fingerprint, build_ids)
            return self._builds[ask]

    def _compare_build(self, config: CompilerConfig, fingerprint: str, build_ids: tuple[str, ...]) -> str:
        try:
            env = self.registry.worker_environment(config)
            if fingerprint and not config.env and self.registry.fingerprint(config) == fingerprint:
                return ""
            resolved = self._pool.resolve(env, config, config.flags, timeout=TIMEOUTS.run).resolved
        except (UnavailableError, RetargetError) as error:
            return str(error)
        known = {one.whole_build for one in (resolved, resolved.front_end) if one is not None}
        if not known.issuperset(build_ids):
            return f"it has {resolved.build or resolved.build_id}, another build than the session"
        return ""

    def find_devices(self) -> Sequence[Finding]:
        """Ask all drivers for their devices."""
        return find_devices(self.registry.drivers, extensions=self._extensions, timeout=TIMEOUTS.open)

    def lacks_code(self, code: tuple[tuple[str, str], ...]) -> str:
        """Return why this worker gives other verdicts than the session; empty where it runs the same code."""
        others = [name for name, digest in code if self._code.get(name, digest) != digest]
        return f"it has other code than the session ({_shown(others)}): start it again with the same" if others else ""

    def compile(self, job: CompileJob) -> CompiledModule | Refused:
        """Compile in a worker process. Raises `UnavailableError` and `RetargetError`."""
        env = self.registry.worker_environment(self._here(job.config))
        return self._pool.compile(env, job.message, timeout=job.timeout)

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Open the devices of a runtime config. Raises as `RunService.devices` does."""
        here = self._here(runtime)
        with self._asking, self._lent(here) as service:
            return service.devices(here)

    def run(self, job: RunJob) -> tuple[RunOutcome, tuple[tuple[str, bytes], ...]]:
        """Run, and return the outcome and the files that were recorded. Raises as `RunService.run` does."""
        message = job.message
        runtime = self._here(message.target.runtime)
        target = replace(message.target, runtime=runtime, timeout=job.timeout)
        with ScratchFolder("cluster-run") as scratch, self._lent(runtime) as service:
            folder = scratch.path / "record"
            record = folder if message.record is not None else None
            outcome = service.run(replace(message, target=target, record=record))
            return outcome, tuple((name, read_regular(folder / name)) for name in sorted(files_below(folder)))

    def kill(self) -> None:
        """Kill all worker processes."""
        self._pool.kill()
        for one in self._services:
            one.kill()

    def close(self) -> None:
        """End all worker processes. Nothing may run any more."""
        for one in self._services:
            one.close()
        self._pool.close()

    @contextmanager
    def _lent(self, runtime: RuntimeConfig) -> Iterator[RunService]:
        """Lend a run service to one thread: one that has the devices open, if there is one."""
        with self._lock:
            found = next((one for one in self._idle if runtime in self._services[one]), None)
            found = found or next(iter(self._idle), None)
            if found is not None:
                self._idle.remove(found)
            else:
                environment = self.registry.worker_environment
                found = RunService(extensions=self._extensions, default_timeout=TIMEOUTS.run, environment=environment)
            self._services.setdefault(found, set()).add(runtime)
        try:
            yield found
        finally:
            with self._lock:
                self._idle.append(found)

    def _here(self, config: _ConfigT) -> _ConfigT:
        """Return a config whose toolchain is where it lies on this machine."""
        toolchain = config.toolchain
        if toolchain is None or toolchain.name not in self._toolchains:
            return config
        return replace(config, toolchain=replace(toolchain, path=self._toolchains[toolchain.name]))


def _shown(names: Sequence[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 2 else " and ".join(names)


def find_devices(
    names: Iterable[str] | Mapping[str, RuntimeConfig | None], *, extensions: Sequence[str], timeout: float
) -> Sequence[Finding]:
    """Ask each driver for its devices, each in its own process for up to `timeout` seconds: those of this machine, or
    of the host of a config."""
    configs = names if isinstance(names, Mapping) else dict.fromkeys(names)
    with (
        RunService(extensions=extensions, default_timeout=timeout, open_timeout=timeout) as service,
        ThreadPoolExecutor(max_workers=available_cores()) as executor,
    ):
        return list(executor.map(lambda name: _ask(service, name, configs[name]), configs))


def _ask(service: RunService, driver: str, config: RuntimeConfig | None) -> Finding:
    try:
        infos = service.probe(driver, () if config is None else config.env, config)
        reasons = [f"{info.name}: {info.unusable}" for info in infos if info.unusable]
        return Finding(
            driver=driver, devices=infos, unavailable="; ".join(reasons) if len(reasons) == len(infos) else ""
        )
    except UnavailableError as error:
        return Finding(driver=driver, unavailable=str(error), hint=error.hint)
    except RetargetError as error:
        return Finding(driver=driver, error=str(error))
