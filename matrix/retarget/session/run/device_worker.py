"""The worker process of one runtime config: its open devices, its pause while it is idle, and its replacement."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from retarget.extension import UnavailableError
from retarget.model import RuntimeConfig
from retarget.model.outcomes import DeviceInfo
from retarget.session.cache.key import host_identity
from retarget.session.refusals import device_infos
from retarget.support.dependencies import OF_DRIVERS, variables, versions_of_arrays
from retarget.support.errors import RetargetError
from retarget.worker.messages import Devices, Done, MoveBytes, OpenDevices, Progress, Refused
from retarget.worker.process import WorkerProcess
from retarget.worker.started import SpareWorker, Spawner

AnswerT = TypeVar("AnswerT")

_OPEN_ATTEMPTS = 2
"""How often devices are opened in vain before it is given up for the session. Absent devices are tried once."""

_IDLE_SECONDS = 0.25
"""How long a worker may be idle before it is paused. An open device may poll in the background: Mesa's lavapipe keeps
two cores busy where IREE waits for its timeline semaphores, cycles that the compiles need."""


class _Ahead(Struct, frozen=True, kw_only=True):
    """A message that was sent before its time: when, by the monotonic clock and in seconds since 1970."""

    message: object
    sent: float
    began: float


class DeviceWorker:
    """Runs requests for one runtime config. Starts its process when needed and again after it has died.

    On Linux, where the kernel ends even a stopped process with its parent, the process is paused while it is idle.
    `infos` are the devices as they were opened last, None before; `opened` is when the present process began to open
    them (seconds since 1970), `last` the last target that used them. `leases` are descriptors of locked files
    that requests hand to the process, which keeps the locks until it has answered or ended.
    """

    def __init__(
        self,
        *,
        config: RuntimeConfig,
        environment: Callable[[RuntimeConfig], tuple[tuple[str, str], ...]],
        spawner: Spawner,
        extensions: Sequence[str],
        open_timeout: float,
        probe_timeout: float,
        spare: SpareWorker | None = None,
        cache: Path | None = None,
    ) -> None:
        """`environment` gives the variables of a config's worker. Timeouts are in seconds. The first process is the
        `spare` one, if there is one that fits. Its driver keeps what it makes for a device in `cache`."""
        self.config = config
        self._environment = environment
        self._spawner = spawner
        self._extensions = tuple(extensions)
        self._open_timeout = open_timeout
        self._spare, self._cache = spare, cache
        self._probe_timeout = min(open_timeout, probe_timeout)
        self._worker: WorkerProcess | None = None
        self._ahead: _Ahead | None = None
        self.infos: tuple[DeviceInfo, ...] | None = None
        self._moves_bytes: bool | None = None
        self.opened = 0.0
        self.last = ""
        self.leases: tuple[int, ...] = ()
        self._error: UnavailableError | RetargetError | None = None
        self._attempts = 0
        self._starts_processes = bool(config.run_under) or config.toolchain is not None or config.host is not None
        self._can_pause = sys.platform == "linux" and not self._starts_processes
        self._rest_lock = threading.Lock()
        self._idle: tuple[WorkerProcess, float] | None = None
        self._watched = False

    def open(self) -> tuple[DeviceInfo, ...]:
        """Return the open devices; open them if they are not.

        Raises `UnavailableError` if this machine lacks them, `RetargetError` if they cannot be opened.
        """
        if self.infos is not None and self.alive:
            return self.infos
        if self._error is not None and self._attempts >= _OPEN_ATTEMPTS:
            raise self._error.with_traceback(None)  # raised for every target: its traceback must not grow
        self.close()
        try:
            self.infos = self._start(self._open_timeout)
        except (UnavailableError, RetargetError) as error:
            self._error = error
            self._attempts += _OPEN_ATTEMPTS if isinstance(error, UnavailableError) else 1
            self.close()
            raise
        self._error, self._attempts = None, 0
        self._rest(self._worker)
        return self.infos

    def probe(self) -> str:
        """Open the devices once more, in a new process, and move some bytes, if they could before. Return why they do
        not answer; nothing if they do: the process is kept then."""
        self.close()
        try:
            infos = self._start(self._probe_timeout)
        except (UnavailableError, RetargetError) as error:
            self.close()
            return str(error)
        if self.infos and [one.physical_id for one in infos] != [one.physical_id for one in self.infos]:
            self.close()
            return f"{', '.join(one.uri for one in infos)} opens in its place"
        self.infos = infos
        if self._moves_bytes and (why := self._move_bytes()):
            self.close()
            return f"it opens; {why}"
        self._rest(self._worker)
        return ""

    def check_transfers(self) -> None:
        """Find out, once, whether the devices move bytes: that they do not is no news of one where they never did."""
        if self._moves_bytes is None and self.alive:
            self._moves_bytes = not self._move_bytes()

    def _move_bytes(self) -> str:
        answer = self.ask(MoveBytes(), Done, timeout=self._probe_timeout)
        return answer.summary if isinstance(answer, Refused) else ""

    @property
    def alive(self) -> bool:
        """True while a process has the devices open."""
        return self._worker is not None and self._worker.alive

    def ask(
        self,
        message: object,
        expected: type[AnswerT],
        *,
        timeout: float,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> AnswerT | Refused:
        """Send `message` to the process that `open` or `probe` has started; return its answer, or why there is none.
        One that was begun is not sent again; begun for nothing, it ends the process."""
        if not self.started_at(message):
            self.drop_started()
        if self._worker is None:
            msg = f"runtime config {self.config.name!r} is not open"
            raise RetargetError(msg)
        worker, ahead = self._worker, self._ahead
        self._wake(worker)
        try:
            sent = ahead.sent if ahead is not None else worker.send(message, keep_open=self.leases)
            self._ahead = None
            return worker.answer(sent, expected, timeout=timeout, on_progress=on_progress)
        finally:
            self._rest(worker)

    def begin(self, message: object) -> None:
        """Send what `ask` is going to be called with next, if the process is there; it works meanwhile."""
        if self._worker is not None and self._ahead is None:
            self._wake(self._worker)
            began, sent = time.time(), self._worker.send(message, keep_open=self.leases)
            self._ahead = _Ahead(message=message, sent=sent, began=began)

    def started_at(self, message: object) -> float:
        """Return when a message was begun (seconds since 1970); 0 if it was not."""
        return self._ahead.began if self._ahead is not None and self._ahead.message == message else 0.0

    def drop_started(self) -> None:
        """End the process where something was begun, which nobody waits for."""
        if self._ahead is not None:
            self.close()
            self.leases = ()

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            if self._ahead is not None:
                self._ahead = None
                self._worker.kill()
            self._wake(self._worker)
            self._worker.close()
            self._worker = None

    def _rest(self, worker: WorkerProcess | None) -> None:
        """Pause the process when it has been idle for a while: one thread sees to it, not one for each request."""
        if not self._can_pause or worker is None:
            return
        with self._rest_lock:
            self._idle = worker, time.monotonic() + _IDLE_SECONDS
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._watch, name="retarget-idle", daemon=True).start()

    def _watch(self) -> None:
        """Pause the process at the end of its idle time, and end; also where it is at work when that is looked at."""
        left = _IDLE_SECONDS
        while left > 0:
            time.sleep(left)
            with self._rest_lock:
                left = self._idle[1] - time.monotonic() if self._idle is not None else 0.0
                if left <= 0:
                    self._watched = False
                    if self._idle is not None:
                        self._idle[0].pause()

    def _wake(self, worker: WorkerProcess) -> None:
        with self._rest_lock:
            self._idle = None
        worker.resume()

    def _start(self, timeout: float) -> tuple[DeviceInfo, ...]:
        config = self.config
        if config.run_under and config.host is None:
            _expect_command(config)
        env = self._environment(config)
        try:
            self._worker = self._taken(env) or WorkerProcess(
                spawner=self._spawner, extensions=self._extensions, env=env, starts_processes=self._starts_processes
            )
        except RetargetError as error:
            if not config.env:
                raise
            names = ", ".join(name for name, _ in config.env)
            msg = f"runtime config {config.name!r}, which sets {names}: {error}"
            raise RetargetError(msg) from error
        self.opened = time.time()
        answer = self._worker.ask(OpenDevices(config=config, cache=self._cache), Devices, timeout=timeout)
        infos = device_infos(answer, f"runtime config {config.name!r}: driver {config.driver!r}", "open")
        _expect_distinct(config, infos)
        here = host_identity() if config.host is None else ""
        arrays = f"{versions_of_arrays()} {variables(OF_DRIVERS)}"
        return tuple(dataclasses.replace(info, host=here or info.host, arrays=arrays) for info in infos)

    def _taken(self, env: Sequence[tuple[str, str]]) -> WorkerProcess | None:
        fits = self._spare is not None and not (env or self._extensions or self._starts_processes)
        started = self._spare.take() if fits and self._spare is not None else None
        with suppress(RetargetError):
            if started is not None:
                return WorkerProcess(spawner=self._spawner, extensions=(), started=started)
        return None


def _expect_command(config: RuntimeConfig) -> None:
    command, path = config.run_under[0], dict(config.env).get("PATH")
    if shutil.which(command, path=path) is None:
        if there := shutil.which(command, mode=os.F_OK, path=path):
            msg = f"run_under of runtime config {config.name!r}: {there} is not executable"
            raise RetargetError(msg)
        reason = f"run_under command {command!r} is not on this machine's PATH"
        raise UnavailableError(reason, f"install it, or change run_under of runtime config {config.name!r}")


def _expect_distinct(config: RuntimeConfig, infos: Sequence[DeviceInfo]) -> None:
    first: dict[str, DeviceInfo] = {}
    for info in infos if config.distinct else ():
        if (other := first.setdefault(info.physical_id, info)) is not info:
            reason = f"runtime config {config.name!r} needs {len(infos)} distinct devices"
            same = f"{other.uri} and {info.uri} are the same one here ({info.physical_id})"
            hint = "`retarget devices` lists the devices of this machine with what they are physically"
            reason = f"{reason}; {same}"
            raise UnavailableError(reason, hint)
