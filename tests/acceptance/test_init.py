"""What `retarget init` writes passes: really compiled, really run."""

from __future__ import annotations

import subprocess
import sys

import pytest
from acceptance_support import Project
from mlir_modules import GOOD

SCALE = """\
func.func @scale(%values: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %sum = arith.addf %values, %values : tensor<?x3xf32>
  return %sum : tensor<?x3xf32>
}
"""
FLAGS = "--input=2x3xf32=1\n--expected_output=2x3xf32=2\n"
TEXT = """\
// CHECK: flow.executable
func.func @fused(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %product = arith.mulf %a, %b : tensor<8xf32>
  return %product : tensor<8xf32>
}
"""


@pytest.mark.slow
def test_the_declarations_of_a_mixture_of_modules_pass_on_the_cpu(project: Project) -> None:
    project.write({"good.mlir": GOOD, "sub/scale.mlir": SCALE, "lit/text.mlir": TEXT})
    project.write({"run/model.mlir": SCALE, "run/flags.txt": FLAGS, ".git/HEAD": ""})

    written = subprocess.run(
        [sys.executable, "-m", "retarget.cli", "init"], cwd=project.path, capture_output=True, text=True, check=False
    )
    result = project.run("-m", "cpu or portable", "--retarget-require", "cpu or portable")

    assert (written.returncode, written.stderr) == (0, "")
    # good: 1 + 2, scale: 1 + 2 and 1 + 1 (portable), text: 1, the flagfile's: 1 + 2
    assert {**result.parseoutcomes(), "deselected": 0} == {"passed": 12, "deselected": 0}
