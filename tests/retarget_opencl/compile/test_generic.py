"""Products without tiles become generic ops, into which IREE fuses what is around them."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text, shipped
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.compile.contractions import generalize_products
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.run.device import OpenClDevice

CONFIGURED = """{compilation_info = #iree_codegen.compilation_info<
  lowering_config = #iree_codegen.lowering_config<tile_sizes = [[8, 8, 8]]>,
  translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseDistribute>>>}"""
PLAIN = replace(shipped("nvidia-sm80"), subgroups="none", matrices="none", dot="none")


def heads(rows: str) -> str:
    """A product whose columns are four heads, which come first in the result, rounded."""
    dim = "%m = tensor.dim %a, %c0 : tensor<?x32xf32>" if rows == "?" else ""
    size = "%m" if rows == "?" else ""
    product, split, result = f"tensor<{rows}x48xf32>", f"tensor<{rows}x4x12xf32>", f"tensor<4x{rows}x12xf16>"
    return f"""
func.func @main(%a: tensor<{rows}x32xf32>, %b: tensor<32x48xf32>) -> {result} {{
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  {dim}
  %e = tensor.empty({size}) : {product}
  %f = linalg.fill ins(%z : f32) outs(%e : {product}) -> {product}
  %p = linalg.matmul ins(%a, %b : tensor<{rows}x32xf32>, tensor<32x48xf32>) outs(%f : {product}) -> {product}
  %s = tensor.expand_shape %p [[0], [1, 2]] output_shape [{size or rows}, 4, 12] : {product} into {split}
  %t = tensor.empty({size}) : {result}
  %r = linalg.generic {{indexing_maps = [affine_map<(h, i, j) -> (i, h, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%s : {split}) outs(%t : {result}) {{
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  }} -> {result}
  return %r : {result}
}}"""


def compiled(text: str, profile: DeviceProfile) -> bytes:
    return compile_text(text, profile, "main.mlir")


@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(
    ("rows", "profile", "expected"),
    [
        pytest.param("?", PLAIN, "matmul_like_Dx48x32_f32", id="dynamic"),
        pytest.param("1", PLAIN, "matvec_like_48x32_f32", id="one row"),
        pytest.param("64", PLAIN, "matmul_64x48x32_f32", id="with rows"),
        pytest.param("?", shipped("pocl"), "matmul_Dx48x32_f32", id="another device"),
    ],
)
def test_products_without_tiles_become_generic_ops(rows: str, profile: DeviceProfile, expected: str) -> None:
    """IREE names a kernel after its op."""
    first, *_ = read_artifact(compiled(heads(rows), profile)).program.kernels
    assert first.name == f"main_dispatch_0_{expected}"


@pytest.mark.parametrize(("attribute", "expected"), [("", True), (CONFIGURED, False)])
def test_a_product_keeps_what_the_module_says_of_its_tiles(attribute: str, *, expected: bool) -> None:
    from iree.compiler import ir

    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(heads("?").replace("linalg.matmul", f"linalg.matmul {attribute}"))
        assert generalize_products(module.operation, units=False) == expected
        assert ("compilation_info" in str(module)) != expected


@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(("rows", "size"), [("?", 5), ("?", 0), ("1", 1)])
def test_its_values_are_right(device: OpenClDevice, rows: str, size: int) -> None:
    a, b = (np.random.default_rng(1).integers(-8, 9, shape).astype(np.float32) for shape in ((size, 32), (32, 48)))
    (found,) = call(device.load(compiled(heads(rows), PLAIN)), "main", a, b)
    np.testing.assert_array_equal(found, (a @ b).reshape(size, 4, 12).swapaxes(0, 1).astype(np.float16))
