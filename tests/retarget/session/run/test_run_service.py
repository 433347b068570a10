"""The run service: all cases run, every failure at its stage, and every crash and hang costs one target."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from data_errors import error_of
from retarget.extension import UnavailableError
from retarget.model import RuntimeConfig
from retarget.model.outcomes import RunOutcome, Stage
from retarget.session.cache.key import digest_of
from retarget.session.run.lease import DeviceLeases, Lease, LeaseWait, current_holder
from retarget.session.run.service import RunService
from retarget.support.errors import RetargetError
from targets_of_doubles import EXTENSIONS, has_ended, lines_of, request, run_target, runtime_config, wait_until

Run = Callable[..., RunOutcome]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOUBLE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def service(tmp_path: Path, log: Path) -> Iterator[RunService]:
    service = RunService(extensions=EXTENSIONS, default_timeout=30, open_timeout=5, lease_folder=tmp_path / "leases")
    yield service
    service.close()


@pytest.fixture(scope="module")
def used_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    folder = tmp_path_factory.mktemp("leases")
    with RunService(extensions=EXTENSIONS, default_timeout=30, open_timeout=5, lease_folder=folder) as service:
        yield service


def run_in(service: RunService, folder: Path) -> Run:
    def run_text(text: str, runtime: RuntimeConfig | None = None, *, timeout: float | None = None) -> RunOutcome:
        artifact = folder / "artifact"
        artifact.write_text(text.upper())
        return service.run(request(run_target(folder, runtime or runtime_config(), timeout=timeout), artifact))

    return run_text


@pytest.fixture
def run(service: RunService, tmp_path: Path) -> Run:
    """Run a text in a service of its own."""
    return run_in(service, tmp_path)


@pytest.fixture
def judge(used_service: RunService, tmp_path: Path) -> Run:
    """Run a text that leaves the device worker as it is: one serves all of these tests."""
    return run_in(used_service, tmp_path)


def opened(log: Path) -> int:
    return sum(line.startswith("open") for line in lines_of(log))


@pytest.mark.parametrize(
    "runtime", [runtime_config(), pytest.param(runtime_config("wrapped", run_under=("env",)), marks=pytest.mark.slow)]
)
def test_some_cases_are_run_and_all_are_named(service: RunService, tmp_path: Path, runtime: RuntimeConfig) -> None:
    artifact = tmp_path / "artifact"
    artifact.write_text("PASS AB\nPASS AC\nPASS A[B]\nPASS D")
    target = run_target(tmp_path, runtime)

    def ran(only: tuple[str, ...] = (), skipping: tuple[tuple[str, bool], ...] = ()) -> list[str]:
        outcome = service.run(request(target, artifact, only=only, skipping=skipping))
        assert outcome.names == ("ab", "ac", "a[b]", "d")
        assert outcome.failure is None
        return [case.name for case in outcome.cases]

    assert ran(("a?", "d")) == ["ab", "ac", "d"]
    assert ran(("a[b]",)) == ["ab", "a[b]"]
    assert ran(skipping=(("ac", False), ("a*", True))) == ["ac", "d"]

    artifact.write_text("LOAD-FAIL X")
    assert service.run(request(target, artifact, only=("d",))).names == ()


def test_all_cases_run_even_after_one_has_failed(judge: Run) -> None:
    outcome = judge("eq a 1 1\neq b 1 2 3 3 5 6\nfail c out of memory\neq d 7 8")

    assert [case.name for case in outcome.cases] == ["a", "b", "c", "d"]
    failures = [case.failure for case in outcome.cases]
    assert failures[0] is None
    assert [failure.stage for failure in failures[1:] if failure] == [Stage.COMPARE, Stage.RUN, Stage.COMPARE]
    assert failures[1] is not None
    assert failures[1].summary == "check 1 of 3: 1 of 1 element differs, actual 1, expected 2"
    assert [mismatch.summary.partition(":")[0] for mismatch in outcome.cases[1].mismatches] == [
        "check 1 of 3",
        "check 3 of 3",
    ]
    assert failures[2] is not None
    assert (failures[2].summary, failures[2].hint) == ("INTERNAL; out of memory", "look at the driver")
    assert failures[2].text == "INTERNAL; out of memory\nwhile invoking"
    assert outcome.failure == failures[1]


@pytest.mark.parametrize(
    ("program", "summary", "hint", "text"),
    [
        (
            "",
            "the module has no functions to run",
            "a check module exports at least one function without arguments",
            "",
        ),
        ("load-fail", "it does not load", "build it again", "it does not load\nnot at all"),
    ],
)
def test_what_cannot_be_run_fails_at_load(judge: Run, program: str, summary: str, hint: str, text: str) -> None:
    failure = judge(program).failure
    assert failure is not None
    assert (failure.stage, failure.summary, failure.hint, failure.text) == (Stage.LOAD, summary, hint, text)


def test_a_truncated_artifact_is_reported_as_damaged(used_service: RunService, tmp_path: Path) -> None:
    path = tmp_path / "artifact"
    path.write_bytes(b"EQ A 1")
    failure = used_service.run(
        request(run_target(tmp_path, runtime_config()), path, digest=digest_of(b"EQ A 1 1"))
    ).failure
    assert failure is not None
    assert failure.stage is Stage.LOAD
    assert failure.summary == (
        f"artifact {path} is damaged: its 6 bytes have SHA-256 {digest_of(b'EQ A 1')}, "
        f"expected {digest_of(b'EQ A 1 1')}; remove it, and it is compiled again "
        "('retarget cache verify' does so for all of the cache)"
    )


def test_what_was_printed_is_the_runs_output_and_no_others(judge: Run) -> None:
    assert judge("print a hello").output == "HELLO to 1\nHELLO to 2\nHELLO by stdio\n"
    assert judge("pass a").output == ""


def test_a_crash_is_reported_with_its_case_and_costs_one_target(run: Run, log: Path) -> None:
    outcome = run("eq a 1 1\ncrash b SIGSEGV\npass c")
    assert outcome.failure is not None
    assert outcome.failure.summary == "device worker crashed: SIGSEGV in function 'b'"
    assert (outcome.failure.stage, outcome.failure.signal) == (Stage.RUN, "SIGSEGV")
    assert (outcome.failure.text, outcome.output) == ("last words\n", "last words\n")
    assert [(case.name, case.failure is None) for case in outcome.cases] == [("a", True), ("b", False)]
    assert outcome.names == ("a", "b", "c")
    assert [run(text).failure for text in ("pass a", "pass b")] == [None, None]
    assert opened(log) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "timeout", "summary"),
    [
        ("load-crash sigabrt", None, "device worker crashed: SIGABRT while loading the artifact"),
        ("load-hang", 0.4, "run timed out after 0.4 s while loading the artifact"),
    ],
)
def test_what_ends_while_loading_is_at_load(run: Run, program: str, timeout: float | None, summary: str) -> None:
    failure = run(program, timeout=timeout).failure
    assert failure is not None
    assert (failure.summary, failure.stage) == (summary, Stage.LOAD)


@pytest.mark.slow
def test_a_crash_while_reading_a_case_is_at_load_with_its_case(run: Run) -> None:
    outcome = run("eq a 1 1\npass unreadable\npass c")
    assert outcome.failure is not None
    assert outcome.failure.summary == "device worker crashed: SIGSEGV while reading the values of case 'unreadable'"
    assert (outcome.failure.stage, outcome.failure.signal) == (Stage.LOAD, "SIGSEGV")
    assert [(case.name, case.failure is None) for case in outcome.cases] == [("a", True), ("unreadable", False)]


@pytest.mark.parametrize("how", [pytest.param("python", marks=pytest.mark.slow), "native"])
def test_a_hang_is_killed_by_the_targets_timeout(run: Run, how: str) -> None:
    run("pass a")  # NumPy is imported then: that takes its time where much else runs
    outcome = run(f"pass a\nhang b {how}", timeout=1.5)
    assert outcome.failure is not None
    assert outcome.failure.summary == "run timed out after 1.5 s in function 'b'"
    assert (outcome.failure.stage, outcome.failure.timed_out) == (Stage.RUN, True)
    assert [case.name for case in outcome.cases] == ["a", "b"]
    assert run("pass a").failure is None


def test_a_device_worker_killed_between_runs_is_replaced_unnoticed(run: Run, log: Path) -> None:
    run("pass a")
    pid = int(lines_of(log)[0].split()[3])
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: has_ended(pid))
    assert run("pass b").failure is None


def test_an_extension_that_raises_what_it_should_not_is_reported(run: Run) -> None:
    failure = run("raise a it").failure
    assert failure is not None
    assert failure.summary == "extension failed in function 'a': ZeroDivisionError: IT"
    assert failure.hint == "this is an error in the extension"
    frames = [line for line in failure.text.splitlines() if line.startswith("  File ")]
    assert failure.text.startswith("Traceback")
    assert frames
    assert all("worker_doubles.py" in frame for frame in frames)  # none of the project's own


def test_an_absent_device_is_unavailable_and_asked_once(service: RunService, log: Path) -> None:
    frames = []
    for _ in range(4):
        with pytest.raises(UnavailableError) as caught:
            service.devices(runtime_config(flags=("--absent",)))
        assert (str(caught.value), caught.value.hint) == ("no double device", "plug one in")
        frames.append(len(traceback.extract_tb(caught.value.__traceback__)))
    assert opened(log) == 1
    assert frames[1:] == [frames[1]] * 3  # what is kept gathers no traceback


def test_an_environment_in_which_no_process_starts_is_named(service: RunService) -> None:
    with pytest.raises(RetargetError) as caught:
        service.devices(runtime_config(env=(("PYTHONHOME", "/nowhere"),)))
    assert str(caught.value).startswith(
        "runtime config 'host-double', which sets PYTHONHOME: a worker process ended while it started (exit status 1): "
    )
    assert str(caught.value).endswith("No module named 'encodings'")


def test_opening_that_hangs_is_an_error(tmp_path: Path, log: Path) -> None:
    with (
        RunService(extensions=EXTENSIONS, default_timeout=30, open_timeout=0.4, lease_folder=tmp_path) as service,
        pytest.raises(RetargetError) as caught,
    ):
        service.devices(runtime_config(flags=("--do=hang:native",)))
    expected = "runtime config 'host-double': driver 'double' had not opened its devices after 0.4 s"
    assert str(caught.value) == expected


def test_devices_are_of_the_variables_that_drivers_read_where_they_are_opened(
    service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for variable in ("EDITOR", "EDITOR", "GALLIVM_DEBUG"):  # what a worker of a cluster has, its session does not know
        monkeypatch.setenv(variable, f"{len(found)}")
        config = runtime_config(env=(("NUMBER", f"{len(found)}"),))
        found.append(service.devices(config)[0].arrays)
    assert (found[0] == found[1], found[1] == found[2]) == (True, False)


def test_probing_lists_devices_or_says_why_not(service: RunService) -> None:
    assert [info.uri for info in service.probe("double")] == ["double://0"]
    with pytest.raises(UnavailableError, match="no double here"):
        service.probe("double-absent")
    expected = "driver 'double-crash' crashed while it listed its devices: SIGSEGV: driver chatter"
    assert error_of(service.probe, "double-crash") == expected


def test_closing_ends_every_device_worker(service: RunService, log: Path) -> None:
    service.devices(runtime_config())
    service.close()
    pid = int(lines_of(log)[0].split()[3])
    assert has_ended(pid)
    assert lines_of(log)[-1] == "close"


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there is an idle device worker paused")
def test_an_idle_device_worker_takes_no_cycles_and_wakes_for_the_next_run(
    service: RunService, run: Run, log: Path
) -> None:
    service.devices(runtime_config())
    pid = int(lines_of(log)[0].split()[3])
    assert wait_until(lambda: state_of(pid) == "T")
    assert run("pass a").failure is None
    assert state_of(pid) != "T"
    assert wait_until(lambda: state_of(pid) == "T")
    service.close()
    assert has_ended(pid)
    assert lines_of(log)[-1] == "close"


_IDLE = """
import sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from retarget.session.run.lease import DeviceLeases, Lease, LeaseWait, current_holder
from retarget.session.run.service import RunService
from targets_of_doubles import runtime_config
service = RunService(extensions=("worker_doubles",), default_timeout=9, lease_folder=Path(sys.argv[1]))
service.devices(runtime_config())
print("open", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there is an idle device worker paused")
def test_a_paused_device_worker_dies_with_a_parent_that_was_killed(tmp_path: Path, log: Path) -> None:
    argv = [sys.executable, "-c", _IDLE.format(path=sys.path), str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "open\n"
            pid = int(lines_of(log)[0].split()[3])
            assert wait_until(lambda: state_of(pid) == "T")
        finally:
            parent.kill()
    assert wait_until(lambda: has_ended(pid), 3.0)


# ---------------------------------------------------------------- run_under


def wrapped(*, flags: tuple[str, ...] = (), command: tuple[str, ...] = ("env", "WRAPPED=yes")) -> RuntimeConfig:
    return runtime_config("wrapped", run_under=command, flags=flags)


@pytest.mark.slow
def test_behind_run_under_each_case_is_a_process_judged_by_its_exit_status(run: Run, log: Path) -> None:
    outcome = run("pass a\nexit b 3\ncrash c sigsegv\npass d", wrapped())
    failures = {case.name: case.failure for case in outcome.cases}
    assert failures["a"] is None
    assert failures["b"] is not None
    assert failures["b"].summary == "env exited with status 3: driver chatter"
    assert failures["c"] is not None
    assert (failures["c"].summary, failures["c"].signal) == ("env crashed: SIGSEGV", "SIGSEGV")
    assert failures["d"] is None
    assert outcome.failure == failures["b"]
    assert outcome.output.count("driver chatter\n") == 4
    assert opened(log) == 4


@pytest.mark.slow
def test_a_hang_behind_run_under_is_killed_with_all_it_started(run: Run, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = ("sh", "-c", f'echo $$ > {pid_file}; exec "$@"', "sh")
    failure = run("hang b", wrapped(command=command), timeout=5).failure
    assert failure is not None
    assert failure.summary == "run timed out after 5 s in function 'b'"
    pid = int(pid_file.read_text())
    assert wait_until(lambda: has_ended(pid))


@pytest.mark.parametrize("flag", ["--absent", "--broken"])
def test_behind_run_under_a_missing_device_is_no_failure_of_a_module(run: Run, flag: str) -> None:
    if flag == "--absent":
        with pytest.raises(UnavailableError) as caught:
            run("pass a", wrapped(flags=(flag,)))
        assert (str(caught.value), caught.value.hint) == ("no double device", "plug one in")
    else:
        failure = run("pass a", wrapped(flags=(flag,))).failure
        assert failure is not None
        summary = "run_under: env exited with status 1 before the devices were open: error: the device is broken"
        assert (failure.summary, failure.no_verdict) == (summary, True)


def test_a_run_under_command_that_is_not_executable_is_an_error(service: RunService, tmp_path: Path) -> None:
    (tmp_path / "wrap").write_text("#!/bin/sh\n")
    with pytest.raises(RetargetError) as caught:
        service.devices(wrapped(command=(str(tmp_path / "wrap"),)))
    assert not isinstance(caught.value, UnavailableError)
    assert str(caught.value) == f"run_under of runtime config 'wrapped': {tmp_path / 'wrap'} is not executable"


def test_a_run_under_command_that_is_not_there_is_unavailable(service: RunService) -> None:
    with pytest.raises(UnavailableError) as caught:
        service.devices(wrapped(command=("qemu-of-nowhere",)))
    assert str(caught.value) == "run_under command 'qemu-of-nowhere' is not on this machine's PATH"
    assert caught.value.hint == "install it, or change run_under of runtime config 'wrapped'"


def test_behind_run_under_a_case_says_which_config_it_is_to_agree_with(run: Run) -> None:
    outcome = run("pass agree", wrapped())
    assert [(case.name, case.agree_with) for case in outcome.cases] == [("agree", "other")]


# ---------------------------------------------------------------- leases


@pytest.mark.slow
def test_a_wait_for_a_device_does_not_count_into_the_timeout(tmp_path: Path) -> None:
    timeout = 5.0
    (tmp_path / "artifact").write_text("PASS A")
    other = DeviceLeases(tmp_path / "leases", current_holder(["other"], "another session"))
    with (
        ExitStack() as held,
        RunService(extensions=EXTENSIONS, default_timeout=timeout, lease_folder=tmp_path / "leases") as service,
    ):
        held.enter_context(other.hold([Lease(physical_id="double-hw", device="the other's")]))
        waited: list[float] = []

        def note(wait: LeaseWait) -> None:
            waited.append(wait.seconds)
            if wait.seconds > timeout:
                held.close()

        target = run_target(tmp_path, runtime_config())
        assert service.run(request(target, tmp_path / "artifact"), on_wait=note).failure is None
    assert waited[-1] > timeout
