"""The search between a good and a bad version; no compiler here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

__all__ = ["Verdict", "boundary"]


class Verdict(StrEnum):
    """What is known of a version."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It cannot be told: it does not install, or the target fails in another way."""


def boundary(versions: Sequence[str], judge: Callable[[str], Verdict]) -> tuple[int, int]:
    """Return the indices of the last good version and of the next one that is known to be bad.

    `versions` begin with one that is good and end with one that is bad; neither is judged again. All between the two
    that are returned were judged, and of none of them can it be told. As `git bisect`, it goes to the nearest other
    version where it cannot tell.
    """
    good, bad = 0, len(versions) - 1
    skipped: set[int] = set()
    while left := [index for index in range(good + 1, bad) if index not in skipped]:
        at = min(left, key=lambda index: abs(2 * index - good - bad))
        match judge(versions[at]):
            case Verdict.GOOD:
                good = at
            case Verdict.BAD:
                bad = at
            case Verdict.SKIP:
                skipped.add(at)
    return good, bad
