"""The bring-up view: how far the targets of each backend come, what blocks the most, and what moved.

Its data, `bringup`, is a list of what `retarget bringup NAME --json` prints, as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from retarget.support.errors import RetargetError, display_path

from retarget_report.read import Report

_VERSION = 1
"""Of the format that is drawn."""


def read_bringups(files: Iterable[Path]) -> tuple[dict[str, Any], ...]:
    """Read the status of bring-ups. Raises `RetargetError` for a file that is none, or of another version."""
    return tuple(map(_read, files))


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view."""
    yield "bringup", list(report.bringups)


def _read(file: Path) -> dict[str, Any]:
    expected = "expected what `retarget bringup NAME --json` prints"
    try:
        status = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except OSError as error:
        msg = f"cannot read {display_path(file)}: {error.strerror or error}; {expected}"
        raise RetargetError(msg) from error
    except msgspec.DecodeError as error:
        msg = f"{display_path(file)}: {error}; {expected}"
        raise RetargetError(msg) from error
    lacking = {"name", "rungs", "drivers", "blockers", "next"} - status.keys()
    if lacking or status.get("version") != _VERSION:
        found = f"version {status['version']!r}" if not lacking else f"no {', '.join(sorted(lacking))}"
        msg = f"{display_path(file)}: found {found}, {expected} in version {_VERSION}"
        raise RetargetError(msg)
    return status
