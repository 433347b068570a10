"""Small products that follow each other are one launch where a work-group needs its own rows only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from opencl_support import call, shipped
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.run.device import OpenClDevice

PLAIN = replace(shipped("nvidia-sm80"), subgroups="none", matrices="none", dot="none")
SQUARE = "tensor<64x64xf32>"


def product(name: str, left: str, right: str, kind: str = SQUARE) -> str:
    return f"""
  %e{name} = tensor.empty() : {kind}
  %f{name} = linalg.fill ins(%z : f32) outs(%e{name} : {kind}) -> {kind}
  %p{name} = linalg.matmul ins({left}, {right} : {kind}, {kind}) outs(%f{name} : {kind}) -> {kind}
  %{name} = arith.maximumf %p{name}, %zero : {kind}"""


def module(*steps: str, result: str, kind: str = SQUARE) -> str:
    return f"""
func.func @main(%a: {kind}, %w: {kind}) -> {kind} {{
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : {kind}{"".join(steps)}
  return {result} : {kind}
}}"""


LAYERS = module(product("x", "%a", "%w"), product("y", "%x", "%w"), product("v", "%y", "%w"), result="%v")
RIGHT = module(product("x", "%a", "%w"), product("y", "%w", "%x"), product("v", "%w", "%y"), result="%v")
BOTH = module(product("x", "%a", "%w"), product("y", "%x", "%w"), product("v", "%y", "%x"), result="%v")
TURNED = module(
    product("x", "%a", "%w"),
    """
  %et = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x64xf32>) outs(%et : tensor<64x64xf32>) permutation = [1, 0]""",
    product("y", "%t", "%w"),
    result="%y",
)


def dispatches(artifact: bytes) -> list[tuple[str, int]]:
    """Return the dispatches of a program, each with the kernels whose work it does."""
    program = read_artifact(artifact).program
    words = [word for function in program.functions for block in function.blocks for word in block]
    found = [word for word in words if str(word[0]).startswith("dispatch")]
    return [(str(word[0]), len(program.kernels[int(str(word[1]))].members) or 1) for word in found]


def relu(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.maximum(left @ right, 0)


def compiled(text: str, profile: DeviceProfile = PLAIN) -> bytes:
    return OpenClCompiler().compile_bytes(text.encode(), "main.mlir", (), profile).artifact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LAYERS, [("dispatch_in_turn", 3)], id="rows of the left factor"),
        pytest.param(RIGHT, [("dispatch", 1)] * 3, id="all of the right factor"),
        pytest.param(BOTH, [("dispatch", 1)] * 3, id="the last takes all of the first"),
        pytest.param(TURNED, [("dispatch", 1)] * 2, id="transposed between"),
        pytest.param(LAYERS.replace("64x64", "256x256"), [("dispatch", 1)] * 3, id="large"),
        pytest.param(LAYERS.replace("64x64", "66x66"), [("dispatch", 1)] * 3, id="rows that no tile divides"),
    ],
)
def test_what_shares_a_launch_has_its_values(device: OpenClDevice, text: str, expected: list[tuple[str, int]]) -> None:
    artifact = compiled(text)
    assert dispatches(artifact) == expected
    size = int(text.partition("tensor<")[2].partition("x")[0])
    a, w = (np.random.default_rng(seed).integers(-2, 3, (size, size)).astype(np.float32) / 8 for seed in (1, 2))
    x = relu(a, w)
    wanted = {RIGHT: lambda: relu(w, relu(w, x)), BOTH: lambda: relu(relu(x, w), x), TURNED: lambda: relu(x.T, w)}.get(
        text, lambda: relu(relu(x, w), w)
    )()
    (found,) = call(device.load(artifact), "main", a, w)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_other_devices_launch_each_product() -> None:
    assert dispatches(compiled(LAYERS, shipped("pocl"))) == [("dispatch", 1)] * 3


def test_a_product_that_is_also_computed_alone_keeps_its_tiles() -> None:
    alone = module(product("x", "%a", "%w"), result="%x").replace("@main", "@alone")
    assert dispatches(compiled(LAYERS + alone)) == [("dispatch", 1)] * 4
