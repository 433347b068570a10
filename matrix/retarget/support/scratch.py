"""Temporary folders that clean up themselves: a later session removes what a killed one has left.

Each holds a lock file that its owner keeps locked as long as it lives. A folder without one is somebody else's.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from retarget.support.files import write_atomically
from retarget.support.locks import HeldLock, hold_lock

_PREFIX = "retarget-"
_LOCK = ".retarget-scratch"
_KEPT_SECONDS = 7 * 24 * 3600


class ScratchFolder:
    """A new temporary folder, removed when it is closed. `path` is where it lies."""

    def __init__(self, purpose: str, *, token: str = "") -> None:
        """Other processes that know the `token` find the folder: see `shared_folder`.

        Raises `OSError` if it cannot be created.
        """
        if token:
            self.path = shared_folder(purpose, token)
            self.path.mkdir(mode=0o700)
        else:
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


def keep_file(purpose: str, content: bytes) -> Path:
    """Write a file for commands that people paste later; return its path. It stays for a week after its last use.

    Users have their own. Raises `OSError`.
    """
    folder = Path(tempfile.gettempdir()) / f"{_PREFIX}{purpose}-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.bin"
    write_atomically(path, content)
    _remove_old(folder)
    return path


@functools.cache
def _remove_old(folder: Path) -> None:
    """Remove what was kept long enough: once in a process."""
    oldest = time.time() - _KEPT_SECONDS
    for path in folder.iterdir():
        with suppress(OSError):
            if path.lstat().st_mtime < oldest:
                path.unlink()


def shared_folder(purpose: str, token: str) -> Path:
    """Return where a `ScratchFolder` lies that was made with a token."""
    return Path(tempfile.gettempdir()) / f"{_PREFIX}{purpose}-{token}"


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
