"""The messages between a parent and its worker.

The messages travel as pickles over a socket pair between a process and the worker it started itself; nothing that was
read from a disk or a network is ever unpickled. No message holds a compiler, a device or an array. Most are
structs, because every worker defines them all when it starts, which takes dataclasses 25 times as long.

The request to a case loader about the module of a run, and the meaning of its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from retarget.extension import (
    ArtifactRequest,
    Case,
    CaseData,
    CaseLoader,
    CaseRequest,
    CheckedCase,
    CompileRequest,
    Resolved,
    Tolerance,
)
from retarget.model import CompilerConfig, CompileTarget, RunTarget, RuntimeConfig, Toolchain
from retarget.model.driver_checks import CheckState, DriverCheck
from retarget.model.names import MAJORITY
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Failure, Mismatch, Rung, RunOutcome, Stage, first_failure
from retarget.support.dependencies import opened
from retarget.support.errors import RetargetError
from retarget.support.text import first_line

if TYPE_CHECKING:
    from retarget.extension import Array

_CaseT = TypeVar("_CaseT", Case, CheckedCase)
_FoundT = TypeVar("_FoundT")

OPENED = "retarget: the devices are open"
UNAVAILABLE = "retarget: unavailable"
"""What `run_case` says with `--say-opened` once its devices are open, and before why something is not there."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The first message to a worker: what to make importable, and which extensions to load in addition to the installed
    ones. Answered by `Done` or `Refused`."""

    extensions: tuple[str, ...]
    sys_path: tuple[str, ...]


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for is done, and there is no more to say of it."""


# ---------------------------------------------------------------- requests


class ResolveFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Make a compiler config explicit. Answered by `ResolvedFlags` or `Refused`."""

    config: CompilerConfig
    flags: tuple[str, ...]


class AskFingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """Name what is installed for a compiler config. Answered by `Named` or `Refused`."""

    config: CompilerConfig


class DescribeBuild(msgspec.Struct, frozen=True, kw_only=True):
    """Name the build of a compiler or of a driver (the other is empty). Answered by `Named` or `Refused`."""

    compiler: str = ""
    driver: str = ""
    toolchain: Toolchain | None = None


class CompileModule(Struct, frozen=True, kw_only=True):
    """Compile one module. Answered by `CompiledModule` or `Refused`.

    With a `rewriting` kind, the case loader of that kind rewrites the module first, to return its checks. With
    `front_end`, the compiler's front end runs, and nothing else. The step `then` follows, with the source of this one,
    and its output as the front end; its answer comes in that of this one.
    """

    compiler: str
    rewriting: str = ""
    front_end: bool = False
    request: CompileRequest
    then: CompileModule | None = None

    @property
    def steps(self) -> Iterator[CompileModule]:
        """This step, and those that follow."""
        step: CompileModule | None = self
        while step is not None:
            yield step
            step = step.then

    def with_flags(self, change: Callable[[str], str]) -> CompileModule:
        """Return it with each flag changed, of the steps that follow, too."""
        resolved = replace(self.request.resolved, flags=tuple(map(change, self.request.resolved.flags)))
        then = None if self.then is None else self.then.with_flags(change)
        return replace(self, request=replace(self.request, resolved=resolved), then=then)


class ProbeDriver(msgspec.Struct, frozen=True, kw_only=True):
    """List a driver's devices, of this machine or of a config's host. Answered by `Devices` or `Refused`."""

    driver: str
    config: RuntimeConfig | None = None


class OpenDevices(msgspec.Struct, frozen=True, kw_only=True):
    """Open a runtime config's devices, to be kept open. Answered by `Devices` or `Refused`.

    `cache` is the folder of the session's cache, where drivers keep what they make for a device; None: the user's.
    """

    config: RuntimeConfig
    cache: Path | None = None


class KeepOpen(msgspec.Struct, frozen=True, kw_only=True):
    """Keep the files open that follow as `count` descriptors, until the next request is answered. Not answered itself.

    They are locked: a device that a request uses is leased until the worker has ended, also where its parent was
    killed.
    """

    count: int


class MoveBytes(msgspec.Struct, frozen=True, kw_only=True):
    """Move some bytes to the open device and back, where it can (`Device.transfers`). Answered by `Done` or
    `Refused`."""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How often the cases of a module that passes are called again: until the confidence interval of the median is as
    narrow as `spread`, half its width as a share of the median; but for `seconds` of wall time at most, all cases
    together."""

    spread: float = 0.02
    seconds: float = 2.0


