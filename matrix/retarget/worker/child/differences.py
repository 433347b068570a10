"""Compares what two runs of a module gave. Needs NumPy: used in worker processes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retarget.arrays.comparison import compare_within, largest_ulp
from retarget.arrays.dtypes import resigned
from retarget.model.outcomes import Mismatch, OutputComparison, OutputDifference
from retarget.worker.child.outputs import CaseOutputs, read_outputs

if TYPE_CHECKING:
    from retarget.extension import Array, Tolerance

__all__ = ["compare_outputs"]


def compare_outputs(folders: tuple[Path, Path], sides: tuple[str, str], tolerance: Tolerance) -> OutputComparison:
    """Compare the outputs recorded in two folders, whose runs are called `sides`.

    The results of a case are compared and, of modules that check themselves, the values that the checks looked at.
    Raises `RetargetError` for a folder without outputs.
    """
    left, right = ({case.name: case for case in read_outputs(folder)} for folder in folders)
    both = [name for name in left if name in right]
    arrays = values = differing = 0
    first: OutputDifference | None = None
    worst: OutputDifference | None = None
    for name in both:
        for place, ours, theirs in _pairs(left[name], right[name]):
            arrays += 1
            values += ours.size
            mismatch = compare_within(tolerance, resigned(ours, theirs.dtype), theirs, sides)
            if mismatch is None:
                continue
            differing += 1
            found = OutputDifference(case=name, place=place, mismatch=mismatch, max_ulp=largest_ulp(ours, theirs))
            first = first or found
            if worst is None or _badness(found.mismatch) > _badness(worst.mismatch):
                worst = found
        if (miscount := _miscount(left[name], right[name], sides)) is not None:
            differing += 1
            first, worst = first or miscount, miscount
    unmatched = [(name, sides[1]) for name in left if name not in right]
    unmatched += [(name, sides[0]) for name in right if name not in left]
    return OutputComparison(
        cases=len(both),
        arrays=arrays,
        values=values,
        differing=differing,
        first=first,
        worst=worst,
        unmatched=tuple(unmatched),
        judged=sum(left[name].judged or right[name].judged for name in both),
    )


def _pairs(left: CaseOutputs, right: CaseOutputs) -> Iterator[tuple[str, Array, Array]]:
    """Yield what both cases have. A case whose results differ in number is reported too."""
    for number, (ours, theirs) in enumerate(zip(left.results, right.results, strict=False)):
        yield f"result {number}", np.asarray(ours), np.asarray(theirs)
    for number, (ours, theirs) in enumerate(zip(left.checked, right.checked, strict=False), 1):
        yield f"check {number}", np.asarray(ours), np.asarray(theirs)


def _miscount(left: CaseOutputs, right: CaseOutputs, sides: tuple[str, str]) -> OutputDifference | None:
    for what, ours, theirs in (
        ("results", len(left.results), len(right.results)),
        ("checks", len(left.checked), len(right.checked)),
    ):
        if ours != theirs:
            summary = f"{sides[0]} has {ours}, {sides[1]} has {theirs}"
            return OutputDifference(case=left.name, place=what, mismatch=Mismatch(summary=summary, report=summary))
    return None


def _badness(mismatch: Mismatch) -> tuple[float, float]:
    """Order mismatches: other shapes or types first, then by relative and by absolute error."""
    if mismatch.max_abs_error is None and mismatch.max_rel_error is None:
        return math.inf, math.inf
    return mismatch.max_rel_error or 0.0, mismatch.max_abs_error or 0.0
