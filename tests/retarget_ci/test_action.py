"""`action.yml` and `.pre-commit-hooks.yaml`: their form, and what their commands do."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, table, target
from mlir_modules import GOOD
from retarget.cli import main
from retarget.results import Plan, Sessions
from retarget_ci.emit.github import _ACTIONS
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+)(?: \|\|.*)? \}\}")


def content(name: str) -> Any:
    return YAML(typ="safe").load((ROOT / name).read_text())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    matrix = declarations(
        "root = true\n", compiler("vmvx", flags=VMVX_FLAGS), runtime("sync"), target("all", "vmvx", ["sync"])
    )
    runner = table("runner", name="here", labels=["here"], builds=True, drivers=["local-sync"])
    event = table("event", name="pr", on=["pull_request"], budget="20 min")
    (tmp_path / "ci.toml").write_text(declarations('labels = ["here"]\n', runner, event))
    for name, text in {"matrix.toml": matrix, "suite.toml": suite("linalg"), "add.mlir": GOOD}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def run_step(name: str, folder: Path, inputs: Mapping[str, str], **env: str) -> None:
    """Run the command of a step as the runner does, with the action's defaults for the other inputs."""
    action = content("action.yml")
    step = next(step for step in action["runs"]["steps"] if step.get("name") == name)
    values = {key: one["default"] for key, one in action["inputs"].items()} | dict(inputs)
    given = {key: values[INPUT.fullmatch(text)[1]] for key, text in step["env"].items()}  # type: ignore[index]
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path, **given, **env}, check=True)


@pytest.mark.slow
def test_the_action_fits_the_schema_of_github() -> None:
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"]
    subprocess.run(command, check=True, capture_output=True)


def test_the_action_uses_the_actions_that_workflows_use_by_commit() -> None:
    used = [step["uses"] for step in content("action.yml")["runs"]["steps"] if "uses" in step]
    assert used
    assert set(used) <= {one.partition(" ")[0] for one in _ACTIONS.values()}


@pytest.mark.slow
def test_the_action_installs_its_own_version(tmp_path: Path) -> None:
    own = {"PIP_DRY_RUN": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}  # pip's words for a switch: 0 is off
    report = tmp_path / "report.json"
    run_step("Install", tmp_path, {"package": f"{ROOT}[all]"}, **own, PIP_REPORT=str(report), PIP_IGNORE_INSTALLED="1")
    assert '"name": "retarget"' in report.read_text() or '"name":"retarget"' in report.read_text()


@pytest.mark.slow
def test_the_action_runs_what_its_arguments_select(project: Path) -> None:
    run_step("Run", project, {"arguments": "-m 'vmvx and run' add.mlir"})
    (session,) = Sessions.read([project / "retarget-results"])
    assert [(record.target, record.outcome) for record in session.records] == [("add_vmvx_sync", "passed")]
    assert (project / ".retarget-cache").is_dir()


@pytest.mark.slow
def test_the_action_runs_a_leg(project: Path) -> None:
    plan = [sys.executable, "-m", "retarget.cli", "ci", "plan", "--event", "pr", "-o", "plan.json"]
    subprocess.run(plan, cwd=project, check=True, capture_output=True)
    leg = Plan.read(project / "plan.json").legs[0]
    run_step("Run", project, {"plan": "plan.json", "leg": leg.name, "arguments": "-q"})
    (session,) = Sessions.read([project / "retarget-results"])
    assert {record.nodeid for record in session.records} == set(leg.ids)
    assert session.start.leg == leg.name


def test_the_hook_is_for_the_files_that_declare() -> None:
    (hook,) = content(".pre-commit-hooks.yaml")
    files = re.compile(hook["files"])
    declared = ["matrix.toml", "a/suite.toml", "a/b/expectations.toml", "softmax.cases.toml"]
    assert [name for name in [*declared, "pyproject.toml", "a/my-suite.toml"] if files.search(name)] == declared


def test_the_hook_fails_where_declarations_have_errors(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (hook,) = content(".pre-commit-hooks.yaml")
    command, *arguments = shlex.split(hook["entry"])
    assert command == "retarget"
    monkeypatch.chdir(project)
    assert main(arguments) == 0
    (project / "suite.toml").write_text(suite("linalg", targets=["al"]))
    capsys.readouterr()
    assert main(arguments) == 1
    assert capsys.readouterr().err == (
        "suite.toml:5: module_test_suite[0].targets[0]: found 'al', expected "
        "the name of a target_config declared in this file or above; did you mean 'all'?\n"
    )
