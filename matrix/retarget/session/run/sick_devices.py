"""Runs a target on devices that answer. Sick ones are gone, or hang, after a target that ran on them.

A device that does not answer cools down before it is probed again, each time twice as long. Devices go by their
physical ids, whatever runtime config uses them; also by what a config says of them, for those that are not open yet.
The host's CPU is nobody's alone: there, a sickness is that of one runtime config.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec
from msgspec import Struct, field

from retarget.extension import UnavailableError
from retarget.model import RuntimeConfig
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Failure, Rung, RunOutcome, Stage, first_failure
from retarget.session.limits import CoolDowns
from retarget.session.refusals import refusal_failure
from retarget.session.run.device_worker import DeviceWorker
from retarget.support.errors import RetargetError
from retarget.worker.messages import Progress, RunModule

_LONGEST_TEXT = 500
_HOST = "host"


class Sickness(Struct, frozen=True, kw_only=True):
    """That a device does not answer: since `when` (seconds since 1970), for this `reason`. It is not tried before
    `until`, which is 0 once it has recovered. `cool_down` is in seconds."""

    reason: str
    when: float
    until: float
    cool_down: float


def sickness_keys(config: RuntimeConfig, infos: Sequence[DeviceInfo]) -> tuple[str, ...]:
    """Return what the devices of a runtime config go by; without `infos`, what the config says of them."""
    host = f"{config.host.identity} " if config.host is not None else ""
    named = f"{host}{config.driver} {config.devices} {config.env}"
    if infos and all(info.physical_id == "cpu" or not info.exclusive for info in infos):
        return (f"{_HOST} {config.name} {named}",)
    return (named, *(info.physical_id for info in infos if info.physical_id != "cpu"))


class SickDevices:
    """The sick devices that one run service knows of."""

    def __init__(self, cool_downs: CoolDowns) -> None:
        self._cool_downs = cool_downs
        self._known: dict[str, Sickness] = {}

    def of(self, keys: Iterable[str]) -> Sickness | None:
        """Return the last sickness of devices, also one that has passed."""
        found = [self._known[key] for key in keys if key in self._known]
        return max(found, key=lambda one: (one.until, one.when), default=None)

    @property
    def present(self) -> Sickness | None:
        """One of a device other than the host's CPU that has not passed."""
        return next((one for key, one in self._known.items() if one.until and not key.startswith(_HOST)), None)

    def lost(self, keys: Sequence[str], device: str, *, after: str, found: str) -> Sickness:
        """Note that devices did not answer a probe."""
        now, known = time.time(), self.of(keys)
        if known is None or not known.until:
            first = self._cool_downs.first
            at, why = time.strftime("%H:%M:%S UTC", time.gmtime(now)), " ".join(found.split())[:_LONGEST_TEXT]
            reason = f"{device} was gone at {at}, after {after}: {why}"
            sickness = Sickness(reason=reason, when=now, until=now + first, cool_down=first)
        else:
            longer = min(2 * known.cool_down, self._cool_downs.longest)
            sickness = msgspec.structs.replace(known, until=now + longer, cool_down=longer)
        self._known |= dict.fromkeys(keys, sickness)
        return sickness

    def recovered(self, keys: Sequence[str]) -> None:
        """Note that devices answer again. Devices that were opened before they fell sick are useless."""
        known = self.of(keys)
        if known is not None and known.until:
            self._known |= dict.fromkeys(keys, msgspec.structs.replace(known, until=0.0))


