"""`--retarget-plan` and `--retarget-leg`: one leg of a plan and nothing else, or an error that says why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist
from retarget.results import Leg, Outcome, Plan, Sessions, digest_of_ids

SUITE = "suites/suite.toml::twice::"
PLAN = ("--retarget-plan", "plan.json")


def leg(name: str, kind: Literal["build", "run"], targets: Sequence[str], **more: Any) -> Leg:
    ids = tuple(sorted(f"{SUITE}{target}" for target in targets))
    return Leg(**{"name": name, "kind": kind, "runner": "linux", "ids": ids, "digest": digest_of_ids(ids), **more})


def plan(project: Project, *legs: Leg) -> Plan:
    planned = Plan(event="pr", paths=("suites",), legs=legs)
    (project.path / "plan.json").write_bytes(planned.text)
    return planned


@pytest.fixture
def planned(project: Project) -> Project:
    """Modules `a` and `b`, and a plan that compiles both and runs the first."""
    project.doubles(a="f: pass", b="f: pass")
    project.write({"suites/test_other.py": "def test_other(): ..."})
    plan(project, leg("build-0", "build", ["a_dc", "b_dc"]), leg("run-0", "run", ["a_dc_dr"], needs=("build-0",)))
    return project


def refused(project: Project, *arguments: str) -> list[str]:
    result = project.run(*DOUBLES, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.no_re_match_line(r".*\b(passed|failed)\b.*")
    lines = [*result.errlines, *result.outlines]
    return [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]


@alone_and_xdist()
def test_a_leg_runs_its_targets_alone_and_says_whose_they_are(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: pass", b="compile: fail\nf: pass", c="f: pass")
    project.write({"suites/test_other.py": "def test_other(): ..."})
    build = leg("build-0", "build", ["a_dc", "b_dc"])
    digest = plan(project, build, leg("run-0", "run", ["a_dc_dr", "b_dc_dr"], needs=("build-0",))).digest
    options = (*DOUBLES, *PLAN, "--retarget-results", "out", *arguments)
    project.run(*options, "--retarget-leg=build-0", "--retarget-export=artifacts").assert_outcomes(passed=1, failed=1)
    run = ("--retarget-leg=run-0", "--retarget-artifacts=artifacts", "--retarget-require=run")
    result = project.run(*options, *run)
    assert result.ret == 0
    assert {name: count for name, count in result.parseoutcomes().items() if name != "deselected"} == {
        "passed": 1,
        "blocked": 1,
    }
    built, ran = Sessions.read([project.path / "out"])
    assert (built.start.leg, built.start.plan, built.start.digest) == ("build-0", digest, build.digest)
    assert (ran.start.leg, ran.start.plan, ran.start.selected) == ("run-0", digest, 2)
    assert {(one.leg, one.plan) for one in ran.records} == {("run-0", digest)}
    assert {file.name.partition("-2")[0] for one in (built, ran) for file in one.files} == {"build-0", "run-0"}
    blocked = ran.latest[f"{SUITE}b_dc_dr"]
    assert (blocked.outcome, blocked.blocked_by) == (Outcome.BLOCKED, f"{SUITE}b_dc")
    assert blocked.reason.startswith("blocked: it was not compiled where the artifacts come from: compile: error:")


def test_one_option_needs_the_other(planned: Project) -> None:
    assert refused(planned, *PLAN) == [
        "--retarget-plan was given without --retarget-leg; expected the leg to run, one of build-0, run-0"
    ]
    assert refused(planned, "--retarget-leg=build-0") == [
        "--retarget-leg was given without --retarget-plan; expected the plan that has the leg, too"
    ]


def test_a_leg_that_the_plan_does_not_have_is_an_error(planned: Project) -> None:
    assert refused(planned, *PLAN, "--retarget-leg=biuld-0") == [
        "--retarget-leg: found 'biuld-0', expected one of build-0, run-0 (plan.json); did you mean 'build-0'?"
    ]
    plan(planned)
    assert refused(planned, *PLAN, "--retarget-leg=x") == ["--retarget-leg: found 'x', the plan has no leg (plan.json)"]


def test_a_plan_that_was_changed_by_hand_is_an_error(planned: Project) -> None:
    path = planned.path / "plan.json"
    path.write_text(path.read_text().replace('::b_dc"', '::c_dc"'))
    assert refused(planned, *PLAN, "--retarget-leg=build-0") == [
        "plan.json: found a plan that was changed after it was written: its digest is not that of its content; "
        "write it again with `retarget ci plan`"
    ]


def test_a_plan_that_cannot_be_read_is_an_error(planned: Project) -> None:
    path = planned.path / "plan.json"
    path.write_text(path.read_text().replace('"version": 2', '"version": 1'))
    [line] = refused(planned, *PLAN, "--retarget-leg=build-0")
    assert line.endswith(
        "plan.json: found a plan of version 1, expected 2; write it again with `retarget ci plan` of this retarget"
    )
    path.unlink()
    [line] = refused(planned, *PLAN, "--retarget-leg=build-0")
    assert line.endswith("plan.json: No such file or directory; write it again with `retarget ci plan`")


@alone_and_xdist(in_ci=False)
def test_targets_that_were_not_collected_are_an_error_that_names_them(
    planned: Project, arguments: tuple[str, ...]
) -> None:
    plan(planned, leg("build-0", "build", ["a_dc", *(f"gone{number}_dc" for number in range(7))]))
    named = ", ".join(f"{SUITE}gone{number}_dc" for number in range(5))
    assert refused(planned, *PLAN, "--retarget-leg=build-0", *arguments) == [
        f"--retarget-leg build-0: 7 of its 8 targets were not collected: {named} and 2 more; the plan is of other "
        "declarations (write it again with `retarget ci plan`), or pytest was not given all of its paths: suites"
    ]


def test_a_file_that_is_not_collected_is_the_error_to_show(planned: Project) -> None:
    (planned.path / "suites" / "suite.toml").write_text("[[module_test_suite]]\n")
    result = planned.run(*DOUBLES, *PLAN, "--retarget-leg=build-0")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*suite.toml:1: module_test_suite*"])


def test_targets_of_the_other_kind_are_an_error(planned: Project) -> None:
    plan(planned, leg("build-0", "build", ["a_dc", "a_dc_dr"]))
    assert refused(planned, *PLAN, "--retarget-leg=build-0") == [
        f"--retarget-leg build-0: expected compile targets alone in a build leg, found {SUITE}a_dc_dr"
    ]


def test_a_leg_that_runs_needs_artifacts_and_one_that_builds_takes_none(planned: Project) -> None:
    assert refused(planned, *PLAN, "--retarget-leg=run-0") == [
        "--retarget-leg run-0 runs what the legs build-0 compile; expected --retarget-artifacts with the folder that "
        "they wrote by --retarget-export"
    ]
    (planned.path / "artifacts").mkdir()
    assert refused(planned, *PLAN, "--retarget-leg=build-0", "--retarget-artifacts=artifacts") == [
        "--retarget-leg build-0 compiles, and --retarget-artifacts compiles nothing; expected one of them"
    ]


@pytest.mark.slow
def test_a_leg_without_needs_compiles_what_it_runs(planned: Project) -> None:
    plan(planned, leg("host-0", "run", ["a_dc", "a_dc_dr"]))
    planned.run(*DOUBLES, *PLAN, "--retarget-leg=host-0").assert_outcomes(passed=2, deselected=3)


def test_a_leg_that_takes_artifacts_has_no_target_to_compile(planned: Project) -> None:
    plan(planned, leg("build-0", "build", ["b_dc"]), leg("run-0", "run", ["a_dc", "a_dc_dr"], needs=("build-0",)))
    (planned.path / "artifacts").mkdir()
    assert refused(planned, *PLAN, "--retarget-leg=run-0", "--retarget-artifacts=artifacts") == [
        f"--retarget-leg run-0: expected run targets alone in a leg with artifacts, found {SUITE}a_dc"
    ]
