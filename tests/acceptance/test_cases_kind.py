"""Suites of the kind `cases`, with the real compiler and devices."""

from __future__ import annotations

import numpy as np
import pytest
from acceptance_support import LLVM_CPU_FLAGS, VMVX, Project, matrix, suite
from declaration_texts import compiler, runtime, target
from session_output import block, commands, shell

pytestmark = pytest.mark.slow  # many sessions, some of the real compiler: the CI runs them, and make test-slow

MATRIX = matrix(
    VMVX,
    compiler("llvm-cpu", flags=LLVM_CPU_FLAGS),
    runtime("sync"),
    target("cpu", "vmvx", ["sync"]),
    target("both", ["vmvx", "llvm-cpu"], ["sync"]),
)

MODULE = """\
func.func @scale(%x: tensor<?x2xf32>, %by: f32) -> tensor<?x2xf32> {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %x, %zero : tensor<?x2xf32>
  %empty = tensor.empty(%rows) : tensor<?x2xf32>
  %scaled = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<?x2xf32>) outs(%empty : tensor<?x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %product = arith.mulf %in, %by : f32
    linalg.yield %product : f32
  } -> tensor<?x2xf32>
  return %scaled : tensor<?x2xf32>
}
func.func @root(%x: tensor<f32>) -> tensor<f32> {
  %root = math.sqrt %x : tensor<f32>
  return %root : tensor<f32>
}
func.func @split(%x: tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi1>) {
  %zero = arith.constant dense<0> : tensor<2xi8>
  %twice = arith.addi %x, %x : tensor<2xi8>
  %negative = arith.cmpi slt, %x, %zero : tensor<2xi8>
  return %twice, %negative : tensor<2xi8>, tensor<2xi1>
}
"""

REFERENCE = """\
import numpy as np

def scale(x, by):
    return x * by

def slow_scale(x, by):
    factors = {1: by}
    return x * factors[2]

def wide(x, by):
    return x.astype(np.float64) * by
"""


def cases(project: Project, text: str, *, targets: str = "cpu") -> None:
    project.write(
        {
            "matrix.toml": MATRIX,
            "suites/suite.toml": suite("math", kind="cases", targets=targets),
            "suites/m.mlir": MODULE,
            "suites/ref.py": REFERENCE,
            "suites/m.cases.toml": text,
        }
    )


PASSING = """\
[[case]]
function = "scale"
inputs = [[[1, 2], [3, 4]], 0.5]
expected = [[[0.5, 1], [1.5, 2]]]

[[case]]
name = "random"
function = "scale"
inputs = [{ random = "normal", shape = [33, 2] }, { random = "uniform" }]
reference = "ref.py:scale"

[[case]]
name = "from-files"
function = "scale"
inputs = ["data/x.npy", { npz = "data/by.npz" }]
expected = [{ bin = "data/y.bin", shape = [3, 2] }]

[[case]]
name = "empty"
function = "scale"
inputs = [[], 2]
expected = [[]]

[[case]]
name = "nan"
function = "root"
inputs = [-1.0]
expected = [nan]

[[case]]
function = "split"
inputs = [[100, -3]]
expected = [[200, -6], [false, true]]
"""


def test_cases_pass_with_literals_files_generators_and_references(project: Project) -> None:
    cases(project, PASSING, targets="both")
    (project.path / "suites/data").mkdir()
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(project.path / "suites/data/x.npy", x)
    np.savez(project.path / "suites/data/by.npz", by=np.float32(3))
    (project.path / "suites/data/y.bin").write_bytes((x * np.float32(3)).tobytes())
    result = project.run()
    result.assert_outcomes(passed=4)
    assert not (project.path / "suites/__pycache__").exists()


WRONG = """\
[[case]]
name = "right"
function = "scale"
inputs = [[[1, 2]], 0.5]
expected = [[[0.5, 1]]]

[[case]]
name = "wrong"
function = "scale"
inputs = [[[1, 2]], 0.5]
expected = [[[0.5, 1.25]]]

[[case]]
name = "no-nan"
function = "root"
inputs = [-1.0]
expected = [nan]
tolerance.f32.nan = "never"

[[case]]
name = "unknown"
function = "scall"
expected = [1]
"""

UNREADABLE = """\
[[case]]
name = "raises"
function = "scale"
inputs = [[[1, 2]], 0.5]
reference = "ref.py:slow_scale"

[[case]]
name = "too-wide"
function = "scale"
inputs = [[[1, 2]], 0.5]
reference = "ref.py:wide"

[[case]]
name = "misfit"
function = "scale"
inputs = [[1, 2], 0.5]
reference = "ref.py:scale"
"""


