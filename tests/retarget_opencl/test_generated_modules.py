"""Generated modules on the device against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_model_modules import ALL_KINDS, generate
from opencl_support import Load, call

SAMPLE = range(5 * len(ALL_KINDS))
"""Five of each kind."""
ALL = range(1500)


def _agrees(load: Load, seed: int) -> None:
    module = generate(seed)
    (actual,) = call(load(module.text), "main", *module.inputs)
    assert actual.shape == module.expected.shape, module.title
    assert actual.dtype == module.expected.dtype, module.title
    wide = np.float64 if module.expected.dtype.kind in "fV" or module.tolerance else actual.dtype
    np.testing.assert_allclose(
        actual.astype(wide),
        module.expected.astype(wide),
        rtol=module.tolerance,
        atol=module.tolerance,
        err_msg=module.title,
    )


@pytest.mark.sampled(45, slow=45)
@pytest.mark.parametrize("seed", SAMPLE)
@pytest.mark.slow
def test_a_generated_module_agrees_with_numpy(load: Load, seed: int) -> None:
    _agrees(load, seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", sorted({*ALL} - {*SAMPLE}))
def test_many_generated_modules_agree_with_numpy(load: Load, seed: int) -> None:
    _agrees(load, seed)
