"""What a report prints "to reproduce this by hand" fails by hand: in a fresh shell of another folder, with the same
message and an exit status that is not 0, for a failure of each stage, kind, compiler and driver."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from acceptance_support import LLVM_CPU, LLVM_CPU_FLAGS, VMVX, Project, matrix, suite
from declaration_texts import compiler, declarations, runtime, table, target
from mlir_modules import CRASHES, DIFFERS, REFUSED, SCALE
from session_output import block, commands, shell
from ssh_server import SshServer

ASSERTS = """\
func.func @stops() {
  %a = util.unfoldable_constant 0 : i32
  %zero = arith.constant 0 : i32
  %holds = arith.cmpi ne, %a, %zero : i32
  cf.assert %holds, "the sum is off"
  return
}
"""
ENDLESS = """\
func.func @endless() {
  %a = util.unfoldable_constant 1 : i32
  %one = arith.constant 1 : i32
  cf.br ^again
^again:
  %goes_on = arith.cmpi eq, %a, %one : i32
  cf.cond_br %goes_on, ^again, ^end
^end:
  return
}
"""
CALLS = """\
func.func private @deeper(%x: f32) -> f32 attributes {noinline} {
  %r = func.call @DEEPER(%x) : (f32) -> f32
  return %r : f32
}
func.func private @twice(%x: f32) -> f32 attributes {noinline} {
  %r = arith.addf %x, %x : f32
  return %r : f32
}
func.func @all(%a: tensor<5xf32>) -> tensor<5xf32> {
  %room = tensor.empty() : tensor<5xf32>
  %r = linalg.map ins(%a : tensor<5xf32>) outs(%room : tensor<5xf32>) (%x: f32, %unused: f32) {
    %s = func.call @deeper(%x) : (f32) -> f32
    linalg.yield %s : f32
  }
  return %r : tensor<5xf32>
}
"""
"""Calls in a kernel: IREE has no SPIR-V for them, which its second half says, and OpenCL has no recursion."""
WRONG_CASE = '[[case]]\nfunction = "scale"\ninputs = [[1, 2, 3]]\nexpected = [[1, 2, 3]]\n'
SCALES = SCALE.replace('#flow.parameter.named<"model"::"weights">', "dense<[2.0, 3.0, 4.0]>")
FLAGFILE = "--input=3xf32=1 2 3\n--expected_output=3xf32=1 2 3\n--function=scale\n"
DIFFERING_TEXT = "// CHECK: arith.mulf %in, %in_0\n" + REFUSED.replace("addi", "addf")
MANIFEST = 'format = 1\npackage = "onnx 99.0.0"\n\n[tests]\ntest_det_2d = "op-Det opset-22 f32"\n'
ROUNDS = """\
func.func @rounds(%a: tensor<4xf32>) -> tensor<4xf32> {
  %wide = arith.extf %a : tensor<4xf32> to tensor<4xf64>
  %square = arith.mulf %wide, %wide : tensor<4xf64>
  %fourth = arith.mulf %square, %square : tensor<4xf64>
  %eighth = arith.mulf %fourth, %fourth : tensor<4xf64>
  %result = arith.truncf %eighth : tensor<4xf64> to tensor<4xf32>
  return %result : tensor<4xf32>
}
"""
AGREES = '[[case]]\ninputs = [{ fill = 1.3 }]\nagree_with = "narrow"\ntolerance = { ulp = 0 }\n'
DEMOTES = "--iree-input-demote-f64-to-f32"
WIDE_AND_NARROW = declarations(
    compiler("vmvx", flags=[*LLVM_CPU_FLAGS, "--iree-llvmcpu-target-cpu=host", f"{DEMOTES}=false"]),
    compiler("narrow", flags=[*LLVM_CPU_FLAGS, "--iree-llvmcpu-target-cpu=host", f"{DEMOTES}=true"]),
)
PARAMETERS = Path(__file__).parents[2] / "suites" / "parameters" / "matrix.irpa"
ELSEWHERE = [
    *LLVM_CPU_FLAGS,
    "--iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu",
    "--iree-llvmcpu-target-cpu=generic",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A project of one target that fails. `title` is the failing target's, `files` are those of its suite."""

    title: str
    files: dict[str, str]
    kind: str = "check"
    srcs: str = "*.mlir"
    compiler: str = VMVX
    runtime: dict[str, object] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    flags: str = ""
    words: str = ""
    """The message by hand, where a tool has one of its own."""


