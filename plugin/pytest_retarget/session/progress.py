"""How far the compiles are: a line now and then.

A thread writes it, and only while the main thread waits for a worker process: then pytest writes nothing.

Under xdist none is shown; the controller ends its workers after a Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import pytest
from retarget.session import BuildActivity
from retarget.support import counted, shown

from pytest_retarget.internals import local_workers, say, terminal_writer

PATIENCE = 0.4
"""Seconds that the main thread must have waited before anything is shown; and seconds between two looks."""

INTERVAL = 30.0
"""Seconds between lines."""

NAMED = 3
"""How many of the compiles that go on are named; the others are counted."""


class Progress:
    """Writes lines of their own. To be closed."""

    def __init__(self, config: pytest.Config) -> None:
        self._is_worker = hasattr(config, "workerinput")  # where the reporter writes to nowhere
        self._reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self._capture: Any = config.pluginmanager.getplugin("capturemanager")
        self.shows = self._reporter is not None and not self._is_worker and self._reporter.verbosity >= 0
        self._activity: Callable[[], BuildActivity] = BuildActivity
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()
        self._waits_since: float | None = None
        self._next_line = time.monotonic() + INTERVAL

    def follow(self, activity: Callable[[], BuildActivity]) -> None:
        """Show this from now on."""
        if self.shows:
            self._activity = activity
            self._thread = threading.Thread(target=self._run, name="retarget-progress", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Show nothing any more."""
        if self._thread is not None:
            self._closed.set()
            self._thread.join()
            self._thread = None

    @contextmanager
    def waiting(self) -> Generator[None]:
        """To be entered by the main thread where it waits and writes nothing."""
        with self._lock:
            before, self._waits_since = self._waits_since, time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._waits_since = before

    def note(self, text: str) -> None:
        """Write a line. A worker of xdist has pytest's standard error."""
        with self._lock, self._uncaptured():
            if self._reporter is not None and not self._is_worker:
                self._reporter.ensure_newline()
                writer = terminal_writer(self._reporter)
                if writer.width_of_current_line:  # dots without the name of a file, as with -q and under xdist
                    writer.line()
                self._reporter.write_line(f"retarget: {text}")
            else:
                sys.stderr.write(f"\nretarget: {text}\n")
                sys.stderr.flush()

    def _run(self) -> None:
        while not self._closed.wait(PATIENCE):
            with suppress(OSError):  # the terminal has gone, or the disk is full
                self._tick()

    def _tick(self) -> None:
        activity = self._activity()
        with self._lock:
            now = time.monotonic()
            waits = self._waits_since is not None and now - self._waits_since >= PATIENCE
            if waits and activity.goes_on and now >= self._next_line:
                self._next_line = now + INTERVAL
                self.note(status(activity))

    def _uncaptured(self) -> AbstractContextManager[None]:
        return self._capture.global_and_fixture_disabled() if self._capture is not None else nullcontext()


def status(activity: BuildActivity) -> str:
    """`compiled 12 of 120: linalg/matmul (llvm-cpu) 12 s, linalg/conv (vmvx) 2 s and 2 more`."""
    ran = f", ran {activity.ran} of {activity.runs}" if activity.runs else ""
    head = f"compiled {activity.done} of {activity.total}{ran}"
    jobs = [f"{shown(name)} {seconds:.0f} s" for name, seconds in activity.running]
    more = f" and {len(jobs) - NAMED} more" if len(jobs) > NAMED else ""
    return f"{head}: {', '.join(jobs[:NAMED])}{more}" if jobs else head


_INTERRUPTED = (1.0, 3.0)
_KILLED = 5.0
"""Seconds after a Ctrl-C. What xdist alone tells to end has up to 15."""


class InterruptedWorkers:
    """The hook of xdist's controller."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

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
