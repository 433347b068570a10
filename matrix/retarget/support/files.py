"""Reading what must be a regular file: a named pipe without a writer would be waited for without end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

__all__ = ["irregular", "read_regular"]

_SORTS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def irregular(path: Path) -> str:
    """Return what a path is that is no regular file and no link to one: `a named pipe`; empty if it is one.

    Nothing is opened. Raises `OSError` for a path where nothing is.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  called for each folder that pytest collects
    except OSError as error:
        if not os.path.islink(path):  # noqa: PTH114  as above
            raise
        what = "a link to itself" if error.errno == errno.ELOOP else f"a link to {str(path.readlink())!r}"
        return what if error.errno == errno.ELOOP else f"{what}, which cannot be followed: {error.strerror or error}"
    if stat.S_ISREG(mode):
        return ""
    return next((what for is_sort, what in _SORTS if is_sort(mode)), "no regular file")


def read_regular(path: Path) -> bytes:
    """Return a regular file's bytes. Raises `OSError`, whose `strerror` says what else was found."""
    if what := irregular(path):
        raise OSError(errno.EINVAL, f"found {what}")
    return path.read_bytes()
