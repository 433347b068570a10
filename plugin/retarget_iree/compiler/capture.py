"""Reads what native code writes to file descriptor 2."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from types import TracebackType
from typing import Self

__all__ = ["CapturedStderr"]


class CapturedStderr:
    """Context manager: takes what is written to descriptor 2 inside the `with`; `text` holds it afterwards.

    Where descriptor 2 is a file that can be read back, as in a worker, it stays what it is, so that the last words of a
    compiler that dies are in the worker's log; what was taken is removed from the file, so that it is not reported
    twice. Elsewhere (a terminal, a pipe) descriptor 2 is redirected for the duration.
    """

    def __init__(self) -> None:
        self.text = ""
        self._start: int | None = None
        self._saved: int | None = None
        self._spool = -1

    def __enter__(self) -> Self:
        sys.stderr.flush()
        self._start = _readable_size(2)
        if self._start is None:
            with tempfile.TemporaryFile() as file:
                self._spool = os.dup(file.fileno())
            self._saved = os.dup(2)
            os.dup2(self._spool, 2)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.stderr.flush()
        if self._start is not None:
            self.text = _tail(2, self._start)
            os.ftruncate(2, self._start)
            os.lseek(2, self._start, os.SEEK_SET)
        elif self._saved is not None:
            os.dup2(self._saved, 2)
            os.close(self._saved)
            self.text = _tail(self._spool, 0)
            os.close(self._spool)


def _readable_size(descriptor: int) -> int | None:
    """Return the size in bytes of the file that a descriptor writes at its end; None if it cannot be read back."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        os.pread(descriptor, 1, 0)
        if os.lseek(descriptor, 0, os.SEEK_CUR) > status.st_size:
            return None
        os.lseek(descriptor, 0, os.SEEK_END)
    except OSError:
        return None
    return status.st_size


def _tail(descriptor: int, start: int) -> str:
    size = max(0, os.fstat(descriptor).st_size - start)
    return os.pread(descriptor, size, start).decode("utf-8", "replace") if size else ""
