"""What happened to a target, as data: one record, which its report carries and everything that looks back reads.

A record holds texts, numbers, enums of texts and tuples of these; `to_plain` and `from_plain` turn it into builtin
types and back, so that it crosses xdist's channel and can be written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from retarget.expect.verdict import observed_text
from retarget.model.outcomes import DeviceInfo, Observation

__all__ = [
    "RECORD",
    "CaseRecord",
    "CompileRecord",
    "Outcome",
    "Result",
    "RunRecord",
    "Sibling",
    "TargetRecord",
    "from_plain",
    "properties",
    "record_of",
    "to_plain",
]

RECORD = "retarget_record"
"""The attribute of a target's report that holds the record."""


class Outcome(StrEnum):
    """What became of a target or a case, its expectations considered. Each is reported under this name."""

    PASSED = "passed"
    FLAKY = "flaky"
    """It failed as its rule says, was tried again, and passed."""
    INTERMITTENT = "intermittent"
    """It passed or failed as its rule allows: the result is chance."""
    XFAILED = "xfailed"
    """It failed as its rule, or that of a target it needs, says."""
    XPASSED = "xpassed"
    """It was expected to fail and passed, which is a failure."""
    FAILED = "failed"
    ERROR = "error"
    """Its setup or teardown failed."""
    BLOCKED = "blocked"
    """It could not run because another target failed."""
    SKIPPED = "skipped"
    NOT_RUN = "not run"


class Result(StrEnum):
    """What a target did by itself, whatever its expectations make of it."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """It did not run, or it failed in a way that says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """One case of a target, after `seconds` of wall time.

    `stage` and `signature` say how it failed, as expectations do; empty where it did not. `reason` says in one line why
    it did not simply pass. A failure with `no_verdict` says nothing of the case. `agree_with` is the compiler config
    whose results were expected, empty where that is none; `lacking` names it where it gave none. `dispatches` says how
    many each device executed (`device_a=3 device_b=1`), empty where they were not counted.
    """

    name: str
    outcome: Outcome
    seconds: float = 0.0
    stage: str = ""
    signature: str = ""
    reason: str = ""
    no_verdict: bool = False
    agree_with: str = ""
    lacking: str = ""
    dispatches: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRecord:
    """The compile of a target's module: its key, whether the artifact was `reused`, the compiler's wall time in
    seconds, the build of the compiler for people, and the artifact's SHA-256 digest, empty where there is none."""

    key: str
    reused: bool = False
    seconds: float = 0.0
    build: str = ""
    artifact: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """The last run of a target: wall times in seconds, and the names of the cases that failed in it."""

    load_seconds: float
    run_seconds: float
    compare_seconds: float
    failed_cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """Another run target of the same module."""

    target: str
    compiler: str
    runtime: str
    driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRecord:
    """What happened to one target. `runtime` and `driver` are empty for a compile target.

    `file` is the suite file, `line` the suite's line in it (0-based), `position` the target's in its suite: reports
    may come in any order. `module_file` is the module's own file, empty where it shares the file with others. A target
    that `runs_external` runs in a process of a tool, which keeps the outputs to itself. `requirements` are the numbers
    of the `--retarget-require` that select it.

    `stage` is the last stage that the target reached, empty where it was not tried. `result` is its own, `observation`
    how it failed, also where that says nothing of it; `outcome` is what its expectations make of that. `message` is the
    first line of what was raised, `reason` why it was skipped or excused, `hint` what to install where something is
    missing, `blocked_by` the node id of the target that reports the failure, empty for none.

    `cases` are all cases of the module, where they became known; `unselected_cases` their names where
    `--retarget-case` selects none. `devices` are without their capabilities and features. `siblings` are recorded
    where a run target failed.
    """

    file: str
    suite: str
    compiler: str
    runtime: str = ""
    driver: str = ""
    nodeid: str = ""
    target: str = ""
    module: str = ""
    module_file: str = ""
    line: int = 0
    position: int = 0
    tags: tuple[str, ...] = ()
    runs_external: bool = False
    requirements: tuple[int, ...] = ()
    stage: str = ""
    outcome: Outcome = Outcome.NOT_RUN
    result: Result = Result.UNKNOWN
    observation: Observation | None = None
    message: str = ""
    reason: str = ""
    hint: str = ""
    blocked_by: str = ""
    attempts: int = 1
    cases: tuple[CaseRecord, ...] = ()
    unselected_cases: tuple[str, ...] = ()
    compile: CompileRecord | None = None
    run: RunRecord | None = None
    devices: tuple[DeviceInfo, ...] = ()
    siblings: tuple[Sibling, ...] = ()

    @property
    def runtime_builds(self) -> tuple[str, ...]:
        """The builds of the runtime that its devices report, each once."""
        return tuple(dict.fromkeys(device.runtime for device in self.devices if device.runtime))

    @property
    def chance(self) -> str:
        """What an intermittent target did."""
        return "not compiled" if self.result is Result.UNKNOWN else observed_text(self.observation)


