"""Attention, which IREE's SPIR-V does not compile as one kernel."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import call, compile_text, find_or_skip, shipped
from retarget_opencl.artifact.file import OpenClArtifact, read_artifact
from retarget_opencl.device.profile import DeviceProfile, compile_profile
from retarget_opencl.run.device import OpenClDevice

MODULE = """
func.func @main(%q: QUERIES, %k: KEYS, %v: KEYS) -> QUERIES {
  %none = torch.constant.none
  %drop = torch.constant.float 0.0
  %causal = torch.constant.bool CAUSAL
  %false = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %drop, %causal, %none, %false :
    QUERIES, KEYS, KEYS, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> QUERIES
  return %r : QUERIES
}
"""


MASKED = """
func.func @main(%q: !torch.vtensor<[2,130,16],ELEMENT>, %k: !torch.vtensor<[2,130,16],ELEMENT>,
    %v: !torch.vtensor<[2,130,16],ELEMENT>, %mask: !torch.vtensor<[2,130,130],MASK>)
    -> !torch.vtensor<[2,130,16],ELEMENT> {
  %none = torch.constant.none
  %drop = torch.constant.float 0.0
  %false = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %mask, %drop, %false, %none, %false :
    !torch.vtensor<[2,130,16],ELEMENT>, !torch.vtensor<[2,130,16],ELEMENT>, !torch.vtensor<[2,130,16],ELEMENT>,
    !torch.vtensor<[2,130,130],MASK>, !torch.float, !torch.bool, !torch.none, !torch.bool
    -> !torch.vtensor<[2,130,16],ELEMENT>
  return %r : !torch.vtensor<[2,130,16],ELEMENT>
}
"""


@pytest.mark.sampled(2, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize("uri", ["opencl://pocl/0", "opencl://intel/0"])
@pytest.mark.parametrize(
    ("element", "mask", "tolerance"), [("f32", "i1", 1e-5), ("f16", "f16", 2e-3), ("bf16", "bf16", 2e-2)]
)
def test_rows_of_which_the_first_keys_are_masked(
    tmp_path: Path, uri: str, element: str, mask: str, tolerance: float
) -> None:
    """As with sequences that are padded on the left. A row without keys is NaN, as with IREE's llvm-cpu."""
    device = OpenClDevice(find_or_skip(uri), cache=tmp_path)
    text = MASKED.replace("ELEMENT", element).replace("MASK", mask)
    profile = compile_profile(device.profile)
    artifact = compile_text(text, profile, "main.mlir")
    dtype = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}[element]
    q, k, v = (np.random.default_rng(seed).normal(size=(2, 130, 16)).astype(dtype) for seed in range(3))
    keys = np.arange(130)
    keep = np.broadcast_to(keys >= keys[:, None], (2, 130, 130)).copy()
    keep[1, 7] = False
    added = np.where(keep, 0, -np.inf)
    (result,) = call(device.load(artifact), "main", q, k, v, keep if mask == "i1" else added.astype(dtype))
    device.close()
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / 4 + added
    scores[1, 7] = np.nan
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(result.astype(np.float64), expected, atol=tolerance)


# ---------------------------------------------------------------- one kernel, on matrix units

NVIDIA = shipped("nvidia-sm80")


def compiled_for_units(text: str, profile: DeviceProfile = NVIDIA) -> OpenClArtifact:
    return read_artifact(compile_text(text, profile, "main.mlir"))


def usual(queries: str, keys: str, element: str = "f16") -> str:
    text = MODULE.replace("QUERIES", f"!torch.vtensor<[{queries}],{element}>")
    return text.replace("KEYS", f"!torch.vtensor<[{keys}],{element}>").replace("CAUSAL", "false")


def test_attention_that_fits_is_one_kernel_without_scores_in_memory() -> None:
    artifact = compiled_for_units(usual("2,3,128,64", "2,3,192,64"))
    (kernel,) = artifact.program.kernels
    assert (kernel.workgroup_size, kernel.bindings, kernel.constants) == ((128, 1, 1), (0, 1, 2, 3), ())
    words = [word for function in artifact.program.functions for block in function.blocks for word in block]
    assert [word[0] for word in words if str(word[0]) in {"allocate", "dispatch"}] == ["allocate", "dispatch"]
    counter = artifact.program.functions[kernel.groups]
    assert [constant.value for constant in counter.constants] == [2, 6, 1]
    assert "opencl.subgroupSizes = 32" in artifact.needs
    assert "opencl.localMemSize >= 36864" in artifact.needs


