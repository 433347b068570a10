"""Large constants: as resources in IREE's module, read from its bytecode, in the artifact as bytes of their own."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from iree.compiler import ir
from opencl_support import Compile
from retarget.worker.artifact import map_artifact
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.artifact.show import show_artifact
from retarget_opencl.compile.constants import LARGE, move_to_resources, resources_of
from retarget_opencl.compile.frontend import bytecode_of
from retarget_opencl.run.device import OpenClDevice

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "element"),
    [
        (RANDOM.standard_normal(2048).astype(np.float32), "f32"),
        (RANDOM.standard_normal(2048).astype(ml_dtypes.bfloat16), "bf16"),
        (RANDOM.integers(-99, 99, 4096).astype(np.int8), "i8"),
    ],
)
def test_large_initial_values_become_resources_that_bytecode_holds_as_they_are(
    values: np.ndarray[tuple[int], np.dtype[np.generic]], element: str
) -> None:
    kind = f"tensor<{len(values)}x{element}>"
    with ir.Context():
        module = ir.Module.parse(f"""
util.global private @w = dense<"0x{values.tobytes().hex()}"> : {kind}
util.global private @one_value = dense<1> : tensor<{LARGE}xi8>
util.global private @complex = dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>
util.global private @small = dense<[1, 2]> : tensor<2xi8>
util.global private @none : tensor<2xi8>
""")
        move_to_resources(module.operation)
        assert f"dense_resource<w.constant> : {kind}" in str(module)
        found = resources_of(bytecode_of(module.operation))
        assert {name: bytes(content) for name, content in found.items()} == {"w.constant": values.tobytes()}
        assert resources_of(bytecode_of(ir.Module.parse("").operation)) == {}


def test_weights_are_bytes_of_the_artifact_and_are_taken_from_its_mapping(
    device: OpenClDevice, compiled: Compile, tmp_path: Path
) -> None:
    weights = RANDOM.standard_normal((64, 64)).astype(np.float32)
    kind = "tensor<64x64xf32>"
    artifact = compiled(f"""\
func.func @add(%x: {kind}) -> {kind} {{
  %w = arith.constant dense<"0x{weights.tobytes().hex()}"> : {kind}
  %sum = arith.addf %x, %w : {kind}
  return %sum : {kind}
}}
""")
    assert [bytes(blob) for blob in read_artifact(artifact).blobs] == [weights.tobytes()]
    assert re.search(r"\n    constant 7 0 \d+ \d+\n", show_artifact(artifact))
    (path := tmp_path / "add.oclx").write_bytes(artifact)
    mapped = map_artifact(path, "")
    assert isinstance(mapped.obj, mmap.mmap)
    x = RANDOM.standard_normal((64, 64)).astype(np.float32)
    for content in (mapped, artifact):
        np.testing.assert_array_equal(device.load(content).call("add", [x], print)[0], x + weights)
