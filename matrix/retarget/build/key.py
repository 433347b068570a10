"""The compile key: what must be equal for two compiles to give the same artifact."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from ..errors import RetargetError
from ..extension import Resolved

__all__ = ["compile_key", "digest_of"]

_FORMAT = 1
"""Raised whenever what the key covers, or what the store keeps under it, changes."""


def compile_key(
    *,
    compiler: str,
    source: bytes,
    source_name: str,
    resolved: Resolved,
    env: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the SHA-256 hex over source bytes and name, resolved flags, the content of files that flags name, the
    compiler's name, build id and facts, and the config's environment. Never timestamps or existence.

    The source's name is part of it since artifacts and diagnostics carry it. Raises `RetargetError` if a file that a
    flag names cannot be read.
    """
    parts = [
        _FORMAT,
        compiler,
        resolved.build_id,
        list(resolved.flags),
        [list(fact) for fact in resolved.facts],
        [list(variable) for variable in sorted(env)],
        [_file_digest(path) for path in resolved.files],
        source_name,
        digest_of(source),
    ]
    return digest_of(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode())


def digest_of(data: bytes) -> str:
    """Return the SHA-256 hex of `data`."""
    return hashlib.sha256(data).hexdigest()


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        msg = f"file {path}, which a compiler flag names, cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
