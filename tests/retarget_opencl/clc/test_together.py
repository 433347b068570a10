"""Kernels that share a launch where none depends on another."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text, shipped
from retarget_opencl.artifact.file import KernelSource, OpenClArtifact, read_artifact, write_artifact
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.clc.source import can_share
from retarget_opencl.run.device import OpenClDevice

PLAIN = replace(shipped("nvidia-sm80"), subgroups="none", matrices="none", dot="none")
"""Code for NVIDIA's architectures that every device runs."""

TRANSPOSITIONS = """
func.func @main(%a: tensor<?x64xf32>, %b: tensor<96x?xf32>) -> (tensor<64x?xf32>, tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x64xf32>
  %n = tensor.dim %b, %c1 : tensor<96x?xf32>
  %e = tensor.empty(%m) : tensor<64x?xf32>
  %f = tensor.empty(%n) : tensor<?x96xf32>
  %x = linalg.transpose ins(%a : tensor<?x64xf32>) outs(%e : tensor<64x?xf32>) permutation = [1, 0]
  %y = linalg.transpose ins(%b : tensor<96x?xf32>) outs(%f : tensor<?x96xf32>) permutation = [1, 0]
  return %x, %y : tensor<64x?xf32>, tensor<?x96xf32>
}
"""


def kernel(name: str, *lines: str, size: tuple[int, int, int] = (8, 4, 1), constants: int = 1) -> KernelText:
    parameters = ["__global uchar* restrict binding0_base", "const ulong binding0_offset"]
    return KernelText(
        name=name,
        parameters=(*parameters, *(f"const uint constant{number}" for number in range(constants))),
        lines=lines,
        bindings=(0,),
        constants=tuple(range(constants)),
        workgroup_size=size,
        comment=f"of {name}",
    )


@cache
def compiled(text: str) -> OpenClArtifact:
    return read_artifact(compile_text(text, PLAIN, "main.mlir"))


def instructions(artifact: OpenClArtifact) -> list[str]:
    words = [word for function in artifact.program.functions for block in function.blocks for word in block]
    return [str(word[0]) for word in words if str(word[0]).startswith("dispatch")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sizes", [(8, 96), (33, 1), (0, 5), (5, 0), (0, 0)])
def test_dispatches_that_do_not_depend_on_each_other_are_one_launch_and_its_kernel_alone_is_built(
    device: OpenClDevice, sizes: tuple[int, int]
) -> None:
    artifact = compiled(TRANSPOSITIONS)
    assert instructions(artifact) == ["dispatch"]
    assert (len(artifact.sources), artifact.program.launched) == (3, {2})
    broken = KernelSource(prelude="", text="this is not OpenCL C")
    program = device.load(write_artifact(replace(artifact, sources=(broken, broken, artifact.sources[2]))))
    a, b = (np.random.default_rng(1).random(shape, np.float32) for shape in ((sizes[0], 64), (96, sizes[1])))
    before = program.dispatches
    x, y = call(program, "main", a, b)
    assert program.dispatches - before == int(sizes != (0, 0))
    np.testing.assert_array_equal(x, a.T)
    np.testing.assert_array_equal(y, b.T)


def test_other_devices_get_each_dispatch_by_itself() -> None:
    artifact = compile_text(TRANSPOSITIONS, shipped("pocl"), "main.mlir")
    assert instructions(read_artifact(artifact)) == ["dispatch", "dispatch"]


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        pytest.param([kernel("a"), kernel("b", size=(32, 1, 1))], True, id="as many work-items"),
        pytest.param([kernel("a"), kernel("b", "barrier(CLK_GLOBAL_MEM_FENCE);")], True, id="barrier"),
        pytest.param([kernel("a"), kernel("b", size=(64, 1, 1))], False, id="more work-items"),
        pytest.param([kernel("a"), kernel("b", "__local float v[4];")], False, id="local memory"),
        pytest.param([kernel("a"), kernel("b", "v = get_global_id(0);")], False, id="an id of the whole launch"),
        pytest.param([kernel("a"), kernel("b", constants=241)], True, id="1024 bytes of parameters"),
        pytest.param([kernel("a"), kernel("b", constants=242)], False, id="1028 bytes of parameters"),
    ],
)
def test_what_can_share_a_launch(kernels: list[KernelText], *, expected: bool) -> None:
    assert can_share(kernels) == expected
