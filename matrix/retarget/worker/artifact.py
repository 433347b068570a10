"""Reads an artifact for a run, and sees that it is the one that was meant."""

from __future__ import annotations

import hashlib
import mmap
import os
from pathlib import Path

from retarget.support.errors import RetargetError
from retarget.support.files import read_bytes

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
