"""Runs run targets and checks of drivers: one device worker per runtime config, its devices kept open, every
crash and hang contained."""

from __future__ import annotations

import fnmatch
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec.structs import asdict

from retarget.extension import Tolerance, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import RuntimeConfig, Target
from retarget.model.driver_checks import CheckState, DriverCheck, DriverCheckOutcome, DriverReport
from retarget.model.outcomes import DeviceInfo, Failure, OutputComparison, Rung, RunOutcome, Stage
from retarget.session import limits
from retarget.session.limits import TIMEOUTS
from retarget.session.refusals import device_infos, refusal_error, refusal_failure
from retarget.session.run.device_worker import DeviceWorker
from retarget.session.run.lease import (
    DeviceLeases,
    Holder,
    Lease,
    OnLeaseWait,
    WaitNotes,
    current_holder,
    default_lease_folder,
)
from retarget.session.run.sick_devices import HealthyRuns
from retarget.support.errors import RetargetError, did_you_mean
from retarget.support.text import cut_stacks
from retarget.worker.messages import (
    CheckArtifact,
    CheckDriver,
    CheckedArtifact,
    CheckedDriver,
    CompareOutputs,
    Devices,
    Done,
    DriverChecks,
    ExportCases,
    ExportedCases,
    GenerateModules,
    ListDriverChecks,
    ProbeDriver,
    Refusal,
    Refused,
    RunModule,
    checked_outcome,
)
from retarget.worker.process import WorkerProcess
from retarget.worker.started import SpareWorker, Spawner

if TYPE_CHECKING:
    from retarget.session.run.host_leases import HostLeases

AnswerT = TypeVar("AnswerT")

_GENERATE_SECONDS = 600.0
"""How long a package may take to generate its modules: a thousand take seconds."""

_REPEATED = 3
"""How often a benchmark may call everything once more, beyond its time: to warm up, and to time the device."""


