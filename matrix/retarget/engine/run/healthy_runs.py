"""Runs a target on devices that answer, and finds out whether they still do when it has ended badly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from retarget.engine.limits import CoolDowns
from retarget.engine.refusals import refusal_failure
from retarget.engine.run.device_worker import DeviceWorker
from retarget.engine.run.lease import Holder
from retarget.engine.run.sick_devices import SickDeviceError, SickDevices, sickness_keys
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Failure, RunOutcome, Stage, first_failure
from retarget.model.rungs import Rung
from retarget.support.errors import RetargetError
from retarget.worker.messages import Progress, RunModule

__all__ = ["HealthyRuns"]


class HealthyRuns:
    """The runs of one process on its device workers. To be closed. `notes` has a line for each device that did not
    answer for a while."""

    def __init__(self, folder: Path, *, holder: Holder, cool_downs: CoolDowns) -> None:
        """Sessions that share `folder` share what they know of sick devices; `holder` is what they learn of this."""
        self.cool_downs = cool_downs
        self.notes: list[str] = []
        self._sick = SickDevices(folder, holder=holder, cool_downs=cool_downs)

    def close(self) -> None:
        """Close the files."""
        self._sick.close()

    def devices(self, worker: DeviceWorker) -> tuple[DeviceInfo, ...]:
        """Return the devices of a worker's runtime config, which are opened if they never were.

        Raises as `DeviceWorker.open` does, and `SickDeviceError` where they do not open and a lost device may be why.
        """
        if worker.infos is not None:
            return worker.infos
        noted = self._sick.of(sickness_keys(worker.config, ()))
        if noted is not None and noted.until > time.time():
            raise SickDeviceError(noted.reason)
        try:
            return worker.open()
        except RetargetError as error:
            if (sick := self._sick.present) is None:
                raise
            msg = f"{sick.reason}; since then, {error}"
            raise SickDeviceError(msg) from None

    def outcome(self, worker: DeviceWorker, message: RunModule, timeout: float) -> RunOutcome:
        """Run a target on devices that answer; once more if they did not afterwards, and do again.

        Where they stay gone, a crash or a timeout stands if it came while the target's work was on them: they had
        answered before. What else a target does then says nothing of it. Raises `SickDeviceError`.
        """
        keys = sickness_keys(worker.config, worker.infos or ())
        if not worker.begun(message):
            self._expect_healthy(worker, keys)
        outcome, explains, found = self._tried(worker, message, timeout)
        if not found:
            return outcome
        if self._recovers(worker, keys, found, waits=self.cool_downs.waits):
            self.notes.append(f"{self._gone(keys)}; it came back, and {message.target.name} was run again")
            outcome, _, found = self._tried(worker, message, timeout)
            is_gone = bool(found) and not self._recovers(worker, keys, found, waits=self.cool_downs.waits)
            return _with_hint(outcome, self._gone(keys)) if is_gone else outcome
        if not explains:
            raise SickDeviceError(self._gone(keys))
        return _with_hint(outcome, self._gone(keys))

    def begin(self, worker: DeviceWorker, message: RunModule) -> None:
        """Begin what `outcome` is going to be asked for next, on devices that answer as far as that is known."""
        known = self._sick.of(sickness_keys(worker.config, worker.infos or ()))
        worker.settle()
        if worker.alive and (known is None or (not known.until and known.when < worker.opened)):
            worker.begin(message)

    @staticmethod
    def _tried(worker: DeviceWorker, message: RunModule, timeout: float) -> tuple[RunOutcome, bool, str]:
        """Run a target. Return its outcome, whether that explains why devices are gone, and why they do not answer
        afterwards, if so."""
        run, worker.last = _Run(infos=worker.infos or ()), message.target.name
        outcome = run.outcome(worker, message, timeout)
        is_well = worker.alive and not outcome.suspect
        return outcome, run.explains(outcome.failure), "" if is_well else worker.probe()

    def _expect_healthy(self, worker: DeviceWorker, keys: Sequence[str]) -> None:
        """See to it that a worker has devices open that answer. Raises `SickDeviceError`."""
        known = self._sick.of(keys)
        is_sick = known is not None and known.until > 0
        if known is not None and known.until > time.time():
            worker.close()
            raise SickDeviceError(known.reason)
        worker.settle()
        if worker.alive and not is_sick and (known is None or known.when < worker.opened):
            return
        waits = 0 if is_sick else self.cool_downs.waits
        if not self._recovers(worker, keys, worker.probe(), waits=waits):
            raise SickDeviceError(self._gone(keys))

    def _recovers(self, worker: DeviceWorker, keys: Sequence[str], found: str, *, waits: int) -> bool:
        """Return whether devices answer, for which `found` says why they did not, or nothing; after cool-downs, of
        which `waits` are waited for."""
        names = [f"{info.driver} device {info.name}" for info in worker.infos or ()]
        device = ", ".join(names) or f"runtime config {worker.config.name!r}"
        for left in range(waits, -1, -1):
            if not found:
                self._sick.recovered(keys)
                return True
            sick = self._sick.lost(keys, device, after=worker.last or "it was opened", found=found)
            if left:
                time.sleep(sick.cool_down)
                found = worker.probe()
        return False

    def _gone(self, keys: Sequence[str]) -> str:
        sick = self._sick.of(keys)
        return sick.reason if sick is not None else ""


def _with_hint(outcome: RunOutcome, hint: str) -> RunOutcome:
    """Return an outcome whose failure says in addition what came after it."""
    old = outcome.failure
    if old is None:
        return outcome
    new = replace(old, hint="\n".join(filter(None, (old.hint, hint))))
    cases = (replace(case, failure=new) if case.failure == old else case for case in outcome.cases)
    return replace(outcome, failure=new, cases=tuple(cases))


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run while it goes on: where it is, and the cases it has done."""

    infos: tuple[DeviceInfo, ...]
    stage: Stage = Stage.LOAD
    case: str = ""
    done: list[CaseOutcome] = field(default_factory=list)
    names: tuple[str, ...] = ()
    rung: Rung = Rung.COMPILES

    def outcome(self, worker: DeviceWorker, message: RunModule, timeout: float) -> RunOutcome:
        answer = worker.ask(message, RunOutcome, timeout=timeout, on_progress=self._note)
        if isinstance(answer, RunOutcome):
            return answer
        failure = refusal_failure(answer, self.stage, worker="device worker", work="run", place=self._place)
        return self._broken(failure, failure.text if answer.cause else "")

    def explains(self, failure: Failure | None) -> bool:
        """Whether a failure may be why the devices are gone: a crash or a timeout while its work was on them."""
        is_broken = failure is not None and (bool(failure.signal) or failure.timed_out)
        return is_broken and self.rung >= Rung.DISPATCHES

    @property
    def _place(self) -> str:
        if self.case and self.stage is Stage.LOAD:
            return f"while reading the values of case {self.case!r}"
        return f"in function {self.case!r}" if self.case else "while loading the artifact"

    def _note(self, progress: Progress) -> None:
        if progress.done is not None:
            self.done.append(progress.done)
        self.names = progress.names or self.names
        self.stage, self.case, self.rung = progress.stage, progress.case, progress.rung

    def _broken(self, failure: Failure, output: str) -> RunOutcome:
        cases = list(self.done)
        if self.case and all(case.name != self.case for case in cases):
            cases.append(CaseOutcome(name=self.case, seconds=0.0, failure=failure, rung=self.rung))
        first = failure if failure.transient else first_failure(cases) or failure
        return RunOutcome(devices=self.infos, cases=tuple(cases), names=self.names, failure=first, output=output)
