"""Loading and calling on the device: arguments, state, checks, errors, host cost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace
from opencl_support import Compile, Load, call, compile_text, skip_on_oclgrind
from retarget.extension import Check, DriverError
from retarget_opencl.artifact.file import KernelSource, read_artifact, write_artifact
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.run.program import OpenClProgram

ADD = """
func.func @add(%a: tensor<?x4xf32>, %n: i32) -> (tensor<?x4xf32>, i32) {
  %0 = arith.addf %a, %a : tensor<?x4xf32>
  %c1 = arith.constant 1 : i32
  %m = arith.addi %n, %c1 : i32
  return %0, %m : tensor<?x4xf32>, i32
}
func.func @same(%n: i32) -> i32 {
  return %n : i32
}
"""

STATE = """
util.global private mutable @total = dense<1.0> : tensor<4xf32>
func.func @accumulate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = util.global.load @total : tensor<4xf32>
  %s = arith.addf %t, %x : tensor<4xf32>
  util.global.store %s, @total : tensor<4xf32>
  return %s : tensor<4xf32>
}
"""

CHECKS = """
func.func @checks() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const(%a, dense<[1.0, 2.5]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_almost_eq_const(%a, dense<[1.0, 2.0]> : tensor<2xf32>, atol 0.5, rtol 0.25) : tensor<2xf32>
  return
}
"""

ASSERTS = """
func.func @guarded(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %ok = arith.cmpi sgt, %n, %c0 : i32
  cf.assert %ok, "n must be positive"
  return %n : i32
}
func.func @divided(%n: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %r = arith.divsi %c7, %n : i32
  return %r : i32
}
"""

CHAIN = """
func.func @chain(%a: tensor<64xf32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<64xf32> : i32 {
    %y = arith.addf %x, %a : tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
"""


@pytest.fixture(scope="module")
def add(load: Load) -> OpenClProgram:
    return load(ADD)


def test_arrays_and_scalars_go_in_and_come_out(add: OpenClProgram) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    doubled, following = call(add, "add", array, np.int32(41))
    np.testing.assert_array_equal(doubled, array * 2)
    assert following.dtype == np.int32
    assert following == 42


def test_an_array_need_not_be_contiguous(add: OpenClProgram) -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6).T[::2][:, :4]
    (doubled, _) = call(add, "add", array, np.int32(0))
    np.testing.assert_array_equal(doubled, array * 2)


def test_an_array_may_be_empty(add: OpenClProgram) -> None:
    (doubled, _) = call(add, "add", np.zeros((0, 4), np.float32), np.int32(0))
    assert doubled.shape == (0, 4)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([np.zeros((2, 4)), np.int32(0)], "input0: expected elements of type f32, found f64"),
        ([np.zeros((2, 5), np.float32), np.int32(0)], "input0: expected shape 2x4, found 2x5"),
        ([np.zeros(3, np.float32), np.int32(0)], "input0: expected shape 3x4, found 3"),
        (
            [np.zeros((2, 4), np.float32), np.zeros(2, np.int32)],
            "add: argument 1 is a scalar of type i32, found an array of shape (2,)",
        ),
        ([np.zeros((2, 4), "U1"), np.int32(0)], "arrays of <U1 have no tensor element type"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_it(
    add: OpenClProgram, inputs: list[npt.NDArray[np.generic]], message: str
) -> None:
    with pytest.raises(DriverError) as caught:
        call(add, "add", *inputs)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("declaration", ["sync func @guarded(%input0: i32) -> i32", ""])
def test_a_wrong_number_of_arguments_shows_the_declaration_if_there_is_one(
    device: OpenClDevice, compiled: Compile, declaration: str
) -> None:
    artifact = read_artifact(compiled(ASSERTS))
    exports = tuple(replace(one, declaration=declaration) for one in artifact.program.exports)
    loaded = device.load(write_artifact(replace(artifact, program=replace(artifact.program, exports=exports))))
    with pytest.raises(DriverError) as caught:
        call(loaded, "guarded")
    shown = f" ({declaration})" if declaration else ""
    assert str(caught.value) == f"guarded: expected 1 arguments, found 0{shown}"


def test_an_unknown_function_names_the_known_ones(add: OpenClProgram) -> None:
    with pytest.raises(DriverError, match=r"^there is no function 'sub'; the artifact's are: add, same$"):
        call(add, "sub")


def test_checks_are_handed_on_with_their_tolerances_and_the_call_goes_on(load: Load) -> None:
    seen: list[Check] = []
    load(CHECKS).call("checks", [], seen.append)
    assert [check.kind for check in seen] == ["eq", "almost_eq"]
    assert (seen[1].atol, seen[1].rtol) == (0.5, 0.25)
    np.testing.assert_array_equal(seen[0].actual, [1.0, 2.0])
    assert seen[0].expected is not None
    np.testing.assert_array_equal(seen[0].expected, [1.0, 2.5])


def test_a_failed_assertion_is_an_error_in_its_own_words(load: Load) -> None:
    program = load(ASSERTS)
    assert call(program, "guarded", np.int32(3))[0] == 3
    with pytest.raises(DriverError, match=r"^assertion failed: n must be positive$"):
        call(program, "guarded", np.int32(-3))
    with pytest.raises(DriverError, match=r"^the host program divides an integer by zero\ncalling divided on "):
        call(program, "divided", np.int32(0))


def test_a_function_that_only_takes_fences_is_called_without_them(device: OpenClDevice) -> None:
    flags, profile = ("--iree-execution-model=async-external",), compile_profile(device.profile)
    artifact = compile_text(STATE, profile, "test.mlir", flags)
    (total,) = call(device.load(artifact), "accumulate", np.ones(4, np.float32))
    np.testing.assert_array_equal(total, np.full(4, 2, np.float32))


EXECUTABLE = """
flow.executable private @NAME {
  flow.executable.export public @go workgroups(%n: index) -> (index, index, index) {
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%n)
    flow.return %x, %y, %z : index, index, index
  }
  builtin.module {
    func.func @go(%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xi32>>, %n: index,
        %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xi32>>) {
      %x = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0], sizes = [4], strides = [1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xi32>> -> tensor<4xi32>
      %room = tensor.empty() : tensor<4xi32>
      %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%x : tensor<4xi32>) outs(%room : tensor<4xi32>) {
      ^bb0(%a: i32, %unused: i32):
        %b = arith.OP %a, %a : i32
        linalg.yield %b : i32
      } -> tensor<4xi32>
      iree_tensor_ext.dispatch.tensor.store %y, %out, offsets = [0], sizes = [4], strides = [1]
        : tensor<4xi32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xi32>>
      return
    }
  }
}
"""
TWO_EXECUTABLES = f"""
{EXECUTABLE.replace("NAME", "first").replace("OP", "addi")}
{EXECUTABLE.replace("NAME", "second").replace("OP", "muli")}
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {{
  %n = arith.constant 4 : index
  %y = flow.dispatch @first::@go[%n](%x, %n) : (tensor<4xi32>, index) -> tensor<4xi32>
  %z = flow.dispatch @second::@go[%n](%y, %n) : (tensor<4xi32>, index) -> tensor<4xi32>
  return %z : tensor<4xi32>
}}
"""


@pytest.mark.slow
def test_kernels_of_one_name_in_two_executables_are_told_apart(load: Load) -> None:
    (result,) = call(load(TWO_EXECUTABLES), "main", np.int32([-3, -1, 0, 4]))
    np.testing.assert_array_equal(result, np.int32([36, 4, 0, 64]))


def test_what_an_artifact_needs_and_the_device_lacks_is_named_with_the_devices_value(
    device: OpenClDevice, compiled: Compile
) -> None:
    artifact = read_artifact(compiled(ADD))
    real, name = device.profile, device.profile.name
    less = {"opencl.fp64": False, "opencl.maxWorkItemSizes": (1, 1, 1), "opencl.localMemSize": 1024}
    try:
        device.profile = replace(
            real, capabilities=tuple(replace(one, value=less.get(one.name, one.value)) for one in real.capabilities)
        )
        needs = (
            "opencl.fp64",
            "opencl.localMemSize >= 2048",
            "opencl.maxWorkGroupSize >= 2",
            "opencl.subgroupSizes = 32",
        )
        with pytest.raises(DriverError) as caught:
            device.load(write_artifact(replace(artifact, needs=needs)))
    finally:
        device.profile = real
    sizes = sorted({kernel.workgroup_size for kernel in artifact.program.kernels})
    assert str(caught.value) == "; ".join(
        [
            f"the artifact was compiled for the architecture {artifact.profile.arch} and needs opencl.fp64 ({name} has "
            "opencl.fp64 = false)",
            f"opencl.localMemSize >= 2048 ({name} has opencl.localMemSize = 1024)",
            *(f"work-groups of {size} ({name} has opencl.maxWorkItemSizes = (1, 1, 1))" for size in sizes),
        ]
    )
    assert caught.value.hint == 'compile for this device: target_from = "host:opencl://0"'


def test_a_build_failure_shows_the_log_and_the_error_by_name(device: OpenClDevice, compiled: Compile) -> None:
    artifact = read_artifact(compiled(ADD))
    with pytest.raises(DriverError) as caught:
        device.load(
            write_artifact(replace(artifact, sources=(KernelSource(prelude="", text="__kernel void broken( {"),)))
        )
    text = str(caught.value)
    assert text.startswith(f"building the kernels failed with CL_BUILD_PROGRAM_FAILURE\non {device.infos[0].name}:\n")
    assert "error:" in text


def test_a_malformed_program_is_refused(device: OpenClDevice, compiled: Compile) -> None:
    artifact = read_artifact(compiled(ASSERTS))
    function = replace(artifact.program.functions[0], blocks=((("format_disk",), ("return", ())),))
    program = replace(artifact.program, functions=(function,))
    expected = (
        r"^the artifact's program is malformed \(unknown instruction 'format_disk' in .*\); compile it again(\n|$)"
    )
    with pytest.raises(DriverError, match=expected):
        device.load(write_artifact(replace(artifact, program=program)))


@pytest.mark.parametrize(
    ("changed", "summary"),
    [
        ({"arguments": ("!hal.buffer",)}, "guarded: argument 0 has type !hal.buffer, which arrays cannot be"),
        ({"results": ("!hal.buffer",)}, "a result has type !hal.buffer, which arrays cannot be"),
    ],
)
def test_a_type_that_arrays_cannot_be_is_named(
    device: OpenClDevice, compiled: Compile, changed: dict[str, tuple[str, ...]], summary: str
) -> None:
    artifact = read_artifact(compiled(ASSERTS))
    (export,) = (one for one in artifact.program.exports if one.name == "guarded")
    program = replace(artifact.program, exports=(replace(export, **changed),))
    loaded = device.load(write_artifact(replace(artifact, program=program)))
    with pytest.raises(DriverError) as caught:
        call(loaded, "guarded", np.int32(1))
    assert str(caught.value).splitlines()[0] == summary


def test_buffers_are_used_again(load: Load, device: OpenClDevice) -> None:
    program = load(CHAIN)
    before = device._pool.waiting
    ones = np.ones(64, np.float32)
    assert call(program, "chain", ones, np.int32(500))[0][0] == 501
    # Two buffers take turns, whatever the number of steps; argument, result and constants come on top.
    assert device._pool.waiting < before + 50


HUGE = """
func.func @huge(%n: index) -> tensor<?xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
"""


def test_running_out_of_memory_names_the_error_and_the_device_and_leaves_it_usable(
    load: Load, device: OpenClDevice, found: FoundDevice
) -> None:
    skip_on_oclgrind(found, "ends its process where memory runs out")
    program = load(HUGE)
    with pytest.raises(DriverError) as caught:
        call(program, "huge", np.int64(1 << 42))
    first, second = str(caught.value).split("\n")
    assert first.startswith("CL_")
    assert second == f"calling huge on {device.infos[0].name}"
    assert caught.value.hint
    assert call(program, "huge", np.int64(3))[0].tolist() == [1.0, 1.0, 1.0]
