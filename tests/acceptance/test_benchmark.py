"""`pytest --retarget-benchmark`: what it records, what golden rules make of it, what does not go with it."""

from __future__ import annotations

import pytest
from acceptance_support import LLVM_CPU, Project, matrix, suite
from declaration_texts import runtime, target
from retarget.results import Outcome, Sessions, TargetRecord

MODULE = """\
func.func @sum() {
  %x = util.unfoldable_constant dense<2.5> : tensor<64x64xf32>
  %y = arith.addf %x, %x : tensor<64x64xf32>
  check.expect_eq_const(%y, dense<5.0> : tensor<64x64xf32>) : tensor<64x64xf32>
  return
}
"""
BENCHMARK = ("--retarget-benchmark", "--retarget-benchmark-time", "0.2", "--retarget-results", "out")


@pytest.fixture
def sums(project: Project) -> Project:
    project.write({"matrix.toml": matrix(LLVM_CPU, runtime("sync"), target("cpu", ["llvm-cpu"], ["sync"]))})
    project.write({"suites/suite.toml": suite(), "suites/sum.mlir": MODULE})
    return project


def records(project: Project) -> dict[str, TargetRecord]:
    session = Sessions.read([project.path / "out"])[-1]
    return {record.target: record for record in session.latest.values()}


@pytest.mark.slow
def test_targets_that_pass_are_measured(sums: Project) -> None:
    result = sums.run(*BENCHMARK)
    result.assert_outcomes(passed=2)
    found = records(sums)
    compiled, times = found["sum_llvm-cpu"].compile, found["sum_llvm-cpu_sync"].cases[0].times
    assert compiled is not None
    assert compiled.size > 0
    assert compiled.seconds > 0
    assert compiled.dispatches == 1
    assert compiled.transient is not None
    assert compiled.transient >= 64 * 64 * 4
    assert times is not None
    assert times.calls >= len(times.samples) >= 8
    assert 0 < min(times.samples) <= times.median < times.first
    result.stdout.fnmatch_lines(["*retarget benchmark*", "latency of 1 case (median of warm calls):", "*case 'sum'"])


@pytest.mark.slow
def test_a_target_that_breaks_a_golden_rule_fails_and_says_why(sums: Project) -> None:
    rules = (
        '[[golden]]\nmatch = "sum"\nmetric = "latency"\nmax = "1 ns"\nreason = "light takes a foot"\nissue = "#7"\n'
        '[[golden]]\nmatch = "sum"\nmetric = "dispatches"\nmax = 1\nreason = "one loop"\n'
        '[[golden]]\nmatch = "sum"\nmetric = "artifact-size"\nwithin = "10 %"\nreason = "flash"\n'
    )
    sums.write({"suites/expectations.toml": rules})
    sums.run().assert_outcomes(passed=2)  # rules of benchmarks alone
    result = sums.run(*BENCHMARK)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "golden rule broken: case 'sum': latency *, expected at most 1 ns",
            "golden   suites/expectations.toml:1: latency at most 1 ns",
            "reason   light takes a foot (#7)",
            "next: find what changed, or if it is so now, change the bound",
            "golden rules not judged: 1",
            "*sum_llvm-cpu: artifact-size *; 0 earlier sessions*",
        ]
    )
    found = records(sums)
    assert found["sum_llvm-cpu_sync"].outcome is Outcome.FAILED
    assert [(one.rule, one.verdict) for one in found["sum_llvm-cpu"].goldens] == [
        ("artifact-size within 10 % of the baseline", "not judged"),
        ("dispatches at most 1", "kept"),
    ]
    result = sums.run(*BENCHMARK)
    assert [one.verdict for one in records(sums)["sum_llvm-cpu"].goldens] == ["kept", "kept"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--retarget-benchmark-time", "3"),
            "--retarget-benchmark-time was given without --retarget-benchmark; expected both",
        ),
        (
            ("--retarget-benchmark", "--retarget-benchmark-spread", "2"),
            "--retarget-benchmark-spread: found '2', expected a percentage, such as '2 %'",
        ),
        (
            ("--retarget-benchmark", "--retarget-benchmark-baseline", "/nowhere"),
            "--retarget-benchmark-baseline: found no file or folder /nowhere; expected results that "
            "`pytest --retarget-benchmark --retarget-results DIR` wrote",
        ),
        (
            ("--retarget-benchmark", "--retarget-changed"),
            "--retarget-benchmark and --retarget-changed were both given; expected one of them: results of earlier "
            "runs are not timed",
        ),
        pytest.param(
            ("--retarget-benchmark", "-n2"),
            "--retarget-benchmark and -n were both given; expected one of them: what runs at the same time disturbs "
            "what is timed",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(sums: Project, arguments: tuple[str, ...], message: str) -> None:
    result = sums.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {message}" in result.stderr.lines
