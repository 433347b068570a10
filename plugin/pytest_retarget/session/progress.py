"""What a target waits for: a line that comes and goes on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest
from retarget.model import CompileTarget

__all__ = ["Progress"]

PATIENCE = 0.4
"""Seconds that a compile is awaited before a terminal shows it."""

LOG_INTERVAL = 30.0
"""Seconds between lines where there is no terminal, such as in the log of a CI."""

SPACE = 24
"""Columns that must be free on the terminal's current line; with fewer, nothing is shown."""

_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[K"

OnWait = Callable[[float, int, int], None]
"""Takes seconds waited, compiles done, and compiles in all."""


class Progress:
    """Writes behind what pytest has written on its current line, and takes it back."""

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self._is_worker = hasattr(config, "workerinput")  # where the reporter writes to nowhere
        self._shown = reporter is not None and not self._is_worker and reporter.verbosity >= 0
        self._live = self._shown and reporter.isatty() and reporter.hasmarkup
        self._reporter = reporter
        self._capture: Any = config.pluginmanager.getplugin("capturemanager")
        self._next_line = time.monotonic() + LOG_INTERVAL

    @contextmanager
    def of(self, target: CompileTarget) -> Iterator[OnWait | None]:
        """Give a callback that shows what is compiled and how many are left; clear the line at the end."""
        if not self._shown:
            yield None
            return
        on_screen = False

        def on_wait(seconds: float, done: int, total: int) -> None:
            nonlocal on_screen
            if not self._live:
                self._log(waiting(target, seconds, done, total))
            elif seconds >= PATIENCE:
                on_screen = self._show(waiting(target, seconds, done, total)) or on_screen

        try:
            yield on_wait
        finally:
            if on_screen:
                self._write(_ERASE)

    def _log(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + LOG_INTERVAL
            self.note(text)

    def note(self, text: str) -> None:
        """Write a line that stays, also where there is no terminal. A worker of xdist has pytest's standard error."""
        with self._uncaptured():
            if self._reporter is not None and not self._is_worker:
                self._reporter.ensure_newline()
                self._reporter.write_line(f"retarget: {text}")
            else:
                sys.stderr.write(f"\nretarget: {text}\n")
                sys.stderr.flush()

    def _show(self, text: str) -> bool:
        writer = self._reporter._tw  # noqa: SLF001  (pytest offers no other way to learn what is on the line)
        free = int(writer.fullwidth) - int(writer.width_of_current_line) - 2
        if free < SPACE:
            return False
        if len(text) > free:
            text = text[: free - 3] + "..."
        self._write(f"{_SAVE} {text}{_ERASE}{_RESTORE}")
        return True

    def _write(self, text: str) -> None:
        """Write past pytest's capture and past its reckoning of the current line's width."""
        with self._uncaptured():
            sys.stdout.write(text)
            sys.stdout.flush()

    def _uncaptured(self) -> AbstractContextManager[None]:
        return self._capture.global_and_fixture_disabled() if self._capture is not None else nullcontext()


def waiting(target: CompileTarget, seconds: float, done: int, total: int) -> str:
    """`compiling 3 of 120: linalg/matmul (llvm-cpu), 2 s`; the end may be cut off, so it is the least important
    part."""
    name = f"{target.suite}/{target.module.name} ({target.compiler.name})"
    return f"compiling {done + 1} of {total}: {name}, {seconds:.0f} s"
