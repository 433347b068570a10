"""The check of a ladder names what the deletion of a rule cost. `benchmarks/every_rule.py` tries all, this a few."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from retarget_opencl.device.devices import FoundDevice

TOOL = Path(__file__).parents[2] / "benchmarks" / "every_rule.py"
MATRIX = """\
root = true
[[compiler_config]]
name = "opencl"
compiler = "iree-opencl"
target_from = "opencl-pocl"
[[runtime_config]]
name = "opencl"
driver = "opencl"
[[target_config]]
name = "opencl"
compiler = "opencl"
runtimes = ["opencl"]
"""
SUITE = '[[module_test_suite]]\nname = "tiny"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["opencl"]\n'
ADD = """\
func.func @add() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.addf %a, %a : tensor<2xf32>
  check.expect_almost_eq_const(%b, dense<[2.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
"""


@pytest.mark.slow
def test_the_ladder_names_what_the_deletion_of_a_rule_cost(tmp_path: Path, found: FoundDevice) -> None:
    (tmp_path / "source" / "tiny").mkdir(parents=True)
    files = {"matrix.toml": MATRIX, "tiny/suite.toml": SUITE, "tiny/add.mlir": ADD}
    for name, text in files.items():
        (tmp_path / "source" / name).write_text(text)
    argv = [sys.executable, str(TOOL), str(tmp_path / "work"), "--source", str(tmp_path / "source"), "--suites", "tiny"]
    done = [
        subprocess.run([*argv, "--rules", rules], capture_output=True, text=True, check=False)
        for rules in ("*/spirv.F[AS]*", "host/stream.cmd.dispatch")
    ]
    assert [one.returncode for one in done] == [0, 0], done[-1].stderr
    lines = [json.loads(line) for line in (tmp_path / "work" / "rules.jsonl").read_text().splitlines()]
    by_rule = {
        line["rule"].rpartition("/")[2]: line for line in reversed(lines)
    }  # matrices have rules of their own, last
    target = "suites/tiny/suite.toml::tiny::add_opencl_opencl"
    for rule in ("spirv.FAdd", "stream.cmd.dispatch"):
        assert by_rule[rule]["fell"] == [target]
        assert by_rule[rule]["named"] == [f"bringup/opencl.ladder:4: {target}  matches → none"]
    assert by_rule["spirv.FSub"]["targets"] == []
    assert f"{len(lines)} of " in done[-1].stdout
