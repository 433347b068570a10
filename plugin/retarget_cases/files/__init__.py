"""Reads cases files, in pytest's process too: no NumPy, nothing of what the values become.

Here: the names of cases files, and the paths that they hold. Imported in every process: lean.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retarget.support import DataFiles, RetargetError

SUFFIX = ".cases.toml"
_SURELY_READ = 1 << 28
"""Bytes up to which a file is not checked against the limit of data files here, but when it is read."""


def cases_file_of(source: Path) -> Path:
    """Return the cases file of a module: `foo.cases.toml` for `foo.mlir`."""
    return source.with_name(source.stem + SUFFIX)


def data_sets(model: Path) -> list[Path]:
    """Return the files in the folders `test_data_set_N` beside an ONNX model, sorted."""
    return sorted(model.parent.glob("test_data_set_*/*.pb"))


def path_problem(written: str, files: DataFiles, suffixes: Sequence[str], *, is_mapped: bool = False) -> str:
    """Return what is wrong with the path of a data file; empty where it is an existing file inside the suite's folder.

    `is_mapped` is for what is never read as a whole and may have any size.
    """
    if not written.endswith(tuple(suffixes)):
        return f"found the path {written!r}, expected one that ends with {' or '.join(suffixes)}"
    try:
        path = files.path(written, is_large=True)
        if not is_mapped and path.stat().st_size > _SURELY_READ:
            files.path(written)
    except RetargetError as error:
        return str(error)
    return ""
