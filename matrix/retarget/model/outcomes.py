"""The results of stages, and the rungs that they reach: frozen, picklable, free of compiler and device objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum, auto

from retarget.model.devices import DeviceTraits, version_in
from retarget.model.signatures import comparison_signature, normalise
from retarget.support.text import strip_colour


class Rung(IntEnum):
    """How far something has come. A rung is reached by what has all rungs below it that concern it.

    `FOUND`, `OPENS` and `TRANSFERS` are about a driver alone, `COMPILES` is about a compiler alone: the two sides are
    climbed independently, and meet at `LOADS`.
    """

    NONE = -1
    """Nothing of it works: there is no driver, or the module does not compile."""
    FOUND = 0
    """The driver is found."""
    OPENS = 1
    """Its device opens."""
    TRANSFERS = 2
    """Buffers and transfers round-trip: the driver passes its conformance checks."""
    COMPILES = 3
    """The module compiles; needs no device."""
    LOADS = 4
    """The device takes the artifact."""
    DISPATCHES = 5
    """The work of a call starts on the device.

    The evidence is what the program says (`Program.report_work`), and the worker has passed it on before a crash or a
    hang comes: OpenCL's does when the first kernel of a call is about to be enqueued, IREE's in a process when the
    arguments are on the device and the function is entered. For other programs, and where each call has its own
    process, entering the call is the evidence.
    """
    COMPLETES = 6
    """All calls run to their end."""
    MATCHES = 7
    """All values match."""
    STABLE = 8
    """They match in each of several runs."""

    @property
    def word(self) -> str:
        """The rung in ladders, messages and records: `compiles`."""
        return self.name.lower()

    @classmethod
    def named(cls, word: str) -> Rung | None:
        """Return the rung of a word, None where it is none."""
        return _RUNGS.get(word)


_RUNGS = {rung.word: rung for rung in Rung}


FeatureValue = bool | int | float | str | tuple[int, ...] | tuple[str, ...]
"""The value of a device's capability: yes or no, a number (bytes, work-items, …), a name, or several of them."""


class Stage(StrEnum):
    """Where a target fails."""

    COMPILE = auto()
    LOAD = auto()
    RUN = auto()
    COMPARE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """One device as its driver reports it.

    `uri` opens it (`vulkan://GPU-…`), `ordinal` counts from 0 within the driver, `physical_id` is equal for two
    drivers' views of the same hardware (leases are per physical id). `capabilities` are (name, value) pairs for people,
    `features` those of a device profile: (`vulkan.shaderFloat16`, True), (`memory`, bytes). `runtime` names the build
    of the runtime that reports it, for people. `vendor` is as `vendor_name` has it, `driver_name` what the device's own
    driver is called, `type` one of `DEVICE_TYPES`; empty where not reported. An `exclusive` device is used by one run
    at a time, unless a runtime config says otherwise; any number may use others, such as the host's cores. `unusable`
    says in one line why nothing runs on a listed device, such as an error of its compiler, and `remedy` what to
    install; both are empty for a usable one. `note` is for reports of a device that was used: its driver, and which
    others were not used and why. `host` is a digest of the kind of CPU of the machine that opened it (`host_identity`),
    `arrays` the versions of the packages that make and compare arrays there, with the variables that drivers read; both
    are empty where it is only listed.
    """

    driver: str
    uri: str
    ordinal: int
    name: str
    physical_id: str
    driver_version: str = ""
    capabilities: tuple[tuple[str, str], ...] = ()
    features: tuple[tuple[str, FeatureValue], ...] = ()
    runtime: str = ""
    exclusive: bool = True
    unusable: str = ""
    remedy: str = ""
    note: str = field(default="", compare=False)
    host: str = field(default="", compare=False)
    arrays: str = field(default="", compare=False)
    vendor: str = ""
    driver_name: str = ""
    type: str = ""

    @property
    def traits(self) -> DeviceTraits:
        """The traits that rules and requirements can match. The runtime's own devices, of host cores, have its
        version."""
        reported = self.driver_version or (self.runtime if self.driver_name == "IREE" else "")
        return DeviceTraits(
            driver=self.driver_name, vendor=self.vendor, name=self.name, version=version_in(reported), type=self.type
        )