def causal(heads: str) -> str:
    return usual(heads, heads).replace("%causal = torch.constant.bool false", "%causal = torch.constant.bool true")


@pytest.mark.sampled(3, slow=3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "profile"),
    [
        pytest.param(usual("2,2,100,64", "2,2,128,64"), NVIDIA, id="queries that no tile divides"),
        pytest.param(usual("2,2,128,64", "2,2,100,64"), NVIDIA, id="keys that no block divides"),
        pytest.param(usual("2,2,128,40", "2,2,128,40"), NVIDIA, id="a width that no tile divides"),
        pytest.param(usual("2,2,128,256", "2,2,128,256"), NVIDIA, id="too wide"),
        pytest.param(usual("2,2,128,64", "2,2,128,64", "f32"), NVIDIA, id="f32"),
        pytest.param(usual("2,2,?,64", "2,2,128,64"), NVIDIA, id="dynamic"),
        pytest.param(causal("2,2,128,64"), NVIDIA, id="a mask"),
        pytest.param(causal("2,2,48,64"), NVIDIA, id="a mask, and sizes without tiles of ours"),
        pytest.param(usual("2,2,128,64", "2,2,128,64"), replace(NVIDIA, matrices="none"), id="no matrix units"),
        pytest.param(usual("2,2,128,64", "2,2,128,64"), replace(NVIDIA, subgroups="none"), id="no subgroups"),
    ],
)
def test_other_attention_is_taken_apart(text: str, profile: DeviceProfile) -> None:
    assert len(compiled_for_units(text, profile).program.kernels) > 1


FAILS_ON_UNITS = """
func.func @masked(%q: tensor<8x128x64xf16>, %k: tensor<8x128x64xf16>) -> tensor<8x128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %never = arith.constant 0xFF800000 : f32
  %room = tensor.empty() : tensor<8x128x128xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%room : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
      affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x128x64xf16>, tensor<8x128x64xf16>) outs(%filled : tensor<8x128x128xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %c, %sum : f32
    linalg.yield %d : f32
  } -> tensor<8x128x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<8x128x128xf32>) outs(%room : tensor<8x128x128xf32>) {
  ^bb0(%x: f32, %unused: f32):
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %keep = arith.cmpi sge, %m, %n : index
    %y = arith.select %keep, %x, %never : f32
    linalg.yield %y : f32
  } -> tensor<8x128x128xf32>
  return %r : tensor<8x128x128xf32>
}
"""
OF_A_SLICE = """
func.func @slice(%q: !torch.vtensor<[2,64,32],f16>, %all: !torch.vtensor<[2,192,32],f16>)
    -> !torch.vtensor<[2,64,32],f16> {
  %none = torch.constant.none
  %drop = torch.constant.float 0.0
  %false = torch.constant.bool false
  %one = torch.constant.int 1
  %first = torch.constant.int 32
  %last = torch.constant.int 96
  %k = torch.aten.slice.Tensor %all, %one, %first, %last, %one :
    !torch.vtensor<[2,192,32],f16>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,64,32],f16>
  %r = torch.aten.scaled_dot_product_attention %q, %k, %k, %none, %drop, %false, %none, %false :
    !torch.vtensor<[2,64,32],f16>, !torch.vtensor<[2,64,32],f16>, !torch.vtensor<[2,64,32],f16>,
    !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,64,32],f16>
  return %r : !torch.vtensor<[2,64,32],f16>
}
"""


@pytest.mark.sampled(1, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "kernels"),
    [
        pytest.param(FAILS_ON_UNITS, ["masked"], id="a product that compiles without matrix units only"),
        pytest.param(
            usual("2,2,100,64", "2,2,100,64").replace("@main", "@odd"), ["odd"] * 3, id="sizes that do not fit"
        ),
        pytest.param(OF_A_SLICE, ["slice"] * 3, id="keys that are read where they are in a larger tensor"),
    ],
)
def test_what_is_besides_attention_does_not_take_it_apart(other: str, kernels: list[str]) -> None:
    found = compiled_for_units(usual("2,3,128,64", "2,3,192,64") + other).program.kernels
    assert [kernel.name.partition("_")[0] for kernel in found] == ["main", *kernels]
    assert found[0].workgroup_size == (128, 1, 1)
