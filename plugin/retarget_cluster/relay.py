"""The plugin of the Dask scheduler: it grants each attempt once, keeps results, passes content on.

Whoever connects first registers it, on a plain `dask scheduler` too, where retarget need not be installed: the plugin
is sent by value, so that this module imports nothing of retarget. Workers and sessions call its handlers on connections
that they opened; nothing is dialled from here.

An attempt is one dispatch of a compile or a run. A worker claims it before it begins, which is granted to one worker;
its result is kept until its session has it. An attempt whose worker is gone for longer than `_GRACE` seconds is lost; a
worker that has reconnected before delivers its result as if nothing had happened.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin

VERSION = 5
"""Incremented when the handlers, or the jobs between sessions and workers, change."""

_GRACE = 5.0
_SESSION_SECONDS = 120.0
"""How long a session that does not ask for its events is remembered."""
_KEPT_BYTES = 1024**3
_KEPT_ATTEMPTS = 100_000
"""Bounds of what is kept of results and of attempts: what was kept longest goes first."""
_LARGEST_EVENT = 64 * 1024
"""A result of more bytes is asked for by its session."""
_FETCH_SECONDS = 60.0


class _Attempt:
    def __init__(self, session: str, worker: str, title: str) -> None:
        self.session, self.worker, self.title = session, worker, title
        self.state, self.since, self.result = "claimed", time.time(), b""


class _Session:
    def __init__(self) -> None:
        self.events: deque[tuple[int, tuple[Any, ...]]] = deque()
        self.last, self.seen, self.more = 0, time.time(), asyncio.Event()

    def tell(self, *event: object) -> None:
        self.last += 1
        self.events.append((self.last, event))
        self.more.set()


class Relay(SchedulerPlugin):  # type: ignore[misc]  # distributed has no types
    """The plugin. All of it runs in the scheduler's event loop."""

    name = "retarget"

    async def start(self, scheduler: Any) -> None:
        """Add the handlers to the scheduler."""
        self.scheduler = scheduler
        self.workers: dict[str, dict[str, Any]] = {}
        self.sessions: dict[str, _Session] = {}
        self.attempts: OrderedDict[str, _Attempt] = OrderedDict()
        self.kept = 0
        self.wanted: dict[tuple[str, str, int], asyncio.Future[bytes | None]] = {}
        handlers = ("hello", "advertise", "status", "events", "leave", "claim", "deliver", "decline", "take")
        for name in (*handlers, "fetch", "give"):
            scheduler.handlers[f"retarget_{name}"] = getattr(self, name)

    # ---------------------------------------------------------------- workers

    def hello(self) -> int:
        """Return the version of this plugin."""
        return VERSION

    def advertise(self, worker: str, info: dict[str, Any], resources: dict[str, float]) -> None:
        """Take what a worker says of itself, and how many runs at a time it has of each driver."""
        state = self.scheduler.workers.get(worker)
        if state is None:
            return
        self.workers[worker] = info
        for name, quantity in resources.items():  # Scheduler.add_resources would forget what is in use
            state.resources[name] = quantity
            state.used_resources.setdefault(name, 0)
            self.scheduler.resources.setdefault(name, {})[worker] = quantity
        self._tell_all("workers")

    def remove_worker(self, scheduler: Any, worker: str, *, stimulus_id: str, **_: Any) -> None:  # noqa: ARG002
        """Begin to wait for a worker that is gone; its attempts are lost if it stays away."""
        info = self.workers.pop(worker, None)
        if info is not None:
            self._tell_all("workers")
            asyncio.get_running_loop().call_later(_GRACE, self._lose, info["id"], info["name"])

    def status(self) -> dict[str, Any]:
        """Return the workers, with what they do, and how much waits."""
        claimed = [one for one in self.attempts.values() if one.state == "claimed"]
        now = time.time()
        workers = []
        for address, info in self.workers.items():
            state = self.scheduler.workers.get(address)
            running = [[one.title, now - one.since] for one in claimed if one.worker == info["id"]]
            held = 0 if state is None else len(state.processing)
            resources = {} if state is None else dict(state.resources)
            about = {"address": address, "running": running, "queued": max(0, held - len(running))}
            workers.append({**info, **about, "resources": resources})
        waiting = len(self.scheduler.unrunnable) + len(self.scheduler.queued)
        return {"version": VERSION, "workers": workers, "sessions": len(self.sessions), "waiting": waiting}

    # ---------------------------------------------------------------- sessions

    async def events(
        self, session: str, after: int, seconds: float, taken: Sequence[str] = ()
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the events of a session after the one that it had last; wait for one if there is none.

        The results of attempts that it has taken are not kept any longer.
        """
        for name in taken:
            if (done := self.attempts.get(name)) is not None:
                self.kept -= len(done.result)
                done.state, done.result = "taken", b""
        known = self.sessions.setdefault(session, _Session())
        known.seen = time.time()
        oldest = known.seen - _SESSION_SECONDS
        for name in [name for name, one in self.sessions.items() if one.seen < oldest]:
            self.leave(name)
        while known.events and known.events[0][0] <= after:
            known.events.popleft()
        if not known.events:
            known.more.clear()
            try:
                await asyncio.wait_for(known.more.wait(), seconds)
            except TimeoutError:
                return []
        return list(known.events)

    def leave(self, session: str) -> None:
        """Forget a session, its attempts and their results."""
        self.sessions.pop(session, None)
        for name in [name for name, one in self.attempts.items() if one.session == session]:
            self._drop(name)

    # ---------------------------------------------------------------- attempts

    def claim(self, attempt: str, session: str, worker: str, title: str) -> bool:
        """Return whether a worker may begin an attempt: true once. A result that is there is announced again."""
        known = self.attempts.get(attempt)
        if known is None and session in self.sessions:
            self.attempts[attempt] = _Attempt(session, worker, title)
            if len(self.attempts) > _KEPT_ATTEMPTS:  # running and unfetched ones are waited for
                ended = (name for name, one in self.attempts.items() if one.state in {"taken", "lost"})
                if (oldest := next(ended, None)) is not None:
                    self._drop(oldest)
            self._tell(session, "begun", attempt, worker, title)
            return True
        if known is not None and known.state == "done":
            self._tell_done(attempt, known)
        return known is not None and known.state == "claimed" and known.worker == worker  # it asks again

    def deliver(self, attempt: str, session: str, result: bytes) -> None:
        """Keep the result of an attempt, and tell its session."""
        known = self.attempts.get(attempt)
        if known is None or known.state in {"done", "taken"} or session not in self.sessions:
            return
        is_late, known.state, known.result = known.state == "lost", "done", result
        self.kept += len(result)
        if not is_late:
            self._tell_done(attempt, known)
        if self.kept <= _KEPT_BYTES:
            return
        for name in list(self.attempts):
            if self.kept <= _KEPT_BYTES or name == attempt:
                break
            if self.attempts[name].state == "done":
                self._tell(self.attempts[name].session, "lost", name, "the scheduler, which keeps so many results,")
                self._drop(name)

    def decline(self, attempt: str, session: str, worker: str, reason: str) -> None:
        """Tell a session that a worker does not begin an attempt."""
        if attempt not in self.attempts:
            self._tell(session, "declined", attempt, worker, reason)

    def take(self, attempt: str) -> bytes | None:
        """Return the result of an attempt."""
        known = self.attempts.get(attempt)
        return None if known is None or known.state != "done" else known.result

    def _lose(self, worker: str, name: str) -> None:
        if any(info["id"] == worker for info in self.workers.values()):
            return  # it has reconnected, and will deliver
        for attempt, known in self.attempts.items():
            if known.worker == worker and known.state == "claimed":
                known.state = "lost"
                self._tell(known.session, "lost", attempt, name)

    # ---------------------------------------------------------------- content

    async def fetch(self, session: str, digest: str, offset: int) -> bytes | None:
        """Return a piece of a file of a session, from `offset` on; None where the session does not give it."""
        key = (session, digest, offset)
        wanted = self.wanted.get(key)
        if wanted is None:
            if session not in self.sessions:
                return None
            wanted = self.wanted[key] = asyncio.get_running_loop().create_future()
            self._tell(session, "want", digest, offset)
        try:
            return await asyncio.wait_for(asyncio.shield(wanted), _FETCH_SECONDS)
        except TimeoutError:
            return None
        finally:
            self.wanted.pop(key, None)

    def give(self, session: str, digest: str, offset: int, data: bytes | None) -> None:
        """Pass a piece of a file on to those who wait for it."""
        wanted = self.wanted.get((session, digest, offset))
        if wanted is not None and not wanted.done():
            wanted.set_result(data)

    # ---------------------------------------------------------------- bookkeeping

    def _tell(self, session: str, *event: object) -> None:
        if (known := self.sessions.get(session)) is not None:
            known.tell(*event)

    def _tell_done(self, attempt: str, known: _Attempt) -> None:
        """Tell a session the result of an attempt; of a large result only that it is there, to be taken."""
        small = known.result if len(known.result) <= _LARGEST_EVENT else None
        self._tell(known.session, "done", attempt, small)

    def _tell_all(self, *event: object) -> None:
        for session in self.sessions.values():
            session.tell(*event)

    def _drop(self, attempt: str) -> None:
        self.kept -= len(self.attempts.pop(attempt).result)
