"""Runs run targets: one runner process per runtime config, its devices kept open, every crash and hang contained."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from retarget.engine.run.device_worker import Runner, refused_error
from retarget.engine.run.lease import DeviceLeases, Holder, Lease, OnLeaseWait, current_holder
from retarget.engine.run.lease_folder import default_lease_folder
from retarget.extension import ArtifactRequest, Tolerance, UnavailableError
from retarget.model import CompileTarget, RunTarget, RuntimeConfig
from retarget.model.outcomes import (
    Artifact,
    CaseOutcome,
    DeviceInfo,
    Failure,
    OutputComparison,
    RunOutcome,
    Stage,
    first_failure,
)
from retarget.support.errors import RetargetError
from retarget.support.text import cut_stacks, first_line
from retarget.worker.messages import (
    CheckArtifact,
    CheckedArtifact,
    CompareOutputs,
    Devices,
    MakeModules,
    ModulesMade,
    ProbeDriver,
    Progress,
    Refusal,
    Refused,
    RunModule,
)
from retarget.worker.process import Spawner, Worker, WorkerDiedError, WorkerTimeoutError

__all__ = ["RunService"]

_MAKE_SECONDS = 600.0
"""How long a package may take to make its modules: a thousand take seconds."""


class RunService:
    """Runs artifacts. To be used from one thread, and closed.

    Nothing of a driver is imported into this process: NumPy, IREE and the rest stay in the runners.
    """

    def __init__(
        self,
        *,
        extensions: Sequence[str],
        default_timeout: float,
        open_timeout: float = 60.0,
        lease_folder: Path | None = None,
        holder: Holder | None = None,
    ) -> None:
        """`extensions` are module names to load in the runners besides the installed entry points.

        `default_timeout` is for load, run and compare of one target, where it declares none; `open_timeout` for opening
        a runtime config's devices or listing a driver's. Both are in seconds. Processes that share `lease_folder` (one
        per machine if None) share the physical devices; `holder` is what they learn of this one.
        """
        self._extensions = tuple(extensions)
        self._default_timeout = default_timeout
        self._open_timeout = open_timeout
        self._leases = DeviceLeases(lease_folder or default_lease_folder(), holder or current_holder(sys.argv))
        self._spawner = Spawner()
        self._runners: dict[RuntimeConfig, Runner] = {}
        self._helper: Worker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Open the runtime config's devices, once, and return them in order. Empty behind `run_under`.

        Raises `UnavailableError` if this machine lacks them (asked once, then remembered), `RetargetError` if they are
        there and cannot be opened.
        """
        return self._runner(runtime).open()

    def run(
        self,
        target: RunTarget,
        artifact: Artifact | Path,
        *,
        record: Path | None = None,
        references: Sequence[tuple[str, Path]] = (),
        lacking: Sequence[tuple[str, str]] = (),
        seed: int | None = None,
        only: Sequence[str] = (),
        skipping: Sequence[tuple[str, bool]] = (),
        on_wait: OnLeaseWait | None = None,
    ) -> RunOutcome:
        """Run the cases of `target` from `artifact` and compare. The content is verified where `artifact` has a digest.

        All cases, unless `only` and `skipping` select some as in `retarget.model.case_names.selected_cases`.

        What the cases gave is written to the folder `record`, for `worker.child.outputs`; `references` are pairs of a
        compiler config and the folder that a run of its artifact was recorded in, `lacking` of one and why there is no
        such run. With a `seed`, functions that the module's kind has no case for are called too, with inputs made from
        their types; nothing is expected of them.

        The outcome's failure is the first failing case's; what differed is in that case's `mismatches`. A crash or a
        timeout is the failure of the stage and the case it came in; the runner is replaced for the next target. So it
        is when the driver reports an error of its own: on CUDA, such an error was seen to make every later call fail.
        Waiting for a device that another process uses does not count into the timeout; `on_wait` is called meanwhile.

        Raises `UnavailableError` as `devices` does, `RetargetError` if the lease folder cannot be written.
        """
        runner = self._runner(target.runtime)
        try:
            infos = runner.open()
        except RetargetError as error:
            return RunOutcome(devices=(), failure=Failure(stage=Stage.LOAD, summary=str(error)))
        digest, path = (artifact.digest, Path(artifact.path)) if isinstance(artifact, Artifact) else ("", artifact)
        module = target.compile.module
        message = RunModule(
            config=target.runtime,
            artifact=path,
            digest=digest,
            kind=target.compile.kind,
            module=module.name,
            source=module.path,
            data=module.data,
            entry=module.entry,
            folder=target.compile.folder,
            compiler=target.compile.compiler.name,
            record=record,
            references=tuple(references),
            lacking=tuple(lacking),
            seed=seed,
            only=tuple(only),
            skipping=tuple(skipping),
        )
        timeout = self._default_timeout if target.timeout is None else target.timeout
        with self._leases.hold(_leases(target.runtime, infos), on_wait):
            outcome = _Run(infos=infos).outcome(runner, message, timeout)
            if outcome.suspect:
                runner.close()
            return outcome

    def check(self, target: CompileTarget, artifact: Artifact | Path) -> RunOutcome:
        """Judge an artifact of a kind that runs nothing, in a process without a device.

        The failure is at the stage compare. Raises `UnavailableError` where a package that the kind needs is missing.
        """
        digest, path = (artifact.digest, Path(artifact.path)) if isinstance(artifact, Artifact) else ("", artifact)
        message = CheckArtifact(
            kind=target.kind,
            artifact=path,
            digest=digest,
            request=ArtifactRequest(
                module=target.module.name,
                source=target.module.path,
                artifact=b"",
                compiler=target.compiler.name,
                tags=target.tags,
                known_compilers=target.known_compilers,
            ),
        )
        timeout = self._default_timeout if target.timeout is None else target.timeout
        try:
            answer = self._plain().request(message, timeout=timeout)
        except WorkerDiedError as error:
            summary = f"checking the artifact crashed: {error.cause}"
            failure = Failure(stage=Stage.COMPARE, summary=summary, text=error.output, signal=error.signal)
            return RunOutcome(devices=(), failure=failure)
        except WorkerTimeoutError as error:
            summary = f"checking the artifact timed out after {error.seconds:g} s"
            failure = Failure(stage=Stage.COMPARE, summary=summary, text=error.output, timed_out=True)
            return RunOutcome(devices=(), failure=failure)
        if isinstance(answer, CheckedArtifact):
            return _checked(answer)
        if isinstance(answer, Refused) and answer.refusal is Refusal.INPUT:
            return RunOutcome(devices=(), failure=Failure(stage=Stage.COMPARE, summary=answer.summary))
        raise refused_error(answer, f"{target.name} cannot be checked")

    def compare(
        self, folders: tuple[Path, Path], sides: tuple[str, str], tolerance: Tolerance | None = None
    ) -> OutputComparison:
        """Compare what two runs were recorded to give, in a process without a device. `sides` are what they are called.

        Exactly, unless a tolerance is given. Raises `RetargetError` for a folder without outputs.
        """
        message = CompareOutputs(folders=folders, sides=sides, tolerance=tolerance or Tolerance())
        try:
            answer = self._plain().request(message, timeout=self._default_timeout)
        except (WorkerDiedError, WorkerTimeoutError) as error:
            msg = f"the outputs of {sides[0]} and {sides[1]} cannot be compared: {error}"
            raise RetargetError(msg) from None
        if not isinstance(answer, OutputComparison):
            raise refused_error(answer, f"the outputs of {sides[0]} and {sides[1]} cannot be compared")
        return answer

    def make(self, kind: str, description: Path, folder: Path) -> None:
        """Write the modules that a file of a kind lists below the empty `folder`, in a worker process.

        Raises `RetargetError`, and `UnavailableError` where a package is missing.
        """
        where = f"the modules of {description} cannot be made"
        message = MakeModules(kind=kind, description=description, folder=folder)
        try:
            answer = self._plain().request(message, timeout=_MAKE_SECONDS)
        except WorkerDiedError as error:
            msg = f"{where}: the worker ended: {error.cause}: {first_line(error.output)}"
            raise RetargetError(msg) from None
        except WorkerTimeoutError as error:
            msg = f"{where}: they were not there after {error.seconds:g} s"
            raise RetargetError(msg) from None
        if not isinstance(answer, ModulesMade):
            raise refused_error(answer, where)

    def probe(self, driver: str) -> tuple[DeviceInfo, ...]:
        """List a driver's devices, asked in a process of its own that ends afterwards. Safe from several threads.

        Raises `UnavailableError` with the reason why there is none, `RetargetError` if the driver crashes, hangs or
        fails.
        """
        worker = Worker(spawner=self._spawner, extensions=self._extensions)
        try:
            answer = worker.request(ProbeDriver(driver=driver), timeout=self._open_timeout)
        except WorkerDiedError as error:
            said = first_line(error.output)
            msg = f"driver {driver!r} crashed while it listed its devices: {error.cause}" + (
                f": {said}" if said else ""
            )
            raise RetargetError(msg) from None
        except WorkerTimeoutError as error:
            msg = f"driver {driver!r} had not listed its devices after {error.seconds:g} s"
            raise RetargetError(msg) from None
        finally:
            worker.close()
        if isinstance(answer, Devices):
            return answer.infos
        raise refused_error(answer, f"driver {driver!r} cannot list its devices")

    def kill(self) -> None:
        """Kill all worker processes, so that `close` has none to wait for. Safe in a signal handler."""
        self._spawner.kill()

    def close(self) -> None:
        """End all runners."""
        self._leases.close()
        if self._helper is not None:
            self._helper.close()
            self._helper = None
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()
        self._spawner.close()

    def _plain(self) -> Worker:
        """A process without a device, kept for what needs none."""
        if self._helper is None or not self._helper.alive:
            if self._helper is not None:
                self._helper.close()
            self._helper = Worker(spawner=self._spawner, extensions=self._extensions)
        return self._helper

    def _runner(self, runtime: RuntimeConfig) -> Runner:
        runner = self._runners.get(runtime)
        if runner is None:
            runner = self._runners[runtime] = Runner(
                config=runtime,
                spawner=self._spawner,
                extensions=self._extensions,
                open_timeout=self._open_timeout,
            )
        return runner


