"""The emitted workflows: valid, thin, bounded, and without anything in a shell that is not a plain word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import check_jsonschema
import pytest
from click.testing import CliRunner
from retarget.cli import main
from retarget.results import Leg, Plan
from retarget.support import DiagnosticsError, RetargetError
from retarget_ci.emit.command import emitted_files
from retarget_ci.emit.gitlab import child_pipeline
from retarget_ci.emit.jobs import legs_of_jobs
from retarget_ci.files import CiConfig, read_ci
from ruamel.yaml import YAML

CI = """
labels = ["ubuntu-24.04", "self-hosted", "gpu"]
setup = ["python -m pip install -e '.[all]'", "echo \\"a: b\\"\\necho ${{ secrets.X }}"]
env = { PIP_NO_INPUT = "1" }
emit = ["github", "gitlab"]

[[runner]]
name = "linux"
labels = ["ubuntu-24.04"]
builds = true
drivers = ["local-sync"]
capacity = 4
setup = ["sudo apt-get install -y mesa"]
env = { ODD = "a: b # c" }

[[runner]]
name = "gpu"
labels = ["self-hosted", "gpu"]
drivers = ["cuda"]

[[event]]
name = "pr"
on = ["pull_request", "merge_queue", "manual"]
branches = ["main", "release/*"]
select = "not slow"
budget = "20 min"
timeout = "1 h 30 s"
verify = ['retarget bringup chip --check --results "$RETARGET_RESULTS"']

[[event]]
name = "nightly"
on = ["push"]
schedule = ["0 3 * * *"]
budget = "1 h"
"""

SUITE = """
[[compiler_config]]
name = "vmvx"
compiler = "iree"
flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]

[[runtime_config]]
name = "sync"
driver = "local-sync"

[[target_config]]
name = "cpu"
compiler = "vmvx"
runtimes = ["sync"]

