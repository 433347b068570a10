"""Slices that begin within a vector, where IREE's SPIR-V accesses vectors: right on the device."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_support import call, compile_text, shipped
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.run.device import OpenClDevice

PRODUCT = """
#input = affine_map<(c, y, x, k) -> (k, y, x)>
#weights = affine_map<(c, y, x, k) -> (c, k)>
#result = affine_map<(c, y, x, k) -> (c, y, x)>
func.func @product(%w: tensor<32x8xf32>, %x: tensor<8x2x96xf32>) -> tensor<32x4xCOLUMNSxf32> {
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<32x2x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<32x2x96xf32>) -> tensor<32x2x96xf32>
  %product = linalg.generic {indexing_maps = [#input, #weights, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x2x96xf32>, tensor<32x8xf32>) outs(%init : tensor<32x2x96xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x2x96xf32>
  %padded = tensor.pad %product low[0, 1, BEFORE] high[0, 1, BEFORE] {
  ^bb0(%c: index, %y: index, %column: index):
    tensor.yield %zero : f32
  } : tensor<32x2x96xf32> to tensor<32x4xCOLUMNSxf32>
  return %padded : tensor<32x4xCOLUMNSxf32>
}
"""
"""IREE stores the product into the padded tensor. Its rows divide into vectors of 2."""


@pytest.mark.slow
@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(
    ("before", "vectors"), [(1, False), (2, True)], ids=["within a vector", "at the begin of a vector"]
)
def test_a_product_is_stored_where_its_slice_begins(before: int, vectors: bool, device: OpenClDevice) -> None:
    text = PRODUCT.replace("BEFORE", str(before)).replace("COLUMNS", str(96 + 2 * before))
    artifact = compile_text(text, shipped("generic"))
    (source,) = read_artifact(artifact).sources
    assert ("__global float2* const binding2" in source.text) == vectors
    random = np.random.default_rng(1)
    w, x = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((32, 8), (8, 2, 96)))
    (padded,) = call(device.load(artifact), "product", w, x)
    expected = np.pad(np.einsum("ck,kyx->cyx", w, x), ((0, 0), (1, 1), (before, before)))
    np.testing.assert_array_equal(padded, expected)
