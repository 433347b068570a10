"""Runs that begin before their caller waits for them: once, with their own failures, and out of nobody's way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from retarget.model import RunTarget
from retarget.model.outcomes import Stage
from retarget.session.cache.key import digest_of
from retarget.session.run.lease import DeviceLeases, Lease, current_holder
from retarget.session.run.service import RunService
from retarget.worker.messages import RunModule
from targets_of_doubles import EXTENSIONS, has_ended, lines_of, request, run_target, runtime_config, wait_until

LEASE = Lease(physical_id="double-hw", device="the double")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOUBLE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def service(tmp_path: Path, log: Path) -> Iterator[RunService]:
    with RunService(extensions=EXTENSIONS, default_timeout=30, lease_folder=tmp_path / "leases") as service:
        yield service


@pytest.fixture
def target(tmp_path: Path, service: RunService) -> RunTarget:
    """One whose device is open and has run something."""
    target = run_target(tmp_path, runtime_config())
    assert service.run(asked(target, "pass first")).failure is None
    return target


@pytest.fixture
def others(tmp_path: Path) -> DeviceLeases:
    """The leases of another session."""
    return DeviceLeases(tmp_path / "leases", current_holder(["other"], "another session"))


def asked(target: RunTarget, text: str) -> RunModule:
    path = target.compile.folder / digest_of(text.encode())
    path.write_text(text.upper())
    return request(target, path, digest=digest_of(text.upper().encode()))


def calls(log: Path) -> list[str]:
    return [line.split()[1] for line in lines_of(log) if line.startswith("call")]


def pids(log: Path) -> list[int]:
    return [int(line.split()[3]) for line in lines_of(log) if line.startswith("open")]


def is_free(others: DeviceLeases) -> bool:
    with ExitStack() as held:
        return others.hold_at_once([LEASE], held) is not None


def test_a_run_that_has_begun_is_not_done_again(
    service: RunService, target: RunTarget, tmp_path: Path, log: Path
) -> None:
    one = asked(target, "eq ahead 1 2")
    before = time.time()
    service.begin(one)
    assert wait_until(lambda: "ahead" in calls(log))
    after = time.time()
    outcome = service.run(one)
    assert outcome.failure is not None
    assert outcome.failure.stage is Stage.COMPARE
    assert before <= outcome.started <= after
    assert (calls(log), len(pids(log))) == (["first", "ahead"], 1)


def test_a_crash_is_that_of_the_run_that_had_begun(service: RunService, target: RunTarget, tmp_path: Path) -> None:
    service.begin(crashing := asked(target, "eq a 1 1\ncrash b SIGSEGV"))
    outcome = service.run(crashing)
    assert outcome.failure is not None
    assert outcome.failure.summary == "device worker crashed: SIGSEGV in function 'b'"
    assert [(case.name, case.failure is None) for case in outcome.cases] == [("a", True), ("b", False)]
    assert service.run(asked(target, "pass c")).failure is None


def test_the_timeout_counts_from_the_beginning(tmp_path: Path, service: RunService, target: RunTarget) -> None:
    limited = run_target(tmp_path, target.runtime, timeout=0.5)
    service.begin(hanging := asked(limited, "hang a python"))
    time.sleep(0.6)
    outcome = service.run(hanging)
    assert outcome.failure is not None
    assert outcome.failure.summary == "run timed out after 0.5 s in function 'a'"


def test_another_run_ends_the_one_that_nobody_waits_for(
    service: RunService, target: RunTarget, tmp_path: Path, log: Path, others: DeviceLeases
) -> None:
    service.begin(asked(target, "hang ahead python"))
    assert wait_until(lambda: "ahead" in calls(log))
    assert service.run(asked(target, "pass other")).failure is None
    assert calls(log) == ["first", "ahead", "other"]
    assert has_ended(pids(log)[0])
    assert is_free(others)


def test_the_device_is_leased_from_the_beginning_to_the_end(
    service: RunService, target: RunTarget, tmp_path: Path, others: DeviceLeases
) -> None:
    assert is_free(others)
    service.begin(one := asked(target, "pass ahead"))
    assert not is_free(others)
    service.run(one)
    assert is_free(others)


def test_the_end_of_the_session_ends_what_has_begun(
    service: RunService, target: RunTarget, tmp_path: Path, log: Path, others: DeviceLeases
) -> None:
    service.begin(asked(target, "hang ahead native"))
    assert wait_until(lambda: "ahead" in calls(log))
    service.close()
    assert has_ended(pids(log)[0])
    assert is_free(others)
