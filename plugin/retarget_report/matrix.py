"""The data of the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retarget_report.read import Report
from retarget_report.states import LOOKS

__all__ = ["data"]


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the files of the matrix."""
    yield (
        "matrix",
        {
            "states": [
                [state, look.code, look.glyph, look.label, look.sort, look.meaning] for state, look in LOOKS.items()
            ],
            "targets": len(report.targets),
        },
    )
