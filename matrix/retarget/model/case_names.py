"""Names of cases, and which of them a name or a glob selects."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import Protocol, TypeVar

__all__ = ["is_one_of", "matches_case", "selected_cases"]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_CaseT = TypeVar("_CaseT", bound=_Named)


def matches_case(pattern: str, name: str) -> bool:
    """Return whether `pattern` is a case's name, or a glob that matches it. A name may hold `[`, and is no glob
    then."""
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def is_one_of(name: str, patterns: Sequence[str]) -> bool:
    """Return whether one of some names and globs selects a case; none at all selects every case."""
    return not patterns or any(matches_case(pattern, name) for pattern in patterns)


def selected_cases(
    cases: Sequence[_CaseT], only: Sequence[str], skipping: Sequence[tuple[str, bool]] = ()
) -> list[_CaseT]:
    """Return the cases to run, in order: those that `only` selects and `skipping` does not skip.

    `skipping` are pairs of a name or glob and whether its cases are skipped; the first that matches a case decides.
    """

    def is_skipped(name: str) -> bool:
        return next((skips for pattern, skips in skipping if matches_case(pattern, name)), False)

    return [case for case in cases if is_one_of(case.name, only) and not is_skipped(case.name)]
