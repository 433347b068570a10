"""Whose results are those of most targets, and what is said where they are not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from retarget.arrays.agreement import most_agreed, outvoted
from retarget.model.calls import Tolerance

NAN, INF = float("nan"), float("inf")
ALL = {"float32": Tolerance(atol=0.1), "bfloat16": Tolerance(ulp=1)}


def judged(dtype: object = np.float32, **values: object) -> tuple[str, tuple[str, ...]]:
    """What is said of the first of some targets, and who is a majority against it; `a_b` is the target `a/b`."""
    sides = {name.replace("_", "/"): (np.asarray(value, dtype),) for name, value in values.items()}
    (own, results), *others = sides.items()
    found, agreeing = outvoted(own, results, dict(others), ALL)
    return found[0].summary if found else "", agreeing


@pytest.mark.parametrize(
    "values",
    [
        {"a_r": 1, "b_r": 1.05},
        {"a_r": 1, "b_r": 1, "c_r": 5},  # c is wrong, and its own target says so
        {"a_r": 1, "b_r": 1.09, "c_r": 0.91},  # b and c do not agree with each other
        {"a_r": NAN, "b_r": NAN, "c_r": 1},
        {"a_r": INF, "b_r": INF, "c_r": 1},
        {"a_r": 1, "a_s": 1, "a_t": 5},
        {"a_r": 1, "a_s": 5, "b_r": 1, "b_s": 1},
    ],
)
def test_a_target_of_a_majority_passes(values: dict[str, float]) -> None:
    assert judged(**values) == ("", ())


DIFFERS = "result 0: 1 of 1 element differs, "


@pytest.mark.parametrize(
    ("values", "said", "agreeing"),
    [
        ({"a_r": 5, "b_r": 1, "c_r": 1}, "b and c agree, a differs: {}a 5.0, b 1.0", "b/r c/r"),
        ({"a_r": NAN, "b_r": 1, "c_r": 1, "d_r": 1}, "b, c and d agree, a differs: {}a nan, b 1.0", "b/r c/r d/r"),
        ({"a_r": 1, "b_r": NAN, "c_r": NAN}, "b and c agree, a differs: {}a 1.0, b nan", "b/r c/r"),
        (
            {"a_r": 5, "b_r": 1, "c_r": 1, "d_r": 1, "e_r": 5},
            "b, c and d agree, a and e differ: {}a 5.0, b 1.0",
            "b/r c/r d/r",
        ),
        # A runtime config that differs from others of its own artifact is named.
        ({"a_r": 5, "a_s": 1, "b_r": 1}, "a/s and b agree, a/r differs: {}a/r 5.0, a/s 1.0", "a/s b/r"),
        ({"a_r": 5, "a_s": 1, "a_t": 1}, "a/s and a/t agree, a/r differs: {}a/r 5.0, a/s 1.0", "a/s a/t"),
        ({"a_r": 5, "b_r": 1, "b_s": 1, "c_r": 1}, "b and c agree, a differs: {}a 5.0, b 1.0", "b/r b/s c/r"),
        ({"a_r": 5, "a_s": 5, "b_r": 1, "c_r": 1}, "b and c agree, a differs: {}a 5.0, b 1.0", "b/r c/r"),
        # Nobody is to blame.
        ({"a_r": 5, "b_r": 1}, "no majority: a differs from b: {}a 5.0, b 1.0", ""),
        ({"a_r": 5, "b_r": 1, "c_r": 3}, "no majority: a differs from b and c: {}a 5.0, b 1.0", ""),
        ({"a_r": 5, "b_r": 1, "b_s": 1, "b_t": 1}, "no majority: a differs from b: {}a 5.0, b 1.0", ""),
        (
            {"a_r": 5, "b_r": 1, "c_r": 5, "d_r": 1},
            "no majority: a differs from b and d, agrees with c: {}a 5.0, b 1.0",
            "",
        ),
    ],
)  # fmt: skip
def test_who_stands_alone_is_said_with_the_values(values: dict[str, float], said: str, agreeing: str) -> None:
    assert judged(**values) == (said.format(DIFFERS), tuple(agreeing.split()))


def test_tolerances_are_those_of_the_element_type() -> None:
    near = np.nextafter(ml_dtypes.bfloat16(1), ml_dtypes.bfloat16(2))
    assert judged(ml_dtypes.bfloat16, a_r=near, b_r=1, c_r=1) == ("", ())
    assert judged(ml_dtypes.bfloat16, a_r=1.05, b_r=1, c_r=1)[1] == ("b/r", "c/r")
    assert judged(np.int32, a_r=2, b_r=1, c_r=1)[1] == ("b/r", "c/r")


def test_agreeing_is_mutual_also_where_the_tolerance_is_relative_to_what_is_expected() -> None:
    sides = {"a/r": (np.float64(100.0),), "b/r": (np.float64(111.0),)}
    tolerances = {"": Tolerance(rtol=0.1)}  # 11 is less than a tenth of 111, and more than one of 100
    for own, other in (("a/r", "b/r"), ("b/r", "a/r")):
        assert outvoted(own, sides[own], {other: sides[other]}, tolerances) == ([], ())


def test_the_report_shows_the_values_of_all_targets_where_the_first_ones_differ() -> None:
    values = {"a/r": [1, 2, 3], "b/r": [1, 5, 3], "c/r": [1, 5, 4], "d/r": [[1, 5, 3]]}
    sides = {name: (np.int8([0]), np.int8(value)) for name, value in values.items()}
    own = sides.pop("a/r")
    (found,), agreeing = outvoted("a/r", own, sides, {})
    assert agreeing == ()
    assert found.report.splitlines() == [
        "no majority: a differs from b, c and d",
        "result 1: 1 of 3 elements differ (3xint8; atol 0, rtol 0)",
        "  index  a  b  c  abs error  rel error",
        "    [1]  2  5  5          3        0.6",
        "max abs error 3 at [1], max rel error 0.6 at [1]",
    ]


def test_shapes_element_types_and_numbers_of_results_count() -> None:
    assert judged(a_r=[1], b_r=[1, 1], c_r=[1, 1]) == (
        "b and c agree, a differs: result 0: shape differs: a 1xfloat32, b 2xfloat32, c 2xfloat32",
        ("b/r", "c/r"),
    )
    one, two = (np.float32(1),), (np.float32(1), np.float32(1))
    (found,), agreeing = outvoted("a/r", one, {"b/r": two, "c/r": two}, {})
    assert (found.summary, agreeing) == ("b and c agree, a differs: 1 results, expected 2", ("b/r", "c/r"))


def test_the_target_with_which_most_agree_comes_first() -> None:
    sides = {name: (np.float32(value),) for name, value in {"a/r": 5, "b/r": 1, "c/r": 1}.items()}
    assert most_agreed(sides, {}) == ("b/r", "c/r")
    assert most_agreed({"a": sides["a/r"]}, {}) == ("a",)
