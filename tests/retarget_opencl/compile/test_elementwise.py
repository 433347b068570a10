"""Elementwise kernels with larger work-groups: which get them, and that they compute what they did."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.compile.kernels import work_items
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice

SUM = """
func.func @main(%a: tensor<6x512xf32>, %b: tensor<COLUMNS>) -> tensor<6x512xf32> {
  %e = tensor.empty() : tensor<6x512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (MAP)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<6x512xf32>, tensor<COLUMNS>) outs(%e : tensor<6x512xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<6x512xf32>
  return %r : tensor<6x512xf32>
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "shape", "axes", "items"),
    [
        pytest.param("sm_80", (6, 512), "i, j", 128, id="one kernel of many rows"),
        pytest.param("sm_80", (512,), "j", 128, id="a value per column"),
        pytest.param("sm_80", (6,), "i", 128, id="a value per row"),
        pytest.param("sm_80", (512, 6), "j, i", 32, id="a transposed operand, which IREE tiles"),
        pytest.param("generic", (6, 512), "i, j", 32, id="another architecture"),
    ],
)
def test_an_elementwise_kernel_gets_work_groups_of_several_subgroups(
    device: OpenClDevice, arch: str, shape: tuple[int, ...], axes: str, items: int
) -> None:
    text = SUM.replace("COLUMNS", "x".join(map(str, shape)) + "xf32").replace("MAP", axes)
    profile = replace(compile_profile(device.profile), arch=arch)
    artifact = compile_text(text, profile, "test.mlir")
    (kernel,) = read_artifact(artifact).program.kernels
    assert int(np.prod(kernel.workgroup_size)) == items
    a = np.arange(6 * 512, dtype=np.float32).reshape(6, 512)
    b = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    (result,) = call(device.load(artifact), "main", a, b)
    other = b[:, None] if axes == "i" else b.T if axes == "j, i" else b
    np.testing.assert_array_equal(result, a + other)


@pytest.mark.parametrize(
    ("inner", "expected"), [(512, 128), (384, 96), (256, 64), (640, 0), (128, 0), (1000, 0), (6, 0), (1024 * 3, 128)]
)
def test_work_items_divide_a_row(inner: int, expected: int) -> None:
    assert work_items(inner) == expected