References = tuple[tuple[str, Path | str], ...]
"""What cases are to agree with, by compiler config or, for a majority, by `compiler/runtime`: the folder with the
outputs of a run, or why there is no such run."""


class RunModule(Struct, frozen=True, kw_only=True):
    """Run an artifact's cases. Answered by `retarget.model.outcomes.RunOutcome`, with `Progress` written before it.

    `digest` is the SHA-256 hex that the artifact's bytes must have; empty: not known. Behind a `run_under` that the
    driver has no tool for, each case runs in its own process and no device is opened here.

    The outputs of every case are written to the folder `record`, if there is one. `only` and `skipping` are as in
    `selected_cases`. With a `timing`, cases are called again if all have passed.
    """

    target: RunTarget
    artifact: Path
    digest: str = ""
    record: Path | None = None
    references: References = ()
    only: tuple[str, ...] = ()
    skipping: tuple[tuple[str, bool], ...] = ()
    timing: Timing | None = None


class ExportCases(msgspec.Struct, frozen=True, kw_only=True):
    """Write the cases of a `run`, with all their values, below `folder`. No device is opened. Answered by
    `ExportedCases` or `Refused`."""

    run: RunModule
    folder: Path


class GenerateModules(msgspec.Struct, frozen=True, kw_only=True):
    """Write all modules that a file of a kind lists below `folder`. Answered by `Done` or `Refused`."""

    kind: str
    description: Path
    folder: Path


class CheckArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """Judge an artifact. Answered by `CheckedArtifact` or `Refused`. `digest` is as in `RunModule`."""

    target: CompileTarget
    artifact: Path
    digest: str


class CompareOutputs(msgspec.Struct, frozen=True, kw_only=True):
    """Compare what two runs were recorded to give. Answered by `retarget.model.outcomes.OutputComparison` or `Refused`.

    `sides` are what the two are called.
    """

    folders: tuple[Path, Path]
    sides: tuple[str, str]
    tolerance: Tolerance


class ListDriverChecks(msgspec.Struct, frozen=True, kw_only=True):
    """List the checks of drivers. Answered by `DriverChecks`."""


class CheckDriver(msgspec.Struct, frozen=True, kw_only=True):
    """Do one check of a driver on the opened devices of a runtime config. Answered by `CheckedDriver` or `Refused`."""

    config: RuntimeConfig
    check: str


# ---------------------------------------------------------------- answers


class Refusal(StrEnum):
    """The part that refused a request, which decides whom the message is for.

    COMPILER is the compiler's verdict on a module or on flags, TOOL its failure without one. The last three are not the
    worker's own: a signal ended it, it exited by itself, or it was killed because it took too long.
    """

    UNAVAILABLE = auto()
    COMPILER = auto()
    TOOL = auto()
    DRIVER = auto()
    INPUT = auto()
    INTERNAL = auto()
    CRASHED = auto()
    ENDED = auto()
    TIMED_OUT = "timed out"


