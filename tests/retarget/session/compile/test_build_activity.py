"""How far compiles are, and what is said of the time that the rest takes."""

from __future__ import annotations

import pytest
from retarget.session.compile.service import BuildActivity


def running(*seconds: float) -> tuple[tuple[str, float], ...]:
    return tuple((f"job {number}", so_far) for number, so_far in enumerate(seconds))


@pytest.mark.parametrize(
    ("done", "total", "spent", "jobs", "left"),
    [
        (2, 100, 60.0, (1.0,), None),  # too few are done
        (50, 100, 4.0, (1.0,), None),  # nearly all came from the cache
        (10, 20, 20.0, (), None),  # another process compiles
        (10, 11, 20.0, (7.0,), None),  # what is left takes longer than others took: nobody knows
        (10, 11, 20.0, (0.5,), 1.5),
        (10, 20, 20.0, (2.0,), 18.0),
        (10, 20, 20.0, (2.0, 0.0), 9.0),
        (10, 12, 20.0, (9.0, 0.0), 2.0),  # not one second: the last takes two
    ],
)
def test_the_rest_is_estimated_from_what_is_done_and_only_then(
    done: int, total: int, spent: float, jobs: tuple[float, ...], left: float | None
) -> None:
    activity = BuildActivity(done=done, total=total, spent=spent, running=running(*jobs))
    assert activity.seconds_left == left
