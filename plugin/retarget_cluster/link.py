"""A session's connection to the scheduler: its attempts, the events of the scheduler's plugin, the content it gives."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, convert
from retarget.support import RetargetError

from retarget_cluster.jobs import Answer, decoded, perform
from retarget_cluster.security import dialled, expect_scheduler

_T = TypeVar("_T")
_POLL = 20.0
_PATIENCE = 15.0
"""How long a scheduler may not answer before it is given up, in seconds."""
_PIECE = 16 * 1024**2
_NOT_STARTED = 6.0
"""After so many seconds an attempt whose workers are all gone was not begun: longer than the plugin waits for them."""


class GoneError(RetargetError):
    """The scheduler does not answer any more, or this session has ended."""


class Worker(Struct, frozen=True, kw_only=True):
    """A worker as it advertises itself. `drivers` is None while it does not know which devices it has."""

    id: str
    name: str
    address: str
    host: str
    system: str
    architecture: str
    cores: int
    draining: bool
    probing: bool
    drivers: tuple[str, ...] | None
    resources: Mapping[str, float]


class Lost(Struct, frozen=True, kw_only=True):
    """The worker of an attempt is gone, and with it the result."""

    worker: str


class Declined(Struct, frozen=True, kw_only=True):
    """A worker has not begun an attempt. `worker` is its id, empty where all that might have done it are gone."""

    worker: str
    reason: str


_AGAIN = object()
"""Dask has forgotten a task, because the connection was lost: it is submitted again, as the same attempt."""


class Link:
    """One session at one scheduler. The coroutines are for its event loop; `submit` brings them there.

    `workers` are those there, `seen` all that the session had, by id; where there are none, `without_workers` is since
    when (monotonic seconds).
    """

    def __init__(self, address: str, security: Any) -> None:
        """Connect. Raises `RetargetError`."""
        from distributed import Client

        self.address = address
        self.id = uuid.uuid4().hex
        self.workers: tuple[Worker, ...] = ()
        self.seen: dict[str, Worker] = {}
        self.without_workers = time.monotonic()
        self.changed = asyncio.Event()
        self.gone = ""
        self.running: dict[str, tuple[str, str, float]] = {}
        """Title, id of the worker and time of beginning (monotonic) of each attempt that runs."""
        self._files: dict[str, Path] = {}
        self._taken: list[str] = []
        self._giving: set[asyncio.Future[None]] = set()
        self._attempts: dict[str, tuple[asyncio.Future[Any], Sequence[str]]] = {}
        asyncio.run(expect_scheduler(address, security))  # Dask's client waits for ever for what does not speak
        silent = f"no scheduler answers at {address}; `retarget cluster start` starts one"
        try:
            self._client = Client(
                dialled(address), security=security, set_as_default=False, timeout=_PATIENCE, name="retarget"
            )
        except OSError as error:
            raise RetargetError(silent) from error
        self._loop: asyncio.AbstractEventLoop = self._client.loop.asyncio_loop
        try:
            self.submit(asyncio.wait_for(self._start(), _PATIENCE)).result()
        except BaseException as error:
            self._client.close(timeout=1)
            if isinstance(error, OSError):  # TimeoutError is one
                raise RetargetError(silent) from error
            raise
        self._listening = self.submit(self._listen())

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Run a coroutine in the event loop. Raises `GoneError` once the loop has ended."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:
            work.close()
            raise GoneError(self.gone or "the session has ended") from error

    def offer(self, files: Mapping[str, Path]) -> None:
        """Give workers the files with these digests, if they ask."""
        self._files.update(files)

    async def attempt(
        self, payload: bytes, *, title: str, among: Sequence[str], resources: Mapping[str, float], urgent: bool = False
    ) -> Answer | Lost | Declined:
        """Dispatch a job to one of the workers `among`, by address; at most one begins it. Raises `GoneError`."""
        from distributed.client import ClosedClientError

        attempt = uuid.uuid4().hex
        try:
            for number in range(1000):
                self.expect_there()
                settled: asyncio.Future[Any] = self._loop.create_future()
                self._attempts[attempt] = (settled, among)
                try:
                    future = self._client.submit(
                        perform,
                        attempt,
                        self.id,
                        title,
                        payload,
                        key=f"retarget-{attempt}-{number}",
                        workers=list(among),
                        allow_other_workers=False,
                        resources=dict(resources) or None,
                        priority=1 if urgent else 0,
                        pure=False,
                        retries=0,
                    )
                except ClosedClientError as error:  # Dask's client has given the scheduler up
                    silent = f"the scheduler at {self.address} does not answer any more"
                    raise GoneError(self.gone or silent) from error
                future.add_done_callback(lambda ended: self._dask_ended(attempt, ended))
                try:
                    outcome = await settled
                finally:
                    future.release()  # one that has not begun is then forgotten
                if outcome is not _AGAIN:
                    is_done = outcome is None or isinstance(outcome, bytes)
                    return await self._take(attempt, outcome) if is_done else outcome
                await asyncio.sleep(1.0)
        finally:
            self._attempts.pop(attempt, None)
            self.running.pop(attempt, None)
        raise GoneError(self.gone or f"the scheduler at {self.address} forgets tasks")

    async def _take(self, attempt: str, data: bytes | None) -> Answer | Lost | Declined:
        if data is None:
            data = await self._call("take", attempt=attempt)
        self._taken.append(attempt)
        answer = None if data is None else decoded(data)
        return answer if isinstance(answer, Answer) else Lost(worker="the scheduler")

    def close(self) -> None:
        """Give up all attempts and leave, once."""
        self.gone = self.gone or "the session has ended"
        with suppress(Exception):
            self.submit(self._leave()).result(timeout=5)
        with suppress(Exception):
            self._client.close(timeout=2)

    async def _leave(self) -> None:
        self._give_up(self.gone)
        self._listening.cancel()
        with suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._scheduler.retarget_leave(session=self.id), 2)

    # ---------------------------------------------------------------- events

    async def _start(self) -> None:
        await self._scheduler.retarget_events(session=self.id, after=0, seconds=0)
        await self._refresh()

    async def _listen(self) -> None:
        """Take events until the session or the scheduler is gone."""
        last, since = 0, self._loop.time()
        while not self.gone:
            taken = tuple(self._taken)
            try:
                asked = self._scheduler.retarget_events(session=self.id, after=last, seconds=_POLL, taken=list(taken))
                events = await asyncio.wait_for(asked, _POLL + _PATIENCE)
                del self._taken[: len(taken)]
                since = self._loop.time()
                for number, event in events:
                    last = number
                    await self._handle(*event)
            except (TimeoutError, OSError):
                if self._loop.time() - since > _PATIENCE + _POLL or not await self._answers():
                    self._give_up(f"the scheduler at {self.address} does not answer any more")
            except Exception as error:
                self._give_up(
                    f"the scheduler at {self.address} cannot be used any more: {type(error).__name__}: {error}"
                )

    async def _answers(self) -> bool:
        """Wait until the scheduler answers again; false if it does not for a while."""
        from retarget_cluster.relay import VERSION

        deadline = self._loop.time() + _PATIENCE
        while self._loop.time() < deadline and not self.gone:
            try:
                if await asyncio.wait_for(self._scheduler.retarget_hello(), 2) == VERSION:
                    return True
            except (TimeoutError, OSError):
                await asyncio.sleep(0.5)
        return False

    async def _handle(self, what: str, *values: Any) -> None:
        match what:
            case "begun":
                attempt, worker, title = values
                if attempt in self._attempts:
                    self.running[attempt] = (title, worker, time.monotonic())
            case "done":
                self._settle(*values)
            case "lost":
                self._settle(values[0], Lost(worker=values[1]))
            case "declined":
                self._settle(values[0], Declined(worker=values[1], reason=values[2]))
            case "want":
                giving = asyncio.ensure_future(self._give(*values))
                self._giving.add(giving)  # an event loop does not hold a task until it is done
                giving.add_done_callback(self._giving.discard)
            case "workers":
                await self._refresh()

    async def _refresh(self) -> None:
        """Learn which workers there are; attempts whose workers are all gone are given up after a while."""
        status = await asyncio.wait_for(self._scheduler.retarget_status(), _PATIENCE)
        before, self.workers = self.workers, tuple(convert(one, Worker) for one in status["workers"])
        self.seen |= {one.id: one for one in self.workers}
        if before and not self.workers:
            self.without_workers = time.monotonic()
        present = {one.address for one in self.workers}
        for attempt, (settled, among) in self._attempts.items():
            if present.isdisjoint(among) and not settled.done():
                reason = Declined(worker="", reason="the workers that might have done it are gone")
                self._loop.call_later(_NOT_STARTED, self._settle, attempt, reason, settled)
        self.changed.set()
        self.changed = asyncio.Event()

    async def _give(self, digest: str, offset: int) -> None:
        """Send a piece of a file."""
        path, data = self._files.get(digest), None
        if path is not None:
            with suppress(OSError):
                data = await asyncio.to_thread(_piece, path, offset)
        with suppress(OSError):
            await self._scheduler.retarget_give(session=self.id, digest=digest, offset=offset, data=data)

    async def _call(self, name: str, **values: object) -> Any:
        """Call a handler of the plugin, again after a lost connection. Raises `GoneError`, also while it waits."""
        while True:
            self.expect_there()
            try:
                asked = asyncio.ensure_future(getattr(self._scheduler, f"retarget_{name}")(**values))
            except OSError:
                await asyncio.sleep(0.5)
                continue
            try:
                while not asked.done():  # one that is stopped neither answers nor closes the connection
                    await asyncio.wait({asked}, timeout=1.0)
                    self.expect_there()
                return asked.result()
            except OSError:
                await asyncio.sleep(0.5)
            finally:
                asked.cancel()

    @property
    def _scheduler(self) -> Any:
        """The scheduler's handlers. Raises `ConnectionError` once Dask's client has given the connection up."""
        if self._client.scheduler is None:
            msg = f"no connection to {self.address}"
            raise ConnectionError(msg)
        return self._client.scheduler

    # ---------------------------------------------------------------- attempts

    def _settle(self, attempt: str, outcome: object, only: asyncio.Future[Any] | None = None) -> None:
        settled, _ = self._attempts.get(attempt, (None, ()))
        if settled is not None and not settled.done() and only in {None, settled}:
            settled.set_result(outcome)

    def _dask_ended(self, attempt: str, future: Any) -> None:
        """Learn of a task that Dask itself has ended. In a thread of Dask's."""
        status = future.status
        outcome: object = _AGAIN
        if status == "error":
            outcome = Declined(worker="", reason=str(future.exception()))
        if status in {"error", "cancelled", "lost"}:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._settle, attempt, outcome)

    def expect_there(self) -> None:
        """Raise `GoneError` once the scheduler or the session is gone."""
        if self.gone:
            raise GoneError(self.gone)

    def _give_up(self, why: str) -> None:
        self.gone = self.gone or why
        for settled, _ in self._attempts.values():
            if not settled.done():
                settled.set_exception(GoneError(self.gone))
        self.changed.set()


def _piece(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(_PIECE)
