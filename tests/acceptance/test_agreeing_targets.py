"""Suites whose targets have to agree with each other, with the real compiler and devices."""

from __future__ import annotations

import json

import pytest
from acceptance_support import LLVM_CPU_FLAGS, VMVX_FLAGS, Project, matrix
from declaration_texts import compiler, runtime, suite, table, target
from session_output import block, commands, shell

pytestmark = pytest.mark.slow  # many sessions of the real compiler

# The product of two i32 needs 64 bits, which `demoted` has not.
MODULE = """\
func.func @high(%x: tensor<4xi32>) -> tensor<4xi32> {
  %bits = arith.constant dense<20> : tensor<4xi64>
  %wide = arith.extsi %x : tensor<4xi32> to tensor<4xi64>
  %square = arith.muli %wide, %wide : tensor<4xi64>
  %high = arith.shrsi %square, %bits : tensor<4xi64>
  %y = arith.trunci %high : tensor<4xi64> to tensor<4xi32>
  return %y : tensor<4xi32>
}
func.func @root(%x: tensor<4xi32>) -> tensor<4xf32> {
  %high = call @high(%x) : (tensor<4xi32>) -> tensor<4xi32>
  %value = arith.sitofp %high : tensor<4xi32> to tensor<4xf32>
  %less = arith.constant dense<-1000.0> : tensor<4xf32>
  %difference = arith.addf %value, %less : tensor<4xf32>
  %root = math.sqrt %difference : tensor<4xf32>
  return %root : tensor<4xf32>
}
func.func @near(%x: tensor<4xi32>) -> tensor<4xf32> {
  %high = call @high(%x) : (tensor<4xi32>) -> tensor<4xi32>
  %value = arith.sitofp %high : tensor<4xi32> to tensor<4xf32>
  %more = arith.constant dense<1000000.0> : tensor<4xf32>
  %sum = arith.addf %value, %more : tensor<4xf32>
  return %sum : tensor<4xf32>
}
"""
HIGH = '[[case]]\nfunction = "high"\ninputs = [[1, 70000, 90000, 1]]\n'
ROOT = '[[case]]\nfunction = "root"\ninputs = [[90000, 70000, 90000, 90000]]\n'
NEAR = '[[case]]\nfunction = "near"\ninputs = [[1, 70000, 90000, 1]]\n'
SAME = '[[case]]\nname = "same"\nfunction = "high"\ninputs = [[1, 2, 3, 4]]\n'

MATRIX = matrix(
    compiler("vmvx", flags=VMVX_FLAGS),
    compiler("llvm-cpu", flags=LLVM_CPU_FLAGS),
    compiler("demoted", flags=[*VMVX_FLAGS, "--iree-input-demote-i64-to-i32"]),
    compiler("refused", flags=[*VMVX_FLAGS, "--iree-no-such-flag"]),
    runtime("sync"),
    runtime("phone", host_os="ios"),
    target("three", ["llvm-cpu", "vmvx", "demoted"], ["sync"]),
    target("two", ["llvm-cpu", "demoted"], ["sync"]),
    target("with-refused", ["llvm-cpu", "refused"], ["sync"]),
    target("elsewhere", ["vmvx"], ["phone"]),
    target("cpu", ["llvm-cpu"], ["sync"]),
)


def agreeing(project: Project, cases: str, *targets: str, agree: str = "majority", rules: str = "") -> None:
    text = suite("math", kind="cases", targets=targets, agree=agree)
    project.write({"matrix.toml": MATRIX, "suite.toml": text + rules, "m.mlir": MODULE, "m.cases.toml": cases})


def attribution(lines: list[str]) -> str:
    return lines[next(at for at, line in enumerate(lines) if "what the others did" in line) + 1]


ALONE = "llvm-cpu and vmvx agree, demoted differs"
FIRST = "result 0: 2 of 4 elements differ, first at [1]: demoted 577, llvm-cpu 4673"


def test_a_target_that_stands_alone_fails_with_the_values_of_all(project: Project) -> None:
    agreeing(project, HIGH + SAME, "three")
    result = project.run("--retarget-results=out")
    result.assert_outcomes(passed=5, failed=1)
    lines = block(result, "math: m_demoted_sync")
    assert lines[0] == f"compare: high: {ALONE}: {FIRST}"
    assert lines[2:8] == [
        "function high:",
        f"  {ALONE}",
        "  result 0: 2 of 4 elements differ (4xint32; atol 0, rtol 0)",
        "    index  demoted  llvm-cpu  vmvx  abs error  rel error",
        "      [1]      577      4673  4673       4096   0.876525",
        "      [2]     -468      7724  7724       8192    1.06059",
    ]
    reason = "This points to compiler config demoted: what llvm-cpu and vmvx made of this module passes on sync."
    assert attribution(lines) == reason
    (record,) = (
        one
        for path in (project.path / "out").rglob("*.jsonl")
        for one in map(json.loads, path.read_text().splitlines())
        if one.get("target") == "m_demoted_sync"
    )
    assert record["cases"][0]["agree_with"] == "majority"
    assert record["cases"][0]["agreeing"] == ["llvm-cpu/sync", "vmvx/sync"]
    # The commands compare with the others again.
    done = shell(commands(lines))
    assert done.returncode == 1
    assert ALONE in done.stdout


