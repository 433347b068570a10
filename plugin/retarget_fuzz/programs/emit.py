"""Which dialect is written by what."""

from __future__ import annotations

from collections.abc import Collection

from retarget_fuzz.programs.ir import Region
from retarget_fuzz.programs.linalg import LinalgWriter

__all__ = ["module_text"]

_WRITERS = {"linalg": LinalgWriter}


def module_text(dialect: str, function: Region, dynamic: Collection[int]) -> str:
    """The module with that function."""
    return _WRITERS[dialect](dynamic).function(function)
