"""What outcomes say of themselves."""

from __future__ import annotations

import pytest
from retarget.model.outcomes import (
    CaseOutcome,
    DeviceInfo,
    Failure,
    Observation,
    Rung,
    RunOutcome,
    Stage,
    first_failure,
)

OWN = Failure(stage=Stage.COMPARE, summary="own")
LACKING = Failure(stage=Stage.COMPARE, summary="lacking", lacking="cc", no_verdict=True)


def case(rung: Rung = Rung.LOADS, failure: Failure | None = None) -> CaseOutcome:
    return CaseOutcome(name="f", seconds=0.0, rung=rung, failure=failure)


def test_a_run_comes_as_far_as_its_lowest_case_and_without_cases_as_the_load() -> None:
    assert RunOutcome(devices=()).rung is Rung.COMPILES
    assert RunOutcome(devices=(), loaded=True).rung is Rung.LOADS
    assert RunOutcome(devices=(), cases=(case(Rung.MATCHES), case(Rung.DISPATCHES))).rung is Rung.DISPATCHES


def test_the_first_failure_is_one_that_lacks_nothing_where_there_is_one() -> None:
    assert first_failure([case(), case(failure=LACKING), case(failure=OWN)]) is OWN
    assert first_failure([case(), case(failure=LACKING)]) is LACKING
    assert first_failure([case()]) is None


@pytest.mark.parametrize(
    ("known", "transient"),
    [({}, False), ({"signal": "SIGFPE"}, True), ({"timed_out": True}, True), ({"no_verdict": True}, True)],
)
def test_a_crash_a_timeout_and_no_verdict_are_never_reused(known: dict[str, object], transient: bool) -> None:
    assert Failure(stage=Stage.RUN, summary="s", **known).transient is transient  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("driver_name", "driver_version", "version"),
    [("IREE", "", "3.12.0"), ("IREE", "9.1", "9.1"), ("radv", "", ""), ("radv", "9.1", "9.1")],
)
def test_the_runtime_s_own_devices_have_its_version(driver_name: str, driver_version: str, version: str) -> None:
    info = DeviceInfo(
        driver="d",
        uri="d://0",
        ordinal=0,
        name="n",
        physical_id="p",
        runtime="IREE runtime 3.12.0",
        driver_name=driver_name,
        driver_version=driver_version,
    )
    assert (info.traits.version, info.traits.driver) == (version, driver_name)


def test_what_was_observed_is_the_same_in_whichever_case() -> None:
    one = Observation(stage="run", signature="lost", case="f")
    assert one == Observation(stage="run", signature="lost", case="g")
    assert hash(one) == hash(Observation(stage="run", signature="lost"))
    assert one != Observation(stage="run", signature="hung", case="f")
