"""Reads an artifact for a run, and sees that it is the one that was meant; and files that a driver keeps.

Code in a worker keeps such files by `KeptFiles`. `retarget.session.cache.store` counts,
bounds, verifies and removes them.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from retarget.support.dependencies import OF_DRIVERS, variables
from retarget.support.errors import RetargetError
from retarget.support.files import can_be_written, read_bytes, user_path, write_atomically

OUTPUTS_INDEX = "outputs.json"
"""The file that marks a folder of recorded outputs as complete; see `retarget.worker.child.outputs`."""


def is_recorded(folder: Path) -> bool:
    """Return whether a run completed and recorded its outputs in `folder`."""
    return (folder / OUTPUTS_INDEX).is_file()


def read_artifact(path: Path, digest: str) -> bytes:
    """Return the bytes of `path`, whose SHA-256 hex must be `digest` (empty: not known).

    Raises `RetargetError` for one that cannot be read or has other content.
    """
    try:
        data = read_bytes(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if digest and (found := hashlib.sha256(data).hexdigest()) != digest:
        raise _damaged(path, len(data), found, digest)
    return data


def map_artifact(path: Path, digest: str) -> memoryview:
    """Do the same without reading the file into this process' memory: map it."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest() if digest else ""
            is_empty = not file.seek(0, os.SEEK_END)  # and cannot be mapped
            data = memoryview(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise _unreadable(path, error) from error
    if found != digest:
        raise _damaged(path, len(data), found, digest)
    return data


def _unreadable(path: Path, error: OSError) -> RetargetError:
    return RetargetError(f"artifact {path} cannot be read: {error.strerror or error}")


def _damaged(path: Path, size: int, found: str, expected: str) -> RetargetError:
    return RetargetError(
        f"artifact {path} is damaged: its {size} bytes have SHA-256 {found}, expected {expected}; "
        "remove it, and it is compiled again ('retarget cache verify' does so for all of the cache)"
    )


CACHE_DIR_VARIABLE = "RETARGET_CACHE_DIR"
"""Names the cache folder. A session sets it for the workers that open devices."""

KEPT = "binaries"
_DIGEST = hashlib.sha256().digest_size


def user_cache() -> Path:
    """Return the user's cache folder. Where none can be made, as in a home folder that is read-only, it is one below
    the folder for temporary files, which no other user may have made."""
    from platformdirs import user_cache_path

    folder = user_cache_path("retarget")
    if folder.exists() or can_be_written(folder):
        return folder
    other = Path(tempfile.gettempdir(), f"retarget-cache-{os.getuid()}")
    with suppress(OSError):
        other.mkdir(mode=0o700, exist_ok=True)
        if (state := other.lstat()).st_uid == os.getuid() and stat.S_IMODE(state.st_mode) == stat.S_IRWXU:
            return other
    return folder


class KeptFiles:
    """The files that code in a worker keeps in a cache; None is that of RETARGET_CACHE_DIR, or the user's. With other
    variables of drivers, other files are kept."""

    def __init__(self, cache: Path | None = None) -> None:
        if cache is None:
            named = os.environ.get(CACHE_DIR_VARIABLE)
            cache = Path(named) if named else user_cache()
        self.folder = cache / "v1" / KEPT

    def read(self, key: str) -> bytes | None:
        """Return what is kept under a key (SHA-256 hex) and mark it as used; None if nothing is, or it is damaged."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            with suppress(OSError):  # a read-only cache still serves
                os.utime(path)
        except OSError:
            return None
        return _content(data)

    def write(self, key: str, content: bytes) -> None:
        """Keep `content` under a key, after its digest. Does nothing where the folder cannot be written."""
        with suppress(OSError):
            write_atomically(self._path(key), hashlib.sha256(content).digest() + content)

    def take_in(self) -> None:
        """Have libraries of this process keep their files in this cache, where the user's cannot be written."""
        if not can_be_written(user_path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")):
            os.environ["XDG_CACHE_HOME"] = str(self.folder.parents[1])

    @cached_property
    def _env(self) -> str:
        return hashlib.sha256(f"{variables(OF_DRIVERS)}".encode()).hexdigest()[:8]

    def _path(self, key: str) -> Path:
        return self.folder / f"{key[:2]}{self._env}" / key


def is_damaged(path: Path) -> bool:
    """Return whether a file has other content than what was written; one that has gone is not damaged."""
    with suppress(FileNotFoundError):
        return _content(path.read_bytes()) is None
    return False


def _content(data: bytes) -> bytes | None:
    content = data[_DIGEST:]
    return content if hashlib.sha256(content).digest() == data[:_DIGEST] else None