class Refused(Struct, frozen=True, kw_only=True):
    """Why a request was not answered. `summary` is one line, `text` all that is known.

    `seconds` is the wall time it took. INTERNAL means that an extension raised what it should not; `text` is then the
    traceback. Of a worker that is gone `text` is what it printed last, and `cause` is `SIGFPE`, `exit status 3` or the
    time limit, `30 s`. `host` is set by an executor: the worker of the cluster that answered. `in_front_half` is as in
    `CompilerError`.
    """

    refusal: Refusal
    summary: str
    text: str = ""
    hint: str = ""
    cause: str = ""
    seconds: float = 0.0
    resident: int = 0
    host: str = ""
    in_front_half: bool = False

    @property
    def worker_ended(self) -> bool:
        """True where the worker ended, by a signal or by itself."""
        return self.refusal in {Refusal.CRASHED, Refusal.ENDED}

    @classmethod
    def crashed(cls, cause: str, *, host: str) -> Refused:
        """Return that of a worker that is gone, and nothing else is known."""
        return cls(refusal=Refusal.CRASHED, summary=cause, cause=cause, host=host)


class ResolvedFlags(msgspec.Struct, frozen=True, kw_only=True):
    """A resolved config, and the fingerprint of the compiler that resolved it."""

    resolved: Resolved
    fingerprint: str


class CompiledModule(Struct, frozen=True, kw_only=True):
    """An artifact, what was printed on the way, the compiler's wall time and the worker's resident bytes at the end.

    `front_half` is what was to be kept on the way. `host` is as in `Refused`. `then` is the answer to the step that was
    to follow.
    """

    artifact: bytes
    diagnostics: str
    seconds: float
    resident: int
    front_half: bytes = b""
    host: str = ""
    then: CompiledModule | Refused | None = None


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A name, as the answer to a request for one."""

    text: str


class Devices(msgspec.Struct, frozen=True, kw_only=True):
    """The devices that a driver listed or a runtime config opened."""

    infos: tuple[DeviceInfo, ...]


class ExportedCases(msgspec.Struct, frozen=True, kw_only=True):
    """The cases are written; `names` are theirs, in order. None where the artifact's functions cannot be listed, so
    that nothing is known of its cases."""

    names: tuple[str, ...] | None


class CheckedArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of an artifact's checks, in order."""

    cases: tuple[CheckedCase, ...]


