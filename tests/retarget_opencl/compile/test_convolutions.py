"""Convolutions with tiles in registers: which get them, and that they compute what they did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.compile.kernels import thread_tile
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Convolution:
    """The sizes of a convolution's result, its input channels, and its filter's height and width."""

    batch: int = 8
    rows: int = 12
    columns: int = 24
    inner: int = 8
    channels: int = 32
    height: int = 3
    width: int = 3
    stride: int = 1
    dilation: int = 1

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of image, filter and result."""
        rows = (self.rows - 1) * self.stride + (self.height - 1) * self.dilation + 1
        columns = (self.columns - 1) * self.stride + (self.width - 1) * self.dilation + 1
        return (
            (self.batch, rows, columns, self.inner),
            (self.height, self.width, self.inner, self.channels),
            (self.batch, self.rows, self.columns, self.channels),
        )

    def module(self) -> str:
        """Return a module that convolves, adds a bias per channel and takes no negative values."""
        image, weights, out = (f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in self.shapes())
        bias = f"tensor<{self.channels}xf32>"
        steps = f"strides = dense<{self.stride}> : tensor<2xi64>, dilations = dense<{self.dilation}> : tensor<2xi64>"
        maps = "affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (d)>"
        return f"""func.func @main(%a: {image}, %k: {weights}, %b: {bias}) -> {out} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
  %c = linalg.conv_2d_nhwc_hwcf {{{steps}}} ins(%a, %k : {image}, {weights}) outs(%f : {out}) -> {out}
  %r = linalg.generic {{indexing_maps = [{maps}, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      ins(%c, %b : {out}, {bias}) outs(%e : {out}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.maximumf %s, %z : f32
    linalg.yield %m : f32
  }} -> {out}
  return %r : {out}
}}"""

    def reference(self, image: Array, weights: Array, bias: Array) -> Array:
        result = np.zeros((self.batch, self.rows, self.columns, self.channels), np.float32) + bias
        for i in range(self.height):
            for j in range(self.width):
                top, left = i * self.dilation, j * self.dilation
                rows = slice(top, top + (self.rows - 1) * self.stride + 1, self.stride)
                columns = slice(left, left + (self.columns - 1) * self.stride + 1, self.stride)
                result += image[:, rows, columns] @ weights[i, j]
        return np.maximum(result, 0)


def kernel_text(device: OpenClDevice, arch: str, convolution: Convolution) -> tuple[str, bytes]:
    profile = replace(compile_profile(device.profile), arch=arch)
    artifact = compile_text(convolution.module(), profile, "test.mlir")
    return "".join(one.text for one in read_artifact(artifact).sources), artifact


@pytest.mark.slow
@pytest.mark.parametrize(
    "convolution",
    [
        pytest.param(Convolution(), id="plain"),
        pytest.param(Convolution(stride=2, height=2), id="strided"),
        pytest.param(Convolution(dilation=2, columns=23, channels=96), id="dilated"),
        pytest.param(Convolution(batch=1, rows=48, channels=64), id="batch of one, which IREE drops"),
        pytest.param(Convolution(batch=4, rows=56, columns=56, inner=4, channels=64), id="eight pixels to a work-item"),
    ],
)
def test_a_convolution_gets_tiles_and_its_result_stays(device: OpenClDevice, convolution: Convolution) -> None:
    text, artifact = kernel_text(device, "sm_80", convolution)
    assert "fma(" in text  # products of vectors in registers
    random = np.random.default_rng(3)
    # Multiples of 1/8, so that every sum is exact.
    image, weights = ((random.integers(-8, 9, shape) / 8).astype(np.float32) for shape in convolution.shapes()[:2])
    bias = (random.integers(-8, 9, convolution.channels) / 8).astype(np.float32)
    (result,) = call(device.load(artifact), "main", image, weights, bias)
    np.testing.assert_array_equal(result, convolution.reference(image, weights, bias))


