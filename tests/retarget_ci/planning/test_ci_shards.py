"""Shards: disjoint, complete, within budget where that is possible, and stable."""

from __future__ import annotations

import math
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from retarget_ci.planning.plan import Unit, shards

_SECONDS = st.floats(min_value=0.001, max_value=100)
_DURATIONS = st.dictionaries(st.text(min_size=1, max_size=8), _SECONDS, min_size=1, max_size=60)


def _units(durations: dict[str, float]) -> list[Unit]:
    return [Unit(name=name, ids=(name,), seconds=seconds) for name, seconds in durations.items()]


@given(durations=_DURATIONS, budget=st.floats(min_value=0.1, max_value=500), capacity=st.integers(1, 12))
@pytest.mark.slow
def test_every_unit_is_in_exactly_one_leg_and_no_leg_is_empty(
    durations: dict[str, float], budget: float, capacity: int
) -> None:
    found = shards(_units(durations), budget=budget, capacity=capacity)
    assert sorted(unit.name for unit in chain.from_iterable(found)) == sorted(durations)
    assert all(found)
    assert len(found) <= capacity


@given(durations=_DURATIONS, budget=st.floats(min_value=0.1, max_value=500))
def test_with_enough_machines_a_leg_over_budget_is_one_unit(durations: dict[str, float], budget: float) -> None:
    found = shards(_units(durations), budget=budget, capacity=100_000)
    assert all(len(leg) == 1 or sum(unit.seconds for unit in leg) <= budget + 1e-6 for leg in found)


@given(durations=_DURATIONS, count=st.integers(1, 6))
def test_legs_differ_from_an_equal_share_by_no_more_than_their_longest_units(
    durations: dict[str, float], count: int
) -> None:
    found = shards(_units(durations), budget=0.0001, capacity=count)
    share, longest = sum(durations.values()) / min(count, len(durations)), max(durations.values())
    assert all(sum(unit.seconds for unit in leg) <= share + longest + 1e-6 for leg in found)


@given(durations=_DURATIONS, budget=st.floats(min_value=0.1, max_value=500), seed=st.randoms(use_true_random=False))
def test_the_order_of_units_decides_nothing(durations: dict[str, float], budget: float, seed: object) -> None:
    units = _units(durations)
    mixed = sorted(units, key=lambda _: seed.random())  # type: ignore[attr-defined]
    assert shards(units, budget=budget, capacity=5) == shards(mixed, budget=budget, capacity=5)


@given(
    names=st.sets(st.text(min_size=1, max_size=8), min_size=20, max_size=80),
    new=st.text(min_size=9),
    n=st.integers(2, 6),
)
def test_a_new_module_moves_at_most_one_other_from_each_leg_to_the_next(names: set[str], new: str, n: int) -> None:
    before = shards(_units(dict.fromkeys(names, 1.0)), budget=0.1, capacity=n)
    after = shards(_units(dict.fromkeys({*names, new}, 1.0)), budget=0.1, capacity=n)
    of = {unit.name: at for at, leg in enumerate(after) for unit in leg}
    moved = [unit.name for at, leg in enumerate(before) for unit in leg if of[unit.name] != at]
    assert len(moved) <= n - 1


@pytest.mark.parametrize(
    ("seconds", "budget", "capacity", "legs"),
    [
        ([10, 10, 30, 20], 50, 9, ["dc", "ba"]),  # equal ones that take just the budget
        ([40, 40, 10], 40, 3, ["c", "b", "a"]),  # as many as there may be
        ([1e17, 0.001], 40, 2, ["b", "a"]),  # the end of the last share
    ],
)
def test_legs_are_equal_where_that_fits(seconds: list[float], budget: float, capacity: int, legs: list[str]) -> None:
    units = _units(dict(zip("dcba"[-len(seconds) :], seconds, strict=True)))  # in the order of their digests
    assert ["".join(unit.name for unit in leg) for leg in shards(units, budget=budget, capacity=capacity)] == legs


def test_there_are_as_few_legs_as_the_budget_allows() -> None:
    units = _units({f"m{number}": 1.0 for number in range(100)})
    assert [sum(unit.seconds for unit in leg) for leg in shards(units, budget=25, capacity=9)] == [25.0] * 4
    assert len(shards(units, budget=1000, capacity=9)) == 1
    assert len(shards(units, budget=1, capacity=9)) == 9
    assert math.isclose(max(sum(unit.seconds for unit in leg) for leg in shards(units, budget=1, capacity=9)), 12.0)
