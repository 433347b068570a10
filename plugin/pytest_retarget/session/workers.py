"""Under xdist workers write what they compile to files, and the controller shows it; it ends them after a Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from retarget.session import BuildActivity
from retarget.support import ScratchFolder, counted, shared_folder

from pytest_retarget.internals import local_workers
from pytest_retarget.session.progress import Progress, Ticker
from pytest_retarget.session.status import say

_PURPOSE = "progress"
_UNFINISHED = ".new"

_INTERRUPTED = (1.0, 3.0)
_KILLED = 5.0
"""Seconds after a Ctrl-C. What xdist alone tells to end has up to 15."""


def publish(config: pytest.Config, activity: Callable[[], BuildActivity]) -> Ticker:
    """Keep writing a worker's activity where the controller looks for it. Return the thread that does."""
    workerinput = config.workerinput  # type: ignore[attr-defined]  # set by xdist
    path = shared_folder(_PURPOSE, workerinput["testrunuid"]) / workerinput["workerid"]
    return Ticker(partial(_write, path, activity))


def _write(path: Path, activity: Callable[[], BuildActivity]) -> None:
    if path.parent.is_dir():  # it is not where the controller shows nothing, or is on another machine
        beside = path.with_name(path.name + _UNFINISHED)
        beside.write_bytes(msgspec.json.encode(activity()))
        beside.replace(path)


class WorkersProgress:
    """Shows what the workers compile while the controller waits for their events."""

    def __init__(self, config: pytest.Config, testrunuid: str) -> None:
        self._config = config
        self._progress = Progress(config)
        self._folder: ScratchFolder | None = None
        queue: Any = getattr(config.pluginmanager.getplugin("dsession"), "queue", None)
        if queue is None or not self._progress.shows:
            return
        with suppress(OSError):  # a folder of that name is left; nothing depends on what is shown
            self._folder = ScratchFolder(_PURPOSE, token=testrunuid)
            queue.get = partial(self._waited_for, queue.get)
            self._progress.follow(self._activity)

    def _waited_for(self, get: Callable[..., object], *arguments: object, **named: object) -> object:
        with self._progress.waiting():
            return get(*arguments, **named)

    def _activity(self) -> BuildActivity:
        found = []
        for path in self._folder.path.iterdir() if self._folder is not None else ():
            if path.suffix != _UNFINISHED:
                with suppress(OSError, msgspec.DecodeError):
                    found.append(msgspec.json.decode(path.read_bytes(), type=BuildActivity))
        return BuildActivity.together(found)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """End the workers soon: each its processes, and what does not end is killed with them."""
        workers = local_workers(self._config)
        if excinfo.type is not KeyboardInterrupt or not workers:  # xdist's own is after the workers have ended
            return
        which = counted(len(workers), "worker")
        say(self._config, f"retarget: interrupted: waiting for {which} of xdist, for {_KILLED:.0f} s at most")
        steps = [(after, lambda one: one.send_signal(signal.SIGINT)) for after in _INTERRUPTED]
        for after, end in [*steps, (_KILLED, lambda one: one.kill())]:
            timer = threading.Timer(after, lambda end: [end(one) for one in workers], [end])
            timer.daemon = True
            timer.start()

    def pytest_sessionfinish(self) -> None:
        """End the thread, and remove the folder."""
        self._progress.close()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def pytest_unconfigure(self) -> None:
        """Do so where the session did not come to its end."""
        self.pytest_sessionfinish()