class RunService:
    """Runs artifacts. To be used from one thread, and closed.

    Nothing of a driver is imported into this process: NumPy, IREE and the rest stay in the workers.
    """

    def __init__(
        self,
        *,
        extensions: Sequence[str],
        default_timeout: float,
        open_timeout: float = limits.TIMEOUTS.open,
        lease_folder: Path | None = None,
        holder: Holder | None = None,
        environment: Callable[[RuntimeConfig], tuple[tuple[str, str], ...]] = attrgetter("env"),
        cool_downs: limits.CoolDowns | None = None,
        spare: SpareWorker | None = None,
        cache: Path | None = None,
    ) -> None:
        """`extensions` are module names to load in the workers in addition to the installed entry points.

        `default_timeout` is for load, run and compare of one target, where it declares none; `open_timeout` for opening
        a runtime config's devices or listing a driver's. Both are in seconds. Processes that share `lease_folder` (one
        per machine if None) share the physical devices; `holder` is what they learn of this one. `environment` gives
        the variables of a runtime config's worker, and may raise as `devices` does. `cool_downs` are for devices that
        do not answer any more (`limits.COOL_DOWNS` if None). A `spare` worker is used for the first of them. Drivers
        keep what they make for a device in the folder `cache`; None: the user's.
        """
        self._extensions = tuple(extensions)
        self._default_timeout = default_timeout
        self._open_timeout = open_timeout
        self._environment = environment
        folder, known = lease_folder or default_lease_folder(), holder or current_holder(sys.argv)
        self._leases = DeviceLeases(folder, known)
        self._holder = known
        self._host_leases: HostLeases | None = None
        self._runs = HealthyRuns(cool_downs or limits.COOL_DOWNS)
        self._spawner = Spawner()
        self._spare, self._cache = spare, cache
        self._workers: dict[RuntimeConfig, DeviceWorker] = {}
        self._helper: WorkerProcess | None = None
        self._ahead = ExitStack()  # the leases of a run that has begun ahead of its time

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Open the runtime config's devices, once, and return them in order. Empty behind `run_under`.

        Raises `UnavailableError` if this machine lacks them (determined once, then remembered), `RetargetError` if they
        are there and cannot be opened; they are `lost` if that may be because a device was lost since.
        """
        return self._runs.devices(self._worker(runtime))

    def run(self, request: RunModule, *, on_wait: OnLeaseWait | None = None) -> RunOutcome:
        """Run the cases of a target and compare.

        The outcome's failure is the first failing case's; what differed is in that case's `mismatches`. A crash or a
        timeout is the failure of the stage and the case it came in; the worker is replaced at once, which probes the
        device. So it is when the driver reports an error of its own: on CUDA, such an error was seen to make every
        later call fail. Waiting for a device that another process uses does not count into the timeout; `on_wait` is
        called meanwhile. Nor does the time of a request's `timing`.

        Raises `UnavailableError` as `devices` does, which is `lost` where a device is gone, `RetargetError` if the
        lease folder cannot be written.
        """
        target, timing = request.target, request.timing
        worker = self._worker(target.runtime)
        try:
            infos = self.devices(target.runtime)
        except RetargetError as error:
            return RunOutcome(devices=(), failure=Failure(stage=Stage.LOAD, summary=str(error)))
        timeout = self._timeout(target)
        if timing is not None:
            timeout = _REPEATED * timeout + timing.seconds
        asked = time.monotonic()
        began = worker.started_at(request)
        with self._ahead.pop_all() if began else self._hold(target.runtime, infos, on_wait):
            waited, started = time.monotonic() - asked, began or time.time()
            outcome = self._runs.outcome(worker, request, timeout)
            return replace(outcome, devices=worker.infos or (), started=started, wait_seconds=waited)

    def begin(self, request: RunModule) -> None:
        """Begin a run that `run` is going to be called for next, with this request, where its devices are open and
        free. The artifact must stay until then. Where another run is asked for, the process of this one ends."""
        runtime = request.target.runtime
        worker = self._workers.get(runtime)
        if worker is None or not worker.infos or runtime.host is not None:
            return
        with ExitStack() as held:
            leases = self._leases.hold_at_once(_leases(runtime, worker.infos), held)
            if leases is None:
                return
            worker.leases = leases
            held.callback(setattr, worker, "leases", ())
            self._runs.begin(worker, request)
            if worker.started_at(request):
                self._ahead = held.pop_all()

    def check(self, request: CheckArtifact) -> RunOutcome:
        """Judge an artifact of a kind that runs nothing, in a process without a device.

        The failure is at the stage compare. Raises `UnavailableError` where a package that the kind needs is missing.
        """
        answer = self._plain().ask(request, CheckedArtifact, timeout=self._timeout(request.target))
        if isinstance(answer, CheckedArtifact):
            return checked_outcome(answer.cases)
        if not answer.cause and answer.refusal is not Refusal.INPUT:
            raise refusal_error(answer, f"{request.target.name} cannot be checked")
        what = "checking the artifact"
        return RunOutcome(devices=(), failure=refusal_failure(answer, Stage.COMPARE, worker=what, work=what))

    def compare(
        self, folders: tuple[Path, Path], sides: tuple[str, str], tolerance: Tolerance | None = None
    ) -> OutputComparison:
        """Compare what two runs were recorded to give, in a process without a device. `sides` are what they are called.

        Exactly, unless a tolerance is given. Raises `RetargetError` for a folder without outputs.
        """
        request = CompareOutputs(folders=folders, sides=sides, tolerance=tolerance or Tolerance())
        return self._done(request, OutputComparison, f"the outputs of {sides[0]} and {sides[1]} cannot be compared")

    def export_cases(self, request: ExportCases) -> tuple[str, ...] | None:
        """Return and raise what `Engine.export_cases` does."""
        return self._done(request, ExportedCases, f"the cases of {request.run.target.name} cannot be written").names

    def generate(self, kind: str, description: Path, folder: Path) -> None:
        """Write the modules that a file of a kind lists below the empty `folder`, in a worker process.

        Raises `RetargetError`, and `UnavailableError` where a package is missing.
        """
        request = GenerateModules(kind=kind, description=description, folder=folder)
        what = f"the modules of {description} cannot be generated"
        self._done(request, Done, what, timeout=_GENERATE_SECONDS)

    def probe(
        self, driver: str, env: Sequence[tuple[str, str]] = (), config: RuntimeConfig | None = None
    ) -> tuple[DeviceInfo, ...]:
        """List a driver's devices, in a separate process that ends afterwards: on the host of a config, if it has
        one. Safe from several threads.

        Raises `UnavailableError` with the reason why there is none, `RetargetError` if the driver crashes, hangs or
        fails.
        """
        started = WorkerProcess(
            spawner=self._spawner, extensions=self._extensions, env=env, starts_processes=config is not None
        )
        with closing(started) as worker:
            answer = worker.ask(ProbeDriver(driver=driver, config=config), Devices, timeout=self._open_timeout)
        return device_infos(answer, f"driver {driver!r}", "list")

    def driver_checks(self) -> tuple[DriverCheck, ...]:
        """Return the checks of drivers, from a process without a device. Raises `RetargetError`."""
        what = "the checks of drivers cannot be listed"
        return self._done(ListDriverChecks(), DriverChecks, what, timeout=self._open_timeout).checks

    def check_driver(
        self, runtime: RuntimeConfig, check: str, *, timeout: float, on_wait: OnLeaseWait | None = None
    ) -> CheckedDriver:
        """Do one check on the devices of a runtime config; the worker is replaced unless it passed.

        Raises `UnavailableError` and `RetargetError` as `devices` does.
        """
        worker = self._worker(runtime)
        infos = worker.open()
        with self._hold(runtime, infos, on_wait):
            checked = _checked(worker.ask(CheckDriver(config=runtime, check=check), CheckedDriver, timeout=timeout))
            if checked.state in {CheckState.FAILED, CheckState.CRASHED, CheckState.TIMED_OUT}:
                worker.close()
        return checked

    def kill(self) -> None:
        """Kill all worker processes, so that `close` has none to wait for. Safe in a signal handler."""
        self._spawner.kill()
        if self._spare is not None:
            self._spare.kill()

    def close(self) -> None:
        """End all workers."""
        self._drop_begun()
        self._leases.close()
        if self._host_leases is not None:
            self._host_leases.close()
        if self._helper is not None:
            self._helper.close()
            self._helper = None
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()
        self._spawner.close()

    @contextmanager
    def _hold(self, runtime: RuntimeConfig, infos: Sequence[DeviceInfo], on_wait: OnLeaseWait | None) -> Iterator[None]:
        """Hold leases of devices. Their worker holds them, too: the device of a session that was killed is another's
        when its worker has ended."""
        self._drop_begun()
        leases, worker = _leases(runtime, infos), self._worker(runtime)
        if runtime.host is None:
            leased = self._leases.hold(leases, on_wait)
        else:
            from retarget.session.run.host_leases import HostLeases  # needed with hosts only

            self._host_leases = self._host_leases or HostLeases(self._holder)
            leased = self._host_leases.hold(runtime.host, leases, on_wait)
        with leased as descriptors:
            worker.leases = descriptors
            try:
                yield
            finally:
                worker.leases = ()

    def _drop_begun(self) -> None:
        """End what was begun and is not waited for, which may have the device that is asked for."""
        for worker in self._workers.values():
            worker.drop_started()
        self._ahead.close()

    def _timeout(self, target: Target) -> float:
        return self._default_timeout if target.timeout is None else target.timeout

    def _done(self, request: object, expected: type[AnswerT], what: str, *, timeout: float | None = None) -> AnswerT:
        """Return the answer of a process without a device. Raises what `refusal_error` returns with `what`."""
        answer = self._plain().ask(request, expected, timeout=timeout or self._default_timeout)
        if isinstance(answer, Refused):
            raise refusal_error(answer, what)
        return answer

    def _plain(self) -> WorkerProcess:
        """A process without a device, kept for what needs none."""
        if self._helper is not None and not self._helper.alive:
            self._helper.close()
            self._helper = None
        if self._helper is None:
            self._helper = WorkerProcess(spawner=self._spawner, extensions=self._extensions)
        return self._helper

    def _worker(self, runtime: RuntimeConfig) -> DeviceWorker:
        if runtime not in self._workers:
            self._workers[runtime] = DeviceWorker(
                config=runtime,
                environment=self._environment,
                spawner=self._spawner,
                extensions=self._extensions,
                open_timeout=self._open_timeout,
                probe_timeout=self._runs.cool_downs.probe,
                spare=self._spare,
                cache=self._cache,
            )
        return self._workers[runtime]


def _leases(config: RuntimeConfig, infos: Sequence[DeviceInfo]) -> list[Lease]:
    """Return what a run needs: of devices that need no lease, only where the config says how many runs share them."""
    if config.run_under and config.host is None:
        command = shlex.join(config.run_under)
        identity = f"run_under {config.name} {command}"
        return [Lease(physical_id=identity, device=f"{config.name} ({command})", concurrency=config.concurrency or 1)]
    on_host = f" of host {config.host.name!r}" if config.host is not None else ""
    return [
        Lease(
            physical_id=info.physical_id,
            device=f"{info.driver} device {info.name}{on_host}",
            concurrency=config.concurrency or 1,
        )
        for info in infos
        if info.exclusive or config.concurrency is not None
    ]


def check_drivers(
    configs: Iterable[RuntimeConfig],
    *,
    registry: Registry,
    extensions: Sequence[str],
    globs: Sequence[str],
    timeout: float,
    done: Callable[[DriverCheckOutcome], None],
    ended: Callable[[DriverReport], None],
    note: Callable[[str], None],
) -> list[DriverReport]:
    """Check the drivers of runtime configs, one after the other; a config that has only a driver's name will do.

    `extensions` are module names to load in the workers in addition to the installed ones. `globs`, `timeout` and
    `done` are those of `selected_checks` and `check_driver`; `ended` gets each report as it comes, `note` a line on
    each wait for a device that another session uses. Raises `RetargetError` for a glob that fits no check.
    """
    environment = registry.worker_environment
    on_wait = WaitNotes(note)
    reports = []
    with RunService(extensions=extensions, default_timeout=timeout, environment=environment) as service:
        checks = selected_checks(service, globs)
        for config in configs:
            reports.append(check_driver(service, config, checks, timeout=timeout, done=done, on_wait=on_wait))
            ended(reports[-1])
    return reports


def selected_checks(service: RunService, globs: Sequence[str] = ()) -> tuple[DriverCheck, ...]:
    """Return the checks whose names fit one of the globs, all without any. Raises `RetargetError` for one that fits
    none."""
    checks = service.driver_checks()
    for glob in globs:
        if not fnmatch.filter([check.name for check in checks], glob):
            names = [check.name for check in checks]
            msg = f"found no check {glob!r}{did_you_mean(glob, names)}; expected a glob of: {', '.join(names)}"
            raise RetargetError(msg)
    return tuple(one for one in checks if not globs or any(fnmatch.fnmatch(one.name, glob) for glob in globs))


def check_driver(
    service: RunService,
    config: RuntimeConfig,
    checks: Sequence[DriverCheck],
    *,
    timeout: float = TIMEOUTS.check,
    done: Callable[[DriverCheckOutcome], None] | None = None,
    on_wait: OnLeaseWait | None = None,
) -> DriverReport:
    """Climb rungs 0 to 2 with the devices of a runtime config: one request to its worker for each check.

    `timeout` is in seconds, for each check. `done` gets each outcome as it comes; `on_wait` is called while another
    process holds the device. A crash or a hang is its check's, and the next one has a new worker.
    """
    report = partial(DriverReport, config=config.name, driver=config.driver)
    try:
        infos = service.devices(config)
    except (UnavailableError, RetargetError) as error:
        rung = Rung.NONE if isinstance(error, UnavailableError) else _found(service, config)
        tried = CheckedDriver(state=CheckState.NOT_TRIED, detail=str(error))
        outcomes = tuple(_outcome(config, check, tried, rung) for check in checks)
        hint = getattr(error, "hint", "")
        absent = isinstance(error, UnavailableError)
        return report(devices=(), rung=rung, outcomes=outcomes, reason=str(error), hint=hint, unavailable=absent)
    outcomes, reason = (), ""
    for check in checks:
        if reason:
            checked = CheckedDriver(state=CheckState.NOT_TRIED, detail=reason)
        else:
            try:
                checked = service.check_driver(config, check.name, timeout=timeout, on_wait=on_wait)
            except (UnavailableError, RetargetError) as error:  # a check before has broken the device
                checked = CheckedDriver(state=CheckState.NOT_TRIED, detail=str(error))
            if checked.state is CheckState.NOT_TRIED:
                reason = checked.detail
        outcomes += (outcome := _outcome(config, check, checked, Rung.OPENS),)
        if done is not None and not reason:
            done(outcome)
    passes = all(one.state in {CheckState.PASSED, CheckState.NOT_APPLICABLE} for one in outcomes)
    return report(devices=infos, rung=Rung.TRANSFERS if passes else Rung.OPENS, outcomes=outcomes, reason=reason)


def _found(service: RunService, config: RuntimeConfig) -> Rung:
    """Return whether the driver lists a device, which does not open."""
    try:
        return (
            Rung.FOUND
            if service.probe(config.driver, config.env, config if config.host is not None else None)
            else Rung.NONE
        )
    except (UnavailableError, RetargetError):
        return Rung.NONE


def _checked(answer: CheckedDriver | Refused) -> CheckedDriver:
    """Return what it means for a check that a worker has no answer."""
    if isinstance(answer, CheckedDriver):
        return answer
    state, detail = CheckState.FAILED, answer.summary
    last = next((line for line in reversed(answer.text.splitlines()) if line.strip()), "")
    if answer.worker_ended:
        state, detail = CheckState.CRASHED, f"{answer.cause}; the last thing that it did: {last}"
    elif answer.refusal is Refusal.TIMED_OUT:
        state, detail = CheckState.TIMED_OUT, f"no end after {answer.cause}; the last thing that it did: {last}"
    return CheckedDriver(state=state, detail=detail, text=cut_stacks(answer.text), seconds=answer.seconds)


def _outcome(config: RuntimeConfig, check: DriverCheck, checked: CheckedDriver, otherwise: Rung) -> DriverCheckOutcome:
    return DriverCheckOutcome(
        config=config.name,
        driver=config.driver,
        check=check.name,
        proves=check.proves,
        rung=Rung.TRANSFERS if checked.state is CheckState.PASSED else otherwise,
        **asdict(checked),
    )