OPENCL = {"compiler": compiler("vmvx", "iree-opencl"), "runtime": {"driver": "opencl"}}
VULKAN = {
    "compiler": compiler("vmvx", target_from="host:vulkan://", flags=["--iree-hal-target-device=vulkan"]),
    "runtime": {"driver": "vulkan"},
}
CPU_BUILD = {"compiler": LLVM_CPU.replace('"llvm-cpu"', '"vmvx"', 1), "runtime": {"driver": "local-task"}}
SOON = ("--retarget-compile-timeout", "0.02")
SHORT = ("--retarget-run-timeout", "3")


def differs(name: str = "m", **more: object) -> Failing:
    return Failing(title=f"{name}_vmvx_r", files={f"{name}.mlir": DIFFERS}, **more)  # type: ignore[arg-type]


FAILURES = {
    "refused": Failing(title="m_vmvx", files={"m.mlir": REFUSED}),
    "refused-opencl": Failing(title="m_vmvx", files={"m.mlir": REFUSED}, **OPENCL),
    "refused-model": Failing(title="m_vmvx", files={"m.onnx": "no model"}, kind="cases", srcs="*.onnx"),
    "refused-model-opencl": Failing(title="m_vmvx", files={"m.onnx": "none"}, kind="cases", srcs="*.onnx", **OPENCL),
    "not-lowered": Failing(
        title="m_vmvx",
        files={"m.mlir": CALLS.replace("DEEPER", "twice")},
        compiler=compiler("vmvx", flags=["--iree-hal-target-device=vulkan"]),
    ),
    "not-translated": Failing(title="m_vmvx", files={"m.mlir": CALLS.replace("DEEPER", "deeper")}, **OPENCL),
    "crashes": Failing(title="m_vmvx", files={"m.mlir": CRASHES}),
    "crashes-opencl": Failing(title="m_vmvx", files={"m.mlir": CRASHES}, **OPENCL),
    "late": Failing(title="m_vmvx", files={"m.mlir": DIFFERS}, options=SOON),
    "late-opencl": Failing(title="m_vmvx", files={"m.mlir": DIFFERS}, options=SOON, **OPENCL),
    "text-differs": Failing(
        title="m_vmvx",
        files={"m.mlir": DIFFERING_TEXT},
        kind="filecheck",
        flags='compiler_flags = ["--compile-to=flow"]\n',
    ),
    "not-loaded": differs(compiler=compiler("vmvx", flags=ELSEWHERE)),
    "stops": Failing(title="m_vmvx_r", files={"m.mlir": ASSERTS}),
    "stops-opencl": Failing(title="m_vmvx_r", files={"m.mlir": ASSERTS}, **OPENCL),
    "differs": differs(),
    "differs-task": differs(**CPU_BUILD),
    "differs-opencl": differs(**OPENCL),
    "differs-vulkan": differs(**VULKAN),
    "differs-behind-a-command": differs(runtime={"run_under": ["env", "-u", "NOTHING"]}),
    "stops-behind-a-command": Failing(
        title="m_vmvx_r", files={"m.mlir": ASSERTS}, runtime={"run_under": ["env", "-u", "NOTHING"]}
    ),
    "endless": Failing(title="m_vmvx_r", files={"m.mlir": ENDLESS}, options=SHORT),
    "endless-behind-a-command": Failing(
        title="m_vmvx_r", files={"m.mlir": ENDLESS}, options=SHORT, runtime={"run_under": ["env", "-u", "NOTHING"]}
    ),
    "endless-opencl": Failing(title="m_vmvx_r", files={"m.mlir": ENDLESS}, options=SHORT, **OPENCL),
    "case": Failing(title="m_vmvx_r", files={"m.mlir": SCALES, "m.cases.toml": WRONG_CASE}, kind="cases"),
    "case-opencl": Failing(
        title="m_vmvx_r", files={"m.mlir": SCALES, "m.cases.toml": WRONG_CASE}, kind="cases", **OPENCL
    ),
    "case-behind-a-command": Failing(
        title="m_vmvx_r",
        files={"m.mlir": SCALES, "m.cases.toml": WRONG_CASE},
        kind="cases",
        runtime={"run_under": ["env", "-u", "NOTHING"]},
    ),
    "agrees": Failing(
        title="m_vmvx_r",
        files={"m.mlir": ROUNDS, "m.cases.toml": AGREES},
        kind="cases",
        compiler=WIDE_AND_NARROW,
        words="first difference: rounds, result 0:",
    ),
    "agrees-behind-a-command": Failing(
        title="m_vmvx_r",
        files={"m.mlir": ROUNDS, "m.cases.toml": AGREES},
        kind="cases",
        compiler=WIDE_AND_NARROW,
        runtime={"run_under": ["env", "-u", "NOTHING"]},
    ),
    "parameters": Failing(
        title="m_vmvx_r",
        files={"m.mlir": SCALE, "m.cases.toml": f'parameters = {{ model = "w.irpa" }}\n{WRONG_CASE}'},
        kind="cases",
    ),
    "parameters-opencl": Failing(
        title="m_vmvx_r",
        files={"m.mlir": SCALE, "m.cases.toml": f'parameters = {{ model = "w.irpa" }}\n{WRONG_CASE}'},
        kind="cases",
        **OPENCL,
    ),
    "run-module": Failing(
        title="m_vmvx_r",
        files={"m.mlir": SCALES, "m_flags.txt": FLAGFILE},
        kind="run-module",
        srcs="*_flags.txt",
        words="[FAILED] result[0]: element at index 0 (2) does not match the expected (1)",
    ),
    "onnx-backend": Failing(
        title="test_det_2d_vmvx_r", files={"nodes.toml": MANIFEST}, kind="onnx-backend", srcs="nodes.toml"
    ),
}
QUICK = {"refused-opencl", "differs"}
"""Those of which a sample runs in `make test`."""


