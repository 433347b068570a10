"""Reads an artifact for a run, and sees that it is the one that was meant."""

from __future__ import annotations

import hashlib
from pathlib import Path

from retarget.support.errors import RetargetError

__all__ = ["OUTPUTS_INDEX", "is_recorded", "read_artifact"]

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
        data = path.read_bytes()
    except OSError as error:
        msg = f"artifact {path} cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
    if digest and (found := hashlib.sha256(data).hexdigest()) != digest:
        msg = (
            f"artifact {path} is damaged: its {len(data)} bytes have SHA-256 {found}, expected {digest}; "
            "remove it, and it is compiled again ('retarget cache verify' does so for all of the cache)"
        )
        raise RetargetError(msg)
    return data
