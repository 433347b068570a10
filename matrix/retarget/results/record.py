"""The record of a target, as data: one record, which its report carries, the results on disk hold, and everything that
looks back reads.

Records are msgspec structs: msgspec writes them as JSON without the fields that have their default, reads them back
with the path of what is wrong, and gives their JSON Schema. A field that is added needs a default, so that older
results stay readable; one whose meaning changes raises `retarget.results.files.VERSION`.

The properties of a target in junit files: `retarget.compile_key`, `retarget.device`, …
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec.structs import force_setattr

from retarget.model.devices import DeviceTraits
from retarget.model.outcomes import CallTimes, DeviceInfo, Observation

if TYPE_CHECKING:
    from pathlib import Path

    from retarget.extension.registry import Registry
    from retarget.model.declared import Target

When = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970, UTC, up to the year 9999: what a date can be."""

Seconds = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
"""A duration of at most eleven days. Where a clock was set back, it is below 0."""


class Outcome(StrEnum):
    """The outcome of a target or a case, as judged by its expectations. Each is reported under this name."""

    PASSED = "passed"
    PARTIAL = "partial"
    """It was as expected in the cases that were run, and others have no outcome: it says nothing on the whole."""
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

    @property
    def is_good(self) -> bool:
        """Whether it is as the expectations say."""
        return self in {Outcome.PASSED, Outcome.FLAKY, Outcome.INTERMITTENT, Outcome.XFAILED}

    @property
    def is_bad(self) -> bool:
        """Whether it is not as they say. The others are no verdict: partial, blocked, skipped, not run."""
        return self in {Outcome.FAILED, Outcome.XPASSED, Outcome.ERROR}

    @property
    def is_incomplete(self) -> bool:
        """Whether the target was to be tried, and was not, or not in all of its cases."""
        return self in {Outcome.PARTIAL, Outcome.NOT_RUN}


class Result(StrEnum):
    """The result of a target itself, whatever its expectations say."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """It did not run, or it failed in a way that says nothing of it."""


class _Record(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Frozen. `kw_only` is for each class to say: msgspec hands it on to none."""


class TimesRecord(_Record, frozen=True, kw_only=True):
    """How long a case's calls take, in a benchmark: as `retarget.model.outcomes.CallTimes` has it, in seconds."""

    first: Seconds
    median: Seconds
    spread: float
    calls: int
    samples: tuple[Seconds, ...]
    device: tuple[Seconds, ...] = ()

    @classmethod
    def of(cls, times: CallTimes) -> TimesRecord:
        """Return the record of times, to the nanosecond."""
        series = {name: tuple(round(one, 9) for one in getattr(times, name)) for name in ("samples", "device")}
        first, median = round(times.first, 9), round(times.median, 9)
        return cls(first=first, median=median, spread=round(times.spread, 5), calls=times.calls, **series)


class GoldenRecord(_Record, frozen=True, kw_only=True):
    """The verdict of a golden rule in a benchmark: `kept`, `broken` or `not judged`, with what was found and expected.

    `case` is empty where the metric is of the target as a whole.
    """

    rule: str
    verdict: str
    text: str
    case: str = ""


UNMEASURED = "*"
"""Stands for all golden rules."""


class CaseRecord(_Record, frozen=True, kw_only=True):
    """One case of a target, after `seconds` of wall time.

    `stage` and `signature` say how it failed, as expectations do; empty where it did not. `reason` says in one line why
    it did not simply pass. Of a case that did not run, `excused` says whether a rule skips it, so that it needs no
    outcome: None in older results, where this is unknown. A failure with `no_verdict` says nothing of the case.
    `agree_with` is the compiler config whose results were expected, or `majority`, empty where that is none; `lacking`
    names it where it gave none, `agreeing` are the targets, as `compiler/runtime`, that are a majority against this
    one. `dispatches` says how many each device executed (`device_a=3 device_b=1`), empty where they were not counted.
    """

    name: str
    outcome: Outcome
    seconds: Seconds = 0.0
    stage: str = ""
    signature: str = ""
    reason: str = ""
    excused: bool | None = None
    no_verdict: bool = False
    agree_with: str = ""
    lacking: str = ""
    agreeing: tuple[str, ...] = ()
    dispatches: str = ""
    times: TimesRecord | None = None


