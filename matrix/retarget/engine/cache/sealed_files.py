"""Files of the store and of exported artifacts: sealed with a digest of their own, each with a compile's outcome."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.engine.cache.key import digest_of
from retarget.model.outcomes import Artifact, CompileOutcome, Failure, Stage

__all__ = [
    "DamagedError",
    "StoredFile",
    "outcome_body",
    "read_outcome",
    "read_sealed",
    "seal",
    "stored_files",
    "unfinished_files",
]

_STALE_SECONDS = 3600
"""How long nothing must have been written to a half-written file for its writer to be dead: a write takes seconds."""


class DamagedError(Exception):
    """A file of the store has other content than what was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file with its size in bytes and the time of its last use, in seconds since the epoch."""

    path: Path
    size: int
    used: float


def seal(body: dict[str, Any]) -> bytes:
    """Return `body` as JSON on one line after a line with its SHA-256 hex."""
    text = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    return digest_of(text).encode() + b"\n" + text


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what `seal` wrote. Raises `FileNotFoundError`, another `OSError`, or `DamagedError`."""
    digest, _, text = path.read_bytes().partition(b"\n")
    if digest_of(text).encode() != digest:
        msg = f"{path} is damaged: its content does not have the SHA-256 that its first line says"
        raise DamagedError(msg)
    try:
        body = json.loads(text)
    except ValueError as error:
        msg = f"{path} is damaged: {error}"
        raise DamagedError(msg) from error
    if not isinstance(body, dict):
        msg = f"{path} is damaged: an object was expected"
        raise DamagedError(msg)
    return body


def outcome_body(outcome: CompileOutcome, suffix: str = "") -> dict[str, Any]:
    """Return what `read_outcome` reads; `suffix` is the artifact's."""
    body: dict[str, Any] = {"diagnostics": outcome.diagnostics, "seconds": outcome.seconds}
    if (artifact := outcome.artifact) is not None:
        body["artifact"] = {"digest": artifact.digest, "size": artifact.size, "suffix": suffix}
    elif (failure := outcome.failure) is not None:
        body["failure"] = {"summary": failure.summary, "text": failure.text, "hint": failure.hint}
    return body


def read_outcome(key: str, body: dict[str, Any], artifact_path: Callable[[str, str], Path]) -> CompileOutcome:
    """Return the outcome that `body` holds. `artifact_path` finds an artifact by digest and suffix.

    Raises `KeyError` or `TypeError` for a body of another form.
    """
    artifact = failure = None
    if "artifact" in body:
        digest, size = body["artifact"]["digest"], body["artifact"]["size"]
        artifact = Artifact(digest=digest, size=size, path=str(artifact_path(digest, body["artifact"]["suffix"])))
    else:
        failure = Failure(stage=Stage.COMPILE, **body["failure"])
    return CompileOutcome(
        key=key,
        seconds=body["seconds"],
        reused=True,
        artifact=artifact,
        failure=failure,
        diagnostics=body["diagnostics"],
    )


def stored_files(folder: Path) -> Iterator[StoredFile]:
    """Yield the files one folder below `folder`, but for those that are half written."""
    return (file for file in _files(folder) if not file.path.name.startswith("."))


def unfinished_files(folder: Path) -> Iterator[StoredFile]:
    """Yield what killed processes have left half written one folder below `folder`."""
    now = time.time()
    return (file for file in _files(folder) if file.path.name.startswith(".") and now - file.used > _STALE_SECONDS)


def _files(folder: Path) -> Iterator[StoredFile]:
    with suppress(FileNotFoundError, NotADirectoryError):
        for shelf in os.scandir(folder):
            with suppress(FileNotFoundError, NotADirectoryError):
                for found in os.scandir(shelf.path):
                    with suppress(FileNotFoundError):
                        status = found.stat(follow_symlinks=False)
                        yield StoredFile(path=Path(found.path), size=status.st_size, used=status.st_mtime)
