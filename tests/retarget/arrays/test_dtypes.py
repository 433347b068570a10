"""The names of dtypes, and which arrays fit a declared type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from retarget.arrays.dtypes import Elements, fit
from retarget.model.element_types import DeclaredType
from retarget.support.errors import RetargetError


@pytest.mark.parametrize(
    ("array", "declared", "dtype"),
    [
        (np.zeros(2, np.float32), "tensor<2xf32>", "float32"),
        (np.zeros(2, np.uint8), "tensor<?xi8>", "int8"),
        (np.zeros((2, 3), np.int64), "tensor<*xindex>", "int64"),
        (np.zeros(2, "V2"), "tensor<2xbf16>", "bfloat16"),
        (np.zeros(2, np.int32), "!hal.buffer_view", "int32"),
        (np.array([0, 15], ml_dtypes.uint4), "tensor<2xi4>", "int4"),
        (np.array([-8, 15], np.int8), "tensor<2xi4>", "int4"),
        (np.array([0, 3], np.uint8), "tensor<2xui2>", "uint2"),
        (np.array([0, 0x0F], np.uint8).view("V1"), "tensor<2xf4E2M1FN>", "float4_e2m1fn"),
        (np.zeros(2, "V1"), "tensor<2xf8E3M4>", "float8_e3m4"),
    ],
)
def test_arrays_that_fit_take_the_declared_type(array: npt.NDArray[Any], declared: str, dtype: str) -> None:
    assert fit(array, DeclaredType.parse(declared)).dtype.name == dtype


BYTE_38, BYTE_40 = (np.array([byte], np.uint8).view("V1") for byte in (0x38, 0x40))


@pytest.mark.parametrize(
    ("array", "declared", "found"),
    [
        (np.zeros(2, np.float64), "tensor<2xf32>", "2xf64"),
        (np.zeros(2, np.uint8), "tensor<2xsi8>", "2xui8"),
        (np.zeros(2, np.uint8), "tensor<2xi1>", "2xui8"),
        (np.zeros(2, ml_dtypes.bfloat16), "tensor<2xf16>", "2xbf16"),
        (np.zeros(3, np.float32), "tensor<2xf32>", "3xf32"),
        (np.zeros(1, np.float32), "f32", "1xf32"),
        (np.zeros(3, np.int16), "tensor<3xi4>", "3xi16"),
        (np.zeros(2, ml_dtypes.int4), "tensor<2xui4>", "2xi4"),
        (np.zeros(2, ml_dtypes.int2), "tensor<2xi4>", "2xi2"),
        (np.zeros(2, ml_dtypes.int4), "tensor<2xi8>", "2xi4"),
        (np.zeros(2, ml_dtypes.float8_e4m3), "tensor<2xf8E4M3FN>", "2xf8E4M3"),
        (np.array([7, 100], np.int8), "tensor<2xi4>", "100 in 2xi8, expected -8 to 15 for"),
        (np.array([7, 8], np.uint8), "tensor<2xsi4>", "8 in 2xui8, expected -8 to 7 for"),
        (np.array([-1], np.int8), "tensor<1xui2>", "-1 in 1xi8, expected 0 to 3 for"),
        (BYTE_38, "tensor<1xi4>", "the byte 0x38 in 1xvoid8, expected -8 to 15 for"),
        (BYTE_40, "tensor<1xf6E2M3FN>", "the byte 0x40 in 1xvoid8, expected 0 to 63 for"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(array: npt.NDArray[Any], declared: str, found: str) -> None:
    with pytest.raises(RetargetError) as caught:
        fit(array, DeclaredType.parse(declared))
    assert str(caught.value) == f"found {found}{'' if 'expected' in found else ', expected'} {declared}"


def test_by_width_the_sign_does_not_count_and_bytes_are_booleans() -> None:
    assert Elements.of(np.dtype("V3")).bits == 24
    assert fit(np.zeros(2, np.uint8), DeclaredType.parse("tensor<2xsi8>"), by_width=True).dtype.name == "int8"
    assert fit(np.array([0, 2], np.uint8), DeclaredType.parse("tensor<2xi1>"), by_width=True).tolist() == [False, True]


@pytest.mark.parametrize(("wanted", "found"), [("uint8", "uint8"), ("uint16", "int8"), ("float32", "int8")])
def test_only_integers_of_one_width_take_the_other_sign(wanted: str, found: str) -> None:
    assert Elements.of(np.dtype(wanted)).resigned(np.array([-1, 2], np.int8)).dtype.name == found