class CompileRecord(_Record, frozen=True, kw_only=True):
    """The compile of a target's module: its key, whether the artifact was `reused`, the compiler's wall time in
    seconds, the build of the compiler for people, and the artifact's SHA-256 digest, empty where there is none.

    `returns_checks` is that of the compile target: what a run by a tool needs may be another compile, with a key of its
    own, than that of the same compiler config which people see.

    Where this process compiled it, `started` is when the compiler began (seconds since 1970, UTC), ahead of the targets
    that wait for it, and `worker` which of the process's compiles at a time it was, from 1; 0 where it did not. All
    targets of one compile say the same of it. `host` is the worker of the cluster that compiled it, empty without one.

    `devices` are those of the host that it was compiled for. `size` is that of the artifact in bytes. In a benchmark,
    `dispatches` and `transient` (bytes) are what the compiler says of the program
    (`retarget.extension.ProgramStatistics`), None where it says nothing.
    """

    key: str
    returns_checks: bool = False
    reused: bool = False
    seconds: Seconds = 0.0
    build: str = ""
    artifact: str = ""
    started: When = 0.0
    worker: int = 0
    host: str = ""
    size: int = 0
    dispatches: int | None = None
    transient: int | None = None
    devices: tuple[DeviceRecord, ...] = ()


class RunRecord(_Record, frozen=True, kw_only=True):
    """The last run of a target: wall times in seconds, and the names of the cases that failed in it.

    `started` is when its device worker began (seconds since 1970, UTC), `wait_seconds` how long it waited for its
    devices before, `host` the worker of the cluster that ran it, empty without one. `opened` are the paths that
    its cases and its driver used, with the state of each: see `retarget.support.dependencies`. On disk, they are those
    below pytest's root folder, relative to it. `notes` are those of `retarget.model.outcomes.RunOutcome`.
    """

    load_seconds: Seconds
    run_seconds: Seconds
    compare_seconds: Seconds
    failed_cases: tuple[str, ...] = ()
    started: When = 0.0
    wait_seconds: Seconds = 0.0
    host: str = ""
    opened: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def edited(self, root: Path, now: dict[str, str], *, here: bool) -> str:
        """Return the first path below `root` that is not as the run used it, empty for none; `now` keeps the states.
        What is not there counts only on the machine that ran it, which `here` says this is."""
        from retarget.support.dependencies import dependency_state

        for name, state in self.opened:
            if name not in now:
                now[name] = dependency_state("path", str(root / name), {})
            if now[name] != state and (here or (root / name).exists()):
                return name
        return ""


class ReusedRecord(_Record, frozen=True, kw_only=True):
    """Where the result of a target comes from that was not run: the `host` that ran it, and when the run `ended`
    (seconds since 1970, UTC)."""

    host: str
    ended: When

    @property
    def words(self) -> str:
        """When and where it was run: `2026-11-22T14:02:11Z on build-7`."""
        return f"{datetime.fromtimestamp(self.ended, UTC):%Y-%m-%dT%H:%M:%SZ} on {self.host}"


_DIGITS = 12
"""Of a kind of CPU."""


