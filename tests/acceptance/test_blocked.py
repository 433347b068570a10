"""A failed compile fails alone; what needs it is blocked, and comes back with `--lf`."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist
from mlir_modules import GOOD, REFUSED
from session_output import block, ids

COMPILE = "suites/suite.toml::linalg::one_vmvx"


@alone_and_xdist(in_ci=False)
@pytest.mark.slow
def test_run_targets_of_a_failed_compile_are_blocked_and_rerun_once_it_is_mended(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(one="compile: fail", two="f: pass")
    first = project.run(*DOUBLES, "-v", *arguments)
    first.stdout.fnmatch_lines(["*1 failed, 2 passed, 1 blocked in*"])
    assert "blocked by suites/suite.toml::twice::one_dc (1 target)" in first.outlines
    project.write({"suites/one.mlir": "f: pass"})
    again = project.run(*DOUBLES, "--lf", *arguments)
    again.assert_outcomes(passed=2)
    assert project.run(*DOUBLES, "--lf", "--lfnf=none").parseoutcomes() == {"deselected": 4}


@pytest.mark.slow
def test_blocked_targets_say_so_in_verbose_output_and_carry_the_letter_b(project: Project) -> None:
    project.cpu(one=REFUSED)
    verbose = project.run("-v")
    verbose.stdout.fnmatch_lines([f"{COMPILE}_sync BLOCKED (blocked by {COMPILE})*"])
    assert "suites/suite.toml Fbb" in project.run().stdout.str()


@pytest.mark.slow
def test_run_targets_whose_compile_was_deselected_report_the_failure_themselves(project: Project) -> None:
    project.cpu(one=REFUSED)
    result = project.run("-m", "run and local-sync")
    result.assert_outcomes(failed=1, deselected=2)
    lines = block(result, "linalg: one_vmvx_sync")
    assert lines[0].startswith("compile: ")
    assert "'arith.addi' op operand #0" in lines[0]


@pytest.mark.slow
def test_first_failure_stops_and_stepwise_goes_on_from_there(project: Project) -> None:
    project.cpu(one=REFUSED, two=GOOD)
    assert project.run("-x").parseoutcomes() == {"failed": 1}
    assert project.run("--sw").parseoutcomes() == {"failed": 1}
    project.write({"suites/one.mlir": GOOD})
    project.run("--sw").assert_outcomes(passed=6)


@pytest.mark.slow
def test_failed_first_puts_what_was_blocked_first_too(project: Project) -> None:
    project.cpu(one=GOOD, two=REFUSED)
    project.run()
    assert [line.rpartition("::")[2] for line in ids(project.run("--ff", "--co", "-q"))] == [
        "two_vmvx",
        "two_vmvx_sync",
        "two_vmvx_task",
        "one_vmvx",
        "one_vmvx_sync",
        "one_vmvx_task",
    ]
