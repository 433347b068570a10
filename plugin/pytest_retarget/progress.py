"""A line that comes and goes on a terminal while a compile is awaited."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

__all__ = ["Progress"]

PATIENCE = 2.0
"""Seconds of silence before anything is shown."""

SPACE = 24
"""Columns that must be free on the terminal's current line; with fewer, nothing is shown."""

_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[K"

OnWait = Callable[[float, int], None]


class Progress:
    """Writes behind what pytest has written on its current line, and takes it back."""

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        live = reporter is not None and reporter.isatty() and reporter.hasmarkup and reporter.verbosity >= 0
        self._live = live
        self._reporter = reporter
        self._capture: Any = config.pluginmanager.getplugin("capturemanager")

    @contextmanager
    def of(self, name: str) -> Iterator[OnWait | None]:
        """Give a callback that shows how long this compile has been awaited; clear the line at the end."""
        if not self._live:
            yield None
            return
        shown = False

        def on_wait(seconds: float, pending: int) -> None:
            nonlocal shown
            if seconds >= PATIENCE:
                shown = self._show(waiting(name, seconds, pending)) or shown

        try:
            yield on_wait
        finally:
            if shown:
                self._write(_ERASE)

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
        with self._capture.global_and_fixture_disabled() if self._capture is not None else nullcontext():
            sys.stdout.write(text)
            sys.stdout.flush()


def waiting(name: str, seconds: float, pending: int) -> str:
    """`12 s for the compile of foo_llvm-cpu, 34 more to do`; the end may be cut off, so it tells the least."""
    text = f"{seconds:.0f} s for the compile of {name}"
    return text if pending < 2 else f"{text}, {pending - 1} more to do"
