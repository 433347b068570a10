"""The rank test, and what a comparison finds beside noise."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from retarget.results.comparison import Comparison, Finding, compare_series, compare_values, noise_of, p_larger

SEED = random.Random(1)  # noqa: S311  (noise, no secret)
QUIET = [1.0 + 0.01 * SEED.random() for _ in range(60)]


def scaled(factor: float) -> list[float]:
    return [factor * (1.0 + 0.01 * SEED.random()) for _ in range(60)]


def test_the_rank_test_gives_the_normal_form_of_mann_and_whitney() -> None:
    """Without ties U = 15, its mean 8 and its variance 12. With ties U = 13 and the variance is 16/12 (9 - 48/56)."""
    assert p_larger([1.0, 2.0, 3.0, 4.0], [3.5, 5.0, 6.0, 7.0]) == pytest.approx(_tail(6.5 / math.sqrt(12)))
    tied = _tail(4.5 / math.sqrt(16 / 12 * (9 - 48 / 56)))
    assert p_larger([1.0, 2.0, 2.0, 3.0], [2.0, 3.0, 3.0, 4.0]) == pytest.approx(tied)


def _tail(z: float) -> float:
    return 1 - statistics.NormalDist().cdf(z)


def test_where_the_medians_are_equal_the_test_is_that_of_a_larger_series() -> None:
    assert compare_series([[1.0] * 9], [1.0] * 5 + [3.0] * 4, within=5.0).p < 0.1


def test_equal_values_and_nothing_say_nothing() -> None:
    assert p_larger([1.0] * 10, [1.0] * 10) == 1.0
    assert p_larger([], [1.0]) == 1.0
    assert p_larger([2.0] * 10, [1.0] * 10) > 0.99
    assert p_larger([1.0], [2.0]) == 0.5


def test_noise_is_half_the_range_of_the_quartiles() -> None:
    assert noise_of([90.0, 95.0, 100.0, 105.0, 110.0]) == pytest.approx(0.05)
    assert noise_of([1.0, 3.0]) == 0.25
    assert noise_of([1.0]) == 0.0


@pytest.mark.parametrize(
    ("factor", "within", "finding"),
    [
        (1.0, 0.05, Finding.SAME),
        (1.03, 0.05, Finding.SAME),  # the ranks differ; the bound is larger
        (1.1, 0.05, Finding.LARGER),
        (0.9, 0.05, Finding.SMALLER),
        (1.1, 0.2, Finding.SAME),
    ],
)
def test_a_change_counts_that_is_larger_than_noise_and_bound(factor: float, within: float, finding: Finding) -> None:
    assert compare_series([QUIET], scaled(factor), within=within).finding is finding


def test_a_series_that_differs_by_just_the_bound_is_the_same() -> None:
    assert compare_series([[1.0] * 8], [1.25] * 8, within=0.25).finding is Finding.SAME
    assert compare_series([[1.0] * 8], [1.25] * 8, within=0.24).finding is Finding.LARGER
    assert compare_series([[1.0] * 8], [0.75] * 8, within=0.25).finding is Finding.SAME
    assert compare_series([[1.0] * 8], [0.75] * 8, within=0.24).finding is Finding.SMALLER


def test_noise_above_the_bound_is_not_judged() -> None:
    assert compare_series([[0.0] * 9], [0.0] * 9, within=0.05).finding is Finding.SAME
    noisy = [1.0 + SEED.random() for _ in range(60)]
    assert compare_series([QUIET], noisy, within=0.05).finding is Finding.NOISY
    assert compare_series([noisy], scaled(3.0), within=0.05).finding is Finding.NOISY
    assert compare_series([QUIET, scaled(1.2)], scaled(1.3), within=0.05).finding is Finding.NOISY


def test_a_noisy_session_is_no_measure_beside_quiet_ones() -> None:
    noisy = [1.5 + SEED.random() for _ in range(60)]
    assert compare_series([QUIET, noisy], scaled(1.5), within=0.05).finding is Finding.LARGER
    assert compare_series([QUIET, noisy], QUIET, within=0.05).finding is Finding.SAME


def test_what_became_faster_is_held_to_that() -> None:
    before = [QUIET, QUIET, scaled(0.5)]
    assert compare_series(before, scaled(0.5), within=0.05).finding is Finding.SAME
    assert compare_series(before, QUIET, within=0.05).finding is Finding.LARGER


def test_calls_that_all_take_twice_as_long_as_ever_are_slower_whatever_the_noise() -> None:
    noisy = [1.0 + SEED.random() for _ in range(60)]
    longest = max(noisy)
    assert compare_series([noisy], scaled(3.0 * longest), within=0.05).finding is Finding.LARGER
    assert compare_series([QUIET], [100.0, 900.0] * 4, within=0.05).finding is Finding.LARGER
    assert compare_series([QUIET], [100.0], within=0.05).finding is Finding.LARGER
    assert compare_series([[1.0, 1.1]], [2.4], within=0.05).finding is Finding.LARGER
    assert compare_series([[1.0, 1.1]], [2.3], within=0.05).finding is Finding.FEW
    assert compare_series([[0.5, 1.0]], [2.5], within=0.25).finding is Finding.FEW
    assert compare_series([[]], [2.3], within=0.05).finding is Finding.FEW
    assert compare_series([QUIET], [], within=0.05).finding is Finding.FEW


def test_noise_that_is_no_larger_than_the_bound_is_judged() -> None:
    series = [[0.75] * 8, [1.25] * 8]
    assert compare_series(series, [3.0] * 8, within=0.25).finding is Finding.LARGER
    assert compare_series(series, [3.0] * 8, within=0.24).finding is Finding.NOISY
    assert compare_values([0.75, 1.0, 1.25], 4.0, within=0.25, exact=False).finding is Finding.LARGER
    assert compare_values([0.75, 1.0, 1.25], 4.0, within=0.24, exact=False).finding is Finding.NOISY


@pytest.mark.parametrize(("as_before", "finding"), [(4, Finding.LARGER), (5, Finding.SAME)])
def test_the_lowest_tenth_must_be_larger_as_well(as_before: int, finding: Finding) -> None:
    after = [1.0] * as_before + [1.5] * (41 - as_before)
    assert compare_series([[1.0] * 41], after, within=0.4).finding is finding


def test_few_samples_are_not_judged() -> None:
    assert compare_series([QUIET[:7]], QUIET, within=0.05).finding is Finding.FEW
    assert compare_series([QUIET], QUIET[:7], within=0.05).finding is Finding.FEW
    none = Comparison(finding=Finding.FEW, before=0.0, after=statistics.median(QUIET), p=1.0, noise=0.0)
    assert compare_series([], QUIET, within=0.05) == none


def test_few_samples_of_several_sessions_are_compared_as_single_values() -> None:
    before = [[1.0], [1.02, 1.03], [1.01]]
    assert compare_series(before, [1.4], within=0.05).finding is Finding.LARGER
    assert compare_series(before, [1.04], within=0.05).finding is Finding.SAME
    assert compare_series([*before, [1.3]], [1.5], within=0.05).finding is Finding.NOISY


def test_few_of_equal_builds_seem_different() -> None:
    """The level of the rank test holds where samples are independent: of 2,000 comparisons of noise of 3 % two are
    expected to pass it one way, and none to pass the bound as well."""
    alarms = 0
    for _ in range(500):
        before, after = ([SEED.gauss(1.0, 0.03) for _ in range(40)] for _ in range(2))
        alarms += compare_series([before], after, within=0.05).finding in {Finding.LARGER, Finding.SMALLER}
    assert alarms == 0


@pytest.mark.parametrize(
    ("before", "after", "finding"),
    [
        ([1.0, 1.02, 1.01], 1.5, Finding.LARGER),
        ([1.0, 1.02, 1.01], 1.05, Finding.SAME),
        ([1.0, 1.02, 1.01], 0.5, Finding.SMALLER),
        ([1.0, 2.0, 1.5], 9.0, Finding.NOISY),
        ([1.0, 1.0], 9.0, Finding.FEW),
        ([1.0, 1.0, 1.0], 1.25, Finding.SAME),
        ([1.0, 1.0, 1.0], 0.75, Finding.SAME),
        ([0.0, 0.0, 0.0], 1.0, Finding.LARGER),
        ([4.0, 4.0, 1.0, 1.0, 1.0], 4.0, Finding.LARGER),
        ([4.0, 4.0, 4.0, 1.0, 1.0], 4.0, Finding.NOISY),
        ([1.0, 4.0, 1.0, 1.0, 1.0], 4.0, Finding.NOISY),
        ([4.0, 3.0, 3.0, 3.0], 4.0, Finding.SAME),
    ],
)
def test_single_values_must_be_beyond_all_before(before: list[float], after: float, finding: Finding) -> None:
    assert compare_values(before, after, within=0.25, exact=False).finding is finding


def test_an_exact_value_is_compared_with_the_last_one() -> None:
    assert compare_values([9.0, 1.0, 2.0], 2.0, within=0.25, exact=True).finding is Finding.SAME


@pytest.mark.parametrize(("exact", "p"), [(True, 0.0), (False, 1.0)])
def test_single_values_are_certain_or_say_nothing(exact: bool, p: float) -> None:
    assert compare_values([1.0, 1.0, 1.0], 2.0, within=0.25, exact=exact).p == p


@pytest.mark.parametrize(
    ("after", "finding"), [(2.875, Finding.SMALLER), (3.0, Finding.SAME), (5.0, Finding.SAME), (5.125, Finding.LARGER)]
)
def test_a_change_of_just_the_bound_is_none(after: float, finding: Finding) -> None:
    assert compare_values([4.0], after, within=0.25, exact=True).finding is finding


@pytest.mark.parametrize(
    ("before", "after", "change"), [(2.0, 3.0, 0.5), (2.0, 0.0, -1.0), (0.0, 3.0, math.inf), (0.0, 0.0, 0.0)]
)
def test_a_change_is_a_share_of_what_was_before(before: float, after: float, change: float) -> None:
    assert Comparison(finding=Finding.SAME, before=before, after=after).change == change
