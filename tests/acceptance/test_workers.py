"""Killing workers, and interrupting."""

from __future__ import annotations

import os
import signal
import time

import pytest
from acceptance_support import DOUBLE, DOUBLES, Project, alone_and_xdist
from retarget.results import Outcome, Sessions
from retarget.session.run.lease import DeviceLeases, Lease, current_holder, default_lease_folder


def wait_until_gone(pid: int, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is still there after {seconds} s")


@pytest.mark.parametrize(
    ("module", "victim", "counts", "cause"),
    [
        ("compile: hang\nf: pass", "b_dc", "*1 failed, 4 passed, 1 blocked in*", "compile: compiler crashed: SIGKILL*"),
        ("f: hang", "b_dc_dr", "*1 failed, 5 passed in*", "run: device worker crashed: SIGKILL in function 'f'*"),
    ],
    ids=["compile-worker", "device-worker"],
)
@pytest.mark.slow
def test_killing_a_worker_in_mid_run_fails_one_target_only(
    project: Project, module: str, victim: str, counts: str, cause: str
) -> None:
    project.doubles(a="f: pass", b=module, c="f: pass")
    process = project.start(*DOUBLES, "-v")
    os.kill(int(project.wait_for("suites/b.mlir.pid").read_text()), signal.SIGKILL)
    output, _ = process.communicate(timeout=600)
    result = pytest.LineMatcher(output.splitlines())
    result.fnmatch_lines([f"*{victim} FAILED*", f"*twice: {victim}*", cause, counts])


@alone_and_xdist()
@pytest.mark.parametrize(
    "everyone", [pytest.param(True, id="terminal"), pytest.param(False, id="pytest-only", marks=pytest.mark.slow)]
)
def test_an_interrupt_ends_workers_and_session_without_a_traceback(
    project: Project, arguments: tuple[str, ...], everyone: bool
) -> None:
    project.doubles(a="f: hang", b="compile: hang\nf: pass")
    process = project.start(*DOUBLES, *arguments)
    workers = [int(project.wait_for(f"suites/{name}.mlir.pid").read_text()) for name in "ab"]
    if everyone:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    else:
        process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "Traceback" not in output
    for worker in workers:
        wait_until_gone(worker)


def test_workers_of_xdist_run_what_was_collected_beside_a_file_that_was_not(project: Project) -> None:
    project.doubles(a="f: pass")
    project.write({"more/suite.toml": "unknown = 1\n"})
    result = project.run(*DOUBLES, "-n", "1", "suites", "more")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, errors=1)


DEAF = """\
import pathlib, signal
class Controller:
    def pytest_runtest_logfinish(self, nodeid):
        if nodeid.endswith("::a_dc"):
            pathlib.Path("a.finished").touch()
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    else:
        config.pluginmanager.register(Controller())
"""
"""A conftest: workers of xdist do not end, and the controller leaves a file when it has the result of `a_dc`."""


@pytest.mark.slow
def test_workers_of_xdist_that_do_not_end_are_killed_and_finished_results_kept(project: Project) -> None:
    project.doubles(a="f: pass", b="f: hang", c="compile: hang\nf: pass")
    project.write({"conftest.py": DEAF})
    process = project.start(*DOUBLES, "-n2", "-q", "--retarget-results", "out")
    workers = [int(project.wait_for(f"suites/{name}.mlir.pid").read_text()) for name in "bc"]
    project.wait_for("a.finished")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "retarget: interrupted: waiting for 2 workers of xdist, for 5 s at most\n" in output
    assert "Traceback" not in output
    for worker in workers:
        wait_until_gone(worker)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    (session,) = Sessions.read([project.path / "out"])
    assert {one.target: one.outcome for one in session.records}["a_dc"] is Outcome.PASSED
    assert session.is_complete


@pytest.mark.slow
def test_a_second_interrupt_ends_what_the_first_is_ending(project: Project) -> None:
    """Under xdist the controller sends the second one by itself."""
    project.doubles(a="f: pass", b="f: hang")
    slow = '[[runtime_config]]\nname = "slow"\ndriver = "double-device"\ndevice = "slow"\n'
    project.write({"matrix.toml": DOUBLE.replace('["dr"]', '["dr", "slow"]') + "\n" + slow})
    process = project.start(*DOUBLES)
    project.wait_for("suites/b.mlir.pid")
    os.killpg(process.pid, signal.SIGINT)
    closing = int(project.wait_for("closing.pid").read_text())
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "Traceback" not in output
    assert "KeyboardInterrupt !!!" in output
    wait_until_gone(closing)


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_pytest(project: Project) -> None:
    project.doubles(a="f: hang", b="compile: hang\nf: pass")
    process = project.start(*DOUBLES)
    workers = [int(project.wait_for(f"suites/{name}.mlir.pid").read_text()) for name in "ab"]
    process.kill()
    process.communicate(timeout=600)
    for worker in workers:
        wait_until_gone(worker)


@pytest.mark.slow
@alone_and_xdist(1, in_ci=False)
def test_waiting_for_a_device_that_another_session_holds_is_shown(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: pass")
    other = DeviceLeases(default_lease_folder(), current_holder(["pytest", "-m", "double"]))
    with other.hold([Lease(physical_id="double-0", device="the same")]):
        process = project.start(*DOUBLES, *arguments, "--retarget-cache-dir", "cache")
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("retarget: waiting"))
    output, _ = process.communicate(timeout=600)
    where = f"by pid {os.getpid()} (pytest -m double, in {project.path})"
    pytest.LineMatcher([line.rstrip()]).fnmatch_lines(
        [f"retarget: waiting for double-device device Double 9000, held for * s {where.replace('[', '[[]')}"]
    )
    assert "retarget: waiting" not in output
    pytest.LineMatcher(output.splitlines()).fnmatch_lines(["*2 passed*"])
