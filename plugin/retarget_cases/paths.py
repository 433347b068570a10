"""Whether a path of a cases file leads to a file of the suite. Needs no NumPy unless it does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retarget.errors import RetargetError

__all__ = ["path_problem"]


def path_problem(written: str, base: Path, folder: Path, suffixes: Sequence[str]) -> str:
    """Return what is wrong with a path that starts at `base`; empty where it is an existing file inside `folder`."""
    if not written.endswith(tuple(suffixes)):
        return f"found the path {written!r}, expected one that ends with {' or '.join(suffixes)}"
    try:
        path = (base / written).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return ""
    except (OSError, ValueError, RuntimeError):
        pass  # said below
    from retarget.datafiles import DataFiles  # it imports NumPy, for which only a fault pays

    try:
        DataFiles(folder=folder, base=base).large_path(written)
    except RetargetError as error:
        return str(error)
    return ""
