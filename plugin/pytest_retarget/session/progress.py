"""How far the compiles are: a line that comes and goes on a terminal, one now and then in a log.

A thread writes it, and only while the main thread waits for a worker process: then pytest writes nothing, and what the
thread has written is taken back before the main thread goes on.

Under xdist none is shown; the controller ends its workers after a Ctrl-C.
"""

from __future__ import annotations

import os
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

from pytest_retarget.internals import local_workers, say, terminal_file, terminal_writer, wcwidth

PATIENCE = 0.4
"""Seconds that the main thread must have waited before a terminal shows anything; and seconds between two looks."""

LOG_INTERVAL = 30.0
"""Seconds between lines where there is no terminal, such as in the log of a CI."""

SPACE = 24
"""Columns that must be free on the terminal's current line; with fewer, nothing is shown."""

NAMED = 3
"""How many of the compiles that go on are named; the others are counted."""

_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[J"
_CUT, _WRAP = "\x1b[?7l", "\x1b[?7h"
"""Where a terminal is narrower than it said, a line is cut at its edge and does not go on below (DECAWM)."""


class Progress:
    """Writes behind what pytest has written on its current line, and takes it back. To be closed."""

    def __init__(self, config: pytest.Config) -> None:
        self._is_worker = hasattr(config, "workerinput")  # where the reporter writes to nowhere
        self._reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self._capture: Any = config.pluginmanager.getplugin("capturemanager")
        verbosity = -2 if self._reporter is None or self._is_worker else self._reporter.verbosity
        self._terminal = _terminal(self._reporter) if verbosity >= -1 else None
        self.shows = self._terminal is not None or verbosity >= 0
        self._activity: Callable[[], BuildActivity] = BuildActivity
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()
        self._waits_since: float | None = None
        self._is_on_screen = False
        self._next_line = time.monotonic() + LOG_INTERVAL

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
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None

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
                self._erase()

    def note(self, text: str) -> None:
        """Write a line that stays, also where there is no terminal. A worker of xdist has pytest's standard error."""
        with self._lock, self._uncaptured():
            self._erase()
            if self._reporter is not None and not self._is_worker:
                self._reporter.ensure_newline()
                writer = terminal_writer(self._reporter)
                if writer.width_of_current_line:  # dots without the name of a file, as with -q and under xdist
                    writer.line()
                self._reporter.write_line(f"retarget: {text}")
            else:
                sys.stderr.write(f"{_ERASE if sys.stderr.isatty() else ''}\nretarget: {text}\n")
                sys.stderr.flush()

    def _run(self) -> None:
        while not self._closed.wait(PATIENCE):
            with suppress(OSError):  # the terminal has gone, or the disk is full
                self._tick()

    def _tick(self) -> None:
        activity = self._activity()
        with self._lock:
            now = time.monotonic()
            if self._waits_since is None or now - self._waits_since < PATIENCE or not activity.goes_on:
                self._erase()
            elif self._terminal is not None:
                self._show(self._terminal, status(activity))
            elif now >= self._next_line:
                self._next_line = now + LOG_INTERVAL
                self.note(status(activity))

    def _show(self, terminal: int, text: str) -> None:
        writer = terminal_writer(self._reporter)
        free = _columns(terminal, int(writer.fullwidth)) - int(writer.width_of_current_line) - 2
        if free < SPACE:
            self._erase()
            return
        self._is_on_screen = True
        self._write(f"{_SAVE}{_CUT} {_fitting(text, free)}{_ERASE}{_RESTORE}{_WRAP}")

    def _erase(self) -> None:
        if self._is_on_screen:
            self._is_on_screen = False
            with suppress(OSError):
                self._write(_ERASE)

    def _write(self, text: str) -> None:
        """Write past pytest's capture and past its reckoning of the current line's width, all at once."""
        if self._terminal is not None:
            encoding = getattr(terminal_file(self._reporter), "encoding", None) or "utf-8"
            os.write(self._terminal, text.encode(encoding, "replace"))

    def _uncaptured(self) -> AbstractContextManager[None]:
        return self._capture.global_and_fixture_disabled() if self._capture is not None else nullcontext()


def status(activity: BuildActivity) -> str:
    """`compiled 12 of 120: linalg/matmul (llvm-cpu) 12 s, linalg/conv (vmvx) 2 s and 2 more`.

    The end may be cut off, so it is the least important part.
    """
    ran = f", ran {activity.ran} of {activity.runs}" if activity.runs else ""
    head = f"compiled {activity.done} of {activity.total}{ran}"
    jobs = [f"{shown(name)} {seconds:.0f} s" for name, seconds in activity.running]
    more = f" and {len(jobs) - NAMED} more" if len(jobs) > NAMED else ""
    return f"{head}: {', '.join(jobs[:NAMED])}{more}" if jobs else head


def _fitting(text: str, columns: int) -> str:
    """As much of a text as is so many columns wide."""
    kept = text[: columns + 1]
    if kept == text and _width(text) <= columns:
        return text
    while _width(kept) > columns - 3:
        kept = kept[:-1]
    return f"{kept}..."


def _width(text: str) -> int:
    return sum(max(0, wcwidth(character)) for character in text)


def _terminal(reporter: Any) -> int | None:
    """Return a descriptor of the terminal that pytest reports to, past its capture; None where there is none.

    A CI keeps a log, though some give their jobs a terminal. `NO_COLOR` asks for no colours, and gets none.
    """
    if os.environ.get("TERM", "dumb") == "dumb" or os.environ.get("CI") or os.environ.get("BUILD_NUMBER"):
        return None
    try:
        terminal = os.dup(terminal_file(reporter).fileno())
    except (AttributeError, OSError, ValueError):
        return None
    if os.isatty(terminal):
        return terminal
    os.close(terminal)
    return None


def _columns(terminal: int, otherwise: int) -> int:
    try:
        return os.get_terminal_size(terminal).columns or otherwise
    except OSError:
        return otherwise


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
