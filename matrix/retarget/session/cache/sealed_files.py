"""Files of the store and of exported artifacts: sealed with a digest of their own, each with a compile's outcome."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from retarget.model.outcomes import Artifact, CompileOutcome, Failure, Stage
from retarget.session.cache.key import digest_of
from retarget.support.files import read_bytes


class _Artifact(msgspec.Struct, frozen=True, kw_only=True):
    digest: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    size: Annotated[int, msgspec.Meta(ge=0)]
    suffix: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.+-]{0,64}\Z")]


class _Failure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a failure that the compiler diagnosed: one of a crash has more fields, and must not be reused."""

    summary: str
    text: str = ""
    hint: str = ""


class _Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What `outcome_body` returns. Any user of a shared store may have written it: nothing in it leads out of the
    folder."""

    diagnostics: str
    seconds: float
    artifact: _Artifact | None = None
    failure: _Failure | None = None


msgspec.json.Decoder(_Outcome)
"""msgspec looks into a class when it is first needed, and ends the process if two threads do so at once: it is done
here, before there are threads."""

_STALE_SECONDS = 3600
"""How long nothing must have been written to a half-written file for its writer to be dead: a write takes seconds."""


class DamagedError(Exception):
    """A file of the store has other content than what was written."""


class StoredFile(Struct, frozen=True, kw_only=True):
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
    return unseal(read_bytes(path), str(path))


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """Return what `seal` was given. Raises `DamagedError`, which calls the data `name`."""
    digest, _, text = data.partition(b"\n")
    if digest_of(text).encode() != digest:
        msg = f"{name} is damaged: its content does not have the SHA-256 that its first line says"
        raise DamagedError(msg)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{name} is damaged: {error}"
        raise DamagedError(msg) from error
    if not isinstance(body, dict):
        msg = f"{name} is damaged: an object was expected"
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

    Raises `ValueError` or `msgspec.ValidationError` for a body of another form.
    """
    found = msgspec.convert(body, _Outcome)
    if (found.artifact is None) == (found.failure is None):
        msg = "expected either an artifact or a failure"
        raise ValueError(msg)
    artifact = failure = None
    if (stored := found.artifact) is not None:
        path = artifact_path(stored.digest, stored.suffix)
        artifact = Artifact(digest=stored.digest, size=stored.size, path=str(path))
    elif found.failure is not None:
        failure = Failure(stage=Stage.COMPILE, **msgspec.structs.asdict(found.failure))
    return CompileOutcome(
        key=key, seconds=found.seconds, reused=True, artifact=artifact, failure=failure, diagnostics=found.diagnostics
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