class HealthyRuns:
    """The runs of one run service on its device workers."""

    def __init__(self, cool_downs: CoolDowns) -> None:
        self.cool_downs = cool_downs
        self._sick = SickDevices(cool_downs)

    def devices(self, worker: DeviceWorker) -> tuple[DeviceInfo, ...]:
        """Return the devices of a worker's runtime config, which are opened if they never were.

        Raises as `DeviceWorker.open` does, and `UnavailableError` where they do not open: `lost` if a lost device may
        be why.
        """
        if worker.infos is not None:
            return worker.infos
        noted = self._sick.of(sickness_keys(worker.config, ()))
        if noted is not None and noted.until > time.time():
            raise UnavailableError(noted.reason, lost=True)
        try:
            return worker.open()
        except RetargetError as error:
            if (sick := self._sick.present) is None:
                raise
            msg = f"{sick.reason}; since then, {error}"
            raise UnavailableError(msg, lost=True) from None

    def outcome(self, worker: DeviceWorker, message: RunModule, timeout: float) -> RunOutcome:
        """Run a target on devices that answer; once more if it lost them, or if they did not answer afterwards and do
        again. The outcome's notes tell of that.

        Where they stay gone, a crash or a timeout stands if it came while the target's work was on them: they had
        answered before. Any other result of the target is then inconclusive. Raises `UnavailableError`, `lost`.
        """
        keys = sickness_keys(worker.config, worker.infos or ())
        notes = () if worker.started_at(message) else self._expect_healthy(worker, keys)
        outcome, explains, found = self._tried(worker, message, timeout)
        lost = _lost(outcome)
        is_gone = bool(found) and not self._recovers(worker, keys, found, waits=self.cool_downs.waits)
        if is_gone and not explains:
            raise UnavailableError(self._gone(keys), lost=True)
        if (found or lost) and not is_gone:
            why = self._gone(keys) if found else f"{_device(worker)} was lost: {lost}"
            notes = (*notes, f"{why}; it came back, and {message.target.name} was run again")
            outcome, _, found = self._tried(worker, message, timeout)
            is_gone = bool(found) and not self._recovers(worker, keys, found, waits=self.cool_downs.waits)
        return replace(_with_hint(outcome, self._gone(keys)) if is_gone else outcome, notes=notes)

    def begin(self, worker: DeviceWorker, message: RunModule) -> None:
        """Begin what `outcome` is going to be asked for next, on devices that answer as far as that is known."""
        known = self._sick.of(sickness_keys(worker.config, worker.infos or ()))
        worker.check_transfers()
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

    def _expect_healthy(self, worker: DeviceWorker, keys: Sequence[str]) -> tuple[str, ...]:
        """See to it that a worker has devices open that answer. Return a note where they were found gone and came back.
        Raises `UnavailableError`, `lost`."""
        known = self._sick.of(keys)
        is_sick = known is not None and known.until > 0
        if known is not None and known.until > time.time():
            worker.close()
            raise UnavailableError(known.reason, lost=True)
        worker.check_transfers()
        if worker.alive and not is_sick and (known is None or known.when < worker.opened):
            return ()
        waits, found = 0 if is_sick else self.cool_downs.waits, worker.probe()
        if not self._recovers(worker, keys, found, waits=waits):
            raise UnavailableError(self._gone(keys), lost=True)
        return (f"{self._gone(keys)}; it came back",) if found else ()

    def _recovers(self, worker: DeviceWorker, keys: Sequence[str], found: str, *, waits: int) -> bool:
        """Return whether devices answer, for which `found` says why they did not, or nothing; after cool-downs, of
        which `waits` are waited for."""
        for left in range(waits, -1, -1):
            if not found:
                self._sick.recovered(keys)
                return True
            sick = self._sick.lost(keys, _device(worker), after=worker.last or "it was opened", found=found)
            if left:
                time.sleep(sick.cool_down)
                found = worker.probe()
        return False

    def _gone(self, keys: Sequence[str]) -> str:
        sick = self._sick.of(keys)
        return sick.reason if sick is not None else ""


def _device(worker: DeviceWorker) -> str:
    names = [f"{info.driver} device {info.name}" for info in worker.infos or ()]
    return ", ".join(names) or f"runtime config {worker.config.name!r}"


def _lost(outcome: RunOutcome) -> str:
    """Return what the driver said where it lost a device while a target ran, empty where it did not.

    Vulkan, and IREE for each of its drivers, call that DEVICE_LOST. It says nothing about the module: software devices
    lose themselves on a busy machine (seen with Mesa 22.3's lavapipe, in one of some thousand calls).
    """
    failures = [case.failure for case in outcome.cases] if outcome.cases else [outcome.failure]
    said = [failure.summary for failure in failures if failure is not None and "DEVICE_LOST" in failure.summary]
    return said[0] if said and outcome.suspect else ""


def _with_hint(outcome: RunOutcome, hint: str) -> RunOutcome:
    """Return an outcome whose failure says in addition what came after it."""
    old = outcome.failure
    if old is None:
        return outcome
    new = replace(old, hint="\n".join(filter(None, (old.hint, hint))))
    cases = (replace(case, failure=new) if case.failure == old else case for case in outcome.cases)
    return replace(outcome, failure=new, cases=tuple(cases))


class _Run(Struct, kw_only=True):
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
