"""The rungs 0 to 2 of a driver: a crash, a hang or an exception is that check's, and the next one has a new worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from retarget.model.driver_checks import CheckState, DriverCheckOutcome, DriverReport
from retarget.model.outcomes import Rung
from retarget.session.run.service import RunService, check_driver, selected_checks
from retarget.support.errors import RetargetError
from targets_of_doubles import runtime_config


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    leases = tmp_path_factory.mktemp("leases")
    with RunService(extensions=("driver_doubles",), default_timeout=30, lease_folder=leases) as service:
        yield service


def report(service: RunService, *flags: str, checks: tuple[str, ...], timeout: float = 30) -> DriverReport:
    config = runtime_config("npu", flags=flags)
    return check_driver(service, config, selected_checks(service, checks), timeout=timeout)


def states(found: DriverReport) -> list[tuple[str, CheckState, Rung, str]]:
    return [(one.check, one.state, one.rung, one.detail) for one in found.outcomes]


CHECKS = ("fill.patterns", "copy.within", "update.ranges")


def test_a_driver_that_passes_its_checks_transfers(service: RunService) -> None:
    done: list[DriverCheckOutcome] = []
    checks = selected_checks(service, ["copy.w*"])
    found = check_driver(service, runtime_config("npu", flags=("--transfers",)), checks, done=done.append)
    assert (found.config, found.driver, found.rung, found.reason) == ("npu", "double", Rung.TRANSFERS, "")
    assert tuple(done) == found.outcomes
    (one,) = done
    assert (one.config, one.driver, one.check) == ("npu", "double", "copy.within")
    assert (one.state, one.rung, one.detail, one.text) == (CheckState.PASSED, Rung.TRANSFERS, "", "")
    assert one.proves == checks[0].proves


@pytest.mark.parametrize(
    ("action", "timeout", "state", "detail"),
    [
        ("crash", 30, CheckState.CRASHED, "SIGSEGV; the last thing that it did: copy b0[0:128] to b0[128:256]"),
        (
            "hang",
            1,
            CheckState.TIMED_OUT,
            "no end after 1 s; the last thing that it did: copy b0[0:128] to b0[128:256]",
        ),
        ("fail", 30, CheckState.FAILED, "ZeroDivisionError: no message"),
    ],
)
def test_what_a_driver_does_at_one_call_is_the_outcome_of_the_checks_that_make_it(
    service: RunService, action: str, timeout: float, state: CheckState, detail: str
) -> None:
    found = report(service, f"--copy={action}", checks=CHECKS, timeout=timeout)
    assert found.rung is Rung.OPENS
    assert states(found) == [
        ("fill.patterns", CheckState.PASSED, Rung.TRANSFERS, ""),
        ("copy.within", state, Rung.OPENS, detail),
        ("update.ranges", CheckState.PASSED, Rung.TRANSFERS, ""),
    ]
    assert "write b0[0:256]\ncopy b0[0:128] to b0[128:256]" in found.outcomes[1].text


def test_a_device_without_the_protocol_opens(service: RunService) -> None:
    found = report(service, checks=CHECKS)
    reason = "the driver double does not implement Device.transfers"
    assert (found.rung, found.reason) == (Rung.OPENS, reason)
    assert states(found) == [(check, CheckState.NOT_TRIED, Rung.OPENS, reason) for check in CHECKS]


def test_a_device_that_does_not_open_is_found(service: RunService) -> None:
    found = report(service, "--broken", checks=("fill.ranges",))
    reason = "runtime config 'npu': driver 'double' cannot open its devices: the device is broken; replace it"
    assert (found.rung, found.reason, found.unavailable) == (Rung.FOUND, reason, False)
    assert states(found) == [("fill.ranges", CheckState.NOT_TRIED, Rung.FOUND, reason)]


def test_a_glob_that_fits_no_check_is_refused(service: RunService) -> None:
    with pytest.raises(RetargetError, match=r"^found no check 'fil\.ranges'; did you mean 'fill\.ranges'\?"):
        selected_checks(service, ["copy.*", "fil.ranges"])
