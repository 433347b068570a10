"""The names of dtypes, and which arrays fit a declared type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from retarget.arrays.dtypes import dtype_named, fit, type_text
from retarget.model.element_types import DTYPE_NAMES, parse_type
from retarget.support.errors import RetargetError


@pytest.mark.parametrize(
    ("dtype", "shape", "text"),
    [
        ("float32", (2, 3), "2x3xf32"),
        ("bool", (4,), "4xi1"),
        ("uint8", (), "ui8"),
        ("complex64", (2,), "2xcomplex<f32>"),
        (ml_dtypes.bfloat16, (2,), "2xbf16"),
        (ml_dtypes.float8_e4m3fn, (2,), "2xf8E4M3FN"),
    ],
)
def test_types_are_named_as_compilers_do(dtype: str, shape: tuple[int, ...], text: str) -> None:
    assert type_text(shape, dtype) == text


def test_every_element_type_has_a_dtype_of_its_name() -> None:
    assert [dtype_named(name).name for name in DTYPE_NAMES] == list(DTYPE_NAMES)


@pytest.mark.parametrize(
    ("array", "declared", "dtype"),
    [
        (np.zeros(2, np.float32), "tensor<2xf32>", "float32"),
        (np.zeros(2, np.uint8), "tensor<?xi8>", "int8"),
        (np.zeros((2, 3), np.int64), "tensor<*xindex>", "int64"),
        (np.zeros(2, "V2"), "tensor<2xbf16>", "bfloat16"),
        (np.zeros(2, np.int32), "!hal.buffer_view", "int32"),
    ],
)
def test_arrays_that_fit_take_the_declared_type(array: npt.NDArray[Any], declared: str, dtype: str) -> None:
    assert fit(array, parse_type(declared)).dtype.name == dtype


@pytest.mark.parametrize(
    ("array", "declared", "found"),
    [
        (np.zeros(2, np.float64), "tensor<2xf32>", "2xf64"),
        (np.zeros(2, np.uint8), "tensor<2xsi8>", "2xui8"),
        (np.zeros(2, np.uint8), "tensor<2xi1>", "2xui8"),
        (np.zeros(2, ml_dtypes.bfloat16), "tensor<2xf16>", "2xbf16"),
        (np.zeros(3, np.float32), "tensor<2xf32>", "3xf32"),
        (np.zeros(1, np.float32), "f32", "1xf32"),
        (np.zeros(3, np.int8), "tensor<2xi4>", "3xi8"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(array: npt.NDArray[Any], declared: str, found: str) -> None:
    with pytest.raises(RetargetError) as caught:
        fit(array, parse_type(declared))
    assert str(caught.value) == f"found {found}, expected {declared}"


def test_by_width_the_sign_does_not_count_and_bytes_are_booleans() -> None:
    assert fit(np.zeros(2, np.uint8), parse_type("tensor<2xsi8>"), by_width=True).dtype.name == "int8"
    assert fit(np.array([0, 2], np.uint8), parse_type("tensor<2xi1>"), by_width=True).tolist() == [False, True]
