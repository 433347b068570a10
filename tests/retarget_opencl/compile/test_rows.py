"""Softmax kernels: their work-items by the length of a row, and that they compute what they did."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text, find_or_skip, shipped
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice

SOFTMAX = """
func.func @main(%a: tensor<6xCOLUMNSxf32>) -> tensor<6xCOLUMNSxf32> {
  %e = tensor.empty() : tensor<6xCOLUMNSxf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<6xCOLUMNSxf32>) outs(%e : tensor<6xCOLUMNSxf32>)
    -> tensor<6xCOLUMNSxf32>
  return %r : tensor<6xCOLUMNSxf32>
}
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenClDevice]:
    """Intel's OpenCL for the CPU, which has subgroups."""
    opened = OpenClDevice(find_or_skip("opencl://intel/0"), cache=tmp_path_factory.mktemp("kept"))
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [512, 1024, 2048])
def test_softmax_has_its_values_with_these_work_items(device: OpenClDevice, columns: int) -> None:
    profile = replace(compile_profile(device.profile), arch="sm_80", subgroup_size=32)
    text = SOFTMAX.replace("COLUMNS", str(columns))
    artifact = compile_text(text, profile, "main.mlir")
    (kernel,) = read_artifact(artifact).program.kernels
    assert kernel.workgroup_size == (128 if columns != 1024 else 64, 1, 1)
    a = (np.random.default_rng(1).normal(size=(6, columns)) * 4).astype(np.float32)
    (result,) = call(device.load(artifact), "main", a)
    expected = np.exp(a.astype(np.float64) - a.max(1, keepdims=True))
    np.testing.assert_allclose(result, expected / expected.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(
    ("columns", "items"),
    [(512, 128), (1024, 64), (2048, 128), (4096, 256), (8192, 512), (96, 96)],  # of the last IREE has chosen
)
def test_work_items_for_a_row_on_nvidia(columns: int, items: int) -> None:
    text = SOFTMAX.replace("COLUMNS", str(columns)).encode()
    artifact = compile_text(text, shipped("nvidia-sm80"), "main.mlir")
    (kernel,) = read_artifact(artifact).program.kernels
    assert kernel.workgroup_size == (items, 1, 1)
