"""Finds data files inside a suite's folder, up to a limit of their size."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.files import OutsideError, resolve_inside

DEFAULT_LIMIT = 1 << 30
"""Bytes that a data file may have, and an array of one once unpacked."""
LIMIT_VARIABLE = "RETARGET_MAX_DATA_BYTES"
"""The environment variable that raises the limit."""


def data_limit() -> int:
    """Return the limit in bytes. Raises `RetargetError` for a variable that is no positive number."""
    written = os.environ.get(LIMIT_VARIABLE)
    if written is None:
        return DEFAULT_LIMIT
    try:
        limit = int(written)
    except ValueError:
        limit = 0
    if limit <= 0:
        msg = (
            f"the environment variable {LIMIT_VARIABLE} is {written!r}, expected a number of bytes, such as 4294967296"
        )
        raise RetargetError(msg)
    return limit


class DataFiles(Struct, frozen=True, kw_only=True):
    """Finds data files. Relative paths start at `base`; none may lie outside `folder`, the suite's."""

    folder: Path
    base: Path

    def path(self, written: str) -> Path:
        """Return the existing file that `written` names, links resolved.

        Raises `RetargetError` for a path outside the folder, a missing file, one that is not regular, and one larger
        than `data_limit`.
        """
        return self._path(written, limit=data_limit())

    def large_path(self, written: str) -> Path:
        """Do what `path` does for a file that is never read as a whole, of any size."""
        return self._path(written, limit=None)

    def _path(self, written: str, *, limit: int | None) -> Path:
        try:
            path = resolve_inside(self.base / written, self.folder)
            exists, regular = path.exists(), path.is_file()
            size = path.stat().st_size if regular else 0
        except OutsideError as error:
            msg = (
                f"data file {written} leads to {error.path}, outside the suite's folder {self.folder}; "
                "expected a file inside it: copy it there"
            )
            raise RetargetError(msg) from error
        except OSError as error:  # a cycle of links, a name too long, a NUL
            msg = f"{written!r} is not a path that can be read: {error.strerror or error}"
            raise RetargetError(msg) from error
        if not regular:
            what = "is no regular file" if exists else "does not exist"
            near = "" if exists else did_you_mean(path.name, _neighbours(path.parent))
            msg = f"data file {display_path(path)} {what}{near}"
            raise RetargetError(msg)
        if limit is not None and size > limit:
            raise too_large(path, size, limit)
        return path


def _neighbours(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def too_large(path: Path, size: int, limit: int, what: str = "has") -> RetargetError:
    msg = (
        f"data file {display_path(path)} {what} {size} bytes, over the limit of {limit}; "
        f"to read it, set the environment variable {LIMIT_VARIABLE} to {size} or more"
    )
    return RetargetError(msg)
