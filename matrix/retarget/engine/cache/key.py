"""The compile key: what must be equal for two compiles to give the same artifact."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from retarget.engine.cache.inputs import Inputs
from retarget.extension import Resolved

__all__ = ["compile_key", "digest_of"]

_FORMAT = 2
"""Raised whenever what the key covers, or what the store keeps under it, changes."""


def compile_key(
    *,
    compiler: str,
    source: bytes,
    source_name: str,
    resolved: Resolved,
    inputs: Inputs = (),
    env: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the SHA-256 hex over source bytes and name, resolved flags, `inputs` (the content of the files and folders
    that flags and environment name), the compiler's name, build id and facts, and the config's environment.

    The source's name is part of it since artifacts and diagnostics carry it.
    """
    parts = [
        _FORMAT,
        compiler,
        resolved.build_id,
        list(resolved.flags),
        [list(fact) for fact in resolved.facts],
        [fact for suffix, fact in resolved.suffix_facts if source_name.endswith(suffix)],
        [list(variable) for variable in sorted(env)],
        [list(entry) for entry in inputs],
        source_name,
        digest_of(source),
    ]
    return digest_of(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode())


def digest_of(data: bytes) -> str:
    """Return the SHA-256 hex of `data`."""
    return hashlib.sha256(data).hexdigest()