@pytest.fixture(autouse=True)
def _folder_of_artifacts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is compiled by hand goes to the system's temporary folder, where other tests have files of the same name."""
    with tempfile.TemporaryDirectory(prefix="by hand ") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield


def fails_again(project: Project, failing: Failing, monkeypatch: pytest.MonkeyPatch, *tables: str) -> None:
    """Run the project, which lies in a folder with a space, paste what its report prints, and compare."""
    folder = project.path / "a folder"
    text = matrix(
        failing.compiler,
        *tables,
        runtime("r", **failing.runtime),
        target("cpu", re.findall(r'name = "(\w+)"', failing.compiler), ["r"]),
    )
    declared = suite(kind=failing.kind, srcs=failing.srcs) + failing.flags
    files = {"matrix.toml": text, "suites/suite.toml": declared} | {f"suites/{n}": t for n, t in failing.files.items()}
    project.write({f"a folder/{name}": content for name, content in files.items()})
    shutil.copy(PARAMETERS, folder / "suites" / "w.irpa")
    monkeypatch.chdir(folder)
    result = project.run(*failing.options)
    skipped = [line for line in result.outlines if line.startswith("skipped: ")]
    driver = str(failing.runtime.get("driver", ""))
    if skipped and driver in {"opencl", "vulkan"} and os.environ.get(f"RETARGET_REQUIRE_{driver.upper()}") != "1":
        pytest.skip(skipped[0])
    lines = block(result, f"linalg: {failing.title}")
    message = failing.words or lines[0].partition(": ")[2]
    again = shell(commands(lines), strict=False, seconds=120)
    printed = re.sub(r"\x1b\[[0-9;]*m", "", again.stdout + again.stderr)
    assert "Traceback" not in printed
    crash = re.fullmatch(r".* crashed: (SIG\w+)( in .*)?", message)
    if crash is not None:
        number = signal.Signals[crash[1]]
        assert again.returncode in {128 + number, 256 - number}, printed  # of a shell, of Python
        return
    place_or_case = r"(m\.mlir:\d+|\w+): "  # which by hand come with other words between
    assert re.sub(f"^{place_or_case}", "", message) in printed, f"{lines}\n{printed}"
    assert again.returncode == 1, printed


@pytest.mark.sampled(1, slow=7)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in FAILURES]
)
def test_what_failed_fails_by_hand_with_the_same_message(
    project: Project, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_again(project, FAILURES[name], monkeypatch)


@pytest.mark.sampled(2, slow=2)
@pytest.mark.slow
@pytest.mark.needs_sshd
@pytest.mark.parametrize("name", ["differs", "stops", "case", "endless", "parameters"])
def test_what_failed_on_a_host_fails_by_hand_there_with_what_was_just_compiled(
    project: Project, name: str, monkeypatch: pytest.MonkeyPatch, ssh_server: SshServer
) -> None:
    folders = {"folder": f"{project.path}/on host", "lease_folder": f"{project.path}/host leases"}
    board = table("host", name="board", kind="ssh", address="board", options=[*ssh_server.client("board")], **folders)
    failing = FAILURES[name]
    on_host = Failing(
        title=failing.title, files=failing.files, kind=failing.kind, runtime={"host": "board"}, options=failing.options
    )
    fails_again(project, on_host, monkeypatch, board)
