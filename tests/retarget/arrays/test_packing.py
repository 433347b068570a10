"""Elements of less than a byte, packed as devices hold them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from retarget.arrays.dtypes import dtype_named, pack, packed_size, unpack
from retarget.model.element_types import ELEMENT_TYPES


@pytest.mark.parametrize(
    ("dtype", "values", "content"),
    [
        (ml_dtypes.int4, [1, 2, -1, -8], "218f"),
        (ml_dtypes.uint4, [1, 2, 15], "210f"),
        (ml_dtypes.int2, [1, -2, -1, 0, 1], "3901"),
        (ml_dtypes.uint2, [3], "03"),
        (ml_dtypes.float4_e2m1fn, [0.5, -6.0, 1.0], "f102"),
        (ml_dtypes.float6_e2m3fn, [1.0, -1.0], "0828"),
        (ml_dtypes.float8_e5m2, [1.0], "3c"),
        (np.bool_, [True, False, True], "010001"),
        (np.int16, [1, -1], "0100ffff"),
        (ml_dtypes.int4, [], ""),
    ],
)
def test_the_first_element_has_the_lowest_bits(dtype: Any, values: list[float], content: str) -> None:
    array = np.array(values, dtype)
    assert pack(array).tobytes().hex() == content
    assert packed_size(array.shape, array.dtype) == len(content) // 2
    back = unpack(np.frombuffer(bytearray.fromhex(content), np.uint8), array.dtype, array.shape)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()


@pytest.mark.parametrize("name", sorted({element.dtype for element in ELEMENT_TYPES.values()}))
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 0)])
def test_every_element_type_survives_the_way_in_any_shape_and_order(name: str, shape: tuple[int, ...]) -> None:
    values = np.resize(np.array([1, 0.5, -1, 0]), shape).astype(np.float32)
    array = np.asfortranarray((np.abs(values) if name.startswith("u") else values).astype(dtype_named(name)))
    back = unpack(pack(array), array.dtype, shape)
    assert back.shape == shape
    assert back.tobytes() == array.tobytes()
