"""`retarget ci verify --results` on results of real sessions: a leg killed at any point, run twice, run otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acceptance_support import DOUBLES, Project
from msgspec.structs import replace
from retarget.results import Leg, Plan, Sessions, digest_of_ids
from retarget.support import RetargetError
from retarget_ci.verify_results import verify_results

SUITE = "suites/suite.toml::twice::"
MODULES = ("a", "b", "c")


def leg(name: str, end: str, **more: Any) -> Leg:
    ids = tuple(f"{SUITE}{module}_{end}" for module in MODULES)
    return Leg(**{"name": name, "kind": "run", "runner": "linux", "ids": ids, "digest": digest_of_ids(ids), **more})


PLAN = Plan(
    event="pr", paths=("suites",), legs=(leg("build-0", "dc", kind="build"), leg("run-0", "dc_dr", needs=("build-0",)))
)


def run(project: Project, name: str, *arguments: str, plan: Plan = PLAN) -> Path:
    """Run a leg; return its file of results."""
    (project.path / "plan.json").write_bytes(plan.text)
    folder = "--retarget-export" if name == "build-0" else "--retarget-artifacts"
    known = {*(project.path / "out").glob("*")}
    options = ("--retarget-plan=plan.json", "--retarget-results=out", f"{folder}=artifacts")
    project.run(*DOUBLES, *options, f"--retarget-leg={name}", *arguments)
    [file] = {*(project.path / "out").glob("*")} - known
    return file


def lost(project: Project) -> tuple[str, ...]:
    try:
        return verify_results(PLAN, Sessions.read([project.path / "out"])).problems
    except RetargetError as error:
        return (str(error),)


@pytest.fixture
def built(project: Project) -> Project:
    project.doubles(**dict.fromkeys(MODULES, "f: pass"))
    run(project, "build-0")
    return project


@pytest.mark.slow
def test_a_leg_that_ran_with_other_options_or_another_plan_is_found(built: Project) -> None:
    for arguments, plan, said in (
        (("-k", "not b_dc"), PLAN, "its session selected 2 targets"),
        (("--deselect", f"{SUITE}a_dc_dr"), PLAN, "its session selected 2 targets"),
        (("--retarget-case=g",), PLAN, "3 targets skipped, and no rule"),
        (("--collect-only", "-x"), PLAN, "found no results"),
        ((), replace(PLAN, select="b"), "answers to the plan"),
    ):
        try:
            file = run(built, "run-0", *arguments, plan=plan)
        except ValueError:  # nothing ran
            file = None
        assert any(said in problem for problem in lost(built)), lost(built)
        if file is not None:
            file.unlink()
