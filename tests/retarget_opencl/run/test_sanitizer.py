"""`sanitize = true`: kernels run on Oclgrind, and what it finds fails the call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from opencl_support import compile_text, find_or_skip, runtime_config, shipped
from retarget.extension import DriverError
from retarget_opencl.artifact.file import read_artifact, write_artifact
from retarget_opencl.device.devices import OCLGRIND, list_devices
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.run.driver import OpenClDriver
from retarget_opencl.run.sanitizer import findings

MODULE = """
func.func @doubled(%a: tensor<64xf32>) -> tensor<64xf32> {
  %b = arith.addf %a, %a : tensor<64xf32>
  return %b : tensor<64xf32>
}
"""
BODIES = {
    "clean": "binding1[id] = binding0[id] * 2;",
    "race": "shared[id] = binding0[id];\n    binding1[id] = shared[(id + 1) % get_local_size(0)];",
    "beyond": "binding1[id + 64] = binding0[id];",
    "divergence": "if (id < 3) barrier(CLK_LOCAL_MEM_FENCE);\n    binding1[id] = binding0[id];",
    "uninitialized": "float sum;\n    if (id > 2) sum = 1;\n    binding1[id] = sum;",
}
FOUND = {
    "race": (
        "Read-write data race at local memory",
        ["shared[id] = binding0[id];", "binding1[id] = shared[(id + 1) % get_local_size(0)];"],
    ),
    "beyond": ("Invalid write of size 4 at global memory", ["binding1[id + 64] = binding0[id];"]),
    "divergence": ("Work-group divergence detected (barrier)", ["if (id < 3) barrier(CLK_LOCAL_MEM_FENCE);"]),
    "uninitialized": ("Uninitialized value written to global memory", ["binding1[id] = sum;"]),
}


@pytest.fixture(scope="module")
def sanitized() -> Iterator[OpenClDevice]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCLGRIND_GLOBAL_MEM_SIZE", str(1 << 30))
        for name in ("DATA_RACES", "UNINITIALIZED", "MAX_ERRORS"):
            patch.setenv(f"OCLGRIND_{name}", "0")  # so that they are as before afterwards
        patch.setenv("OCLGRIND_LOG", os.devnull)
        find_or_skip("opencl://oclgrind/0")
        device = OpenClDriver().open(replace(runtime_config(), sanitize=True))
        yield device
        device.close()


@pytest.fixture(scope="module")
def doubling() -> bytes:
    """An artifact for the generic profile whose one kernel reads `binding0` and writes `binding1`."""
    return compile_text(MODULE, shipped("generic"), "doubled.mlir")


def test_each_fault_fails_the_call_with_its_kernel_its_place_and_the_statements(
    sanitized: OpenClDevice, doubling: bytes
) -> None:
    """What comes after a fault is not blamed for it."""
    import numpy as np

    found = {}
    for name, body in BODIES.items():
        made = read_artifact(doubling)
        (source,) = made.sources
        start = "    const uint id = get_local_id(0) + get_group_id(0) * get_local_size(0);\n    "
        text = re.sub(r"(binding1_offset\);\n).*\}", rf"\1{start}{body}\n}}", source.text, flags=re.DOTALL)
        text = text.replace("{\n", "{\n    __local float shared[64];\n", 1)
        program = sanitized.load(write_artifact(replace(made, sources=(replace(source, text=text),))))
        try:
            program.call("doubled", [np.ones(64, np.float32)], lambda check: None)
        except DriverError as error:
            found[name] = str(error)
    assert list(found) == list(FOUND)
    kernel = read_artifact(doubling).program.kernels[0].name
    for name, (fault, statements) in FOUND.items():
        head = f"Oclgrind: {fault}, in the kernel {kernel}"
        told = [one.splitlines() for one in found[name].split("\n\n") if one.startswith(head)]
        assert told, found[name]
        assert re.fullmatch(r"(once|\d+ times, the first), from doubled\.mlir:3:8:", told[0][1]), found[name]
        assert sorted(line.split("  ")[-1] for line in told[0][2:]) == sorted(statements), found[name]


def test_parts_that_the_host_writes_and_memory_used_again_are_no_faults(sanitized: OpenClDevice) -> None:
    import numpy as np

    module = """
    func.func @parts(%a: tensor<40xf32>, %b: tensor<24xf32>) -> tensor<64xf32> {
      %s = arith.addf %a, %a : tensor<40xf32>
      %c = tensor.concat dim(0) %s, %b : (tensor<40xf32>, tensor<24xf32>) -> tensor<64xf32>
      %d = arith.mulf %c, %c : tensor<64xf32>
      return %d : tensor<64xf32>
    }
    """
    artifact = compile_text(module, shipped("generic"))
    program = sanitized.load(artifact)
    for _ in range(3):
        inputs = [np.ones(40, np.float32), np.full(24, 3, np.float32)]
        (result,) = program.call("parts", inputs, lambda check: None)
        assert result.tolist() == [4.0] * 40 + [9.0] * 24


TOGETHER = """
func.func @main(%a: tensor<?x64xf32>, %b: tensor<96x?xf32>, %last: tensor<4x64xf32>)
    -> (tensor<64x?xf32>, tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.addf %a, %a : tensor<?x64xf32>
  %c = tensor.concat dim(0) %s, %last : (tensor<?x64xf32>, tensor<4x64xf32>) -> tensor<?x64xf32>
  %m = tensor.dim %c, %c0 : tensor<?x64xf32>
  %n = tensor.dim %b, %c1 : tensor<96x?xf32>
  %e = tensor.empty(%m) : tensor<64x?xf32>
  %f = tensor.empty(%n) : tensor<?x96xf32>
  %x = linalg.transpose ins(%c : tensor<?x64xf32>) outs(%e : tensor<64x?xf32>) permutation = [1, 0]
  %y = linalg.transpose ins(%b : tensor<96x?xf32>) outs(%f : tensor<?x96xf32>) permutation = [1, 0]
  return %x, %y : tensor<64x?xf32>, tensor<?x96xf32>
}
"""


@pytest.mark.slow
def test_parts_that_the_host_writes_are_no_faults_of_kernels_that_share_a_launch(sanitized: OpenClDevice) -> None:
    import numpy as np

    profile = replace(shipped("generic"), arch="sm_80")
    artifact = compile_text(TOGETHER, profile)
    assert read_artifact(artifact).program.kernels[-1].members
    inputs = [np.ones((8, 64), np.float32), np.ones((96, 5), np.float32), np.full((4, 64), 3, np.float32)]
    x, y = sanitized.load(artifact).call("main", inputs, lambda check: None)
    assert x.tolist() == [[2.0] * 8 + [3.0] * 4] * 64
    assert y.tolist() == [[1.0] * 96] * 5


RACE = (
    "\nRead-write data race at global memory address 0x4000000000018\n\tKernel: k\n\t\n"
    "\tFirst entity:  Global(8,0,1) Local(0,0,1) Group(1,0,0)\n\t  %83 = load float, float addrspace(1)* %x, align 4\n"
    "\tAt line 183 (column 43) of input.cl:\n\t  const float v47 = binding2[v46];\n\t\n"
    "\tSecond entity: Global(8,0,0) Local(0,0,0) Group(1,0,0)\n\t  store float %88, float addrspace(1)* %x, align 4\n"
    "\tAt line 185 (column 65) of input.cl:\n\t  binding2[v46] = v48;\n\t\n\n"
)
FATAL = (
    "\nOCLGRIND FATAL ERROR (/deps/Oclgrind/src/plugins/Uninitialized.cpp:1805)\nUnsupported instruction: freeze\n"
    "\tKernel: other\n\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n\t  %add6.frozen = freeze i32 %add6\n"
    "\tDebugging information not available.\n\t\n\n"
)
END = "\nOclgrind: 1000 errors generated - suppressing further errors\n\n"


def test_what_is_alike_is_told_once_with_how_often_and_from_where() -> None:
    again = RACE.replace("0x4000000000018", "0x400000000001c").replace("(8,", "(9,")
    assert findings(RACE + again + FATAL + END, {"k": "m.mlir:3:8"}) == [
        "Oclgrind: Read-write data race at global memory, in the kernel k\n"
        "2 times, the first, from m.mlir:3:8:\n"
        "  Global(8,0,0) Local(0,0,0) Group(1,0,0)  binding2[v46] = v48;\n"
        "  Global(8,0,1) Local(0,0,1) Group(1,0,0)  const float v47 = binding2[v46];",
        "Oclgrind: OCLGRIND FATAL ERROR (/deps/Oclgrind/src/plugins/Uninitialized.cpp:1805) Unsupported instruction: "
        "freeze, in the kernel other\n"
        "once:\n"
        "  Global(0,0,0) Local(0,0,0) Group(0,0,0)",
    ]
    assert findings("", {}) == []


def test_a_sanitized_run_is_on_the_checker_alone() -> None:
    driver = OpenClDriver()
    assert driver.tags(replace(runtime_config("opencl://pocl/0"), sanitize=True)) == ("opencl", "sanitize", "pocl")
    find_or_skip()
    others = [one for one in list_devices() if one.platform != OCLGRIND and not one.fault]
    if not others:
        pytest.skip("needs an OpenCL device that is not Oclgrind's")
    config = replace(runtime_config(f"opencl://{others[0].ordinal}"), sanitize=True)
    with pytest.raises(DriverError, match=r"^found sanitize = true for the device .*, expected Oclgrind's$"):
        driver.open(config)
