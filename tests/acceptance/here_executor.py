"""An executor for tests: the scheme `here` compiles in worker processes and runs in threads of this very session, and
writes down what it does. `here:gone` loses its cluster at the first run; that of `here:absent` does not start."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo, RunOutcome, RuntimeConfig
from retarget.session import CompileJob, ExecutorSession, Platform, RunJob, RunService, load_extensions
from retarget.session.compile.pool import CompilePool
from retarget.support import RetargetError
from retarget.targets.availability import host_mismatch
from retarget.worker import CompiledModule, Refused

__all__ = ["connect_to"]

LOG = Path("here.log")
"""A line for each compile, run and set of devices that was asked for, in the current folder."""


class Here:
    compiles = 2
    platforms = frozenset({Platform.here()})
    working: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()

    def __init__(self, address: str, session: ExecutorSession) -> None:
        self._is_gone = address.endswith(":gone")
        self._log = LOG.absolute()
        self._pool = CompilePool(extensions=session.extensions, max_idle=2)
        environment = load_extensions(session.extensions).worker_environment
        self._service = RunService(extensions=session.extensions, default_timeout=60, environment=environment)
        self._lock = threading.Lock()  # a RunService is for one thread at a time
        self._threads = ThreadPoolExecutor(2)

    def compile(self, job: CompileJob) -> CompiledModule | Refused:
        self._write(f"compile {job.title}")
        answer = self._pool.compile(job.env, job.message, timeout=job.timeout)
        return replace(answer, host="here")

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        if (reason := host_mismatch(runtime)) is not None:
            raise UnavailableError(reason)
        with self._lock:
            self._write(f"devices {runtime.name}")
            return self._service.devices(runtime)

    def run(self, job: RunJob) -> Future[RunOutcome]:
        if self._is_gone:
            msg = "the scheduler at here:gone does not answer any more"
            raise RetargetError(msg)
        self._write(f"{'urgent' if job.urgent else 'ahead'} {job.message.target.name}")
        return self._threads.submit(self._run, job)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._pool.close()
        self._service.close()

    def _run(self, job: RunJob) -> RunOutcome:
        message = replace(job.message, target=replace(job.message.target, timeout=job.timeout))
        with self._lock:
            outcome = self._service.run(message)
        return dataclasses.replace(outcome, host="here")

    def _write(self, line: str) -> None:
        with self._log.open("a") as file:
            file.write(f"{line}\n")


def connect_to(address: str, session: ExecutorSession) -> Here:
    if address.endswith(":absent"):
        msg = "the scheduler of here did not start"
        raise RetargetError(msg)
    return Here(address, session)
