"""A worker in the cluster: its connection, the attempts that it claims, what it advertises, and how it ends."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import Struct
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo
from retarget.session import CompileJob, LocalEngine, Platform, RunJob, Store, host_identity
from retarget.support import RetargetError, ScratchFolder

from retarget_cluster.jobs import Answer, AskBuild, AskCode, AskDevices, Failed, Job, compiles_at_hand, decoded, encoded
from retarget_cluster.security import SilentError, dialled, expect_scheduler, worker_host
from retarget_cluster.worker.content import Content, translated

_AGAIN = 0.5
"""Seconds between attempts to reach the scheduler."""
_REMEMBERED = 100_000
"""How many attempts a worker remembers, so that it begins none twice."""


class _DeclinedError(Exception):
    """This worker does not begin an attempt. `str()` says why."""


class WorkerOptions(Struct, frozen=True, kw_only=True):
    """The options of a worker. `patience` is how long it tries to reach a scheduler, in seconds."""

    address: str
    name: str
    cores: int
    cache: Path
    extensions: tuple[str, ...]
    toolchains: Mapping[str, Path]
    patience: float


class ClusterWorker:
    """One worker. `serve` runs until it has drained, or the scheduler is gone."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self.id = uuid.uuid4().hex
        self.draining = False
        self._worker: Any = None
        self._ended = asyncio.Event()
        self._threads = ThreadPoolExecutor(4 * options.cores + 32, thread_name_prefix="retarget-job")
        self._compiles = asyncio.Semaphore(options.cores)
        self._begun: dict[str, None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._engines: dict[tuple[str, ...], LocalEngine] = {}
        self._loading = threading.Lock()
        self._content = Content(options.cache / "cluster", Store.default_max_bytes())
        self._scratch = ScratchFolder("cluster-job")
        self._devices: dict[str, tuple[DeviceInfo, ...]] = {}
        self._advertised = self._news()

    # ---------------------------------------------------------------- the connection

    async def serve(self, security: Any) -> None:
        """Connect, and work; again where the connection is lost. Returns when it has drained.

        Raises `RetargetError` where no scheduler is reached for as long as `patience`.
        """
        from distributed import Worker

        self._engine(())  # an extension that cannot be loaded is an error at once
        seconds = f"{self._options.patience:g} s"
        self.say(f"waiting for the scheduler at {self._options.address}, for {seconds} at most")
        deadline = time.monotonic() + self._options.patience
        while not self._ended.is_set():
            try:
                await expect_scheduler(self._options.address, security)  # an error, if certificates do not fit
                worker = await Worker(
                    dialled(self._options.address),
                    name=f"{self._options.name}-{uuid.uuid4().hex[:8]}",
                    nthreads=4 * self._options.cores + 32,
                    resources={"compile": compiles_at_hand(self._options.cores)},
                    local_directory=str(self._scratch.path),
                    memory_limit=0,
                    security=security,
                    host=worker_host(self._options.address),
                    dashboard=False,
                    dashboard_address="127.0.0.1:0",
                    death_timeout=max(1.0, deadline - time.monotonic()),  # without, it would try for ever
                )
            except (OSError, SilentError, ValueError) as error:
                if self._ended.is_set():
                    break
                if time.monotonic() > deadline:
                    msg = (
                        f"no scheduler has answered at {self._options.address} for {seconds}; `retarget cluster start` "
                        "starts one and prints its address"
                    )
                    raise RetargetError(msg) from error
                await asyncio.sleep(_AGAIN)
                continue
            worker.retarget_worker = self
            self._worker = worker
            await self._advertise()
            self.say(f"connected to {self._options.address}, {self._options.cores} compiles at a time")
            ending = asyncio.ensure_future(self._ended.wait())
            finished = asyncio.ensure_future(worker.finished())
            await asyncio.wait([ending, finished], return_when=asyncio.FIRST_COMPLETED)
            if finished.done() and not self._ended.is_set():
                self.say(f"lost the connection to {self._options.address}; trying again, for {seconds} at most")
            deadline = time.monotonic() + self._options.patience
            await worker.close(timeout=1, executor_wait=False)

    def drain(self) -> None:
        """Take no more; end when what runs is done. In the event loop."""
        if not self.draining:
            self.draining = True
            self.say(f"draining: {len(self._tasks)} to finish; once more ends at once")
            asyncio.ensure_future(self._drained())  # noqa: RUF006  (it ends with the loop)

    async def _drained(self) -> None:
        await self._advertise()
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._ended.set()

    def close(self, *, kill: bool = False) -> None:
        """End all processes; `kill` waits for none."""
        for engine in self._engines.values():
            engine.kill()
            if not kill:
                engine.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._scratch.close()

    def say(self, text: str) -> None:
        """Print a line for the user who started the worker."""
        print(f"retarget worker {self._options.name}: {text}", file=sys.stderr)

    async def _ask(self, name: str, **values: object) -> Any:
        """Call a handler of the scheduler's plugin, as soon as there is a connection."""
        while True:
            try:
                return await getattr(self._worker.scheduler, f"retarget_{name}")(**values)
            except (OSError, RuntimeError) as error:
                if not _is_lost(error):
                    raise
                await asyncio.sleep(_AGAIN)

    # ---------------------------------------------------------------- what it advertises

    def _news(self) -> tuple[int, int]:
        """How many drivers and devices there are: a change is reported to the scheduler."""
        return len(self._devices), sum(map(len, self._devices.values()))

    async def _advertise(self) -> None:
        """Say what it has, where it is connected; it says that again whenever it connects."""
        if (worker := self._worker) is None:
            return
        options = self._options
        system, architecture = Platform.here()
        self._advertised = self._news()
        info = {
            "id": self.id,
            "name": options.name,
            "hostname": platform.node(),
            "system": system,
            "architecture": architecture,
            "host": host_identity(),
            "cores": options.cores,
            "compilers": self._compilers(),
            "devices": [asdict(one) for infos in self._devices.values() for one in infos],
            "draining": self.draining,
        }
        resources = {f"driver:{name}": self._runs_at_a_time(infos) for name, infos in self._devices.items()}
        for name, quantity in resources.items():
            before = worker.state.total_resources.get(name, 0)
            worker.state.total_resources[name] = quantity
            worker.state.available_resources[name] = worker.state.available_resources.get(name, 0) + quantity - before
        try:
            await worker.scheduler.retarget_advertise(worker=worker.address, info=info, resources=resources)
        except (OSError, RuntimeError) as error:
            if not _is_lost(error):
                raise

    def _runs_at_a_time(self, infos: Sequence[DeviceInfo]) -> int:
        """Return how many runs a driver is given: without `infos`, behind `run_under`, as many as there are cores."""
        is_shared = not infos or any(not one.exclusive for one in infos)
        return max(len({one.physical_id for one in infos}), self._options.cores if is_shared else 0)

    def _compilers(self) -> list[str]:
        registry = self._engine(()).registry
        found = []
        for name in registry.compilers:
            with suppress(RetargetError, UnavailableError):
                found.append(registry.describe_build(compiler=name, driver="", toolchain=None) or name)
        return found

    # ---------------------------------------------------------------- attempts

    async def perform(self, attempt: str, session: str, title: str, payload: bytes) -> None:
        """Do an attempt, unless it has begun. It goes on where the connection is lost."""
        if attempt in self._begun:
            return
        self._begun[attempt] = None
        if len(self._begun) > _REMEMBERED:
            del self._begun[next(iter(self._begun))]
        task = asyncio.ensure_future(self._perform(attempt, session, title, payload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.shield(task)

    async def _perform(self, attempt: str, session: str, title: str, payload: bytes) -> None:
        loop = asyncio.get_running_loop()
        scratch = self._scratch.path / attempt

        def fetch(digest: str, offset: int) -> bytes | None:
            asked = self._ask("fetch", session=session, digest=digest, offset=offset)
            piece: bytes | None = asyncio.run_coroutine_threadsafe(asked, loop).result()
            return piece

        def prepare() -> Job:
            job = decoded(payload)
            self._expect_not_draining()
            return self._content.localised(job, scratch, fetch)

        async with AsyncExitStack() as turn:
            try:
                job = await loop.run_in_executor(self._threads, prepare)
                if isinstance(job.work, CompileJob):
                    await turn.enter_async_context(self._compiles)
                    self._expect_not_draining()  # it may by now
            except Exception as error:  # whatever it is, the session is to hear of it
                words = (_DeclinedError, RetargetError, UnavailableError)
                reason = str(error) if isinstance(error, words) else f"{type(error).__name__}: {error}"
                await self._ask("decline", attempt=attempt, session=session, worker=self.id, reason=reason)
                return
            if not await self._ask("claim", attempt=attempt, session=session, worker=self.id, title=title):
                return
            answer = await loop.run_in_executor(self._threads, self._answer, job, scratch)
        if scratch.exists():
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
        if isinstance(job.work, AskDevices):
            await self._note_devices(job.work, answer)
        await self._ask("deliver", attempt=attempt, session=session, result=encoded(answer))

    def _expect_not_draining(self) -> None:
        if self.draining:
            msg = "it is draining"
            raise _DeclinedError(msg)

    def _answer(self, job: Job, scratch: Path) -> Answer:
        """Do the work. In its own thread."""
        name = self._options.name
        try:
            engine = self._engine(job.extensions)
            recorded: tuple[tuple[str, bytes], ...] = ()
            match job.work:
                case AskBuild(config=config, fingerprint=fingerprint, build_ids=build_ids):
                    value: Any = engine.lacks_build(config, fingerprint, build_ids)
                case AskCode(code=code):
                    value = engine.lacks_code(code)
                case AskDevices(runtime=runtime):
                    value = engine.devices(runtime)
                case CompileJob():
                    value = engine.compile(job.work)
                case RunJob():
                    value, recorded = engine.run(job.work)
        except UnavailableError as error:
            kind = "sick" if error.lost else "unavailable"
            return Answer(worker=name, value=Failed(kind=kind, text=str(error), hint=error.hint))
        except Exception as error:  # the session is to hear of all that goes wrong
            text = str(error) if isinstance(error, RetargetError) else f"{type(error).__name__}: {error}"
            return Answer(worker=name, value=translated(Failed(kind="error", text=text), scratch))
        return Answer(worker=name, value=translated(value, scratch), recorded=recorded)

    # ---------------------------------------------------------------- devices

    async def _note_devices(self, work: AskDevices, answer: Answer) -> None:
        """Advertise what is known of devices now, if that is news."""
        if isinstance(answer.value, tuple):
            driver = work.runtime.driver
            known = {one.physical_id: one for one in (*self._devices.get(driver, ()), *answer.value)}
            self._devices[driver] = tuple(known.values())
        if self._advertised != self._news():
            await self._advertise()

    def _engine(self, extensions: tuple[str, ...]) -> LocalEngine:
        options = self._options
        extensions = tuple(dict.fromkeys((*options.extensions, *extensions)))
        with self._loading:
            if extensions not in self._engines:
                self._engines[extensions] = LocalEngine(
                    extensions=extensions, cores=options.cores, toolchains=options.toolchains
                )
            return self._engines[extensions]


def _is_lost(error: Exception) -> bool:
    """Return whether Dask has lost the connection: while its worker closes, its pool of them is closed already."""
    return isinstance(error, OSError) or "ConnectionPool" in str(error)