def to_plain(record: TargetRecord) -> Any:
    """Return a record as builtin types: dicts, lists, texts and numbers."""
    return json.loads(json.dumps(asdict(record)))


def from_plain(plain: Any, kind: Any = TargetRecord) -> Any:
    """The inverse of `to_plain`: what `plain` is as a value of the annotated type `kind`."""
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: from_plain(plain[name], of) for name, of in _annotations(kind).items()})
    if get_origin(kind) is tuple:
        return tuple(from_plain(one, get_args(kind)[0]) for one in plain)
    if plain is None:
        return None
    optional = get_args(kind)  # of `X | None`
    return from_plain(plain, optional[0]) if optional else kind(plain)


_annotations = cache(get_type_hints)


def record_of(report: pytest.CollectReport | pytest.TestReport) -> TargetRecord | None:
    """Return the record that a report carries; None where it is not a target's, or says nothing yet."""
    if isinstance(plain := getattr(report, RECORD, None), dict):  # it came from a worker of xdist
        setattr(report, RECORD, from_plain(plain))
    found: TargetRecord | None = getattr(report, RECORD, None)
    return found


def properties(record: TargetRecord) -> Iterator[tuple[str, str]]:
    """Yield the properties of a target that was tried, for junit. Values that are empty are left out."""
    for name, value in _properties(record) if record.stage else ():
        text = f"{value:.6f}" if isinstance(value, float) else str(value)
        if text:
            yield f"retarget.{name}", text


def _properties(record: TargetRecord) -> Iterator[tuple[str, str | float]]:
    for name in ("nodeid", "suite", "module", "compiler", "runtime", "stage"):
        yield name, getattr(record, name)
    if (compiled := record.compile) is not None:
        yield "compile_key", compiled.key
        yield "compiler_build", compiled.build
        yield "reused", str(compiled.reused).lower()
        yield "compile_seconds", compiled.seconds
    if (run := record.run) is not None:
        for name in ("load_seconds", "run_seconds", "compare_seconds"):
            yield name, getattr(run, name)
        yield from (("case.failed", name) for name in run.failed_cases)
        for device in record.devices:
            yield "device", device.name
            yield "device_id", device.physical_id
            yield "driver_version", device.driver_version
        yield from (("runtime_build", build) for build in record.runtime_builds)
    if record.attempts > 1:
        yield "attempts", str(record.attempts)
    yield from ((f"case_dispatches.{case.name}", case.dispatches) for case in record.cases)
    for case in record.cases if len(record.cases) > 1 else ():
        yield f"case_outcome.{case.name}", case.outcome
        yield f"case_seconds.{case.name}", case.seconds
    if record.outcome is Outcome.INTERMITTENT:
        yield "intermittent", record.chance
