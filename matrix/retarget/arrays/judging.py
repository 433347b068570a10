"""Judges the results of a call: a module's own checks, and results by what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from retarget.arrays.comparison import compare_check, compare_within
from retarget.arrays.dtypes import resigned
from retarget.model.calls import Check, Tolerance
from retarget.model.outcomes import Mismatch

if TYPE_CHECKING:
    from retarget.model.calls import Array


def failing_checks(checks: Sequence[Check]) -> list[Mismatch]:
    """Return how checks failed, in order."""
    found = []
    for number, check in enumerate(checks, 1):
        mismatch = compare_check(check)
        if mismatch is not None:
            which = f"check {number} of {len(checks)}: " if len(checks) > 1 else ""
            found.append(_labelled(mismatch, which))
    return found


def failing_results(
    results: Sequence[Array], expected: Sequence[Array | None], tolerances: Mapping[str, Tolerance], reference: str = ""
) -> list[Mismatch]:
    """Return how results differ from what is expected; None expects anything.

    `tolerances` are by the NumPy name of the expected result's element type, `""` for all others; equal values are
    required where there is none. `reference` is the compiler config of the expected values, empty for the case's own
    values.
    """
    against = f" against what {reference} gave" if reference else ""
    if len(results) != len(expected):
        summary = f"{len(results)} results, expected {len(expected)}{against}"
        return [Mismatch(summary=summary, report=summary)]
    found = []
    for number, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
        if wanted is None:
            continue
        named = tolerances.get(np.asarray(wanted).dtype.name)
        tolerance = named if named is not None else tolerances.get("", Tolerance())
        mismatch = _compared(resigned(np.asarray(actual), np.asarray(wanted).dtype), wanted, tolerance)
        if mismatch is not None:
            found.append(_labelled(mismatch, f"result {number}{against}: "))
    return found


def _compared(actual: Array, expected: Array, tolerance: Tolerance) -> Mismatch | None:
    if tolerance.same_bits:
        return compare_check(Check(kind="eq", actual=actual, expected=expected))
    return compare_within(tolerance, actual, expected)


def _labelled(mismatch: Mismatch, which: str) -> Mismatch:
    return replace(mismatch, summary=which + mismatch.summary, report=which + mismatch.report) if which else mismatch
