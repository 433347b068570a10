"""Implementations side by side: suites' modules compiled for each and run on it. They run all suites with
`pytest suites -m opencl`; here is a sample, of what only one of them has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text, find_or_skip
from retarget.arrays.comparison import compare_check
from retarget.extension import Check, DriverError
from retarget_opencl.artifact.file import read_artifact, write_artifact
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice

SUITES = Path(__file__).parents[3] / "suites"

ROWS_AND_PRODUCT = """
#rhs = affine_map<(c, y, x, k) -> (k, y, x)>
#lhs = affine_map<(c, y, x, k) -> (c, k)>
#out = affine_map<(c, y, x, k) -> (c, y, x)>
func.func @rows(%x: tensor<24x1024xf32>) -> tensor<24xf32> {
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<24xf32>) -> tensor<24xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<24x1024xf32>) outs(%init : tensor<24xf32>) dimensions = [1]
  return %sums : tensor<24xf32>
}
func.func @product(%w: tensor<24x8xf32>, %x: tensor<8x12x96xf32>) -> tensor<24x12x96xf32> {
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<24x12x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<24x12x96xf32>) -> tensor<24x12x96xf32>
  %product = linalg.generic {indexing_maps = [#rhs, #lhs, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x12x96xf32>, tensor<24x8xf32>) outs(%init : tensor<24x12x96xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x12x96xf32>
  return %product : tensor<24x12x96xf32>
}
"""
"""Compiled for Intel's runtime, the sums use subgroups of 16 and the product none: it runs in subgroups of 64."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "half", "subgroups"), [("pocl", "emulated", "none"), ("intel", "native", "khr")], ids=["pocl", "intel"]
)
def test_modules_pass_with_what_an_implementation_offers(name: str, half: str, subgroups: str, tmp_path: Path) -> None:
    device = OpenClDevice(find_or_skip(f"opencl://{name}/0"), cache=tmp_path)
    profile = compile_profile(device.profile)
    assert (profile.half, profile.subgroups) == (half, subgroups)
    used = set()
    for module in ("float16/reduce", "linalg/layer-norm"):
        source = (SUITES / f"{module}.mlir").read_bytes()
        artifact = compile_text(source, profile)
        program = device.load(artifact)
        checks: list[Check] = []
        for function in program.functions:
            program.call(function.name, (), checks.append)
        assert checks
        assert [compare_check(check) for check in checks] == [None] * len(checks)
        used |= {word for word in ("cl_khr_fp16", "sub_group_shuffle_xor") if word.encode() in artifact}
    assert used == ({"cl_khr_fp16", "sub_group_shuffle_xor"} if name == "intel" else set())
    if subgroups == "khr":
        narrow = replace(read_artifact(artifact), profile=replace(profile, subgroup_size=8))
        expected = r" in subgroups of 16; the artifact was compiled for subgroups of 8$"
        with pytest.raises(DriverError, match=expected):
            device.load(write_artifact(narrow))
    device.close()


@pytest.mark.slow
def test_a_kernel_without_subgroups_runs_in_subgroups_of_any_size(tmp_path: Path) -> None:
    device = OpenClDevice(find_or_skip("opencl://intel/0"), cache=tmp_path)
    profile = compile_profile(device.profile)
    artifact = compile_text(ROWS_AND_PRODUCT, profile)
    assert [source.uses_subgroups for source in read_artifact(artifact).sources] == [True, False]
    program = device.load(artifact)
    w, x = np.ones((24, 8), np.float32), np.arange(8 * 12 * 96, dtype=np.float32).reshape(8, 12, 96)
    (product,) = call(program, "product", w, x)
    np.testing.assert_array_equal(product, np.broadcast_to(x.sum(axis=0), (24, 12, 96)))
    (sums,) = call(program, "rows", np.ones((24, 1024), np.float32))
    np.testing.assert_array_equal(sums, np.full(24, 1024, np.float32))
    device.close()
