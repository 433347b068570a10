"""Runs a slice of the demo and of the tests on a machine, counts what became of it, and says what is wrong."""

from __future__ import annotations

import json
import re
import resource
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from machine_setup import Place, run_in
from machine_table import Machine, Slice
from retarget.results import Sessions, TargetRecord
from retarget.results.files import SessionStart

__all__ = ["Counts", "Demo", "Outcome", "SliceOfTests", "cpu_seconds", "faults_of", "opencl_of", "run_machine"]

LIMIT = 1500.0
"""Seconds after which a command on a machine hangs."""

_GOOD = {"passed": "passed", "flaky": "passed", "xfailed": "passed", "skipped": "skipped"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many targets or tests passed, or failed as expected; how many failed or did not come to run; were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __str__(self) -> str:
        return f"{self.passed}/{self.failed}/{self.skipped}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What the demo's slice has left: exit status, its session, and the last record of each target."""

    status: int
    start: SessionStart | None
    records: tuple[TargetRecord, ...]

    @property
    def counts(self) -> Counts:
        return Counts(**Counter(_GOOD.get(record.outcome.value, "failed") for record in self.records))

    def of(self, driver: str) -> list[TargetRecord]:
        return [record for record in self.records if record.driver == driver]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceOfTests:
    """What the tests' slice has left: exit status and counts."""

    status: int
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A row of the table: what ran on a machine, how long it took and of that on CPUs (s), what should be otherwise."""

    machine: Machine
    demo: Demo
    tests: SliceOfTests
    seconds: float
    cpu_seconds: float
    opencl: tuple[str, ...]
    faults: tuple[str, ...]


def run_machine(machine: Machine, part: Slice, place: Place, logs: Path) -> Outcome:
    """Run a slice on a machine; its output and results are in the folder `logs`."""
    start, used = time.monotonic(), cpu_seconds()
    results = place.results
    logs.mkdir(parents=True)
    # as the Makefile has it for all that it runs
    locale = {"LC_ALL": "C.UTF-8"} if place.variables.get("LC_ALL") == "C" else {}
    asked = replace(place, variables={**place.variables, **locale})
    command = [place.bin / "retarget", "devices", "opencl", "--format", "json"]
    status = run_in(asked, command, logs / "devices.json", limit=LIMIT)
    devices = (logs / "devices.json").read_text("utf-8", errors="replace").partition("\n")[2]
    options = ["-q", "-p", "no:cacheprovider", "-m", part.expression, "--retarget-results", str(results)]
    status_of_demo = _make(place, "demo", logs, SUITES=part.folders, PYTEST_ARGS=shlex.join(options))
    demo = Demo(status=status_of_demo, **_results(results))
    junit = results / "tests.xml"
    serial = machine.cpu or machine.one_core or part is machine.sample  # workers would start longer than tests take
    options = ["-q", "-p", "no:cacheprovider", "-n", "0" if serial else "auto"]
    options += ["--junitxml", str(junit)]
    status_of_tests = _make(place, "test", logs, TESTS=" ".join(part.tests), PYTEST_ARGS=shlex.join(options))
    tests = SliceOfTests(status=status_of_tests, counts=_counts_of_junit(junit))
    shutil.copytree(results, logs / "results")
    faults = [] if machine.cpu or status == 0 or not machine.opencl else [f"retarget devices exits with {status}"]
    faults += faults_of(machine, part, demo, tests, devices)
    return Outcome(
        machine=machine,
        demo=demo,
        tests=tests,
        seconds=time.monotonic() - start,
        cpu_seconds=cpu_seconds() - used,
        opencl=opencl_of(demo.records, devices),
        faults=tuple(faults),
    )


def cpu_seconds() -> float:
    """Return how long all that this process has started and that has ended was on a CPU."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _make(place: Place, target: str, logs: Path, **variables: str) -> int:
    given = [f"{name}={value}" for name, value in {"VENV": place.venv, **variables}.items()]
    return run_in(place, ["make", target, *given], logs / f"{target}.txt", limit=LIMIT)


def _results(folder: Path) -> dict[str, Any]:
    sessions = Sessions.read([folder], if_any=True)
    last = {record.nodeid: record for session in sessions for record in session.records}
    return {"start": sessions[0].start if sessions else None, "records": tuple(last.values())}


def _counts_of_junit(file: Path) -> Counts:
    """Count the test cases of a junit file; one that is not there, of a pytest that did not end, has none."""
    if not file.is_file():
        return Counts()
    cases = ElementTree.parse(file).getroot().iter("testcase")  # noqa: S314  pytest has just written it
    return Counts(**Counter(_outcome_of(case) for case in cases))


def _outcome_of(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    return "passed" if skipped is None or skipped.get("type") == "pytest.xfail" else "skipped"


def _devices(listing: str) -> list[dict[str, Any]]:
    """Return the devices in what `retarget devices --format json` has printed; a warning may stand before it."""
    begin = listing.find("[\n")
    try:
        return [device for driver in json.loads(listing[begin:]) for device in driver["devices"]]
    except (ValueError, KeyError):
        return []


def opencl_of(records: Iterable[TargetRecord], listing: str) -> tuple[str, ...]:
    """Return the implementations of OpenCL on which targets passed, such as `PoCL 3.0-rc2`."""
    # "Oclgrind 21.10; not used: PoCL 3.0-rc2: …" of the device that is chosen where others do not work
    notes = {device["uri"]: device["note"].partition("; ")[0] for device in _devices(listing)}
    found = {}
    for record in records:
        if record.driver == "opencl" and record.outcome.value == "passed":
            found.update({notes.get(device.uri) or device.name: None for device in record.devices})
    return tuple(found)


def faults_of(machine: Machine, part: Slice, demo: Demo, tests: SliceOfTests, listing: str) -> list[str]:
    """Return what is not as the machine declares it; nothing where all is well."""
    faults = []
    for name, status, counts in (("demo", demo.status, demo.counts), ("tests", tests.status, tests.counts)):
        if status or counts.failed or not counts.passed:
            faults.append(f"{name}: exit status {status}, {counts.passed} passed, {counts.failed} failed")
    faults += _faults_of_drivers(machine, part, demo)
    ran = opencl_of(demo.records, listing)
    expected = machine.opencl or "none"
    faults += [f"OpenCL targets ran on {one}, expected {expected}" for one in ran if not _fits(machine, one)]
    if machine.devices_say and not re.search(machine.devices_say, listing):
        faults.append(f"`retarget devices opencl` does not say {machine.devices_say}")
    if machine.memory_gib:
        uris = {device.uri for record in demo.of("opencl") for device in record.devices}
        name = "opencl.maxMemAllocSize"
        sizes = [dict(map(tuple, one["features"]))[name] for one in _devices(listing) if one["uri"] in uris]
        if not sizes or max(sizes) > machine.memory_gib * 2**30:
            faults.append(f"{name} of what ran is {sizes} bytes, expected at most {machine.memory_gib} GiB")
    if demo.start is not None:
        if not demo.start.python.startswith(machine.python):
            faults.append(f"Python {demo.start.python} ran, expected {machine.python}")
        if machine.one_core and demo.start.cores != 1:
            faults.append(f"the session saw {demo.start.cores} cores, expected one")
    return faults


def _fits(machine: Machine, implementation: str) -> bool:
    return bool(machine.opencl and re.search(machine.opencl, implementation))


def _faults_of_drivers(machine: Machine, part: Slice, demo: Demo) -> list[str]:
    faults = [
        f"no run target of {driver} passed: {_first_reason(demo.of(driver))}"
        for driver in part.drivers
        if not any(record.outcome.value == "passed" for record in demo.of(driver))
    ]
    for driver in machine.without_drivers:
        records = demo.of(driver)
        if not records or any(record.outcome.value != "skipped" or not record.reason for record in records):
            faults.append(f"run targets of {driver}: expected each skipped with a reason, found {_listed(records)}")
    return faults


def _first_reason(records: Sequence[TargetRecord]) -> str:
    return next((f"{record.outcome.value}, {record.message or record.reason}" for record in records), "there is none")


def _listed(records: Sequence[TargetRecord]) -> str:
    return ", ".join(f"{record.target} {record.outcome.value}" for record in records) or "none"
