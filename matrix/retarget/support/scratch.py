"""Locks of files, and temporary folders that clean up themselves: a later session removes what a killed one has left.

Each folder holds a lock file that its owner keeps locked as long as it lives. A folder without one is somebody else's.

The system holds a lock for a process and frees it when that ends, however it ends: flock(2) on a file. Shared ones say
"in use", an exclusive one "being written or removed". The exclusive holder of a lock may delete its file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Self

from retarget.support.files import UNFINISHED

_PREFIX = "retarget-"
_LOCK = ".retarget-scratch"


class ScratchFolder:
    """A new temporary folder, removed when it is closed. `path` is where it lies."""

    def __init__(self, purpose: str) -> None:
        """Raises `OSError` if it cannot be created."""
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
        beside = self.path / f"{_LOCK}-new"
        lock = hold_lock(beside)
        beside.rename(self.path / _LOCK)  # so that no process sees it unlocked
        self._lock = lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def subfolder(self) -> Path:
        """Return a new folder in it."""
        return Path(tempfile.mkdtemp(dir=self.path))

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def abandoned_folders() -> Iterator[Path]:
    """Yield the folders that killed processes have left in the system's folder for temporary files."""
    for path, lock in _abandoned():
        lock.release()
        yield path


def sweep_scratch() -> int:
    """Remove what killed processes have left in the system's folder for temporary files; return how many folders."""
    count = 0
    for path, lock in _abandoned():
        with lock:
            shutil.rmtree(path, ignore_errors=True)
            count += 1
    return count


def _abandoned() -> Iterator[tuple[Path, HeldLock]]:
    with suppress(OSError):
        for path in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
            with suppress(OSError):
                lock = path / _LOCK
                if path.is_symlink() or lock.is_symlink() or not lock.is_file():
                    continue
                held = hold_lock(lock, wait=False)
                if held is not None:
                    yield path, held


def make_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Have a new folder filled unless it is there; one process at a time does, and others see all of it or nothing.
    Raises `OSError`, and what `fill` raises."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(lock_of(folder)) or nullcontext():
        if folder.is_dir():
            return
        beside = folder.with_name(f"{UNFINISHED}{folder.name}")
        shutil.rmtree(beside, ignore_errors=True)  # left by one that was killed
        beside.mkdir()
        try:
            fill(beside)
            beside.rename(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def lock_of(folder: Path) -> Path:
    """Return the file that `make_folder` locks."""
    return folder.with_name(f".{folder.name}.lock")


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


class _ReplacedError(Exception):
    """The file that was locked is no longer the one at its path."""


def hold_lock(path: Path, *, shared: bool = False, wait: bool = True, is_needed: bool = True) -> HeldLock | None:
    """Return the lock of the file `path`, which is created; None if another holds it and `wait` is false.

    Raises `OSError` where the file cannot be created, or the file system has no locks. If none `is_needed`, because
    what is done is right without one, too, only done twice, nothing holds the lock there.
    """
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    while True:
        with suppress(_ReplacedError):  # its holder has deleted the file meanwhile
            return _locked(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, how, is_needed=is_needed)


def hold_existing(path: Path) -> HeldLock | None:
    """Return a shared lock of a file, which `remove_unheld` leaves; None where the file has gone. Raises `OSError`.

    Where the file system has no locks, nothing holds it.
    """
    with suppress(FileNotFoundError, _ReplacedError):
        return _locked(path, os.O_RDONLY, fcntl.LOCK_SH, is_needed=False)
    return None


def remove_unheld(path: Path) -> bool:
    """Remove a file unless someone holds it; return whether it has gone. Raises `OSError`."""
    try:
        held = _locked(path, os.O_RDWR | os.O_NOFOLLOW, fcntl.LOCK_EX | fcntl.LOCK_NB, is_needed=False)
    except FileNotFoundError:
        return True
    except _ReplacedError:  # by another, which someone may hold
        return False
    if held is not None:
        with held:
            held.delete()
    return held is not None


def _locked(path: Path, flags: int, how: int, *, is_needed: bool) -> HeldLock | None:
    """Open and lock a file; None if another holds it. Raises `OSError`, and `_ReplacedError`."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            return None
        except OSError as error:
            if is_needed or error.errno not in _NO_LOCKS:
                raise
        if not _is_same(descriptor, path):
            raise _ReplacedError
        stack.pop_all()
    return HeldLock(descriptor, path)


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
