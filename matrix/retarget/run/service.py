"""Runs run targets: one runner process per runtime config, its devices kept open, every crash and hang contained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import RetargetError
from ..extension import UnavailableError
from ..messages import Devices, ProbeDriver, Progress, Refusal, Refused, RunModule
from ..model import RunTarget, RuntimeConfig
from ..outcomes import Artifact, CaseOutcome, DeviceInfo, Failure, RunOutcome, Stage
from ..process import Spawner, Worker, WorkerDiedError, WorkerTimeoutError
from ..text import cut_stacks, first_line
from .lease import DeviceLeases
from .runner import Runner, refused_error

__all__ = ["RunService"]


class RunService:
    """Runs artifacts. To be used from one thread, and closed.

    Nothing of a driver is imported into this process: NumPy, IREE and the rest stay in the runners.
    """

    def __init__(
        self,
        *,
        extensions: Sequence[str],
        default_timeout: float,
        lease_folder: Path,
        open_timeout: float = 60.0,
    ) -> None:
        """`extensions` are module names to load in the runners besides the installed entry points.

        `default_timeout` is for load, run and compare of one target, where it declares none; `open_timeout` for opening
        a runtime config's devices or listing a driver's. Both are in seconds. Processes that share `lease_folder` share
        the physical devices.
        """
        self._extensions = tuple(extensions)
        self._default_timeout = default_timeout
        self._open_timeout = open_timeout
        self._leases = DeviceLeases(lease_folder)
        self._spawner = Spawner()
        self._runners: dict[RuntimeConfig, Runner] = {}

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

    def run(self, target: RunTarget, artifact: Artifact | Path) -> RunOutcome:
        """Run all cases of `target` from `artifact` and compare. The content is verified where `artifact` has a digest.

        The outcome's failure is the first failing case's; what differed is in that case's `mismatches`. A crash or a
        timeout is the failure of the stage and the case it came in; the runner is replaced for the next target. So it
        is when the driver reports an error of its own: on CUDA, such an error was seen to make every later call fail.
        Waiting for a device that another process uses does not count into the timeout.

        Raises `UnavailableError` as `devices` does, `RetargetError` if the lease folder cannot be written.
        """
        runner = self._runner(target.runtime)
        try:
            infos = runner.open()
        except RetargetError as error:
            return RunOutcome(devices=(), failure=Failure(stage=Stage.LOAD, summary=str(error)))
        physical = [info.physical_id for info in infos] or [f"run_under {target.runtime.name}"]
        digest, path = (artifact.digest, Path(artifact.path)) if isinstance(artifact, Artifact) else ("", artifact)
        message = RunModule(
            config=target.runtime,
            artifact=path,
            digest=digest,
            source=target.compile.module.path,
            kind=target.compile.kind,
        )
        timeout = self._default_timeout if target.timeout is None else target.timeout
        with self._leases.hold(physical, target.runtime.concurrency):
            outcome = _Run(infos=infos).outcome(runner, message, timeout)
            if outcome.suspect:
                runner.close()
            return outcome

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

    def close(self) -> None:
        """End all runners."""
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()
        self._spawner.close()

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


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run while it goes on: where it is, and the cases it has done."""

    infos: tuple[DeviceInfo, ...]
    stage: Stage = Stage.LOAD
    case: str = ""
    done: list[CaseOutcome] = field(default_factory=list)

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
        return self._broken(Failure(stage=self.stage, summary=summary, text=answer.text, hint=answer.hint), "")

    @property
    def _place(self) -> str:
        return f"in function {self.case!r}" if self.case else "while loading the artifact"

    def _note(self, progress: Progress) -> None:
        if progress.done is not None:
            self.done.append(progress.done)
        self.stage, self.case = progress.stage, progress.case

    def _broken(self, failure: Failure, output: str) -> RunOutcome:
        cases = list(self.done)
        if self.case and all(case.name != self.case for case in cases):
            cases.append(CaseOutcome(name=self.case, seconds=0.0, failure=failure))
        first = next((case.failure for case in cases if case.failure is not None), failure)
        if failure.transient:
            first = failure
        return RunOutcome(devices=self.infos, cases=tuple(cases), failure=first, output=output)
