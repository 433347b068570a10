"""`retarget ci run`: which commands, in which order, with which exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.results import Leg, Plan

CI = """
labels = ["ubuntu", "gpu"]
env = { A = "top", B = "b c" }

[[runner]]
name = "linux"
labels = ["ubuntu"]
builds = true
env = { A = "linux" }
pytest = ["-x"]

[[runner]]
name = "gpu"
labels = ["gpu"]
drivers = ["cuda"]

[[event]]
name = "pr"
on = ["pull_request"]
budget = "20 min"
pytest = ["--maxfail=9"]
"""


@pytest.fixture
def plan(cwd: Path) -> Plan:
    (cwd / "ci.toml").write_text(CI)
    legs = (
        Leg(name="gpu-1", kind="run", runner="gpu", ids=("s/suite.toml::b",), digest="", needs=("build-linux-1",)),
        Leg(name="build-linux-1", kind="build", runner="linux", ids=("s/suite.toml::a",), digest=""),
        Leg(name="linux-1", kind="run", runner="linux", ids=("s/suite.toml::$(touch x)",), digest=""),
    )
    plan = Plan(event="pr", paths=("s", "-odd name"), legs=legs)
    (cwd / "plan.json").write_bytes(plan.text)
    return plan


def test_a_leg_that_builds_exports_and_one_that_runs_takes_artifacts_and_compiles_nothing(
    plan: Plan, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["ci", "run", "plan.json", "gpu-1", "build-linux-1", "--results", "r", "--dry-run"])
    plan_of = "pytest --rootdir=. s './-odd name' --retarget-plan plan.json --retarget-leg"
    common = "--retarget-require 'compile or run' --retarget-results r"
    assert status == 0
    assert capsys.readouterr().out.splitlines() == [
        f"A=linux 'B=b c' {plan_of} build-linux-1 {common} --retarget-export artifacts -x --maxfail=9",
        f"A=top 'B=b c' {plan_of} gpu-1 {common} --retarget-artifacts artifacts --maxfail=9",
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["gpu-2"], 1, "the plan of the event 'pr' has no leg 'gpu-2'; did you mean 'gpu-1'?"),
        (
            ["--runner", "linus"],
            1,
            "the plan of the event 'pr' has no leg for the runner 'linus'; did you mean 'linux'?",
        ),
        (
            [],
            2,
            "retarget: found no leg, expected names of legs, or --runner; the plan has: gpu-1, build-linux-1, linux-1",
        ),
        (["gpu-1", "--pytest-args=-k 'a"], 2, 'retarget: --pytest-args: found "-k \'a": No closing quotation'),
        (
            ["gpu-1"],
            1,
            "the leg 'gpu-1' takes artifacts of build-linux-1, found no folder artifacts; "
            "run first: `retarget ci run plan.json build-linux-1 --artifacts artifacts`",
        ),
    ],
)
def test_what_cannot_be_run_is_named_with_the_next_step(
    plan: Plan, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    assert main(["ci", "run", "plan.json", *arguments]) == status
    assert capsys.readouterr().err == f"{message}\n"


@pytest.mark.parametrize(("statuses", "expected"), [((0, -9), 137), ((4, 5), 4), ((0, 0), 0)])
def test_all_legs_run_and_the_first_status_that_is_not_0_is_returned(
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    statuses: tuple[int, int],
    expected: int,
) -> None:
    left = list(statuses)
    monkeypatch.setattr("retarget_ci.run.run_session", lambda *_, **__: left.pop(0))
    assert main(["ci", "run", "plan.json", "--runner", "linux"]) == expected
    out = capsys.readouterr().out
    assert (out.count(f": exit status {expected}"), out.count("exit status")) == (bool(expected), 2 - statuses.count(0))
    assert out.index("leg build-linux-1") < out.index("leg linux-1")


SLOW = """
import pathlib, time

def pytest_sessionstart():
    pathlib.Path("started").touch()
    try:
        time.sleep(60)
    finally:
        time.sleep(0.5)  # what a session writes at its end takes its time
        pathlib.Path("ended").touch()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_session_end_and_begins_no_other_leg(plan: Plan, tmp_path: Path, number: int) -> None:
    (tmp_path / "conftest.py").write_text(SLOW)
    for path in plan.paths:
        (tmp_path / path).mkdir()
    command = [sys.executable, "-m", "retarget.cli", "ci", "run", "plan.json", "--runner", "linux"]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as ran:
        while not (tmp_path / "started").exists():
            assert ran.poll() is None
            time.sleep(0.02)
        if number == signal.SIGINT:  # as a terminal does
            os.killpg(ran.pid, number)
        else:
            ran.send_signal(number)
        out, _ = ran.communicate(timeout=600)
    assert (ran.returncode, out.count(b"--retarget-leg ")) == (130, 1)
    assert (tmp_path / "ended").exists()
