"""CI fails where a figure that users notice is worse than it was, and not by noise."""

from __future__ import annotations

import pytest
from benchmark_scripts import benchmark_script

figures = benchmark_script("figures")


@pytest.mark.parametrize(("found", "is_worse"), [(0.8, False), (1.15, False), (1.3, True)])
def test_a_loss_of_a_third_is_noticed_and_noise_is_not(found: float, is_worse: bool) -> None:
    lines = figures.problems({"cold": 1.1 * found, "warm": 2.0}, {"cold": 1.1, "warm": 2.0})
    assert [line.partition(":")[0] for line in lines] == (["cold"] if is_worse else [])


def test_a_worse_figure_is_shown_with_what_was_reached_and_what_to_do() -> None:
    (line,) = figures.problems({"one": 2.0}, {"one": 1.5})
    assert line == (
        "one: found 2.00, expected at most 1.88: 1.50 was reached, see figures.toml; "
        "find what has become slower, or --write the new figure and say why"
    )


def test_a_figure_that_has_never_been_reached_is_a_problem() -> None:
    assert figures.problems({"cold": 1.0}, {}) == [
        "cold: found 1.00, expected a figure [cold] in figures.toml; --write adds it"
    ]


def test_a_figure_is_measured_on_while_noise_may_have_raised_it() -> None:
    noise = [1.9, 1.5, 1.4, 1.2, 1.0, 1.6]
    assert figures.least(iter([(one, 1.0) for one in noise]), 1.0) == 1.2
    assert figures.least(iter([(1.0, 1.0)] * figures.ROUNDS), 1.0) == 1.0


def test_a_loss_is_a_loss_after_the_last_round() -> None:
    rounds = iter([(1.3, 1.0)] * 100)
    assert figures.least(rounds, 1.0) == 1.3
    assert len([*rounds]) == 100 - figures.MOST_ROUNDS