@pytest.mark.sampled(1, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "convolution"),
    [
        pytest.param("generic", Convolution(), id="another architecture"),
        pytest.param("sm_80", Convolution(inner=3), id="channels that make no vectors"),
        pytest.param("sm_80", Convolution(batch=2), id="too few work-items for the device"),
        pytest.param("sm_80", Convolution(batch=64, rows=100, columns=3, channels=4), id="too few for a subgroup"),
    ],
)
def test_other_convolutions_are_left_to_iree(device: OpenClDevice, arch: str, convolution: Convolution) -> None:
    text, artifact = kernel_text(device, arch, convolution)
    assert "fma(" not in text
    image, weights, _ = (np.ones(shape, np.float32) for shape in convolution.shapes())
    bias = np.zeros(convolution.channels, np.float32)
    (result,) = call(device.load(artifact), "main", image, weights, bias)
    np.testing.assert_array_equal(result, convolution.reference(image, weights, bias))


WINDOWS = """
func.func @main(%a: tensor<8x14x26x8xf32>, %k: tensor<3x3x8x32xf32>) -> tensor<8x12x24x32xf32> {
  %z = arith.constant -1000.0 : f32
  %e = tensor.empty() : tensor<8x12x24x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x12x24x32xf32>) -> tensor<8x12x24x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, i, j, c) -> (n, h + i, w + j, c)>,
      affine_map<(n, h, w, o, i, j, c) -> (i, j, c, o)>, affine_map<(n, h, w, o, i, j, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %k : tensor<8x14x26x8xf32>, tensor<3x3x8x32xf32>) outs(%f : tensor<8x12x24x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    BODY
    linalg.yield %r : f32
  } -> tensor<8x12x24x32xf32>
  return %r : tensor<8x12x24x32xf32>
}
"""


@pytest.mark.sampled(1, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "vectors"),
    [
        pytest.param(
            "%p = arith.mulf %y, %x : f32\n %r = arith.addf %p, %o : f32", True, id="operands in another order"
        ),
        pytest.param("%p = arith.mulf %x, %x : f32\n %r = arith.addf %p, %o : f32", False, id="not of the weights"),
        pytest.param("%p = arith.addf %x, %y : f32\n %r = arith.maximumf %p, %o : f32", False, id="dilation"),
    ],
)
def test_only_sums_of_products_get_tiles(device: OpenClDevice, body: str, vectors: bool) -> None:
    profile = replace(compile_profile(device.profile), arch="sm_80")
    artifact = compile_text(WINDOWS.replace("BODY", body), profile)
    assert ("fma(" in "".join(one.text for one in read_artifact(artifact).sources)) == vectors
    random = np.random.default_rng(3)
    image, weights = (random.integers(-8, 9, shape).astype(np.float32) for shape in Convolution().shapes()[:2])
    (result,) = call(device.load(artifact), "main", image, weights)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2))
    if "%y" not in body:
        expected = np.repeat((windows**2).sum((3, 4, 5))[..., None], 32, -1) - 1000
    elif "maximumf" in body:
        filters = weights.transpose(3, 2, 0, 1)
        expected = np.stack([(windows + one).max((3, 4, 5)) for one in filters], -1)
    else:
        expected = np.einsum("nhwcij,ijco->nhwo", windows, weights) - 1000
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((8, 56, 56, 128), (4, 2)),
        ((8, 56, 57, 128), (8, 1)),
        ((8, 57, 56, 128), (1, 8)),
        ((8, 21, 49, 128), (1, 7)),
        ((1, 56, 56, 64), (1, 2)),
        ((1, 14, 14, 256), (1, 1)),
        ((8, 55, 55, 128), (1, 1)),
    ],
)
def test_a_work_item_computes_what_divides_and_leaves_enough_work_items(
    sizes: tuple[int, int, int, int], expected: tuple[int, int]
) -> None:
    assert thread_tile(*sizes) == expected
