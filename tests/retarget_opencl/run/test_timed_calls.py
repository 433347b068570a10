"""Calls on arguments that stay on the device, times of the device, statistics of a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from opencl_support import Compile, Load
from retarget.extension import DriverError
from retarget.support import RetargetError
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.run.program import OpenClProgram

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
SMALL = """
util.global private mutable @count = dense<0> : tensor<1xi32>
util.global private mutable @total = dense<1.0> : tensor<524288xf32>
func.func @next(%by: tensor<1xi32>) -> tensor<1xi32> {
  %c = util.global.load @count : tensor<1xi32>
  %n = arith.addi %c, %by : tensor<1xi32>
  util.global.store %n, @count : tensor<1xi32>
  return %n : tensor<1xi32>
}
func.func @step() {
  %t = util.global.load @total : tensor<524288xf32>
  %s = math.exp %t : tensor<524288xf32>
  util.global.store %s, @total : tensor<524288xf32>
  return
}
func.func @divided(%n: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %r = arith.divsi %c7, %n : i32
  return %r : i32
}
"""
INPUTS = (np.ones((64, 32), np.float32), np.ones((32, 48), np.float32))
ONE = np.ones(1, np.int32)


@pytest.fixture(scope="module")
def small(load: Load) -> OpenClProgram:
    return load(SMALL)


def test_a_bound_call_executes_the_function_each_time(small: OpenClProgram) -> None:
    call = small.bind_call("next", (ONE,))
    before = small.call("next", (ONE,), print)[0]
    for _ in range(3):
        call()
    assert small.call("next", (ONE,), print)[0].tolist() == (before + 4).tolist()


def test_the_device_says_how_long_kernels_took_and_is_used_as_before_afterwards(load: Load) -> None:
    program = load(PRODUCT)
    before = program.dispatches
    found = program.device_seconds("product", INPUTS, 5, Path())
    assert len(found) == 5
    assert all(0 < one < 1 for one in found)
    each, left = divmod(program.dispatches - before, 6)  # a warm call before
    assert (left, each > 0) == (0, True)
    assert program.call("product", INPUTS, print)[0].tolist() == [32.0 * 48] * 64


def test_a_device_that_fails_at_the_end_of_timing_has_its_own_queue_again(
    small: OpenClProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, plain = small._commands, small._commands.pool.queue

    def fail() -> None:
        raise OSError

    timing = commands.profiled()
    timing.__enter__()
    assert commands.pool.queue is not plain
    monkeypatch.setattr(commands, "finish", fail)
    with pytest.raises(OSError):  # noqa: PT011 - the device's, whatever it says
        timing.__exit__(None, None, None)
    assert (commands.pool.queue is plain, commands.events) == (True, None)


def test_a_call_without_results_returns_once_its_work_is_done(small: OpenClProgram) -> None:
    with small._commands.profiled() as events:
        small.call("step", (), print)
        assert events
        assert all(event.command_execution_status == 0 for _, event in events)  # CL_COMPLETE


def test_errors_of_timed_calls_name_the_function_and_the_device(
    small: OpenClProgram, device: OpenClDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = device.infos[0].name

    def fails(attempt: Callable[[], object]) -> str:
        with pytest.raises(DriverError) as caught:
            attempt()
        return str(caught.value)

    def runs_out(*words: object) -> None:
        raise MemoryError

    divide = small.bind_call("divided", (np.zeros(1, np.int32),))
    assert fails(divide) == f"the host program divides an integer by zero\ncalling divided on {name}"
    found = f"the host is out of memory\ncalling next on {name}"
    monkeypatch.setattr(Commands, "profiled", runs_out)
    assert fails(lambda: small.device_seconds("next", (ONE,), 1, Path())) == found
    monkeypatch.setattr(Commands, "to_device", runs_out)
    assert fails(lambda: small.bind_call("next", (ONE,))) == found


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
