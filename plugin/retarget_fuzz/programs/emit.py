"""Which dialect is written by what."""

from __future__ import annotations

from collections.abc import Collection

from retarget_fuzz.programs.ir import Region
from retarget_fuzz.programs.linalg import LinalgWriter
from retarget_fuzz.programs.stablehlo import StablehloWriter
from retarget_fuzz.programs.text import Writer
from retarget_fuzz.programs.tosa import TosaWriter

__all__ = ["module_text"]

_WRITERS: dict[str, type[Writer]] = {"linalg": LinalgWriter, "stablehlo": StablehloWriter, "tosa": TosaWriter}


def module_text(dialect: str, function: Region, dynamic: Collection[int]) -> str:
    """The module with that function."""
    return _WRITERS[dialect](dynamic).function(function)
