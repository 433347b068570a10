"""Elements of less than a byte, packed as devices hold them."""

from __future__ import annotations

import numpy as np
import pytest
from retarget.arrays.dtypes import Elements
from retarget.model.element_types import ELEMENT_TYPES


@pytest.mark.parametrize("name", sorted({element.dtype for element in ELEMENT_TYPES.values()}))
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 0)])
def test_every_element_type_survives_the_way_in_any_shape_and_order(name: str, shape: tuple[int, ...]) -> None:
    values = np.resize(np.array([1, 0.5, -1, 0]), shape).astype(np.float32)
    array = np.asfortranarray((np.abs(values) if name.startswith("u") else values).astype(Elements.named(name).dtype))
    back = Elements.of(array.dtype).unpack(Elements.pack(array), shape)
    assert back.shape == shape
    assert back.tobytes() == array.tobytes()
