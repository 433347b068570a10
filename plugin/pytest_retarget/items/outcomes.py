"""How a trial ends, in pytest's terms: its exceptions for what is skipped and what failed as expected."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from retarget.engine.trial.ends import AsExpected, Skip

from pytest_retarget.internals import Skipped, XFailed

__all__ = ["FailedAsExpected", "TargetSkipped", "end_of", "pytest_outcomes"]


class TargetSkipped(Skipped):
    """A target is skipped: `end` has what kept it from running."""

    def __init__(self, end: Skip) -> None:
        super().__init__(end.reason)
        self.end = end


class FailedAsExpected(XFailed):
    """A target failed as expected: `end` has how."""

    def __init__(self, end: AsExpected) -> None:
        super().__init__(end.reason)
        self.end = end


@contextmanager
def pytest_outcomes() -> Generator[None]:
    """Raise what pytest knows for how a trial ended."""
    try:
        yield
    except AsExpected as end:
        raise FailedAsExpected(end) from None
    except Skip as end:
        raise TargetSkipped(end) from None


def end_of(error: BaseException | None) -> BaseException | None:
    """Return how a trial ended that raised an error to pytest: the error itself, where it is none of ours."""
    return error.end if isinstance(error, TargetSkipped | FailedAsExpected) else error