def _leases(config: RuntimeConfig, infos: Sequence[DeviceInfo]) -> list[Lease]:
    """Return what a run needs: of devices that need no lease, only where the config says how many runs share them."""
    if config.run_under:
        command = shlex.join(config.run_under)
        identity = f"run_under {config.name} {command}"
        return [Lease(physical_id=identity, device=f"{config.name} ({command})", concurrency=config.concurrency or 1)]
    return [
        Lease(
            physical_id=info.physical_id,
            device=f"{info.driver} device {info.name}",
            concurrency=config.concurrency or 1,
        )
        for info in infos
        if info.exclusive or config.concurrency is not None
    ]


def _checked(answer: CheckedArtifact) -> RunOutcome:
    cases = tuple(
        CaseOutcome(
            name=case.name,
            seconds=0.0,
            failure=Failure(stage=Stage.COMPARE, summary=case.summary, text=case.report) if case.summary else None,
        )
        for case in answer.cases
    )
    failure = next((case.failure for case in cases if case.failure is not None), None)
    if not cases:
        failure = Failure(stage=Stage.COMPARE, summary="there was nothing to check")
    return RunOutcome(devices=(), cases=cases, names=tuple(case.name for case in cases), failure=failure)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run while it goes on: where it is, and the cases it has done."""

    infos: tuple[DeviceInfo, ...]
    stage: Stage = Stage.LOAD
    case: str = ""
    done: list[CaseOutcome] = field(default_factory=list)
    names: tuple[str, ...] = ()

    def outcome(self, runner: Runner, message: RunModule, timeout: float) -> RunOutcome:
        try:
            answer = runner.run(message, timeout=timeout, on_progress=self._note)
        except WorkerDiedError as error:
            verb = "crashed" if error.signal else "ended"
            summary = f"runner {verb}: {error.cause} {self._place}"
            text = cut_stacks(error.output)
            left = not error.signal
            failure = Failure(stage=self.stage, summary=summary, text=text, signal=error.signal, no_verdict=left)
            return self._broken(failure, text)
        except WorkerTimeoutError as error:
            summary = f"run timed out after {error.seconds:g} s {self._place}"
            text = cut_stacks(error.output)
            return self._broken(Failure(stage=self.stage, summary=summary, text=text, timed_out=True), text)
        if isinstance(answer, RunOutcome):
            return answer
        if not isinstance(answer, Refused):
            msg = f"a runner answered {type(answer).__name__} where RunOutcome was expected"
            raise RetargetError(msg)
        if answer.refusal is Refusal.UNAVAILABLE:
            raise UnavailableError(answer.summary, answer.hint)
        internal = answer.refusal is Refusal.INTERNAL
        summary = f"extension failed {self._place}: {answer.summary}" if internal else answer.summary
        failure = Failure(stage=self.stage, summary=summary, text=answer.text, hint=answer.hint, no_verdict=internal)
        return self._broken(failure, "")

    @property
    def _place(self) -> str:
        if self.case and self.stage is Stage.LOAD:
            return f"while reading the values of case {self.case!r}"
        return f"in function {self.case!r}" if self.case else "while loading the artifact"

    def _note(self, progress: Progress) -> None:
        if progress.done is not None:
            self.done.append(progress.done)
        self.names = progress.names or self.names
        self.stage, self.case = progress.stage, progress.case

    def _broken(self, failure: Failure, output: str) -> RunOutcome:
        cases = list(self.done)
        if self.case and all(case.name != self.case for case in cases):
            cases.append(CaseOutcome(name=self.case, seconds=0.0, failure=failure))
        first = failure if failure.transient else first_failure(cases) or failure
        return RunOutcome(devices=self.infos, cases=tuple(cases), names=self.names, failure=first, output=output)
