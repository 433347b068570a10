"""Products that no tile divides: padded where they are large, for devices that tiles are known for."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_support import call, compile_text, shipped
from retarget_opencl.artifact.file import OpenClArtifact, joined, read_artifact
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.run.device import OpenClDevice

NVIDIA = shipped("nvidia-sm80")


def product(a: str, b: str, out: str, layout: str = "(m, n, k) -> (k, n)") -> str:
    """A product of tensors of these types; `layout` is the right factor's map."""
    element = out.rpartition("x")[2]
    zero = "0" if element.startswith("i") else "0.0"
    dims = ""
    if "?" in out:
        dims = "%c0 = arith.constant 0 : index\n  %d = tensor.dim %a, %c0 : tensor<" + a + ">"
    maps = f"affine_map<(m, n, k) -> (m, k)>, affine_map<{layout}>, affine_map<(m, n, k) -> (m, n)>"
    return f"""
func.func @main(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{out}> {{
  {dims}
  %z = arith.constant {zero} : {element}
  %e = tensor.empty({"%d" if dims else ""}) : tensor<{out}>
  %f = linalg.fill ins(%z : {element}) outs(%e : tensor<{out}>) -> tensor<{out}>
  %r = linalg.matmul indexing_maps = [{maps}] ins(%a, %b : tensor<{a}>, tensor<{b}>)
    outs(%f : tensor<{out}>) -> tensor<{out}>
  return %r : tensor<{out}>
}}
"""


def compiled(text: str, profile: DeviceProfile = NVIDIA) -> OpenClArtifact:
    return read_artifact(compile_text(text, profile, "main.mlir"))


@pytest.mark.sampled(1, slow=2)
@pytest.mark.parametrize(
    ("factor", "total", "sizes"),
    [
        ("f32", "f32", "320x320x288"),
        ("f16", "f16", "320x320x320"),
        ("bf16", "f32", "320x320x320"),
        ("i8", "i32", "320x320x384"),
    ],
)
def test_a_large_product_is_padded_to_sizes_that_have_tiles(factor: str, total: str, sizes: str) -> None:
    artifact = compiled(product(f"300x257x{factor}", f"257x310x{factor}", f"300x310x{total}"))
    assert [kernel.name for kernel in artifact.program.kernels if f"matmul_{sizes}" in kernel.name]
    assert ("mma.sync" in joined(artifact.sources)) == (factor != "f32")


@pytest.mark.sampled(2, slow=3)
@pytest.mark.parametrize(
    ("text", "profile"),
    [
        pytest.param(product("300x257xf32", "257x200xf32", "300x200xf32"), NVIDIA, id="few columns"),
        pytest.param(product("300x300xf32", "300x300xf32", "300x300xf32"), NVIDIA, id="small, by vectors"),
        pytest.param(product("?x257xf32", "257x310xf32", "?x310xf32"), NVIDIA, id="dynamic"),
        pytest.param(product("512x256xf32", "256x320xf32", "512x320xf32"), NVIDIA, id="with tiles"),
        pytest.param(product("300x257xi32", "257x310xi32", "300x310xi32"), NVIDIA, id="no tiles for the type"),
        pytest.param(product("300x257xf32", "257x310xf32", "300x310xf32"), shipped("cpu"), id="another device"),
    ],
)
def test_other_products_stay(text: str, profile: DeviceProfile) -> None:
    assert len(compiled(text, profile).program.kernels) == 1


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["(m, n, k) -> (k, n)", pytest.param("(m, n, k) -> (n, k)", marks=pytest.mark.slow)])
def test_a_padded_product_has_its_values(device: OpenClDevice, layout: str) -> None:
    right = (257, 310) if layout.endswith("(k, n)") else (310, 257)
    text = product("300x257xf32", f"{right[0]}x{right[1]}xf32", "300x310xf32", layout)
    artifact = compile_text(text, NVIDIA, "main.mlir")
    assert "320" in " ".join(kernel.name for kernel in read_artifact(artifact).program.kernels)
    random = np.random.default_rng(1)
    a, b = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((300, 257), right))
    (found,) = call(device.load(artifact), "main", a, b)
    np.testing.assert_array_equal(found, a @ (b if right[0] == 257 else b.T))
