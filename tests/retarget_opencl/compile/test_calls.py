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

FROM_SEVERAL_OPS = """
func.func private @twice(%x: f32) -> f32 attributes {noinline} {
  %r = arith.addf %x, %x : f32
  return %r : f32
}
func.func private @above(%x: f32, %y: f32) -> i1 attributes {noinline} {
  %z = func.call @twice(%y) : (f32) -> f32
  %r = arith.cmpf ogt, %x, %z : f32
  return %r : i1
}
func.func private @all_twice(%x: tensor<5xf32>) -> tensor<5xf32> attributes {noinline} {
  %room = tensor.empty() : tensor<5xf32>
  %r = linalg.map ins(%x : tensor<5xf32>) outs(%room : tensor<5xf32>) (%e: f32, %unused: f32) {
    %s = func.call @twice(%e) : (f32) -> f32
    linalg.yield %s : f32
  }
  return %r : tensor<5xf32>
}
func.func @sorted(%a: tensor<5xf32>) -> tensor<5xf32> {
  %r = iree_linalg_ext.sort dimension(0) outs(%a : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = func.call @above(%x, %y) : (f32, f32) -> i1
    iree_linalg_ext.yield %s : i1
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
func.func @dispatched(%a: tensor<5xf32>) -> tensor<5xf32> {
  %r = flow.dispatch.region -> (tensor<5xf32>) {
    %s = func.call @all_twice(%a) : (tensor<5xf32>) -> tensor<5xf32>
    flow.return %s : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}
func.func @looped(%a: tensor<5xf32>, %n: index, %start: f32) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %positive = func.call @above(%start, %zero) : (f32, f32) -> i1
  %last, %scale = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %s = %start) -> (tensor<5xf32>, f32) {
    %q = scf.if %positive -> tensor<5xf32> {
      %t = func.call @all_twice(%p) : (tensor<5xf32>) -> tensor<5xf32>
      scf.yield %t : tensor<5xf32>
    } else {
      scf.yield %p : tensor<5xf32>
    }
    %u = func.call @twice(%s) : (f32) -> f32
    scf.yield %q, %u : tensor<5xf32>, f32
  }
  %room = tensor.empty() : tensor<5xf32>
  %r = linalg.map ins(%last : tensor<5xf32>) outs(%room : tensor<5xf32>) (%e: f32, %unused: f32) {
    %c = func.call @above(%e, %scale) : (f32, f32) -> i1
    %s = scf.if %c -> f32 {
      %t = func.call @twice(%e) : (f32) -> f32
      scf.yield %t : f32
    } else {
      scf.yield %e : f32
    }
    linalg.yield %s : f32
  }
  return %r : tensor<5xf32>
}
"""

NOT_TO_BE_INLINED = """
func.func private @f(%x: f32) -> f32 BODY
func.func @main(%a: tensor<5xf32>) -> tensor<5xf32> {
  %room = tensor.empty() : tensor<5xf32>
  %r = linalg.map ins(%a : tensor<5xf32>) outs(%room : tensor<5xf32>) (%e: f32, %unused: f32) {
    %s = func.call @f(%e) : (f32) -> f32
    linalg.yield %s : f32
  }
  return %r : tensor<5xf32>
}
"""
TWO_BLOCKS = """{
  %zero = arith.constant 0.0 : f32
  %c = arith.cmpf ogt, %x, %zero : f32
  cf.cond_br %c, ^positive, ^negative
^positive:
  %r = arith.addf %x, %x : f32
  return %r : f32
^negative:
  return %x : f32
}"""

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


@pytest.mark.slow
def test_functions_that_several_ops_and_the_host_program_call(load: Load) -> None:
    program, values = load(FROM_SEVERAL_OPS), np.float32([1, -1.5, 8, 2.5, 40])
    np.testing.assert_array_equal(call(program, "sorted", values)[0], [40, 8, 2.5, 1, -1.5])
    np.testing.assert_array_equal(call(program, "dispatched", values)[0], values * 2)
    np.testing.assert_array_equal(call(program, "looped", values, 2, 1.5)[0], [4, -6, 64, 10, 320])
    np.testing.assert_array_equal(call(program, "looped", values, 1, -1.5)[0], values * 2)


@pytest.mark.parametrize(("body", "has"), [("", "no body"), (TWO_BLOCKS, "several blocks")])
def test_a_function_that_cannot_become_a_part_of_an_op_is_an_error(compiled: Compile, body: str, has: str) -> None:
    expected = rf"^no OpenCL C rule for a call of f, which has {has}, in linalg\.\w+ at loc\("
    with pytest.raises(CompilerError, match=expected) as caught:
        compiled(NOT_TO_BE_INLINED.replace("BODY", body))
    assert caught.value.verdict


def test_recursion_is_an_error_that_names_the_functions_and_where_they_are(compiled: Compile) -> None:
    expected = r"^no OpenCL C rule for recursion: (even calls odd calls even|odd calls even calls odd) at loc\("
    with pytest.raises(CompilerError, match=expected) as caught:
        compiled(RECURSIVE)
    assert re.search(r'test\.mlir":(2|15):1', str(caught.value))
    assert caught.value.verdict