CRASH = "crash"
TIMEOUT = "timeout"
"""The stage of an observation where a signal, or the clock, ended the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a stage failed.

    `summary` is one line. `text` is the tool's own message, its colour kept and its noise cut. `signal` names the
    signal that ended a worker (`SIGFPE`), `timed_out` means a kill by the clock, `no_verdict` that the failure is
    inconclusive: the worker exited by itself, an extension's code failed, or the compiler config `lacking` gave no
    reference results. `hint` says what to do next. The names of the fields are those in stores: they must not change.
    """

    stage: Stage
    summary: str
    text: str = ""
    signal: str = ""
    timed_out: bool = False
    no_verdict: bool = False
    lacking: str = ""
    hint: str = ""

    @property
    def transient(self) -> bool:
        """True for a crash, a timeout or no verdict: an outcome that must never be reused, from store or export."""
        return bool(self.signal) or self.timed_out or self.no_verdict

    @property
    def observation(self) -> Observation:
        """How a target failed, in the words of expectations.

        A failure without a verdict on the target is described like any other; callers that judge it must check
        `no_verdict` first.
        """
        if self.signal:
            return Observation(stage=CRASH, signature=self.signal)
        if self.timed_out:
            return Observation(stage=TIMEOUT, signature="")
        summary = strip_colour(self.summary)
        signature = comparison_signature(summary) if self.stage is Stage.COMPARE else ""
        return Observation(stage=str(self.stage), signature=signature or normalise(summary))

    def observed_in(self, cases: Iterable[CaseOutcome]) -> Observation:
        """Return how a target failed with all its cases, where this is its own failure, most often that of its first.

        Cases whose failure says nothing of the target do not count: there is no verdict, or no results to agree with.
        """
        failed = [(case.name, case.failure) for case in cases if case.failure and not case.failure.no_verdict]
        found = {self.observation: next((name for name, why in failed if why == self), "")}
        for name, why in failed:
            found.setdefault(why.observation, name)
        if len(found) == 1:
            return self.observation
        first, *others = (replace(way, case=name) for way, name in found.items())
        return replace(first, also=tuple(others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """How a target failed, in the words of expectations.

    `stage` is `compile`, `load`, `run` or `compare`; `crash` where a signal ended the worker, `timeout` where the clock
    did. `signature` is the first diagnostic without what changes from run to run: locations, numbers, paths. Where
    cases failed in different ways, this is the first of them, `also` are the others, each once and without an `also`,
    and `case` names a case that failed so; it is empty where all failed alike.
    """

    stage: str
    signature: str
    case: str = field(default="", compare=False)
    also: tuple[Observation, ...] = ()

    @property
    def is_crash(self) -> bool:
        """Whether a signal ended the worker."""
        return self.stage == CRASH

    @property
    def is_timeout(self) -> bool:
        """Whether the clock ended it."""
        return self.stage == TIMEOUT

    @property
    def ending(self) -> str:
        """How it failed, after the name of the target: `crashed`, `timed out`, `failed at run`."""
        return "crashed" if self.is_crash else "timed out" if self.is_timeout else f"failed at {self.stage}"

    @property
    def distinct_failures(self) -> tuple[Observation, ...]:
        """The failures that differ, each as an observation without `also`."""
        return (replace(self, also=()), *self.also) if self.also else (self,)

    @property
    def text(self) -> str:
        """What a person reads: `compile: failed to legalize …`, `crash: SIGFPE`."""
        ways = self.distinct_failures
        return "; ".join(f"{way.stage}: {way.signature}" if way.signature else way.stage for way in ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A comparison that did not hold, reported by `retarget.arrays.comparison`. `report` is several lines for a
    person."""

    summary: str
    report: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDifference:
    """An array in which two runs of a module differ. `place` is like `result 0` or `check 2`.

    `mismatch` calls the two by their names. `max_ulp` counts representable values; None where it makes no sense.
    """

    case: str
    place: str
    mismatch: Mismatch
    max_ulp: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputComparison:
    """The comparison of two runs of a module: `values` elements of `arrays` arrays of `cases` cases that both have.

    `differing` arrays differ; `first` comes first in the order run. `unmatched` are the cases that one of the two did
    not finish, with its name. `judged` cases have expected values in the module itself.
    """

    cases: int
    arrays: int
    values: int
    differing: int = 0
    first: OutputDifference | None = None
    unmatched: tuple[tuple[str, str], ...] = ()
    judged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTimes:
    """How long repeated calls of a function take, in seconds of wall time.

    `first` is its first call, with arguments copied to the device and results back. `calls` warm ones were timed, whose
    arguments stay on the device: their `median`, and its `spread`, half the width of its confidence interval (95 %) as
    a share of it. `samples` are the shortest of equally long, consecutive groups of these calls: other processes only
    make calls longer. `device` are such samples of the times on the device by its own clock, none where it has none.
    """

    first: float
    median: float
    spread: float
    calls: int
    samples: tuple[float, ...]
    device: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """One call of a module. Passed when `failure` is None. `seconds` is wall time of call and comparison.

    `function` was called; empty where it has the case's name. `agree_with` is the other compiler config whose results
    were expected, or `MAJORITY`, empty where that is none; `agreeing` are the targets, as `compiler/runtime`, that are
    a majority against it. `command` is the argument list of the process that made the call; empty
    where it had no own process. `dispatches` are (role or URI of a device, how many it executed) pairs; none where they
    were not counted. `rung` is how far the call came, from `LOADS` on; `COMPILES` where a tool, which loads the
    artifact for each call, refused it. `times` are those of further calls, in a benchmark.
    """

    name: str
    seconds: float
    failure: Failure | None = None
    mismatches: tuple[Mismatch, ...] = ()
    function: str = ""
    agree_with: str = ""
    agreeing: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    dispatches: tuple[tuple[str, int], ...] = ()
    rung: Rung = Rung.LOADS
    times: CallTimes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """The product of a compile target: SHA-256 hex digest of the content, its size in bytes, the path in the store."""

    digest: str
    size: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOutcome:
    """A compile target's result. Exactly one of `artifact` and `failure` is set.

    `key` is the compile key (SHA-256 hex). `seconds` is the compiler's wall time when it ran (also when reused).
    `reused` means that the store had it. `diagnostics` is what the compiler printed, kept also on success. `build_id`
    is the build in the key, `build` names it for people, `inputs` are (text, digest) of what flags name. Where this
    process compiled it, `started` is when (seconds since 1970, UTC) and `worker` the number of its compile worker, from
    1; else both are 0. `host` is the worker of the cluster that did, empty without one. `devices` are those of this
    host that it was compiled for.
    """

    key: str
    seconds: float
    reused: bool
    artifact: Artifact | None = None
    failure: Failure | None = None
    diagnostics: str = ""
    build_id: str = ""
    build: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    started: float = 0.0
    worker: int = 0
    host: str = ""
    devices: tuple[DeviceInfo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """A run target's result. Passed when `failure` is None. `cases` are in the order run.

    `names` are those of all cases of the module, run or not; empty where unknown. When a case failed, `failure` is that
    of `first_failure` and `cases` hold them all. `loaded` means that the device loaded the artifact. Seconds are wall
    time. `suspect` means that the driver itself failed: its open devices may be unusable, and must not run another
    target. `started` is when the run began (seconds since 1970, UTC; 0 where it did not), `wait_seconds` how long it
    waited for its devices before, `host` the worker of the cluster that did it, empty without one. `dependencies` are
    what the values of cases depend on, as in `retarget.support.dependencies`. `notes` say, a line each, that its
    devices were lost or gone and came back, and whether it was run again for that.
    """

    devices: tuple[DeviceInfo, ...]
    load_seconds: float = 0.0
    run_seconds: float = 0.0
    compare_seconds: float = 0.0
    cases: tuple[CaseOutcome, ...] = ()
    names: tuple[str, ...] = ()
    failure: Failure | None = None
    output: str = ""
    loaded: bool = False
    suspect: bool = False
    started: float = 0.0
    wait_seconds: float = 0.0
    host: str = ""
    dependencies: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rung(self) -> Rung:
        """How far the target came: the lowest rung of the cases that were run."""
        return min((case.rung for case in self.cases), default=Rung.LOADS if self.loaded else Rung.COMPILES)


def first_failure(cases: Iterable[CaseOutcome]) -> Failure | None:
    """Return the failure of the first case that failed by itself, else of one that lacks results; None without one."""
    failures = [case.failure for case in cases if case.failure is not None]
    return next((failure for failure in failures if not failure.lacking), failures[0] if failures else None)
