"""How sure a median of times is."""

from __future__ import annotations

import pytest
from retarget.worker.child.timing import median_spread


@pytest.mark.parametrize(
    ("times", "spread"),
    [
        ([], 1.0),
        ([2.0], 1.0),
        ([2.0, 2.0, 2.0], 0.0),
        ([0.0, 0.0], 0.0),
        ([3.0, 1.0, 2.0], 0.5),
        ([float(number) for number in range(1, 101)], 20 / 101),
    ],
)
def test_it_is_half_the_interval_of_the_median_as_a_share_of_it(times: list[float], spread: float) -> None:
    assert median_spread(times) == pytest.approx(spread)
