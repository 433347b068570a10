"""Which results and checks of a call fail, by the tolerance of each element type; and how far values are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from retarget.arrays.comparison import failing_checks, failing_results, largest_ulp
from retarget.extension import Check, Tolerance

ONE, NEAR, TWO = (np.full(2, value, np.float32) for value in (1.0, 1.25, 2.0))
WIDE = np.full(2, 1.25, np.float64)
ZERO, NEGATIVE = np.array([0.0], np.float32), np.array([-0.0], np.float32)


@pytest.mark.parametrize(
    ("results", "expected", "tolerances", "failing"),
    [
        ([ONE], [ONE], {}, []),
        ([NEAR, TWO], [ONE, ONE], {}, ["result 0", "result 1"]),
        ([NEAR, TWO], [ONE, None], {}, ["result 0"]),
        ([NEAR], [ONE], {"": Tolerance(atol=0.25)}, []),
        ([NEAR], [ONE], {"": Tolerance(atol=0.25), "float32": Tolerance()}, ["result 0"]),
        ([NEAR], [ONE], {"": Tolerance(), "float32": Tolerance(rtol=0.25)}, []),
        ([NEAR], [ONE], {"float64": Tolerance(rtol=0.25)}, ["result 0"]),
        ([ZERO], [NEGATIVE], {}, []),
        ([ZERO], [NEGATIVE], {"": Tolerance(same_bits=True)}, ["result 0"]),
        ([np.array([255], np.uint8)], [np.array([-1], np.int8)], {}, []),
        ([WIDE], [NEAR], {"": Tolerance(atol=9.0)}, ["result 0"]),
    ],
)
def test_a_result_fails_that_differs_by_more_than_its_tolerance(
    results: Any, expected: Any, tolerances: Any, failing: list[str]
) -> None:
    found = failing_results(results, expected, tolerances)
    assert [one.summary.partition(":")[0] for one in found] == failing
    assert [one.report.partition(":")[0] for one in found] == failing


def test_a_check_that_fails_has_its_number_where_there_are_several() -> None:
    good, bad = Check(kind="eq", actual=ONE, expected=ONE), Check(kind="eq", actual=ONE, expected=TWO)
    assert failing_checks([good, good]) == []
    (alone,) = failing_checks([bad])
    assert alone.summary.startswith("2 of 2 elements differ")
    found = failing_checks([bad, good, bad])
    assert [one.summary.partition(": ")[0] for one in found] == ["check 1 of 3", "check 3 of 3"]


FLOATS = np.array([1.0, 2.0], np.float32)
NEXT = np.nextafter(FLOATS, np.float32(9))
NAN, INFINITE = np.array([np.nan, 1.0], np.float32), np.array([np.inf, 1.0], np.float32)


@pytest.mark.parametrize(
    ("actual", "expected", "ulp"),
    [
        (FLOATS, FLOATS, 0),
        (NEXT, FLOATS, 1),
        (np.nextafter(NEXT, np.float32(9)), FLOATS, 2),
        (np.array([np.nextafter(np.float32(0), np.float32(1))]), np.array([-0.0], np.float32), 1),
        (NAN, NAN, 0),
        (NAN, FLOATS, None),
        (INFINITE, INFINITE, 0),
        (INFINITE, FLOATS, None),
        (FLOATS, INFINITE, None),
        (FLOATS, FLOATS.astype(np.float64), None),
        (FLOATS, FLOATS[:1], None),
        (np.array([1]), np.array([2]), None),
        (np.array([], np.float32), np.array([], np.float32), 0),
    ],
)
def test_the_farthest_elements_are_so_many_representable_values_apart(actual: Any, expected: Any, ulp: object) -> None:
    assert largest_ulp(actual, expected) == ulp