[[module_test_suite]]
name = "s"
srcs = ["*.mlir"]
kind = "check"
targets = ["cpu"]
"""

GITHUB_PR = Path(".github/workflows/retarget-pr.yml")
GITHUB_NIGHTLY = Path(".github/workflows/retarget-nightly.yml")
GITLAB = Path(".gitlab/retarget.yml")


def config_of(folder: Path, text: str = CI) -> CiConfig:
    (folder / "ci.toml").write_text(text)
    return read_ci(folder / "ci.toml")


def leg(name: str, *, kind: Any = "run", needs: tuple[str, ...] = ()) -> Leg:
    return Leg(
        name=name, kind=kind, runner="linux", labels=("ubuntu-24.04",), ids=(f"s::{name}",), digest="", needs=needs
    )


@pytest.fixture
def config(tmp_path: Path) -> CiConfig:
    return config_of(tmp_path)


@pytest.fixture
def pull_request(config: CiConfig) -> Any:
    return YAML(typ="safe").load(emitted_files(config)[GITHUB_PR])


def test_each_event_has_a_workflow_on_github_and_all_have_one_file_on_gitlab(config: CiConfig) -> None:
    assert set(emitted_files(config)) == {GITHUB_PR, GITHUB_NIGHTLY, GITLAB}


@pytest.mark.slow
def test_the_files_pass_the_published_schemas(config: CiConfig, tmp_path: Path) -> None:
    plan = Plan(event="pr", paths=(".",), legs=(leg("b", kind="build"), leg("r", needs=("b",))))
    files = {**emitted_files(config), Path("child.yml"): child_pipeline(config, plan)}
    for path, text in files.items():
        (tmp_path / path.name).write_text(text)
    for schema, names in (
        ("github-workflows", [GITHUB_PR.name, GITHUB_NIGHTLY.name]),
        ("gitlab-ci", [GITLAB.name, "child.yml"]),
    ):
        arguments = ["--builtin-schema", f"vendor.{schema}", *(str(tmp_path / name) for name in names)]
        done = CliRunner().invoke(check_jsonschema.main, arguments)
        assert done.exit_code == 0, done.output


def test_actions_are_pinned_by_commit_and_jobs_may_only_read(pull_request: Any, config: CiConfig) -> None:
    used = [step["uses"] for job in pull_request["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+(/[a-z]+)?@[0-9a-f]{40}", one) for one in used)
    pinned = re.findall(r"uses: .*", emitted_files(config)[GITHUB_PR])
    assert all(re.search(r"  # v\d+\.\d+\.\d+$", line) for line in pinned)
    assert pull_request["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in pull_request["jobs"].values())


def test_verify_always_runs_and_fails_for_a_job_that_did_not(pull_request: Any) -> None:
    verify = pull_request["jobs"]["verify"]
    assert verify["if"] == "always()"
    assert verify["needs"] == ["plan", "build", "run"]
    assert " ".join(verify["steps"][-1]["if"].split()) == (
        "always() && (needs.plan.result != 'success' "
        "|| contains(needs.*.result, 'failure') || contains(needs.*.result, 'cancelled') "
        "|| (needs.build.result == 'skipped' && needs.plan.outputs.build != '[]') "
        "|| (needs.run.result == 'skipped' && needs.plan.outputs.run != '[]') )"
    )
    assert verify["steps"][-1]["run"].splitlines()[-1] == "exit 1"


def test_verify_also_compares_the_declarations_with_what_is_emitted(pull_request: Any, config: CiConfig) -> None:
    commands = [step["run"] for step in pull_request["jobs"]["verify"]["steps"] if "run" in step]
    assert "retarget ci verify" in commands
    plan = Plan(event="pr", paths=(".",), legs=(leg("r"),))
    script = json.loads(child_pipeline(config, plan))["verify"]["script"]
    assert script.index("retarget ci verify || lost=1") < script.index('test -z "$lost"')


def test_further_commands_verify_with_the_folder_of_all_results(pull_request: Any, config: CiConfig) -> None:
    command = 'retarget bringup chip --check --results "$RETARGET_RESULTS"'
    (step,) = [one for one in pull_request["jobs"]["verify"]["steps"] if one.get("run", "").strip() == command]
    assert step["env"] == {"RETARGET_RESULTS": "retarget-ci/results"}
    verify = json.loads(child_pipeline(config, Plan(event="pr", paths=(".",))))["verify"]
    assert verify["variables"] == {"RETARGET_RESULTS": "retarget-ci/results"}
    assert verify["script"].index(f"{command} || lost=1") < verify["script"].index('test -z "$lost"')


def test_a_shell_sees_expressions_only_of_fixed_words_and_of_the_commands_in_ci_toml(pull_request: Any) -> None:
    of_the_user = "${{ secrets.X }}"
    for job in pull_request["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "").replace(of_the_user, "")
    run = next(step for step in pull_request["jobs"]["run"]["steps"] if step.get("name") == "Run the leg")
    assert run["env"]["LEG"] == "${{ matrix.leg }}"
    assert '"$LEG"' in run["run"]


@pytest.mark.parametrize(("place", "is_cached"), [("retarget-ci/a history", True), ("s3://bucket/history", False)])
def test_each_run_but_those_of_pull_requests_is_added_to_the_history_that_plans_read(
    tmp_path: Path, place: str, is_cached: bool
) -> None:
    config = config_of(tmp_path, f'history = "{place}"\n{CI}')
    jobs = YAML(typ="safe").load(emitted_files(config)[GITHUB_PR])["jobs"]
    shown = f"'{place}/pr'" if " " in place else f"{place}/pr"
    steps = {step.get("name", step.get("uses", "").partition("@")[0]): step for step in jobs["verify"]["steps"]}
    assert steps["Page"]["run"].strip().endswith(f" --history {shown}")
    added = steps["Add to the history"]
    assert added["run"].strip() == f"retarget history add retarget-ci/results --to {shown}"
    assert added["if"] == "always() && needs.plan.result == 'success' && github.event_name != 'pull_request'"
    planned = next((step for step in jobs["plan"]["steps"] if "cache/restore" in step.get("uses", "")), None)
    assert (planned is not None) is ("actions/cache/save" in steps) is is_cached
    if planned is not None:
        saved = steps["actions/cache/save"]
        assert saved["if"] == added["if"]
        assert (saved["with"]["path"], saved["with"]["key"]) == (f"{place}/pr", planned["with"]["key"])
        assert saved["with"]["key"].startswith(planned["with"]["restore-keys"])
    child = json.loads(child_pipeline(config, Plan(event="pr", paths=(".",))))["verify"]
    assert (
        f'[ "$PARENT_SOURCE" = merge_request_event ] || retarget history add retarget-ci/results --to {shown} || true'
        in (child["script"])
    )
    assert ("cache" in child) is is_cached


def test_a_history_outside_the_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticsError) as caught:
        config_of(tmp_path, f'history = "../there"\n{CI}')
    assert str(caught.value) == (
        f"{tmp_path / 'ci.toml'}:1: history: found '../there', expected a path below the folder of ci.toml"
    )


def test_a_plan_with_more_legs_than_a_matrix_holds_is_an_error() -> None:
    plan = Plan(event="pr", paths=(".",), legs=tuple(leg(f"r{number}") for number in range(257)))
    with pytest.raises(RetargetError) as caught:
        legs_of_jobs(plan)
    assert str(caught.value) == (
        "the plan of the event 'pr' has 257 legs of the kind 'run', expected at most 256, which a matrix of GitHub "
        "holds: lower capacities in ci.toml"
    )


def test_gitlab_starts_an_event_by_its_rules_and_its_legs_from_the_plan(config: CiConfig) -> None:
    jobs = YAML(typ="safe").load(emitted_files(config)[GITLAB])
    assert list(jobs) == ["plan pr", "legs pr", "plan nightly", "legs nightly"]
    assert [rule["if"] for rule in jobs["plan pr"]["rules"]] == [
        r'$CI_PIPELINE_SOURCE == "merge_request_event"'
        r" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME =~ /^(main|release\/.*)$/",
        '$RETARGET_EVENT == "pr"',
    ]
    assert [rule["if"] for rule in jobs["legs nightly"]["rules"]] == [
        '$CI_PIPELINE_SOURCE == "push"',
        '$RETARGET_EVENT == "nightly"',
    ]
    assert jobs["legs pr"]["trigger"]["strategy"] == "depend"


def test_gitlabs_pipeline_of_the_legs_is_never_empty_and_verifies_always(config: CiConfig) -> None:
    empty = json.loads(child_pipeline(config, Plan(event="pr", paths=("."))))
    assert {"plan", "verify"} < set(empty)
    plan = Plan(event="pr", paths=(".",), legs=(leg("b", kind="build"), leg("r", needs=("b",))))
    full = json.loads(child_pipeline(config, plan))
    assert full["verify"]["when"] == full["leg r"]["when"] == "always"
    assert "when" not in full["leg b"]
    assert full["leg b"]["cache"]["paths"] == ["retarget-ci/cache"]
    assert "cache" not in full["leg r"]  # what it runs was compiled elsewhere
    assert full["leg r"]["variables"]["LEG"] == "r"
    assert full["leg r"]["script"][-1].startswith('retarget ci run retarget-ci/plan.json "$LEG" ')


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one suite of one module."""
    config_of(tmp_path, CI.replace(', "gitlab"]', "]").replace("not slow", ""))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "a.mlir").write_text("func.func @f() { return }\n")
    (tmp_path / "suite.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_emit_writes_workflows_and_the_lock_and_removes_what_it_wrote_for_nothing_declared_now(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left_over = project / ".github/workflows/retarget-weekly.yml"
    left_over.parent.mkdir(parents=True)
    left_over.write_text(emitted_files(read_ci(project / "ci.toml"))[GITHUB_NIGHTLY])
    assert main(["ci", "emit"]) == 0
    written = f"written: {GITHUB_PR}\nwritten: {GITHUB_NIGHTLY}\nwritten: ci.lock\n"
    assert capsys.readouterr().out == f"{written}removed: .github/workflows/retarget-weekly.yml\n"


def test_legs_of_a_plan_for_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_bytes(Plan(event="pr", paths=(".",), legs=(leg("b", kind="build"),)).text)
    assert main(["ci", "legs", "plan.json", "--format", "github"]) == 0
    (build, run) = capsys.readouterr().out.splitlines()
    assert build == 'build=[{"leg":"b","runner":"linux","labels":["ubuntu-24.04"],"compiles":true}]'
    assert run == "run=[]"
