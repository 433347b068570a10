"""What benchmarks use: calls on arguments that stay on the device, times of the device, statistics of a program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from opencl_support import Compile, Load
from retarget.support.errors import RetargetError
from retarget_opencl.compile.compiler import OpenClCompiler

PRODUCT = """
func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %m = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%f : tensor<64x48xf32>)
    -> tensor<64x48xf32>
  %r = tensor.empty() : tensor<64xf32>
  %g = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce ins(%m : tensor<64x48xf32>) outs(%g : tensor<64xf32>) dimensions = [1]
    (%x: f32, %y: f32) { %z = arith.addf %x, %y : f32 linalg.yield %z : f32 }
  return %s : tensor<64xf32>
}
"""
COUNTER = """
util.global private mutable @count = dense<0> : tensor<1xi32>
func.func @next(%by: tensor<1xi32>) -> tensor<1xi32> {
  %c = util.global.load @count : tensor<1xi32>
  %n = arith.addi %c, %by : tensor<1xi32>
  util.global.store %n, @count : tensor<1xi32>
  return %n : tensor<1xi32>
}
"""
INPUTS = (np.ones((64, 32), np.float32), np.ones((32, 48), np.float32))


def test_a_bound_call_executes_the_function_each_time(load: Load) -> None:
    program = load(COUNTER)
    one = np.ones(1, np.int32)
    call = program.bind_call("next", (one,))
    for _ in range(3):
        call()
    assert program.call("next", (one,), print)[0].tolist() == [4]


def test_the_device_says_how_long_kernels_took_and_is_used_as_before_afterwards(load: Load) -> None:
    program = load(PRODUCT)
    before = program.dispatches
    found = program.device_seconds("product", INPUTS, 5, Path())
    assert len(found) == 5
    assert all(0 < one < 1 for one in found)
    each, left = divmod(program.dispatches - before, 6)  # a warm call before
    assert (left, each > 0) == (0, True)
    assert program.record_events(on=False) == []
    assert program.call("product", INPUTS, print)[0].tolist() == [32.0 * 48] * 64


def test_a_program_says_its_dispatches_and_the_memory_that_it_allocates(load: Load, compiled: Compile) -> None:
    program = load(PRODUCT)
    before = program.dispatches
    program.call("product", INPUTS, print)
    found = OpenClCompiler().program_statistics(compiled(PRODUCT), "")
    assert found.dispatches == program.dispatches - before
    assert found.transient >= 64 * 48 * 4


def test_bytes_that_are_no_artifact_have_no_statistics() -> None:
    with pytest.raises(RetargetError):
        OpenClCompiler().program_statistics(b"none", "")
