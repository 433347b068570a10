"""The executor of `--retarget-cluster`: which workers can do a job, how often it is tried, and what that comes to."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import heapq
import itertools
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo, Failure, RunOutcome, RuntimeConfig, Stage
from retarget.session import TIMEOUTS, CompileJob, ExecutorSession, InputDigests, RunJob
from retarget.support import RetargetError, files_below, write_atomically
from retarget.worker import CompiledModule, Refused

from retarget_cluster.jobs import (
    Answer,
    AskBuild,
    AskCode,
    AskDevices,
    Failed,
    Job,
    compiles_at_hand,
    encoded,
    file_view,
)
from retarget_cluster.link import Declined, GoneError, Link, Lost, Worker
from retarget_cluster.security import security_for

_T = TypeVar("_T")
_TRIES = 2
"""How many workers a job may take with it."""
_NO_WORKER = 20.0
"""How long a session waits for a worker, at the start and when all that can do a job are gone, in seconds."""
_LARGEST_INLINE = 64 * 1024
"""A source of more bytes travels as a file, once to each machine."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


class _Turns:
    """The turns of dispatches: as many at a time as `limit` says, those that somebody waits for first, else in
    order."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit, self._taken, self._order = limit, 0, itertools.count()
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, *, urgent: bool) -> AsyncIterator[None]:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not urgent, next(self._order), mine))
        self.wake()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._taken -= 1
            self.wake()
            raise
        try:
            yield
        finally:
            self._taken -= 1
            self.wake()

    def wake(self) -> None:
        while self._waiting and self._taken < self._limit():
            *_, first = heapq.heappop(self._waiting)
            if not first.done():
                self._taken += 1
                first.set_result(None)


class ClusterExecutor:
    """Compiles and runs on the workers of a scheduler. Implements `retarget.session.executor.Executor`."""

    def __init__(self, address: str, session: ExecutorSession) -> None:
        """Connect, and wait for a worker. Raises `RetargetError`."""
        self._session = session
        self._folder = Path.cwd()
        self._digests = InputDigests()
        self._notes: dict[str, None] = {}
        self._asked: dict[tuple[str, object], asyncio.Task[Answer | Lost | Declined]] = {}
        self._turns: dict[str, _Turns] = {}
        self._alone = asyncio.Lock()
        self._had: set[RuntimeConfig] = set()
        self._missing: dict[RuntimeConfig, float] = {}
        """The runtime configs whose devices some worker had; until when (monotonic) those that none has are awaited."""
        self._link = Link(address, security_for(address, "client"))
        deadline = time.monotonic() + _NO_WORKER
        while not self._link.workers:
            if time.monotonic() > deadline:
                self._link.close()
                msg = f"found no worker at {address}; `retarget worker {address}` starts one"
                raise RetargetError(msg)
            time.sleep(0.01)

    # ---------------------------------------------------------------- what there is

    @property
    def compiles(self) -> int:
        """More for each worker than it does at a time, so that none waits for the session."""
        most = max(1, sum(compiles_at_hand(one.cores) for one in self._link.workers if not one.draining))
        return min(most, self._session.jobs or most)

    @property
    def platforms(self) -> frozenset[tuple[str, str]]:
        """System and architecture of the workers' machines."""
        return frozenset((one.system, one.architecture) for one in self._link.workers)

    @property
    def working(self) -> tuple[tuple[str, float], ...]:
        """The jobs in progress, the longest first: `NAME on WORKER`, and for how many seconds."""
        now, names = time.monotonic(), {one.id: one.name for one in self._link.workers}
        running = sorted([*self._link.running.values()], key=lambda one: one[2])
        return tuple((f"{title} on {names.get(at, 'a lost worker')}", now - since) for title, at, since in running)

    @property
    def notes(self) -> tuple[str, ...]:
        """Lost workers, and why something was compiled by the session itself."""
        return tuple(self._notes)

    # ---------------------------------------------------------------- compiles

    def compile(self, job: CompileJob) -> CompiledModule | Refused | None:
        """Compile on a worker that has the same build. See `Executor.compile`."""
        return self._wait(self._link.submit(self._compile(job)))

    async def _compile(self, job: CompileJob) -> CompiledModule | Refused | None:
        builds = tuple(step.request.resolved.whole_build for step in job.message.steps)
        ask = AskBuild(config=job.config, fingerprint=job.fingerprint, build_ids=builds)
        files, source = job.inputs, ""
        request = job.message.request
        if len(request.source) > _LARGEST_INLINE:
            source = str(request.source_path)
            files = (*files, (source, hashlib.sha256(request.source).hexdigest()))
            job = replace(job, message=replace(job.message, request=replace(request, source=b"")))

        async def able(worker: Worker) -> bool:
            answer = await self._offer(worker, ask)
            if isinstance(answer, Answer) and answer.value == "":
                return True
            if isinstance(answer, Answer):
                why = answer.value.text if isinstance(answer.value, Failed) else answer.value
                self._notes[f"{worker.name} does not compile for {job.config.name}: {why}"] = None
            return False

        answer = await self._tried(job, files, job.title, able, "compile", source=source)
        if isinstance(answer, str):
            self._notes[f"compiled by the session, not by a worker: {job.config.name}: {answer}"] = None
            return None
        if isinstance(answer, Lost):
            return Refused.crashed(f"lost with its worker, {_TRIES} times ({answer.worker})", host=answer.worker)
        value = answer.value
        if isinstance(value, CompiledModule | Refused):
            return replace(value, host=answer.worker)
        if isinstance(value, Failed):
            self._notes[f"compiled by the session: {answer.worker} could not compile {job.title}: {value.text}"] = None
        return None

    # ---------------------------------------------------------------- runs

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Return the devices of the first workers that have them. See `Executor.devices`."""
        infos, _ = self._wait(self._link.submit(self._having(runtime)))
        return infos

    async def _having(self, runtime: RuntimeConfig) -> tuple[tuple[DeviceInfo, ...], frozenset[str]]:
        """Return the devices of a runtime config, and the ids of the workers that have such. Raises as `devices`.

        Where all workers that had them, or that went before they said so, are gone, others are waited for; then
        they are `lost`: that is no skip.
        """
        while True:
            self._link.expect_there()
            try:
                found = await self._having_now(runtime)
            except UnavailableError as error:
                if error.lost:
                    raise
                ask, seen = AskDevices(runtime=runtime), self._link.seen.values()
                if runtime not in self._had and all(
                    (one.id, ask) in self._asked or not _may_have(one, runtime) for one in seen
                ):
                    raise
                left = self._missing.setdefault(runtime, time.monotonic() + _NO_WORKER) - time.monotonic()
                if left < 0:
                    msg = f"the workers that may have the devices of {runtime.name} are gone: {error}"
                    raise UnavailableError(msg, lost=True) from None
                await self._change(min(left, 1.0))
            else:
                self._had.add(runtime)
                self._missing.pop(runtime, None)
                return found

    async def _having_now(self, runtime: RuntimeConfig) -> tuple[tuple[DeviceInfo, ...], frozenset[str]]:
        ask = AskDevices(runtime=runtime)
        groups: dict[object, tuple[tuple[DeviceInfo, ...], list[Worker]]] = {}
        failed: dict[str, Failed] = {}
        there = await self._drivers_known(runtime)
        for worker, answer in zip(there, await asyncio.gather(*(self._offer(one, ask) for one in there)), strict=True):
            value = answer.value if isinstance(answer, Answer) else None
            if isinstance(value, tuple):
                runtimes = tuple(one.runtime.partition(", ")[0] for one in value)  # wherever its folder is
                alike = (runtimes, tuple((one.driver, one.name, one.driver_version, one.features) for one in value))
                groups.setdefault(alike, (value, []))[1].append(worker)
            elif isinstance(value, Failed):
                failed[worker.name] = value
            elif isinstance(answer, Declined):
                failed[worker.name] = Failed(kind="unavailable", text=answer.reason)
        if groups:
            infos, having = max(groups.values(), key=lambda group: sum(one.cores for one in group[1]))
            others = [one.name for _, group in groups.values() for one in group if one not in having]
            if others:
                line = (
                    f"{runtime.name} runs on {_names(having)}; other devices of it, on {', '.join(others)}, are unused"
                )
                self._notes[line] = None
            return infos, frozenset(one.id for one in having)
        texts = {one.text for one in failed.values()}
        if len(texts) == 1:
            only = next(iter(failed.values()))
            raise _error(only)
        if failed:
            text = "; ".join(f"{name}: {one.text}" for name, one in failed.items())
            raise _error(replace(max(failed.values(), key=lambda one: one.kind == "error"), text=text))
        msg = f"no worker at {self._link.address} has a device of {' and '.join(runtime.drivers)}"
        hint = f"`retarget cluster status {self._link.address}` lists workers and devices"
        raise UnavailableError(msg, hint)

    async def _drivers_known(self, runtime: RuntimeConfig) -> Sequence[Worker]:
        """Return the workers that may have the devices of a runtime config, once they know."""
        while any(one.probing for one in self._link.workers):
            await self._change(TIMEOUTS.open)
            self._link.expect_there()
        return [one for one in self._link.workers if not one.draining and _may_have(one, runtime)]

    def run(self, job: RunJob) -> Future[RunOutcome]:
        """Run on a worker that has the devices. See `Executor.run`."""
        return self._link.submit(self._run(job))

    async def _run(self, job: RunJob) -> RunOutcome:
        message = job.message
        runtime = message.target.runtime
        infos, _ = await self._having(runtime)
        on_cores = all(one.physical_id == "cpu" for one in infos)
        ask, others, job = AskCode(code=job.code), dict[str, None](), replace(job, code=())

        async def able(worker: Worker) -> bool:
            if job.host and on_cores and worker.host != job.host:
                return False
            if worker.id not in (await self._having(runtime))[1]:
                return False
            answer = await self._offer(worker, ask) if ask.code else Answer(worker=worker.name, value="")
            if isinstance(answer, Answer) and answer.value:
                why = answer.value.text if isinstance(answer.value, Failed) else answer.value
                others[f"{worker.name}: {why}"] = None
            return isinstance(answer, Answer) and not answer.value

        recorded = [folder for _, folder in message.references if isinstance(folder, Path)]
        paths = [message.artifact, *(folder / name for folder in recorded for name in files_below(folder))]
        files = (*job.files, *await asyncio.to_thread(self._digests.of, (), files=paths))
        resource = f"driver:{runtime.driver}"
        turns = self._turns.setdefault(resource, _Turns(lambda: self._slots(resource)))
        title = f"{message.target.compile.suite}/{message.target.name}"
        async with turns.turn(urgent=job.urgent):
            answer = await self._tried(job, files, title, able, resource, urgent=job.urgent)
        if isinstance(answer, str):
            raise UnavailableError("; ".join(others) or answer, lost=True)
        if isinstance(answer, Lost):
            summary = f"lost with its worker, {_TRIES} times ({answer.worker})"
            failure = Failure(stage=Stage.RUN, summary=summary, signal="worker lost")
            return RunOutcome(devices=infos, failure=failure, host=answer.worker)
        if isinstance(answer.value, RunOutcome):
            if message.record is not None:
                for name, data in answer.recorded:
                    await asyncio.to_thread(write_atomically, message.record / name, data)
            return dataclasses.replace(answer.value, host=answer.worker)
        raise _error(
            answer.value if isinstance(answer.value, Failed) else Failed(kind="error", text="found no outcome")
        )

    def _slots(self, resource: str) -> int:
        """How many runs are dispatched at a time: one more for each worker than it can run."""
        return max(1, sum(int(one.resources.get(resource, 0)) + 1 for one in self._link.workers))

    # ---------------------------------------------------------------- dispatching

    async def _offer(self, worker: Worker, ask: AskBuild | AskCode | AskDevices) -> Answer | Lost | Declined:
        """Ask a worker something, once."""
        key = (worker.id, ask)
        if key not in self._asked:
            job = Job(work=ask, extensions=self._session.extensions, folder=self._folder)
            title = "code"
            if not isinstance(ask, AskCode):
                title = f"build of {ask.config.name}" if isinstance(ask, AskBuild) else f"devices of {ask.runtime.name}"
            asking = self._link.attempt(encoded(job), title=title, among=[worker.address], resources={})
            self._asked[key] = asyncio.ensure_future(asking)
        answer = await asyncio.shield(self._asked[key])
        if not isinstance(answer, Answer):
            self._asked.pop(key, None)
        return answer

    async def _tried(
        self,
        work: CompileJob | RunJob,
        files: tuple[tuple[str, str], ...],
        title: str,
        able: Callable[[Worker], Awaitable[bool]],
        resource: str,
        *,
        source: str = "",
        urgent: bool = False,
    ) -> Answer | Lost | str:
        """Run a job on a worker; on another one if that one is lost, declines, or reports a sick device.

        Returns why where there is none that can.
        """
        extensions = self._session.extensions
        payload = encoded(
            Job(work=work, extensions=extensions, folder=self._folder, files=files, source=source, view=file_view())
        )
        named = {digest: self._folder / text for text, digest in files if _SHA256.fullmatch(digest)}
        self._link.offer(named)
        lost: list[str] = []
        refused: dict[str, str] = {}
        while True:
            found = await self._able(able, refused)
            if not found:
                return "; ".join(dict.fromkeys(refused.values())) or "no worker that can do it is connected any more"
            among = [one.address for one in found]
            async with self._alone if lost else nullcontext():
                answer = await self._link.attempt(
                    payload, title=title, among=among, resources={resource: 1}, urgent=urgent
                )
            if isinstance(answer, Lost):
                lost.append(answer.worker)
                self._notes[f"worker {answer.worker} was lost; what it did is tried once more"] = None
                if len(lost) == _TRIES:
                    return Lost(worker=", ".join(lost))
            elif isinstance(answer, Declined):
                if answer.worker:
                    name = next((one.name for one in found if one.id == answer.worker), "a worker")
                    refused[answer.worker] = f"{name}: {answer.reason}"
            elif isinstance(answer.value, Failed) and answer.value.kind == "sick" and len(found) > 1:
                refused |= {one.id: f"{one.name}: {answer.value.text}" for one in found if one.name == answer.worker}
            else:
                return answer

    async def _able(self, able: Callable[[Worker], Awaitable[bool]], refused: Mapping[str, str]) -> Sequence[Worker]:
        """Return the workers that can do a job; wait for one for a while where all are gone."""
        while True:
            self._link.expect_there()
            left = self._link.without_workers + _NO_WORKER - time.monotonic()
            there = [one for one in self._link.workers if not one.draining and one.id not in refused]
            found = [one for one in there if await able(one)]
            if found or there or refused or left < 0:
                return found
            await self._change(left)

    async def _change(self, seconds: float) -> None:
        """Wait until workers come or go."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._link.changed.wait(), seconds)

    @staticmethod
    def _wait(future: Future[_T]) -> _T:
        try:
            return future.result()
        except (CancelledError, asyncio.CancelledError) as error:
            msg = "the session has ended"
            raise GoneError(msg) from error

    # ---------------------------------------------------------------- the end

    def close(self) -> None:
        """Give up what is queued and what runs, and end."""
        self._link.close()


def _may_have(worker: Worker, runtime: RuntimeConfig) -> bool:
    return worker.drivers is None or bool(runtime.run_under) or set(runtime.drivers) <= set(worker.drivers)


def _names(workers: Iterable[Worker]) -> str:
    names = [one.name for one in workers]
    return names[0] if len(names) == 1 else f"{len(names)} workers" if len(names) > 3 else ", ".join(names)


def _error(failed: Failed) -> Exception:
    if failed.kind == "sick":
        return UnavailableError(failed.text, lost=True)
    return UnavailableError(failed.text, failed.hint) if failed.kind == "unavailable" else RetargetError(failed.text)
