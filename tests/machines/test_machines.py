"""`make machines`: what counts as a failure of a machine, what is missing here, and how a machine is made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import machine_setup
import machines
import pytest
from machine_runs import Counts, Demo, SliceOfTests, _counts_of_junit, faults_of, opencl_of
from machine_runs import Outcome as Row
from machine_setup import NotHereError, Place, Workshop, _emulated, run_in
from machine_table import MACHINES, Machine, Slice
from pip_indexes import as_uv_variables
from retarget.results import DeviceRecord, Outcome, TargetRecord
from retarget.results.files import SessionStart

CHECKOUT = Path(__file__).parents[2]
PART = Slice(suites=("control-flow",), tests=("tests/x",), drivers=("opencl",))
MACHINE = Machine(name="m", what="a machine", slice=PART)
TESTS = SliceOfTests(status=0, counts=Counts(passed=3))


def record(outcome: Outcome = Outcome.PASSED, driver: str = "opencl", reason: str = "") -> TargetRecord:
    devices = (DeviceRecord(driver=driver, uri=f"{driver}://0", name="the device", physical_id="cpu"),)
    return TargetRecord(
        nodeid=f"s::{outcome}-{driver}", target="t", driver=driver, outcome=outcome, reason=reason, devices=devices
    )


def demo(*records: TargetRecord, status: int = 0, python: str = "3.11.7", cores: int = 2) -> Demo:
    start = SessionStart(version=1, session="s", started=0, selected=1, digest="", python=python, cores=cores)
    return Demo(status=status, start=start, records=records)


def listing(note: str = "PoCL 3.0-rc2", largest: int = 2**30) -> str:
    device = {"uri": "opencl://0", "note": note, "features": [["opencl.maxMemAllocSize", largest]], "unusable": ""}
    return json.dumps([{"driver": "opencl", "devices": [device]}], indent=2)


@pytest.mark.parametrize(
    ("changes", "ran", "tests", "devices", "expected"),
    [
        ({}, demo(record()), TESTS, listing(), []),
        ({}, demo(record(), status=1), TESTS, listing(), ["demo: exit status 1, 1 passed, 0 failed"]),
        ({}, demo(record(), record(Outcome.BLOCKED)), TESTS, listing(), ["demo: exit status 0, 1 passed, 1 failed"]),
        (
            {},
            demo(record()),
            SliceOfTests(status=0, counts=Counts(skipped=3)),
            listing(),
            ["tests: exit status 0, 0 passed, 0 failed"],
        ),
        (
            {},
            demo(record(driver="local-sync"), record(Outcome.SKIPPED, reason="no device")),
            TESTS,
            listing(),
            ["no run target of opencl passed: skipped, no device"],
        ),
        (
            {"opencl": "Oclgrind"},
            demo(record()),
            TESTS,
            listing(),
            ["OpenCL targets ran on PoCL 3.0-rc2, expected Oclgrind"],
        ),
        (
            {"devices_say": "unknown target CPU"},
            demo(record()),
            TESTS,
            listing(),
            ["`retarget devices opencl` does not say unknown target CPU"],
        ),
        (
            {"memory_gib": 1},
            demo(record()),
            TESTS,
            listing(largest=2**31),
            ["opencl.maxMemAllocSize of what ran is [2147483648] bytes, expected at most 1 GiB"],
        ),
        ({"memory_gib": 2}, demo(record()), TESTS, listing(largest=2**31), []),
        ({"python": "3.12"}, demo(record()), TESTS, listing(), ["Python 3.11.7 ran, expected 3.12"]),
        ({"one_core": True}, demo(record()), TESTS, listing(), ["the session saw 2 cores, expected one"]),
    ],
)
def test_what_a_machine_declares_has_to_hold(
    changes: dict[str, object], ran: Demo, tests: SliceOfTests, devices: str, expected: list[str]
) -> None:
    assert faults_of(replace(MACHINE, **changes), PART, ran, tests, devices) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((record(Outcome.SKIPPED, reason="no platform"),), []),
        ((record(Outcome.SKIPPED),), ["run targets of opencl: expected each skipped with a reason, found t skipped"]),
        ((), ["run targets of opencl: expected each skipped with a reason, found none"]),
        (
            (record(),),
            [
                "run targets of opencl: expected each skipped with a reason, found t passed",
                "OpenCL targets ran on PoCL 3.0-rc2, expected none",
            ],
        ),
    ],
)
def test_where_a_driver_has_no_device_each_of_its_targets_is_skipped_with_a_reason(
    records: tuple[TargetRecord, ...], expected: list[str]
) -> None:
    machine = replace(MACHINE, opencl="", without_drivers=("opencl",))
    part = replace(PART, drivers=("local-sync",))
    ran = demo(record(driver="local-sync"), *records)
    assert faults_of(machine, part, ran, TESTS, listing()) == expected


def test_an_implementation_that_was_not_used_did_not_run() -> None:
    assert opencl_of([record()], listing("Oclgrind 21.10; not used: PoCL 3.0-rc2: why")) == ("Oclgrind 21.10",)


def test_a_device_that_is_not_listed_goes_by_its_own_name() -> None:
    assert opencl_of([record()], "not JSON") == ("the device",)


def test_counts_of_a_junit_file_and_of_one_that_is_not_there(tmp_path: Path) -> None:
    cases = "<testcase/><testcase><skipped type='pytest.xfail'/></testcase><testcase><skipped/></testcase>"
    (tmp_path / "tests.xml").write_text(f"<testsuites>{cases}<testcase><error/></testcase></testsuites>")
    assert str(_counts_of_junit(tmp_path / "tests.xml")) == "2/1/1"
    assert _counts_of_junit(tmp_path / "none.xml") == Counts()


def test_names_are_unique_and_tests_and_suites_of_slices_exist() -> None:
    names = [machine.name for machine in MACHINES]
    assert len(set(names)) == len(names)
    slices = [part for machine in MACHINES for part in (machine.slice, machine.sample) if part]
    assert [name for part in slices for name in part.tests if not (CHECKOUT / name).exists()] == []
    suites = {name for part in slices for name in part.suites}
    assert [name for name in sorted(suites) if not (CHECKOUT / "suites" / name).is_dir()] == []


def test_a_row_has_as_many_columns_as_the_head() -> None:
    ran = demo(record())
    outcome = Row(machine=MACHINE, demo=ran, tests=TESTS, seconds=2, cpu_seconds=3, opencl=(), faults=("one",))
    assert machines.row(outcome) == "| m **fails** | a machine | 1/0/0 | 3/0/0 | 2 | 3 | none |"
    assert {line.count("|") for line in (*machines._HEAD.splitlines(), machines.row(outcome))} == {8}


def test_machines_are_chosen_by_globs_and_an_unknown_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = machines.selected(["cpu-unknown-*", "one-core"], sample=False)
    assert [machine.name for machine in chosen] == ["one-core", "cpu-unknown-amd", "cpu-unknown-intel"]
    with pytest.raises(SystemExit) as error:
        machines.selected(["cpu-unknown", "one-cores"], sample=False)
    assert error.value.code == 2
    assert capsys.readouterr().err == "found no machine 'cpu-unknown'; did you mean 'cpu-unknown-amd'?\n"


@pytest.mark.parametrize(("sample", "status"), [(False, 0), (True, 1)])
def test_what_is_not_here_is_a_row_of_the_table_and_an_error_of_the_sample(
    sample: bool, status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machines, "LOGS", tmp_path / "logs")
    monkeypatch.setenv("PATH", str(tmp_path))
    machine = replace(MACHINE, cpu="Haswell", sample=PART)
    (tmp_path / "work").mkdir()
    assert machines._run_all([machine], Workshop(tmp_path / "work", "all"), sample=sample) == status
    why = "there is no qemu-x86_64; install QEMU's user emulation (Debian: apt-get install qemu-user)"
    assert f"| m | a machine | not here: {why} | | | | |" in capsys.readouterr().out.splitlines()


def test_the_list_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(machines, "MACHINES", (MACHINE, replace(MACHINE, name="old", python="3.99")))
    assert machines.main(["--list"]) == 0
    here, missing = capsys.readouterr().out.splitlines()
    assert here.split() == ["m", "a", "machine"]
    assert "a machine; not here: no Python 3.99 was found" in missing


def test_a_python_that_nobody_has_is_not_here() -> None:
    with pytest.raises(NotHereError, match=r"^no Python 3\.99 was found that this user can execute; put it on PATH"):
        machine_setup._find_python("3.99", None)


@pytest.mark.slow
def test_a_command_that_takes_too_long_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    place = Place(
        checkout=tmp_path,
        venv=".venv",
        variables=dict(os.environ),
        results=tmp_path,
        cores=frozenset({min(os.sched_getaffinity(0))}),
    )
    script = "import os; print(len(os.sched_getaffinity(0)), flush=True); os.system('sleep 60')"
    assert run_in(place, [sys.executable, "-c", script], tmp_path / "log", limit=5) == 124
    assert (tmp_path / "log").read_text().splitlines()[1:] == ["1"]
    assert run_in(place, ["true"], tmp_path / "log", limit=5) == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="needs qemu-x86_64 (Debian: qemu-user)")
def test_each_python_that_a_python_of_another_cpu_starts_is_on_that_cpu(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    for name in (".installed", ".installed-dev"):
        (tmp_path / ".venv" / name).touch()
    here = Place(checkout=tmp_path, venv=".venv", variables={}, results=tmp_path)
    place = _emulated(here, replace(MACHINE, cpu="Haswell"), str(shutil.which("qemu-x86_64")))
    model = "print(open('/proc/self/comm').read().strip(), __import__('sys').prefix)"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {model!r}], check=True)"
    done = subprocess.run([place.bin / "python", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"qemu-x86_64 {place.bin.parent}\n"
    assert done.stderr == ""


def test_uv_installs_from_where_pip_does() -> None:
    printed = (
        ":env:.find-links='/more /wheels'\n"
        "global.cert='/certificates.crt'\n"
        "global.extra-index-url='https://one/simple\\nhttps://two/simple'\n"
        "global.find-links='/wheels'\n"
        "global.index-url='https://first/simple'\n"
        "install.index-url='https://second/simple'\n"
        "list.format='json'\n"
    )
    assert as_uv_variables(printed) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/more,/wheels",
        "SSL_CERT_FILE": "/certificates.crt",
        "UV_INDEX": "https://one/simple https://two/simple",
        "UV_DEFAULT_INDEX": "https://second/simple",
    }