def test_what_is_selected_alone_is_compared_with_the_others_all_the_same(project: Project) -> None:
    agreeing(project, HIGH, "three")
    alone = project.run("-k", "demoted_sync")
    alone.assert_outcomes(failed=1, deselected=5)
    lines = block(alone, "math: m_demoted_sync")
    assert lines[0] == f"compare: {ALONE}: {FIRST}"
    reason = "This points to compiler config demoted: what llvm-cpu and vmvx made of this module passes on sync."
    assert attribution(lines) == reason
    project.run("-k", "vmvx_sync").assert_outcomes(passed=1, deselected=5)
    project.run("-n2").assert_outcomes(passed=5, failed=1)
    # A result depends on what others give, and is not reused.
    assert project.run("--retarget-reuse-results").parseoutcomes() == {"passed": 5, "failed": 1}


def test_of_two_that_differ_nobody_is_blamed(project: Project) -> None:
    agreeing(project, HIGH, "two")
    result = project.run()
    result.assert_outcomes(passed=2, failed=2)
    for own, other, values in (("llvm-cpu", "demoted", (4673, 577)), ("demoted", "llvm-cpu", (577, 4673))):
        lines = block(result, f"math: m_{own}_sync")
        first = f"first at [1]: {own} {values[0]}, {other} {values[1]}"
        differ = f"result 0: 2 of 4 elements differ, {first}"
        assert lines[0] == f"compare: no majority: {own} differs from {other}: {differ}"
        reason = (
            "Inconclusive: no majority of the targets agrees, so that none of those that differ is known to be wrong."
        )
        assert attribution(lines) == reason
    # Known, each of them is expected to fail, and both are to be named.
    known = table("expectation", match="m", when="run", stage="compare", signature="values differ", reason="known")
    project.write({"expectations.toml": known})
    project.run().assert_outcomes(passed=2, xfailed=2)


def test_one_nan_and_tolerances_by_element_type(project: Project) -> None:
    agreeing(project, ROOT + NEAR, "three")
    result = project.run()
    result.assert_outcomes(passed=5, failed=1)
    lines = block(result, "math: m_demoted_sync")
    nan = "result 0: 4 of 4 elements differ, first at [0]: demoted nan, llvm-cpu 82.0"
    assert lines[0].startswith(f"compare: root and 1 more: {ALONE}: {nan}")
    assert f"  {ALONE}" in lines[lines.index("function near:") :]
    agreeing(project, f"tolerance.f32.rtol = 1e-2\n{NEAR}", "three")
    project.run().assert_outcomes(passed=6)


def test_one_without_results_has_no_vote_and_blocks_where_there_is_no_other(project: Project) -> None:
    agreeing(project, SAME, "three", "with-refused", "elsewhere")
    result = project.run()
    assert result.parseoutcomes() == {"passed": 6, "failed": 1, "blocked": 1, "skipped": 1}
    agreeing(project, SAME, "with-refused")
    result = project.run()
    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "blocked": 2}
    result.stdout.fnmatch_lines(["blocked by suite.toml::math::m_refused, which gave no results to agree with *"])
    alone = project.run("-k", "llvm-cpu_sync")
    alone.assert_outcomes(failed=1, deselected=3)
    lines = block(alone, "math: m_llvm-cpu_sync")
    assert lines[0].startswith("load: there are no results of another target to agree with: m_refused: ")
    reason = "This says nothing of compiler config llvm-cpu: no other target gave results to agree with."
    assert attribution(lines) == reason


def test_where_no_other_target_may_run_nothing_passes(project: Project) -> None:
    agreeing(project, SAME, "cpu", "elsewhere")
    result = project.run("-rs")
    assert result.parseoutcomes() == {"passed": 2, "skipped": 2}
    agreeing(project, SAME, "two")
    skip = table("expectation", match="m", when="run and demoted", outcome="skip", reason="hangs the machine")
    project.write({"expectations.toml": skip})
    result = project.run("-rs")
    assert result.parseoutcomes() == {"passed": 2, "skipped": 2}
    result.stdout.fnmatch_lines(["*a rule skips every other target*"])


def test_a_suite_names_the_config_that_all_others_agree_with(project: Project) -> None:
    agreeing(project, HIGH, "three", agree="vmvx")
    result = project.run()
    result.assert_outcomes(passed=5, failed=1)
    assert block(result, "math: m_demoted_sync")[0] == (
        "compare: result 0 against what vmvx gave: 2 of 4 elements differ, first at [1]: actual 577, expected 4673"
    )
    # A case with values of its own is judged by them.
    agreeing(project, f"{HIGH}expected = [[0, 577, -468, 0]]\n", "three", agree="vmvx")
    project.run().assert_outcomes(passed=4, failed=2)
