"""Files that a driver makes for a device, and again where they are missing, such as binaries of kernels: files of the
cache.

Code in a worker keeps them in the folder that `kept_folder` returns. `retarget.engine.cache.store` counts, bounds,
verifies and removes them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from retarget.support.files import can_be_written, write_atomically

CACHE_DIR_VARIABLE = "RETARGET_CACHE_DIR"
"""Names the cache folder. A session sets it for the workers that open devices."""

KEPT = "binaries"
_DIGEST = hashlib.sha256().digest_size


def kept_folder(cache: Path | None = None) -> Path:
    """Return the folder for these files in a cache; None is that of RETARGET_CACHE_DIR, or the user's."""
    if cache is None:
        named = os.environ.get(CACHE_DIR_VARIABLE)
        cache = Path(named) if named else user_cache()
    return cache / "v1" / KEPT


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


def read_kept(folder: Path, key: str) -> bytes | None:
    """Return what is kept under a key (SHA-256 hex) and mark it as used; None if nothing is, or if it is damaged."""
    path = folder / key[:2] / key
    try:
        data = path.read_bytes()
        with suppress(OSError):  # a read-only cache still serves
            os.utime(path)
    except OSError:
        return None
    return _content(data)


def write_kept(folder: Path, key: str, content: bytes) -> None:
    """Keep `content` under a key, after its digest. Does nothing where the folder cannot be written."""
    with suppress(OSError):
        write_atomically(folder / key[:2] / key, hashlib.sha256(content).digest() + content)


def is_damaged(path: Path) -> bool:
    """Return whether a file has other content than what was written; one that has gone is not damaged."""
    with suppress(FileNotFoundError):
        return _content(path.read_bytes()) is None
    return False


def _content(data: bytes) -> bytes | None:
    content = data[_DIGEST:]
    return content if hashlib.sha256(content).digest() == data[:_DIGEST] else None