class DeviceRecord(_Record, frozen=True, kw_only=True):
    """A device that a target ran on or was compiled for, as `retarget.model.outcomes.DeviceInfo` has it; `memory` in
    bytes, 0: unknown. `host`, the kind of CPU, is there for a device on the host's cores alone."""

    driver: str
    uri: str
    name: str
    physical_id: str
    driver_version: str = ""
    runtime: str = ""
    note: str = ""
    memory: int = 0
    vendor: str = ""
    driver_name: str = ""
    type: str = ""
    host: str = ""

    @classmethod
    def of(cls, info: DeviceInfo) -> DeviceRecord:
        """Return the record of a device."""
        alike = {name: getattr(info, name) for name in cls.__struct_fields__ if name not in {"memory", "host"}}
        memory = dict(info.features).get("memory")
        host = info.host[:_DIGITS] if info.physical_id == "cpu" else ""
        return cls(**alike, memory=memory if isinstance(memory, int) else 0, host=host)

    @property
    def traits(self) -> DeviceTraits:
        """The traits that rules can match."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name not in {"memory", "host"}}
        return DeviceInfo(ordinal=0, **fields).traits


class Sibling(_Record, frozen=True, kw_only=True):
    """Another run target of the same module."""

    target: str
    compiler: str
    runtime: str
    driver: str


class TargetRecord(_Record, tag_field="type", tag="target", frozen=True, kw_only=True):
    """The record of one target, at one attempt. `runtime` and `driver` are empty for a compile target.

    `nodeid` is the target's id: it is the same on every machine. `file` is the suite file, `line` the suite's line in
    it (0-based), `position` the target's in its suite: reports may come in any order. `module_file` is the module's own
    file, empty where it shares the file with others. On disk, files are relative to pytest's root folder. `tags` and
    `marks` are what `-m` selects by. A target that `runs_external` runs in a process of a tool, which keeps the outputs
    to itself. `requirements` are the numbers of the `--retarget-require` that select it, `toolchains` what
    `--retarget-toolchain` says of its toolchains: `NAME=PATH`.

    `rung` is how far it came, as `retarget.model.outcomes` words it: the lowest over its cases and attempts so far. A
    target that only compiles comes to `compiles`, one whose artifact is checked to `matches`. It is empty where nothing
    says: the target was not tried, or `--retarget-case` left out some of its cases. `stage` is the last stage that the
    target reached, empty where it was not tried. `result` is its own, `observation` how it failed, also where that says
    nothing of it; `outcome` is the verdict of its expectations. `message` is the first line of what was raised,
    `reason` why it was skipped or excused, `hint` what to install where something is missing, `blocked_by` the node id
    of the target that reports the failure, empty for none. `text` is the whole report of a failure, without colour,
    `commands` are its commands to paste.

    `unavailable` means that it was skipped because something is missing on this machine: a device, a compiler, a tool.
    `unsuitable` means that its device lacks what the target requires.
    `excused` means that a rule with `outcome = "skip"` has it skipped: nobody expects a result.

    `unchanged` means that it did not run in this session (`--retarget-reuse-results`, `--retarget-changed`): nothing
    that it depends on has changed since an earlier run, of which the cases and their durations are. `reused` says which
    run that was; None for a compile, which the cache has.

    `attempt` counts from 1; the record with the highest is the target's result, those below are of the attempts before.

    `cases` are all cases of the module, where they became known; `unselected_cases` the names of those that
    `--retarget-case` leaves out. A target that was as expected, but for `missing_cases`, is `partial` whatever outcome
    it is given. `siblings` are recorded where a run target failed. `goldens` say what a benchmark made of the golden
    rules in force. `case_digest` covers what the target's cases are and how it is run (SHA-256 hex),
    `trial_digest` the same without what is expected, and the module's source.

    `started` and `ended` are seconds since 1970, UTC. `process` is xdist's worker (`gw0`), empty without xdist.
    `session` is the id of the session, `leg` the leg of the plan with the digest `plan`, both empty without a plan.
    """

    file: str = ""
    suite: str = ""
    compiler: str = ""
    runtime: str = ""
    driver: str = ""
    nodeid: str = ""
    target: str = ""
    module: str = ""
    module_file: str = ""
    line: int = 0
    position: int = 0
    tags: tuple[str, ...] = ()
    marks: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    runs_external: bool = False
    requirements: tuple[int, ...] = ()
    toolchains: tuple[str, ...] = ()
    stage: str = ""
    rung: str = ""
    outcome: Outcome = Outcome.NOT_RUN
    result: Result = Result.UNKNOWN
    observation: Observation | None = None
    message: str = ""
    reason: str = ""
    hint: str = ""
    unavailable: bool = False
    unsuitable: bool = False
    blocked_by: str = ""
    excused: bool = False
    unchanged: bool = False
    reused: ReusedRecord | None = None
    text: str = ""
    commands: tuple[str, ...] = ()
    attempt: int = 1
    cases: tuple[CaseRecord, ...] = ()
    unselected_cases: tuple[str, ...] = ()
    goldens: tuple[GoldenRecord, ...] = ()
    compile: CompileRecord | None = None
    run: RunRecord | None = None
    devices: tuple[DeviceRecord, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    case_digest: str = ""
    trial_digest: str = ""
    started: When = 0.0
    ended: When = 0.0
    process: str = ""
    session: str = ""
    leg: str = ""
    plan: str = ""

    def __post_init__(self) -> None:
        if self.outcome.is_good and self.missing_cases:
            force_setattr(self, "outcome", Outcome.PARTIAL)

    @property
    def compile_id(self) -> str:
        """The id of its compile target, which has the same parents."""
        return f"{self.nodeid.removesuffix(self.target)}{self.module}_{self.compiler}"

    @property
    def blocker(self) -> str:
        """The id of the target that blocks it: of an artifact that was not made, its compile target."""
        return self.blocked_by or self.compile_id

    @property
    def blocks(self) -> bool:
        """Whether it may block others: it failed, or was neither run nor excused by a rule."""
        is_lost = self.outcome is Outcome.NOT_RUN or (self.outcome is Outcome.SKIPPED and not self.excused)
        return self.outcome.is_bad or is_lost

    def blocker_in(self, results: Mapping[str, TargetRecord]) -> TargetRecord | str:
        """Return the target at the end of what blocks it: a blocked one where they block each other, an id where
        `results` do not have it."""
        seen, found = set(), self
        while found.outcome is Outcome.BLOCKED and found.nodeid not in seen:
            seen.add(found.nodeid)
            if found.blocker not in results:
                return found.blocker
            found = results[found.blocker]
        return found

    @staticmethod
    def unexplained(results: Mapping[str, TargetRecord], planned: Container[str] = ()) -> frozenset[str]:
        """Return the targets that are blocked although what blocks them is not among `results`, or does not block. A
        blocker that is `planned` is missing by itself."""
        blocked = {one: own.blocker_in(results) for one, own in results.items() if own.outcome is Outcome.BLOCKED}
        return frozenset(
            one for one, by in blocked.items() if not (by in planned if isinstance(by, str) else by.blocks)
        )

    @property
    def missing_cases(self) -> tuple[str, ...]:
        """The names of the cases without an outcome, where neither a rule nor the failure that ended the run says
        why, nor the results are too old to say it."""
        left = [one.name for one in self.cases if one.outcome is Outcome.NOT_RUN and one.excused is False]
        return tuple(dict.fromkeys((*self.unselected_cases, *(left if self.result is not Result.FAILED else ()))))

    @property
    def open_cases(self) -> tuple[str, ...]:
        """The cases that failed, or did not run behind the crash or timeout of another one: it mends none of them."""
        has_run = any(one.outcome is not Outcome.NOT_RUN for one in self.cases)
        left = (one for one in self.cases if one.outcome.is_bad or one.outcome is Outcome.NOT_RUN)
        return tuple(one.name for one in left if has_run and not one.excused)

    @property
    def breaks_golden(self) -> bool:
        """Whether it failed for a golden rule: what measures nothing says nothing of that."""
        return self.outcome.is_bad and any(one.verdict == "broken" for one in self.goldens)

    @property
    def open_goldens(self) -> tuple[str, ...]:
        """Words for the golden rules that it broke, or else for those that it could not judge. A later result mends
        none of an earlier one with which it shares a word; one of a session that measured nothing has `UNMEASURED`."""
        by_verdict: dict[str, set[str]] = {}
        for one in self.goldens:
            by_verdict.setdefault(one.verdict, set()).add(f"{one.rule} {one.case}".rstrip())
        if broken := by_verdict.get("broken"):
            return tuple(sorted({UNMEASURED, *broken, *(one.rule for one in self.goldens if one.verdict == "broken")}))
        return tuple(sorted(by_verdict.get("not judged", ())))

    @property
    def builds(self) -> tuple[str, ...]:
        """Words for where its toolchains are."""
        return tuple(f"the toolchain {one}" for one in self.toolchains) or ("the declared toolchains",)

    def machine(self, host: str, cpu: str) -> tuple[str, ...]:
        """Return what must be equal for times to be compared: the session's host, its kind of CPU, the devices."""
        devices = sorted(f"{device.physical_id} {device.name}" for device in self.devices)
        return host, f"the CPU {cpu}" if cpu else "", *devices

    @property
    def runtime_builds(self) -> tuple[str, ...]:
        """The builds of the runtime that its devices report, each once."""
        return tuple(dict.fromkeys(device.runtime for device in self.devices if device.runtime))

    @property
    def chance(self) -> str:
        """The result of an intermittent target."""
        seen = self.observation.text if self.observation is not None else "passed"
        return "not compiled" if self.result is Result.UNKNOWN else seen

    def properties(self) -> Iterator[tuple[str, str]]:
        """Yield the properties of a target that was tried, for junit. Values that are empty are left out."""
        for name, value in _properties(self) if self.stage else ():
            text = f"{value:.6f}" if isinstance(value, float) else str(value)
            if text:
                yield f"retarget.{name}", text

    @property
    def tried_cases(self) -> tuple[CaseRecord, ...]:
        """The cases that were run of a target that did not just pass; none if it failed before."""
        if self.outcome is not Outcome.XPASSED and self.observation is None:
            return ()
        return tuple(case for case in self.cases if case.outcome is not Outcome.NOT_RUN)

    @classmethod
    def declared(cls, target: Target, registry: Registry, **known: Any) -> TargetRecord:
        """Return what is declared of a target, and what else is known: its node id, its file, its place there."""
        compiled = target.compiled
        runtime = target.runtime
        module = compiled.module
        builds = (compiled.compiler.toolchain, runtime.toolchain if runtime is not None else None)
        given = (f"{one.name}={one.path or 'PATH'}" for one in builds if one is not None and one.redirected)
        return cls(
            suite=compiled.suite,
            target=target.name,
            module=module.name,
            module_file="" if module.entry else str(module.path),
            compiler=compiled.compiler.name,
            runtime=runtime.name if runtime is not None else "",
            driver=runtime.driver if runtime is not None else "",
            tags=target.tags,
            marks=target.marks,
            toolchains=tuple(dict.fromkeys(given)),
            runs_external=runtime is not None and registry.gives_no_outputs(runtime),
            **known,
        )


