"""Calls that kernels make are inlined, also of functions that say that they must not be; recursion is an error."""

from __future__ import annotations

import re

import numpy as np
import pytest
from opencl_support import Compile, Load, call
from retarget.extension import CompilerError

FROM_A_KERNEL = """
func.func private @twice(%x: f32) -> f32 attributes {noinline} {
  %two = arith.constant 2.0 : f32
  %r = arith.mulf %x, %two : f32
  return %r : f32
}
func.func private @scale(%x: f32) -> f32 attributes {noinline} {
  %r = func.call @twice(%x) : (f32) -> f32
  return %r : f32
}
func.func @main(%a: tensor<5xf32>) -> tensor<5xf32> {
  %room = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<5xf32>) outs(%room : tensor<5xf32>) {
  ^bb0(%x: f32, %unused: f32):
    %s = func.call @scale(%x) : (f32) -> f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
"""

RECURSIVE = """
util.func private @even(%n: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %stop = arith.cmpi sle, %n, %zero : i32
  %r = scf.if %stop -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %m = arith.subi %n, %one : i32
    %y = util.call @odd(%m, %x) : (i32, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  util.return %r : tensor<4xf32>
}
util.func private @odd(%n: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  %r = util.call @even(%n, %y) : (i32, tensor<4xf32>) -> tensor<4xf32>
  util.return %r : tensor<4xf32>
}
func.func @main(%n: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = util.call @even(%n, %x) : (i32, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_a_function_that_a_kernel_calls_is_inlined_whatever_it_says(load: Load) -> None:
    values = np.float32([-1.5, 0, 1, 2, 3e30])
    (result,) = call(load(FROM_A_KERNEL), "main", values)
    np.testing.assert_array_equal(result, values * np.float32(2))


def test_recursion_is_an_error_that_names_the_functions_and_where_they_are(compiled: Compile) -> None:
    expected = r"^no OpenCL C rule for recursion: (even calls odd calls even|odd calls even calls odd) at loc\("
    with pytest.raises(CompilerError, match=expected) as caught:
        compiled(RECURSIVE)
    assert re.search(r'test\.mlir":(2|15):1', str(caught.value))
    assert caught.value.verdict