def has(text: str, *parts: str) -> None:
    for part in parts:
        assert part in text, f"{part}\n is not in\n{text}"


@pytest.mark.slow
def test_every_wrong_case_is_reported_by_itself_with_a_command_that_repeats_it(project: Project) -> None:
    cases(project, WRONG)
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    lines = block(result, "math: m_vmvx_sync")
    text = "\n".join(lines)
    has(
        text,
        "result 0: 1 of 2 elements differ (1x2xfloat32; atol 1e-05, rtol 1e-05)",
        "  [0, 1]     1.0      1.25       0.25        0.2",
        "result 0: 1 of 1 element differs (float32; atol 1e-05, rtol 1e-05)",
        "suites/m.cases.toml:22: case[3].function: found the function 'scall', expected one that the module exports: "
        "scale, root, split; did you mean 'scale'?",
        "passed: right",
    )
    assert "Traceback" not in text
    pasted = commands(lines)
    assert len(pasted) == 5
    again = shell(pasted[:3])
    assert again.returncode == 1, again.stderr
    has(again.stdout, "wrong: failed at compare: result 0: 1 of 2 elements differ", "  [0, 1]     1.0      1.25")
    assert shell([*pasted[:2], pasted[2].replace("--case=wrong", "--case=right")]).returncode == 0
    everything = shell([*pasted[:2], pasted[2].replace("--case=wrong", "")])
    has(everything.stdout, "right: passed\n", "unknown: failed at load: ")
    unknown = shell([*pasted[:2], pasted[2].replace("--case=wrong", "--case=rihgt")])
    assert unknown.returncode == 1
    has(unknown.stderr, "there is no case 'rihgt'; there are: right, wrong, no-nan, unknown; did you mean 'right'?")


def test_cases_whose_values_cannot_be_had_fail_to_load_with_the_place(project: Project) -> None:
    cases(project, UNREADABLE)
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    text = "\n".join(block(result, "math: m_vmvx_sync"))
    has(
        text,
        "suites/m.cases.toml:5: case[0].reference: suites/ref.py:8: slow_scale raised KeyError: 2",
        "    return x * factors[2]",
        "suites/m.cases.toml:11: case[1].reference: result 0 of ref.py:wide: found 1x2xf64, expected tensor<?x2xf32>",
        "suites/m.cases.toml:16: case[2].inputs[0]: argument 0 of scale: found 2xf32, expected tensor<?x2xf32>",
    )
    assert "Traceback" not in text


AGREEING = """\
[[case]]
function = "scale"
inputs = [{ random = "normal", shape = [5, 2] }, 3]
agree_with = "vmvx"
"""


def test_configs_agree_with_each_other(project: Project) -> None:
    cases(project, AGREEING, targets="both")
    project.run().assert_outcomes(passed=4)
    # What is selected alone still has the other config's results to agree with.
    project.run("-m", "llvm-cpu and run").assert_outcomes(passed=1, deselected=3)


ONLY_LLVM = """\
func.func @angle(%x: tensor<2xf32>) -> tensor<2xf32> {
  %angle = math.acos %x : tensor<2xf32>
  return %angle : tensor<2xf32>
}
"""
"""What vmvx does not compile."""

ANGLE = '[[case]]\nname = "agrees"\ninputs = [[0, 0.5]]\nagree_with = "vmvx"\n'


def test_what_gives_no_results_blocks_what_is_to_agree_with_it(project: Project) -> None:
    cases(project, ANGLE, targets="both")
    project.write({"suites/m.mlir": ONLY_LLVM})
    result = project.run()
    assert result.parseoutcomes() == {"failed": 1, "passed": 1, "blocked": 2}
    blocked = "blocked by suites/suite.toml::math::m_vmvx"
    has(
        "\n".join(result.outlines),
        f"{blocked} (1 target)",
        f"{blocked}, which gave no results to agree with (1 target)",
    )
    # Where nothing else here reports it, this target does; and its suspect is not its own config.
    alone = project.run("-m", "llvm-cpu and run")
    alone.assert_outcomes(failed=1, deselected=3)
    lines = block(alone, "math: m_llvm-cpu_sync")
    assert lines[0].startswith("load: there are no results of compiler config 'vmvx' to agree with: m_vmvx: ")
    reported = (
        "This says nothing of compiler config llvm-cpu: compiler config vmvx, whose results are expected, gave none."
    )
    assert reported in lines