def _properties(record: TargetRecord) -> Iterator[tuple[str, str | float]]:
    for name in ("nodeid", "suite", "module", "compiler", "runtime", "stage"):
        yield name, getattr(record, name)
    if (compiled := record.compile) is not None:
        yield "compile_key", compiled.key
        yield "compiler_build", compiled.build
        yield "reused", str(compiled.reused).lower()
        yield "compile_seconds", compiled.seconds
        yield "compiled_on", compiled.host
    if (run := record.run) is not None:
        for name in ("load_seconds", "run_seconds", "compare_seconds"):
            yield name, getattr(run, name)
        yield "ran_on", run.host
        yield from (("case.failed", name) for name in run.failed_cases)
        yield from (("note", line) for line in run.notes)
        for device in record.devices:
            yield "device", device.name
            yield "device_id", device.physical_id
            yield "driver_version", device.driver_version
        yield from (("runtime_build", build) for build in record.runtime_builds)
    if record.reused is not None:
        yield "result_reused", record.reused.words
    if record.attempt > 1:
        yield "attempts", str(record.attempt)
    yield from ((f"case_dispatches.{case.name}", case.dispatches) for case in record.cases)
    for case in record.cases if len(record.cases) > 1 else ():
        yield f"case_outcome.{case.name}", case.outcome
        yield f"case_seconds.{case.name}", case.seconds
    if record.outcome is Outcome.INTERMITTENT:
        yield "intermittent", record.chance
