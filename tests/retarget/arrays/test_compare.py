"""Comparison: what holds, what does not, and what is reported of it."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retarget.arrays import comparison as compare
from retarget.arrays.comparison import compare_check
from retarget.extension import Check, Tolerance
from retarget.model.outcomes import Mismatch

NAN, INF = float("nan"), float("inf")
SMALL_FLOATS = (
    np.float16,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e3m4,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
    ml_dtypes.float4_e2m1fn,
)
FLOATS = (*SMALL_FLOATS, np.float32, np.float64)


def compare_arrays(actual: Any, expected: Any, **tolerance: Any) -> Mismatch | None:
    return compare.compare_arrays(actual, expected, Tolerance(**tolerance))


def array(values: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


def almost(actual: Any, expected: Any, *, atol: float = 0.0, rtol: float = 0.0, dtype: Any = np.float32) -> bool:
    return compare_arrays(array(actual, dtype), array(expected, dtype), atol=atol, rtol=rtol) is None


def equal(actual: Any, expected: Any, dtype: Any) -> bool:
    return compare_check(Check(kind="eq", actual=array(actual, dtype), expected=array(expected, dtype))) is None


def count_of(mismatch: Mismatch) -> int:
    """How many elements differ, as the summary has it."""
    return int(mismatch.summary.partition(" of ")[0].split()[-1])


def mismatch_of(mismatch: Mismatch | None) -> Mismatch:
    assert mismatch is not None
    return mismatch


# ---------------------------------------------------------------- almost_eq


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_tolerance_reaches_up_to_its_bound_and_no_further(dtype: Any) -> None:
    assert almost(1.5, 1.0, atol=0.5, dtype=dtype)
    assert not almost(1.5, 1.0, atol=0.499, dtype=dtype)
    assert almost(1.5, 1.0, rtol=0.5, dtype=dtype)
    assert not almost(1.5, 1.0, rtol=0.499, dtype=dtype)
    assert almost(1.5, 1.0, atol=0.25, rtol=0.25, dtype=dtype)


def test_binary32_is_compared_in_binary32_as_iree_check_module_does() -> None:
    """|1.1f - 1.0f| = 0.10000002384 exceeds 0.1 as binary64 yet, in binary32, atol = 0.1f = 0.1000000015 too."""
    assert not almost(1.1, 1.0, atol=0.1)
    assert almost(14.3, 11.0, rtol=0.3)  # 0.3f * 11.0f is larger in binary32, too
    assert almost(16777216.0, 16777217.0)  # the same binary32
    assert not almost(16777216.0, 16777217.0, dtype=np.float64)
    assert almost(1.0, 1.0 + 1e-12, atol=1.1e-12, dtype=np.float64)
    assert not almost(1.0, 1.0 + 1e-12, atol=0.9e-12, dtype=np.float64)


@pytest.mark.parametrize(
    ("actual", "expected", "held"),
    [
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (1.0, NAN, False),
        (INF, INF, True),
        (-INF, -INF, True),
        (INF, -INF, False),
        (INF, 1.0, False),
        (1.0, INF, False),
        (1.0, -INF, False),
        (NAN, INF, False),
        (INF, NAN, False),
        (0.0, -0.0, True),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float32, np.float64])
def test_nan_and_infinities(actual: float, expected: float, held: bool, dtype: Any) -> None:
    assert almost([1, actual], [1, expected], atol=1e3, rtol=0.5, dtype=dtype) is held


def test_nan_is_refused_where_it_should_be() -> None:
    assert compare_arrays(array([NAN]), array([NAN]), atol=1, rtol=1, equal_nan=False) is not None


@given(
    st.lists(st.floats(width=32), min_size=1, max_size=8),
    st.data(),
    st.floats(0, 2, width=32),
    st.floats(0, 2, width=32),
)
def test_the_rule_holds_element_by_element(values: list[float], data: st.DataObject, atol: float, rtol: float) -> None:
    others = data.draw(st.lists(st.floats(width=32), min_size=len(values), max_size=len(values)))
    ours, theirs = array(values), array(others)
    expected = 0
    with np.errstate(all="ignore"):
        for a, e in zip(ours, theirs, strict=True):
            bound = np.float32(atol) + np.float32(rtol) * abs(e)
            near = bool(a == e) or (bool(np.isfinite(e)) and bool(abs(a - e) <= bound))
            expected += not (near or (math.isnan(a) and math.isnan(e)))
    found = compare_arrays(ours, theirs, atol=atol, rtol=rtol)
    assert (0 if found is None else count_of(found)) == expected


# ---------------------------------------------------------------- integers and complex numbers


@pytest.mark.parametrize(
    ("dtype", "actual", "expected", "distance"),
    [
        (np.uint64, 0, 2**64 - 1, 2**64 - 1),
        (np.uint64, 2**64 - 1, 2**64 - 2, 1),
        (np.int64, -(2**63), 2**63 - 1, 2**64 - 1),
        (np.int64, 2**63 - 1, 2**63 - 2, 1),
        (np.int8, -128, 127, 255),
        (np.uint8, 0, 255, 255),
        (np.int32, -1, 1, 2),
    ],
)
def test_integers_differ_without_wraparound(dtype: Any, actual: int, expected: int, distance: int) -> None:
    mismatch = mismatch_of(compare_arrays(array(actual, dtype), array(expected, dtype), atol=0, rtol=0))
    assert f"max abs error {float(distance):.6g}" in mismatch.report
    assert mismatch.summary == f"1 of 1 element differs, actual {actual}, expected {expected}"
    assert almost(actual, expected, atol=float(distance), dtype=dtype)
    assert distance >= 2**53 or not almost(actual, expected, atol=distance - 0.5, dtype=dtype)


@pytest.mark.parametrize(
    ("actual", "atol", "rtol", "held"), [(8, 0.0, 1.0, True), (9, 0.0, 1.0, False), (2**64 - 1, 2.0**64, 0.5, True)]
)
def test_a_tolerance_of_integers_reaches_to_its_bound(actual: int, atol: float, rtol: float, held: bool) -> None:
    assert almost(actual, 4, atol=atol, rtol=rtol, dtype=np.uint64) is held


# ---------------------------------------------------------------- units in the last place


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_ulp_counts_representable_values_across_zero(dtype: Any) -> None:
    one = array(1.0, dtype)
    bits = np.dtype(f"i{one.dtype.itemsize}")
    next_one = (one.view(bits) + bits.type(3)).view(one.dtype)
    tiny = array(1, bits).view(one.dtype)

    def within(actual: Any, expected: Any, ulp: int) -> bool:
        return compare_arrays(actual, expected, atol=0, rtol=0, ulp=ulp) is None

    assert within(next_one, one, 3)
    assert not within(next_one, one, 2)
    assert within(tiny, -tiny, 2)
    assert not within(tiny, -tiny, 1)
    assert not within(array(INF, dtype), array(np.finfo(np.float16).max, dtype), 10**6) or dtype is not np.float16


def test_ulp_never_makes_an_infinity_or_nan_pass() -> None:
    largest = np.finfo(np.float32).max
    for actual, expected in ((INF, largest), (largest, INF), (NAN, INF), (1.0, NAN)):
        assert compare_arrays(array([actual]), array([expected]), atol=0, rtol=0, ulp=2**31) is not None


def test_ulp_of_a_complex_number_holds_for_both_parts() -> None:
    one, up = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    exact, near, far = (array([complex(*it)] * 2, np.complex64) for it in ((one, one), (up, up), (up, one + 1)))
    assert compare_arrays(near, exact, atol=0, rtol=0, ulp=1) is None
    assert compare_arrays(near, exact, atol=0, rtol=0, ulp=0) is not None
    assert compare_arrays(far, exact, atol=0, rtol=0, ulp=1) is not None
    endless = array([complex(INF, one)], np.complex64)
    assert compare_arrays(array([complex(INF, up)], np.complex64), endless, atol=0, rtol=0, ulp=1) is None


def test_ulp_counts_powers_of_two_where_the_type_has_nothing_else() -> None:
    dtype = ml_dtypes.float8_e8m0fnu
    assert compare_arrays(array([1.0], dtype), array([2.0], dtype), atol=0, rtol=0, ulp=1) is None
    assert compare_arrays(array([0.5], dtype), array([2.0], dtype), atol=0, rtol=0, ulp=1) is not None
    assert compare_arrays(array([NAN], dtype), array([NAN], dtype), atol=0, rtol=0) is None
    assert compare_arrays(array([NAN], dtype), array([2.0**127], dtype), atol=INF, rtol=0, ulp=300) is not None
    assert compare_check(Check(kind="all_true", actual=array([2.0**-127], dtype))) is None  # it has no zero


# ---------------------------------------------------------------- eq and the checks of truth


def test_eq_compares_bits_as_iree_check_module_does() -> None:
    assert equal([NAN, 1], [NAN, 1], np.float32)
    assert not equal([0.0], [-0.0], np.float32)
    other_nan = np.array([0x7FC00001], np.uint32).view(np.float32)
    mismatch = mismatch_of(compare_check(Check(kind="eq", actual=other_nan, expected=array([NAN]))))
    assert (
        mismatch.summary == "1 of 1 element differs, first at [0]: actual nan (0x7fc00001), expected nan (0x7fc00000)"
    )


@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint64, np.complex64, np.bool_])
def test_eq_holds_for_every_type_rank_0_and_empty(dtype: Any) -> None:
    assert equal(1, 1, dtype)
    assert not equal(1, 0, dtype)
    assert equal([], [], dtype)
    assert equal(np.ones((2, 0, 3)), np.ones((2, 0, 3)), dtype)


def test_a_failing_check_of_truth_says_where() -> None:
    mismatch = mismatch_of(compare_check(Check(kind="all_true", actual=array([[1, 0], [0, 1]], np.int8))))
    assert mismatch.summary == "all_true: 2 of 4 elements are not nonzero, first at [0, 1] is 0"
    assert mismatch.report.splitlines()[1:] == ["  [0, 1] is 0", "  [1, 0] is 0"]
    assert mismatch_of(compare_check(Check(kind="true", actual=array(0, np.int32)))).summary == "true: not nonzero: 0"
    assert mismatch_of(compare_check(Check(kind="false", actual=array(7, np.int32)))).summary == "false: not zero: 7"


def test_an_unknown_kind_of_check_is_refused() -> None:
    with pytest.raises(ValueError, match="a check of kind 'near', expected eq or almost_eq"):
        compare_check(Check(kind="near", actual=array(1), expected=array(1)))


# ---------------------------------------------------------------- the report


def test_the_report_shows_the_first_differences_and_the_largest_errors() -> None:
    expected = np.ones((4, 5), np.float32)
    actual = expected.copy()
    actual[1, 2], actual[3, 0], actual[3, 4] = 1.5, -3.0, NAN
    mismatch = mismatch_of(compare_arrays(actual, expected, atol=1e-3, rtol=0))

    assert mismatch.summary == "3 of 20 elements differ, first at [1, 2]: actual 1.5, expected 1.0"
    assert mismatch.report == (
        "3 of 20 elements differ (4x5xfloat32; atol 0.001, rtol 0)\n"
        "   index  actual  expected  abs error  rel error\n"
        "  [1, 2]     1.5       1.0        0.5        0.5\n"
        "  [3, 0]    -3.0       1.0          4          4\n"
        "  [3, 4]     nan       1.0        nan        nan\n"
        "max abs error 4 at [3, 0], max rel error 4 at [3, 0]"
    )


def test_the_report_on_rank_0_names_no_place() -> None:
    mismatch = mismatch_of(compare_arrays(array(2.25), array(2.5), atol=0.0, rtol=0.0))
    assert mismatch.summary == "1 of 1 element differs, actual 2.25, expected 2.5"
    assert mismatch.report.splitlines()[-1] == "max abs error 0.25, max rel error 0.1"


def test_the_report_leaves_out_what_is_too_much() -> None:
    mismatch = mismatch_of(compare_arrays(np.zeros(100, np.int32), np.arange(100, dtype=np.int32), atol=0, rtol=0))
    lines = mismatch.report.splitlines()
    assert lines[0] == "99 of 100 elements differ (100xint32; atol 0, rtol 0)"
    assert len(lines) == 12
    assert lines[-2] == "  … 91 more"
    assert lines[-1] == "max abs error 99 at [99], max rel error 1 at [1]"


@pytest.mark.parametrize(
    ("actual", "expected", "errors"),
    [
        (1.0, 0.0, ["max abs error 1 at [0]"]),  # none is relative to zero
        (NAN, 1.0, []),
        (INF, 1.0, ["max abs error inf at [0], max rel error inf at [0]"]),
    ],
)
def test_the_largest_errors_are_those_that_are_numbers(actual: float, expected: float, errors: list[str]) -> None:
    mismatch = mismatch_of(compare_arrays(array([actual]), array([expected]), atol=0, rtol=0))
    assert [line for line in mismatch.report.splitlines() if line.startswith("max")] == errors


# ---------------------------------------------------------------- blocks


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64, ml_dtypes.bfloat16, np.bool_])
@pytest.mark.parametrize("kind", ["eq", "almost_eq", "all_true"])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, dtype: Any, kind: str) -> None:
    random = np.random.default_rng(5)
    actual = random.integers(0, 9, (7, 5, 3)).astype(dtype)
    expected = random.integers(0, 9, (7, 5, 3)).astype(dtype)
    for ours, theirs in ((actual, expected), (actual.T, expected.T), (actual, np.asfortranarray(expected))):
        check = Check(kind=kind, actual=ours, expected=None if kind == "all_true" else theirs)
        whole = compare_check(check)
        with monkeypatch.context() as patch:
            patch.setattr(compare, "_BLOCK", 32)
            assert compare_check(check) == whole
        assert whole is not None
        assert count_of(whole) == np.count_nonzero(ours == 0 if kind == "all_true" else ours != theirs)


def test_comparing_takes_no_copy_of_the_arrays() -> None:
    expected = np.ones(1 << 22, np.float32)
    actual = expected + np.float32(1e-6)
    tracemalloc.start()
    try:
        assert compare_arrays(actual, expected, atol=1e-5, rtol=0) is None
        assert compare_arrays(actual, expected, atol=0, rtol=0) is not None
        assert compare_check(Check(kind="eq", actual=actual, expected=expected)) is not None
        assert compare_check(Check(kind="all_true", actual=actual)) is None
        assert tracemalloc.get_traced_memory()[1] < actual.nbytes / 8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("actual", "expected", "holds"),
    [
        (complex(1, math.nan), complex(1, math.nan), True),
        (complex(math.nan, math.nan), complex(math.nan, math.nan), True),
        (complex(5, math.nan), complex(1, math.nan), False),
        (complex(math.nan, 1), complex(1, math.nan), False),
    ],
)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_part_of_a_complex_value_beside_a_nan_is_compared(
    dtype: type[np.complexfloating], actual: complex, expected: complex, holds: bool
) -> None:
    found = compare_arrays(np.array([1, actual], dtype), np.array([1, expected], dtype), atol=1e-5, rtol=1e-5)
    assert (found is None) is holds


@pytest.mark.parametrize(
    ("dtype", "actual", "expected", "atol", "rtol"),
    [
        (np.float32, INF, 1.0, 1e39, 0.0),
        (ml_dtypes.bfloat16, -INF, 1.0, 1e39, 0.0),
        (np.float32, INF, 3e38, 0.0, 2.0),
        (np.float64, INF, 1.5e308, 0.0, 2.0),
        (np.complex64, 1 + 1j, 3e38 + 3e38j, 0.0, 1e-5),
        (np.complex64, 1e38 + 1e38j, 3e38 + 2e38j, 0.0, 1e-5),
        (np.complex128, 1 + 1j, 1.5e308 + 1.5e308j, 0.0, 1e-5),
    ],
)
def test_a_bound_that_overflows_lets_nothing_else_pass(
    dtype: Any, actual: complex, expected: complex, atol: float, rtol: float
) -> None:
    assert not almost(actual, expected, atol=atol, rtol=rtol, dtype=dtype)
    assert almost(expected, expected, atol=atol, rtol=rtol, dtype=dtype)
