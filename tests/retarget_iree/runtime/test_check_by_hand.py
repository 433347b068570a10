"""`retarget.worker.run_case --kind=check`, which the commands after a failure name, and how `run_under` reads it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from iree_support import runtime_config
from retarget.extension.cases import run_case_plan
from retarget.model import Stage
from retarget.worker.run_case import main


@pytest.fixture(scope="module")
def module_file(arithmetic: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("modules") / "a.vmfb"
    file.write_bytes(arithmetic)
    return file


def run_check(artifact: Path, *arguments: str, driver: str = "local-sync") -> int:
    return main(["--kind=check", f"--driver={driver}", f"--artifact={artifact}", *arguments])


def test_what_differs_or_checks_nothing_fails_and_the_rest_is_run(
    module_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--device=local-task://0", "--task_topology_group_count=1")
    assert run_check(module_file, *arguments, driver="local-task") == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "passes: passed",
        "differs: failed at compare: 1 of 3 elements differ, first at [2]: actual 3, expected 4",
        "checks_nothing: failed at compare: function 'checks_nothing' made no check",
        "with_argument: failed at load: the function takes arguments, so that its checks cannot be made; "
        "make it private if others call it",
    ]
    assert "    1 of 3 elements differ (3xint32; equal bits)" in lines


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--case=asserts"], (Stage.RUN, "FAILED_PRECONDITION; must be zero")),
        (["--no_such_flag"], (None, "the IREE runtime refuses --no_such_flag: INVALID_ARGUMENT; flag 'no_such_")),
        (["--device=7"], (None, "the driver local-sync has no device '7'")),
    ],
)
def test_what_is_printed_names_the_stage(
    failing: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reported: tuple[Stage | None, str],
) -> None:
    file = tmp_path / "f.vmfb"
    file.write_bytes(failing)
    plan = run_case_plan(kind="check", config=runtime_config("local-sync"), artifact=file, case="")
    assert run_check(file, *arguments) == 1
    captured = capsys.readouterr()
    first = (captured.out + captured.err).splitlines()[0]
    patterns = [*plan.telling, (None, "error: (.*)")]
    stage, text = next((stage, found[1]) for stage, line in patterns if (found := re.match(line, first)))
    assert (stage, text[: len(reported[1])]) == reported


def test_an_unknown_function_is_refused(module_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(module_file, "--case=g") == 1
    assert "there is no case 'g'; there are: passes, differs, checks_nothing" in "".join(capsys.readouterr())


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("function", "status"), [("passes", 0), ("differs", 1), ("", 1)])
def test_the_command_of_a_plan_shows_pass_from_fail(function: str, status: int, module_file: Path) -> None:
    plan = run_case_plan(kind="check", config=runtime_config("local-sync"), artifact=module_file, case=function)
    assert plan.argv[0] == sys.executable
    done = subprocess.run(plan.argv, env={**os.environ, **dict(plan.env)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