class DriverChecks(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of drivers, in the order in which they are done."""

    checks: tuple[DriverCheck, ...]


class CheckedDriver(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a check: `detail` is one line, `text` what it did."""

    state: CheckState
    detail: str = ""
    text: str = ""
    seconds: float = 0.0


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is, written before it goes there; `done` is the case that was finished before, if any.

    `names` are those of all cases, the first time after they are known. `rung` is how far the run has come, in
    this case, if it gets no further: what is left of it after a crash.
    """

    stage: Stage
    rung: Rung = Rung.COMPILES
    case: str = ""
    done: CaseOutcome | None = None
    names: tuple[str, ...] = ()


def case_request(target: CompileTarget) -> CaseRequest:
    """Return the request before anything is loaded: the functions are not known yet."""
    module = target.module
    return CaseRequest(
        module=module.name,
        source=module.path,
        data=module.data,
        entry=module.entry,
        folder=target.folder,
        compiler=target.compiler.name,
        agree=target.agree,
    )


def load_cases(loader: CaseLoader, request: CaseRequest) -> tuple[Case, ...]:
    """Return a module's cases. What else they read than its data is recorded, where their kind neither declares it nor
    makes it."""
    if loader.overrides("data_files") or loader.overrides("make"):
        return _named_once(loader.load(request))
    declared = (request.source, *request.data)

    def recorded(read: Callable[[], CaseData]) -> CaseData:
        with opened(declared):
            return read()

    with opened(declared):
        cases = _named_once(loader.load(request))
    return tuple(replace(case, read=partial(recorded, case.read)) if case.read else case for case in cases)


def check_artifact(checker: CaseLoader, target: CompileTarget, artifact: bytes) -> tuple[CheckedCase, ...]:
    """Return what the checks of a target's artifact found."""
    request = ArtifactRequest(
        module=target.module.name,
        source=target.module.path,
        artifact=artifact,
        compiler=target.compiler.name,
        tags=target.tags,
        known_compilers=target.known_compilers,
    )
    return _named_once(checker.check(request))


def _named_once(cases: Iterable[_CaseT]) -> tuple[_CaseT, ...]:
    """Return the cases. Raises `RetargetError` for a name that two have: rules and reports go by names."""
    found: dict[str, _CaseT] = {}
    for case in cases:
        if found.setdefault(case.name, case) is not case:
            msg = f"found two cases named {case.name!r}, expected each name once"
            raise RetargetError(msg)
    return tuple(found.values())


def agreed_config(case: Case, compiler: str) -> str:
    """Return the other compiler config whose results a case expects; empty where they are its own config's."""
    return "" if case.agree_with == compiler else case.agree_with


def must_check(case: Case, expected: Sequence[Array | None] | None) -> bool:
    """Return whether a case with these expected results fails if the module does no check of its own: nothing else
    would judge it. Not that of a config that its own cases agree with, which only has to complete."""
    is_compared = any(one is not None for one in expected or ())
    return case.must_check and not is_compared and not (expected is None and case.agree_with)


def tolerances_of(case: Case) -> Mapping[str, Tolerance]:
    """Return the tolerances of a case by element type, `""` for all others."""
    return case.tolerances or {"": Tolerance(atol=case.atol, rtol=case.rtol)}


def case_outcome(
    case: Case,
    compiler: str,
    seconds: float,
    failure: Failure | None,
    mismatches: Iterable[Mismatch] = (),
    *,
    rung: Rung,
) -> CaseOutcome:
    """Return the outcome of a case of a compiler config's artifact. `rung` is how far it came if it failed."""
    return CaseOutcome(
        name=case.name,
        function=case.function,
        seconds=seconds,
        failure=failure,
        mismatches=tuple(mismatches),
        agree_with=agreed_config(case, compiler),
        rung=Rung.MATCHES if failure is None else rung,
    )


AGREEING = "agree with each other"
NO_RESULTS = "there are no results of "


def agreed_results(
    case: Case, references: Mapping[str, Mapping[str, _FoundT] | str], *, is_reference: bool = False
) -> Mapping[str, _FoundT]:
    """Return what a case is to agree with, by the names in `references`, which have it by the names of cases; nothing
    for a run that `is_reference` itself. Raises `RetargetError` where no results are there."""
    is_vote = case.agree_with == MAJORITY
    wanted = {name: one for name, one in references.items() if name == case.agree_with or (is_vote and "/" in name)}
    found = {name: one[case.name] for name, one in wanted.items() if not isinstance(one, str) and case.name in one}
    if found or (is_reference and not wanted):
        return found
    whom = "another target" if is_vote else f"compiler config {case.agree_with!r}"
    ended = f"its own run of case {case.name!r} did not come to its end"
    whys = [one if isinstance(one, str) else f"{name}: {ended}" if is_vote else ended for name, one in wanted.items()]
    whys = whys or [f"it is not run here; `retarget {'run' if is_vote else 'compare'}` runs both"]
    msg = f"{NO_RESULTS}{whom} to agree with: {'; '.join(whys)}"
    raise RetargetError(msg)


def checked_outcome(checked: Iterable[CheckedCase]) -> RunOutcome:
    """Return the outcome of an artifact that is checked and not run."""
    cases = tuple(
        CaseOutcome(
            name=case.name,
            seconds=0.0,
            failure=(failed := _failed(case)),
            rung=Rung.MATCHES if failed is None else Rung.COMPILES,
        )
        for case in checked
    )
    failure = first_failure(cases) if cases else Failure(stage=Stage.COMPARE, summary="there was nothing to check")
    return RunOutcome(devices=(), cases=cases, names=tuple(case.name for case in cases), failure=failure)


def _failed(case: CheckedCase) -> Failure | None:
    if not case.summary and not case.report:
        return None
    summary = first_line(f"{case.summary}\n{case.report}", f"{case.name} failed")
    return Failure(stage=Stage.COMPARE, summary=summary, text=case.report)
