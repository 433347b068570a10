"""Smaller variants of a module, as its compiler makes them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.extension import ShrinksModules
from retarget.extension.registry import extensions_environment
from retarget.support.errors import RetargetError
from retarget.support.text import first_line

__all__ = ["Variant", "Variants", "smaller_variants"]

_SECONDS = 120
"""How long a compiler may take to write variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A module's file, and what was done to make it smaller."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """Some variants of a module, and what the module has: `3 functions, 40 ops`."""

    has: str
    found: Sequence[Variant]


def smaller_variants(
    compiler: ShrinksModules,
    source: Path,
    folder: Path,
    *,
    refused: Iterable[str] = (),
    keep_types: bool,
    env: Mapping[str, str],
) -> Variants:
    """Have a compiler write variants of a module to a folder, but those whose names are `refused`.

    Raises `RetargetError` where it fails, as for a module that does not parse.
    """
    command = [*compiler.shrink_command(source, folder, keep_types)]
    try:
        done = subprocess.run(
            command,
            input="\n".join(refused),
            env={**os.environ, **extensions_environment(), **env},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"{command[0]} writes no smaller variants: {error}"
        raise RetargetError(msg) from error
    has, *lines = done.stdout.splitlines() or [""]
    if done.returncode or not has:
        msg = f"no smaller variants can be made: {first_line(done.stderr, f'exit status {done.returncode}')}"
        raise RetargetError(msg)
    written = [line.partition("\t") for line in lines]
    return Variants(has=has, found=[Variant(name=name, path=Path(path)) for path, _, name in written if name])
