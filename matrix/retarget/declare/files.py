"""The files that hold declarations: what they are called, and finding them below folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from retarget.support.errors import RetargetError, display_path

MATRIX_FILE = "matrix.toml"
SUITE_FILE = "suite.toml"
EXPECTATIONS_FILE = "expectations.toml"
DECLARATION_FILES = frozenset({MATRIX_FILE, SUITE_FILE, EXPECTATIONS_FILE})
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


def discover(paths: Sequence[Path], *, name: str = SUITE_FILE) -> tuple[Path, ...]:
    """Return all `suite.toml` (or files called `name`) at and below `paths`, sorted and without repetition.

    A path that is a file itself counts, whatever its name, but only as a `suite.toml`. Hidden folders, `__pycache__`,
    `node_modules` and virtual environments are ignored. Raises `RetargetError` for a path that does not exist.
    """
    found: set[Path] = set()
    for path in paths:
        if not os.path.lexists(path):
            msg = f"{display_path(path)}: found no such file or folder, expected a folder with {SUITE_FILE} files"
            raise RetargetError(msg)
        absolute = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
        if absolute.is_dir() and absolute.name != name:
            found.update(_below(absolute, name))
        elif name in {SUITE_FILE, absolute.name}:
            found.add(absolute)
    return tuple(sorted(found))


def _below(folder: Path, name: str) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        # A folder of that name is found too, so that it is reported and not silently ignored.
        if name in files or name in folders:
            yield Path(at) / name
        folders[:] = [
            below
            for below in folders
            if not below.startswith(".") and below not in _SKIPPED_FOLDERS and below != name
            if not os.path.lexists(f"{at}/{below}/pyvenv.cfg")
        ]
