"""Locks that the system holds for a process and frees when it ends, however it ends: flock(2) on a file.

Shared ones say "in use", an exclusive one "being written or removed". The exclusive holder of a lock may delete its
file.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Self


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


_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP})


def hold_lock(path: Path, *, shared: bool = False, wait: bool = True) -> HeldLock | None:
    """Return the lock of the file `path`, which is created; None if another holds it and `wait` is false.

    Raises `OSError` where the file cannot be created, or the file system has no locks.
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


def hold_where_possible(path: Path) -> HeldLock | None:
    """Return as `hold` does without waiting; where the file system has no locks, one that nothing holds.

    For what is right without a lock, too, only done twice.
    """
    try:
        return hold_lock(path, wait=False)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return HeldLock(-1, path)


def hold_existing(path: Path) -> HeldLock | None:
    """Return a shared lock of a file, which `remove_unheld` leaves; None where the file has gone. Raises `OSError`.

    Where the file system has no locks, nothing holds it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    held = HeldLock(descriptor, path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            held.release()
            raise
    if _is_same(descriptor, path):
        return held
    held.release()
    return None


def remove_unheld(path: Path) -> bool:
    """Remove a file unless someone holds it; return whether it has gone. Raises `OSError`."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    with HeldLock(descriptor, path):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        if not _is_same(descriptor, path):
            return False  # another has been written in its place meanwhile, which someone may hold
        path.unlink(missing_ok=True)
    return True


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
