"""Rungs 0 to 2 of a driver: it is found, its device opens, its memory and its queue do what the checks ask of them."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from retarget.engine.limits import CHECK_TIMEOUT
from retarget.engine.run.lease import OnLeaseWait, WaitNotes
from retarget.engine.run.service import RunService
from retarget.engine.toolchains import worker_environment
from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import RuntimeConfig
from retarget.model.driver_checks import CheckState, DriverCheck, DriverCheckOutcome, DriverReport
from retarget.model.outcomes import DeviceInfo
from retarget.model.rungs import Rung
from retarget.support.errors import RetargetError, did_you_mean
from retarget.support.text import cut_stacks
from retarget.worker.messages import CheckedDriver, Refusal, Refused


def check_drivers(
    configs: Iterable[RuntimeConfig],
    *,
    registry: Registry,
    extensions: Sequence[str] = (),
    globs: Sequence[str] = (),
    timeout: float = CHECK_TIMEOUT,
    done: Callable[[DriverCheckOutcome], None] | None = None,
    ended: Callable[[DriverReport], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> list[DriverReport]:
    """Check the drivers of runtime configs, one after the other; a config that has only a driver's name will do.

    `extensions` are module names to load in the workers in addition to the installed ones. `globs`, `timeout` and
    `done` are those of `selected_checks` and `check_driver`; `ended` gets each report as it comes, `note` a line on
    each wait for a device that another session uses. Raises `RetargetError` for a glob that fits no check.
    """
    environment = partial(worker_environment, registry)
    on_wait = None if note is None else WaitNotes(note)
    reports = []
    with RunService(extensions=extensions, default_timeout=timeout, environment=environment) as service:
        checks = selected_checks(service, globs)
        for config in configs:
            reports.append(check_driver(service, config, checks, timeout=timeout, done=done, on_wait=on_wait))
            if ended is not None:
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
    timeout: float = CHECK_TIMEOUT,
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
        outcomes = tuple(_outcome(config, (), check, tried, rung) for check in checks)
        hint = getattr(error, "hint", "")
        absent = isinstance(error, UnavailableError)
        return report(devices=(), rung=rung, outcomes=outcomes, reason=str(error), hint=hint, unavailable=absent)
    outcomes, reason = (), ""
    for check in checks:
        if reason:
            answer: CheckedDriver | Refused = CheckedDriver(state=CheckState.NOT_TRIED, detail=reason)
        else:
            try:
                answer = service.check_driver(config, check.name, timeout=timeout, on_wait=on_wait)
            except (UnavailableError, RetargetError) as error:  # a check before has broken the device
                answer = CheckedDriver(state=CheckState.NOT_TRIED, detail=str(error))
            if isinstance(answer, CheckedDriver) and answer.state is CheckState.NOT_TRIED:
                reason = answer.detail
        outcomes += (outcome := _outcome(config, infos, check, _checked(answer), Rung.OPENS),)
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


def _outcome(
    config: RuntimeConfig, infos: Sequence[DeviceInfo], check: DriverCheck, checked: CheckedDriver, otherwise: Rung
) -> DriverCheckOutcome:
    return DriverCheckOutcome(
        config=config.name,
        driver=config.driver,
        device=infos[0].uri if infos else "",
        check=check.name,
        proves=check.proves,
        digest=check.digest,
        state=checked.state,
        rung=Rung.TRANSFERS if checked.state is CheckState.PASSED else otherwise,
        detail=checked.detail,
        text=checked.text,
        seconds=checked.seconds,
    )
