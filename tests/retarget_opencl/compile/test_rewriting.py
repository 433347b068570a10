"""What IREE's SPIR-V does not express: compiled by a second try, and right on the device."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from opencl_support import Load, call
from retarget_opencl.compile.rewriting import may_help, plain_tiling, without_subgroups

FUNCTIONS = """
func.func @functions(%a: tensor<5xf64>, %b: tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
  %e = math.exp %a : tensor<5xf64>
  %l = math.log %b : tensor<5xf64>
  %s = arith.addf %e, %l : tensor<5xf64>
  %p = math.powf %b, %a : tensor<5xf64>
  return %s, %p : tensor<5xf64>, tensor<5xf64>
}
func.func @softmax(%a: tensor<3x7xf64>) -> tensor<3x7xf64> {
  %room = tensor.empty() : tensor<3x7xf64>
  %r = linalg.softmax dimension(1) ins(%a : tensor<3x7xf64>) outs(%room : tensor<3x7xf64>) -> tensor<3x7xf64>
  return %r : tensor<3x7xf64>
}
func.func @conversions(%i: tensor<6xi32>, %q: tensor<6xf16>) -> (tensor<6xbf16>, tensor<6xf16>) {
  %b = arith.sitofp %i : tensor<6xi32> to tensor<6xbf16>
  %e = arith.truncf %q : tensor<6xf16> to tensor<6xf8E5M2>
  %hidden = util.optimization_barrier %e : tensor<6xf8E5M2>
  %h = arith.extf %hidden : tensor<6xf8E5M2> to tensor<6xf16>
  return %b, %h : tensor<6xbf16>, tensor<6xf16>
}
"""


@pytest.mark.slow
def test_functions_of_f64_and_conversions_of_small_floats_are_computed(load: Load) -> None:
    program = load(FUNCTIONS)
    a, b = np.array([-700.0, -1.0, 0.0, 0.5, 700.0]), np.array([0.5, 0.1, 1.0, 2.0, 1.5])
    total, power = call(program, "functions", a, b)
    np.testing.assert_allclose(total, np.exp(a) + np.log(b), rtol=1e-14)
    np.testing.assert_allclose(power, np.power(b, a), rtol=1e-13)
    rows = np.random.default_rng(0).normal(0, 50, (3, 7))
    (shares,) = call(program, "softmax", rows)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    np.testing.assert_allclose(shares, powers / powers.sum(1, keepdims=True), rtol=1e-13)
    integers, halves = (
        np.array([0, 1, -257, 258, 65281, -(2**31)], np.int32),
        np.float16([0, 1.1, -3.9, 300, 1e-5, 5e4]),
    )
    converted, through = call(program, "conversions", integers, halves)
    np.testing.assert_array_equal(converted, integers.astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(through, halves.astype(ml_dtypes.float8_e5m2).astype(np.float16))


@pytest.mark.sampled(1, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "result"), [("i8", "i32"), ("i16", "i32"), ("i8", "i64")])
def test_elements_that_are_loaded_as_words_keep_their_signs(load: Load, kind: str, result: str) -> None:
    source, target = f"tensor<64x64x{kind}>", f"tensor<64x64x{result}>"
    module = f"""
func.func @product(%a: {source}, %b: {source}) -> {target} {{
  %zero = arith.constant 0 : {result}
  %room = tensor.empty() : {target}
  %init = linalg.fill ins(%zero : {result}) outs(%room : {target}) -> {target}
  %r = linalg.matmul ins(%a, %b : {source}, {source}) outs(%init : {target}) -> {target}
  return %r : {target}
}}
func.func @rounded(%i: tensor<6xi32>) -> tensor<6xbf16> {{
  %b = arith.sitofp %i : tensor<6xi32> to tensor<6xbf16>
  return %b : tensor<6xbf16>
}}"""
    element = np.dtype(f"int{kind[1:]}")
    a, b = (np.random.default_rng(seed).integers(-128, 128, (64, 64)).astype(element) for seed in (1, 2))
    program = load(module)
    np.testing.assert_array_equal(call(program, "product", a, b)[0], a.astype(np.int64) @ b.astype(np.int64))
    # Of one module, one kernel is compiled again for its signs and another one for bf16.
    numbers = np.array([0, 1, -257, 258, 65281, -3], np.int32)
    np.testing.assert_array_equal(call(program, "rounded", numbers)[0], numbers.astype(ml_dtypes.bfloat16))


PACKS = """
func.func @pack(%x: tensor<13x10xf32>) -> tensor<2x3x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<2x3x8x4xf32>
  %t = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %room
    : tensor<13x10xf32> -> tensor<2x3x8x4xf32>
  return %t : tensor<2x3x8x4xf32>
}
func.func @unpack(%x: tensor<2x3x8x4xf32>) -> tensor<13x10xf32> {
  %room = tensor.empty() : tensor<13x10xf32>
  %t = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %room
    : tensor<2x3x8x4xf32> -> tensor<13x10xf32>
  return %t : tensor<13x10xf32>
}
"""


@pytest.mark.slow
def test_packs_that_iree_does_not_tile_are_padding_and_transposition(load: Load) -> None:
    program, numbers = load(PACKS), np.arange(130, dtype=np.float32).reshape(13, 10)
    packed = np.pad(numbers, ((0, 3), (0, 2))).reshape(2, 8, 3, 4).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(call(program, "pack", numbers)[0], packed)
    np.testing.assert_array_equal(call(program, "unpack", np.ascontiguousarray(packed))[0], numbers)


@pytest.mark.parametrize(
    ("diagnostics", "expected"),
    [
        ("error: 'spirv.GL.Exp' op operand #0 must be 16/32-bit float", True),
        ("error: 'spirv.Bitcast' op mismatch in result type bitwidth 16 and operand type bitwidth 32", True),
        ("error: failed to legalize operation 'vector.bitcast': %254", True),
        ("error: failed to legalize operation 'math.erf': %66", True),
        ("error: failed to legalize operation 'vector.transfer_write'", False),
        ("error: custom op 'nonsense' is unknown", False),
    ],
)
def test_a_second_try_is_made_for_what_it_mends(*, diagnostics: str, expected: bool) -> None:
    assert may_help(diagnostics) == expected


def test_vectors_of_bf16_are_avoided_by_an_architecture_that_iree_does_not_know() -> None:
    subgroups = "wgp = <…, subgroup = shuffle|arithmetic, subgroup_size_choices = [32], …>"
    flag = f'--iree-hal-target-device=opencl=#hal.device.target<… #iree_gpu.target<arch = "sm_80", …, {subgroups}>'
    assert plain_tiling(flag) == flag.replace("sm_80", "generic")
    assert without_subgroups(flag) == flag.replace("shuffle|arithmetic", "none")
