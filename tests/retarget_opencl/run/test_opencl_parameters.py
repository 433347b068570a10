"""Parameters from archives on an OpenCL device: read, written, kept, and what is said where one is missing."""

from __future__ import annotations

from pathlib import Path

import iree.runtime as rt
import numpy as np
import pytest
from opencl_support import Compile
from retarget.extension import DriverError
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.run.memory import Pool

# A constant, a variable, and each command on ranges of a parameter, as IREE's phase `stream` has them.
MODULE = """\
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4xf32>
util.global private mutable @v = #flow.parameter.named<"model"::"v"> : tensor<4xf32>
func.func @add(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = util.global.load @w : tensor<4xf32>
  %v = util.global.load @v : tensor<4xf32>
  %sum = arith.addf %x, %w : tensor<4xf32>
  %next = arith.addf %v, %w : tensor<4xf32>
  util.global.store %next, @v : tensor<4xf32>
  return %sum, %next : tensor<4xf32>, tensor<4xf32>
}
util.func public @ranges(%x: !hal.buffer_view) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %first = arith.constant 0 : i64
  %second = arith.constant 4 : i64
  %scope = util.buffer.constant : !util.buffer = "state"
  %key = util.buffer.constant : !util.buffer = "s"
  %0 = stream.tensor.import %x : !hal.buffer_view -> tensor<4xf32> in !stream.resource<external>{%c16}
  %t1 = stream.cmd.parameter.write %0[%c0 for %c8] : !stream.resource<external>{%c16}
    -> %scope::%key[%second] => !stream.timepoint
  %t2 = stream.cmd.parameter.read await(%t1) => %scope::%key[%first]
    -> %0[%c8 for %c8] : !stream.resource<external>{%c16} => !stream.timepoint
  %t3 = stream.cmd.parameter.scatter await(%t2) => {
    %0[%c8 for %c8] : !stream.resource<external>{%c16} -> %scope::%key[%second]
  } => !stream.timepoint
  %t4 = stream.cmd.parameter.gather await(%t3) => {
    %scope::%key[%second] -> %0[%c0 for %c8] : !stream.resource<external>{%c16}
  } => !stream.timepoint
  %1 = stream.timepoint.await %t4 => %0 : !stream.resource<external>{%c16}
  %2 = stream.tensor.export %1 : tensor<4xf32> in !stream.resource<external>{%c16} -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}
"""


@pytest.fixture(scope="module")
def artifact(compiled: Compile) -> bytes:
    return compiled(MODULE)


@pytest.fixture
def archives(cwd: Path) -> Path:
    model, state, other = rt.ParameterIndex(), rt.ParameterIndex(), rt.ParameterIndex()
    rt.parameter_index_add_numpy_ndarray(model, "w", np.array([1, 2, 3, 4], np.float32))
    model.add_splat("v", np.float32(0.5).tobytes(), 16)
    rt.parameter_index_add_numpy_ndarray(state, "s", np.array([10, 20, 30], np.float32))
    rt.parameter_index_add_numpy_ndarray(other, "ww", np.array([1, 2, 3, 4], np.float32))
    rt.parameter_index_add_numpy_ndarray(other, "v", np.array([1], np.float32))
    for name, index in (("model", model), ("state", state), ("other", other)):
        index.create_archive_file(f"{name}.irpa")
    return cwd


def test_parameters_are_read_and_written_and_a_file_never_changes(
    device: OpenClDevice, artifact: bytes, archives: Path
) -> None:
    before = (archives / "state.irpa").read_bytes()
    files = [("model", Path("model.irpa")), ("state", Path("state.irpa"))]
    x = np.array([0, 1, 2, 3], np.float32)
    for _ in range(2):  # a variable starts anew with each load, and so does what was written
        program = device.load_with_parameters(artifact, files)
        total, following = program.call("add", [x], print)
        assert (total.tolist(), following.tolist()) == ([1, 3, 5, 7], [1.5, 2.5, 3.5, 4.5])
        # s becomes 10 0 1, x 0 1 10 0; then s 10 10 0, x 10 0 10 0
        assert program.call("ranges", [x], print)[0].tolist() == [10, 0, 10, 0]
    assert (archives / "state.irpa").read_bytes() == before


def test_a_constant_parameter_is_uploaded_once_for_all_programs_of_a_device(
    device: OpenClDevice, compiled: Compile, archives: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = compiled(MODULE.partition("util.func")[0])
    files = [("model", archives / "model.irpa")]
    device.load_with_parameters(used, files)
    uploaded = []
    upload = Pool.write_host_data
    monkeypatch.setattr(Pool, "write_host_data", lambda *words: (uploaded.append(len(words[3].bytes)), upload(*words)))
    device.load_with_parameters(used, files)
    assert uploaded == [16]  # the variable


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "the module takes the parameter 'w' of the scope 'model', and no parameter files are given; the module"),
        (
            [("modle", "model.irpa")],
            "the module takes the parameter 'w' of the scope 'model'; files are given for the scopes 'modle' "
            "(model.irpa); did you mean 'modle'?",
        ),
        (
            [("model", "other.irpa")],
            "the module takes the parameter 'w' of the scope 'model', which other.irpa with 2 keys does not hold; did "
            "you mean 'ww'?",
        ),
        (
            [("model", "short.irpa")],
            "the parameter 'w' of the scope 'model', of short.irpa, has 4 bytes, expected at least 16",
        ),
    ],
)
def test_a_parameter_that_is_missing_or_too_small_is_named_with_scope_and_file(
    device: OpenClDevice, artifact: bytes, archives: Path, files: list[tuple[str, str]], message: str
) -> None:
    short = rt.ParameterIndex()
    rt.parameter_index_add_numpy_ndarray(short, "w", np.array([1], np.float32))
    short.create_archive_file(str(archives / "short.irpa"))
    with pytest.raises(DriverError) as caught:
        device.load_with_parameters(artifact, [(scope, Path(file)) for scope, file in files])
    assert str(caught.value).startswith(message)
