"""Our verdict on flagfiles beside that of the installed `iree-run-module`, each read and judged for real."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from iree_support import VMVX, Compile, driver_named, runtime_config
from model_targets import compile_target, run_target
from msgspec.structs import replace
from retarget.extension import Device
from retarget.model import Module, RunOutcome
from retarget.worker.child.run_in_process import run_in_process
from retarget.worker.messages import RunModule
from retarget_iree.flagfile.loader import RunModuleCaseLoader

TYPES = {
    "f16": "4xf16",
    "bf16": "4xbf16",
    "f32": "4xf32",
    "f64": "4xf64",
    "f8": "4xf8E4M3FN",
    "i2": "4xi2",
    "i4": "4xi4",
    "i4_odd": "3xi4",
    "i1": "4xi1",
    "i8": "4xi8",
    "ui8": "4xui8",
    "i32": "4xi32",
    "i64": "4xi64",
    "c64": "2xcomplex<f32>",
    "rank0": "f32",
    "dynamic": "?x?xf32",
}
SCALARS = {"scalar_i32": "i32", "scalar_f32": "f32"}
FUNCTIONS = "".join(
    f"func.func @{name}(%a: {kind}) -> {kind} {{ return %a : {kind} }}\n"
    for name, kind in ({name: f"tensor<{kind}>" for name, kind in TYPES.items()} | SCALARS).items()
)
SWAP = """\
func.func @swap(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
func.func @sum_of_bytes(%a: !hal.buffer) -> tensor<i32> {
  %t = hal.tensor.import %a : !hal.buffer -> tensor<4xi32>
  %c = arith.constant dense<0> : tensor<i32>
  %s = linalg.reduce ins(%t : tensor<4xi32>) outs(%c : tensor<i32>) dimensions = [0]
    (%x: i32, %y: i32) { %z = arith.addi %x, %y : i32 linalg.yield %z : i32 }
  return %s : tensor<i32>
}
"""

AGREED = [
    # Floats: absolute and relative, NaN, infinities, zeros.
    ("f32", ["4xf32=1"], ["4xf32=1.00009"], True),
    ("f32", ["4xf32=1"], ["4xf32=1.0002"], False),
    ("f32", ["4xf32=100000"], ["4xf32=100000.5"], True),
    ("f32", ["4xf32=100000"], ["4xf32=100002"], False),
    ("f32", ["4xf32=nan inf -inf 0"], ["4xf32=nan inf -inf -0"], True),
    ("f32", ["4xf32=1 nan 1 1"], ["4xf32=1"], False),
    ("f32", ["4xf32=inf"], ["4xf32=1"], False),
    ("f32", ["4xf32=inf"], ["4xf32=-inf"], False),
    ("f32", ["4xf32=1", "--expected_f32_threshold=0.2"], ["4xf32=1.1"], True),
    ("f32", ["4xf32=1", "--expected_f16_threshold=0.2"], ["4xf32=1.1"], False),
    ("f32", ["4xf32=1", "--expected_rtol=0.2"], ["4xf32=1.1"], True),
    ("f32", ["4xf32=0", "--equality_mode=exact"], ["4xf32=-0"], False),
    ("f32", ["4xf32=nan", "--equality_mode=exact"], ["4xf32=nan"], True),
    ("f16", ["4xf16=1"], ["4xf16=1.0009765625"], True),
    ("f16", ["4xf16=2"], ["4xf16=2.002"], False),
    ("bf16", ["4xbf16=1"], ["4xbf16=1.0078125"], True),
    ("bf16", ["4xbf16=4"], ["4xbf16=4.03125"], False),
    ("f64", ["4xf64=1"], ["4xf64=1.0002"], False),
    ("f8", ["4xf8E4M3FN=1 2 3 nan"], ["4xf8E4M3FN=1 2 3 nan"], True),
    ("f8", ["4xf8E4M3FN=1 2 3 4", "--expected_rtol=10"], ["4xf8E4M3FN=1 2 3 8"], False),
    ("c64", ["2xcf64=0000803f00000040 0000000000000000"], ["2xcf64=0000803f00000040 0000000000000000"], True),
    ("c64", ["2xcf64=0000803f00000040"], ["2xcf64=0000803f01000040"], False),
    # Integers and Booleans are equal or they are not.
    ("i32", ["4xi32=1 0x10 010 -3"], ["4xi32=1 16 8 -3"], True),
    ("i8", ["4xi8=200"], ["4xi8=-56"], True),
    ("i1", ["4xi1=01 00 01 00"], ["4xi1=01 00 01 00"], True),
    ("i1", ["4xi1=01"], ["4xi1=00"], False),
    # Integers of 2 and 4 bits are packed bytes.
    ("i4", ["4xi4=21 f3"], ["4xi4=21 f3"], True),
    ("i4", ["4xi4=21 f3"], ["4xi4=21 e3"], False),
    ("i4", ["4xi4=1 2"], [], False),
    ("i4", ["4xi4=@packed.bin"], ["4xi4=21 f3"], True),
    ("i4", ["4xi4=@b.bin"], [], False),
    ("i4_odd", ["3xi4=21 03"], ["3xi4=21 03"], True),
    ("i2", ["4xi2=e4"], ["4xi2=e4"], True),
    # Shapes, forms of values, results that do not count.
    ("f32", ["4xf32=[1 2][3, 4"], ["4xf32=1,2,,3 4"], True),
    ("f32", ["4xf32"], ["4xf32=0"], True),
    ("f32", ["4xf32=1"], ["2x2xf32=1"], False),
    ("f32", ["4xf32=1"], ["(ignored)"], True),
    ("f32", ["4xf32=1"], [], True),
    ("f32", ["4xf32=1"], ["4xf32=1", "4xf32=1"], False),
    ("f32", [], [], False),
    ("f32", ["4xf32=1 2"], [], False),
    ("f32", ["4xf32=1 # one"], [], False),
    ("f32", ["f32"], [], False),
    ("missing", ["4xf32=1"], [], False),
    ("rank0", ["f32=5"], ["f32=5"], True),
    ("rank0", ["xf32=5"], ["f32=6"], False),
    ("dynamic", ["0x4xf32"], ["0x4xf32="], True),
    ("dynamic", ["2x-1xf32=1"], [], False),
    ("dynamic", ["2x3xf32=1"], ["3x2xf32=1"], False),
    ("swap", ["4xf32=1", "4xf32=2"], ["(ignored)", "4xf32=1"], True),
    ("swap", ["4xf32=1", "4xf32=2"], ["(ignored)", "4xf32=2"], False),
    ("swap", ["4xf32=1", "4xf32=2"], ["4xf32=2"], False),
    ("sum_of_bytes", ["&4xi32=1 2 3 4"], ["i32=10"], True),
    ("scalar_i32", ["5"], [], True),
    ("scalar_f32", ["0x1p3"], [], True),
    # Files.
    ("f32", ["4xf32=@a.bin"], ["4xf32=1 2 3 4"], True),
    ("f32", ["4xf32=@short.bin"], [], False),
    ("f32", ["@a.npy"], ["@a.npy"], True),
    ("f32", ["@a.bin"], [], False),
    ("swap", ["@two.npy", "+two.npy"], ["4xf32=11 12 13 14", "@a.npy"], True),
    ("swap", ["*two.npy"], ["4xf32=11 12 13 14", "@a.npy"], True),
    ("swap", ["4xf32=@long.bin", "4xf32=+long.bin"], ["4xf32=11 12 13 14", "@a.npy"], True),
    ("i1", ["4xi1=@b.bin"], ["4xi1=@b.bin"], True),
    ("i1", ["@b.npy"], ["@b.npy"], True),
]

DIFFERENT = [
    # The tool reads no numbers of 2 and 4 bits, and takes a minus for a hexadecimal digit.
    ("i4", ["4xi4=1 2 3 -1"], ["4xi4=21 f3"], True),
    ("i4", ["4xi4=-1"], ["4xi4=ff"], True),
    # It reads a byte of a .npy file for each element, and then too few bytes.
    ("i4", ["@i4.npy"], ["4xi4=21 f3"], True),
    # It has no comparison of numbers: it says "variant types mismatch; expected i32 but got i32".
    ("scalar_i32", ["5"], ["5"], True),
    ("scalar_f32", ["1.5"], ["1.5"], True),
    # Buffers are signless where they come from a module, and signed where they come from a .npy file.
    ("i64", ["4xi64=1 2 3 4"], ["@i64.npy"], True),
    ("i32", ["4xi32=1"], ["4xui32=1"], True),
    # The tool takes shapes and types of arguments that its caller has not looked at.
    ("f32", ["4xi32=2"], [], False),
    ("f32", ["2x2xf32=2"], [], False),
    # It lets numbers wrap, cuts fractions off, and takes what follows a number for nothing.
    ("i32", ["4xi32=99999999999"], [], False),
    ("i32", ["4xi32=1.5"], [], False),
    ("f32", ["4xf32=1abc"], [], False),
    ("f32", ["4xf32=1", "--expected_f32_threshold=abc"], ["4xf32=1"], False),
    # It reads the beginning of a longer file.
    ("f32", ["4xf32=@long.bin"], [], False),
    # It takes no byte order but little, no column-major order, and writes Booleans in hexadecimal only.
    ("f32", ["@big_endian.npy"], ["@a.npy"], True),
    ("dynamic", ["@fortran.npy"], ["2x3xf32=0 1 2 3 4 5"], True),
    ("bf16", ["@bf16.npy"], ["4xbf16=1 2 3 4"], True),
    ("i1", ["4xi1=1 0 true false"], ["4xi1=01 00 01 00"], True),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, compile_module: Compile) -> Path:
    """A folder with the module, compiled, and data files."""
    path = tmp_path_factory.mktemp("run_module")
    artifact = compile_module(FUNCTIONS + SWAP, *VMVX, "--iree-input-demote-f64-to-f32=false")
    (path / "module.vmfb").write_bytes(artifact)
    values = np.array([1, 2, 3, 4], np.float32)
    (path / "a.bin").write_bytes(values.tobytes())
    (path / "short.bin").write_bytes(values.tobytes()[:-4])
    (path / "long.bin").write_bytes(values.tobytes() + (values + 10).tobytes())
    (path / "b.bin").write_bytes(bytes([1, 0, 1, 0]))
    (path / "packed.bin").write_bytes(bytes([0x21, 0xF3]))
    np.save(path / "i4.npy", np.array([1, 2, 3, -1], ml_dtypes.int4))
    np.save(path / "a.npy", values)
    np.save(path / "b.npy", np.array([True, False, True, False]))
    np.save(path / "i64.npy", np.array([1, 2, 3, 4]))
    np.save(path / "big_endian.npy", values.astype(">f4"))
    np.save(path / "fortran.npy", np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    np.save(path / "bf16.npy", values.astype(ml_dtypes.bfloat16))
    with (path / "two.npy").open("wb") as stream:
        np.save(stream, values)
        np.save(stream, values + 10)
    return path


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    opened = driver_named("local-sync").open(runtime_config("local-sync"))
    yield opened
    opened.close()


def write(folder: Path, function: str, inputs: list[str], expected: list[str]) -> Path:
    """Write a flagfile: inputs (and flags among them), then expected results."""
    lines = [f"--function={function}"]
    lines += [value if value.startswith("--") else f"--input={value}" for value in inputs]
    lines += [f"--expected_output={value}" for value in expected]
    text = "\n".join(lines)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.txt"
    path.write_text(text)
    return path


def ours(device: Device, flagfile: Path) -> RunOutcome:
    """Load, run and compare as a device worker does."""
    module = Module(name="module", path=flagfile.parent / "module.mlir", data=(flagfile,))
    compiled = compile_target(config="vmvx", kind="run-module", folder=flagfile.parent)
    target = run_target(replace(compiled, module=module))
    message = RunModule(target=target, artifact=flagfile.parent / "module.vmfb", digest="")
    driver = driver_named("local-sync")
    return run_in_process(driver, device, RunModuleCaseLoader(), message, lambda progress: None, read_output=str)


def tool(flagfile: Path) -> subprocess.CompletedProcess[str]:
    beside = Path(sys.executable).with_name("iree-run-module")
    program = str(beside) if beside.exists() else shutil.which("iree-run-module")
    assert program is not None
    argv = [program, "--device=local-sync", "--module=module.vmfb", f"--flagfile={flagfile.name}"]
    return subprocess.run(argv, cwd=flagfile.parent, capture_output=True, text=True, check=False, timeout=600)


def printed(outcome: RunOutcome) -> str:
    return "passed" if outcome.failure is None else f"{outcome.failure.stage}: {outcome.failure.summary}"


Row = tuple[str, list[str], list[str], bool]
"""Function, inputs (and flags among them), expected results, our verdict."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("row", AGREED)
def test_the_verdict_is_that_of_the_tool(folder: Path, device: Device, row: Row) -> None:
    function, inputs, expected, passes = row
    flagfile = write(folder, function, inputs, expected)
    by_tool, outcome = tool(flagfile), ours(device, flagfile)
    assert (by_tool.returncode == 0) is passes, by_tool.stdout + by_tool.stderr
    assert (outcome.failure is None) is passes, printed(outcome)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", DIFFERENT)
def test_where_the_verdict_is_another_the_tool_errs_or_looks_away(folder: Path, device: Device, row: Row) -> None:
    function, inputs, expected, passes = row
    flagfile = write(folder, function, inputs, expected)
    by_tool, outcome = tool(flagfile), ours(device, flagfile)
    assert (by_tool.returncode == 0) is not passes, by_tool.stdout + by_tool.stderr
    assert (outcome.failure is None) is passes, printed(outcome)


@pytest.mark.parametrize("line", ["foo", "-input=4xf32=1", "\ufeff--input=4xf32=1", "--inptu=4xf32=1", "--input 4xf32"])
def test_lines_that_the_tool_refuses_are_refused(folder: Path, device: Device, line: str) -> None:
    flagfile = write(folder, "f32", ["4xf32=1"], [])
    flagfile.write_text(f"{flagfile.read_text()}\n{line}\n")
    assert tool(flagfile).returncode != 0
    assert ours(device, flagfile).failure is not None


def test_files_that_include_others_are_read_as_the_tool_reads_them(folder: Path, device: Device) -> None:
    (folder / "more").mkdir(exist_ok=True)
    (folder / "more/both.txt").write_text("--flagfile=one.txt\n--input=4xf32=2\n")
    (folder / "one.txt").write_text("--input=4xf32=1\n")
    for lines, passes in (
        (["--flagfile=more/both.txt"], True),
        (["--flagfile=one.txt", "--input=4xf32=2"], True),
        (["--input=4xf32=2", "--flagfile=one.txt"], False),
        (["--flagfile=both.txt"], False),
        (['--flagfile="more/both.txt"'], False),
    ):
        flagfile = write(folder, "swap", lines, ["4xf32=2", "4xf32=1"])
        by_tool, outcome = tool(flagfile), ours(device, flagfile)
        assert (by_tool.returncode == 0) is passes, by_tool.stdout + by_tool.stderr
        assert (outcome.failure is None) is passes, printed(outcome)
