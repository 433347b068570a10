"""Locks that the system holds for a process and frees when it ends, however it ends: flock(2) on a file.

Shared ones say "in use", an exclusive one "being written or removed". Who holds a lock exclusively may delete its file.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self

__all__ = ["HeldLock", "hold"]


class HeldLock:
    """A lock that is held. To be released."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the lock back. Does nothing the second time."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def delete(self) -> None:
        """Delete the lock's file, which must be held exclusively, and give it back. Raises `OSError`."""
        self._path.unlink(missing_ok=True)
        self.release()


def hold(path: Path, *, shared: bool = False, wait: bool = True) -> HeldLock | None:
    """Return the lock of the file `path`, which is created; None if another holds it and `wait` is false.

    Raises `OSError` where the file cannot be created.
    """
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, how)
            if _is_same(descriptor, path):
                return HeldLock(descriptor, path)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder has deleted the file meanwhile


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
