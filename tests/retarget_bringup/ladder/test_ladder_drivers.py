"""The checks of drivers as results, and as targets of a ladder."""

from __future__ import annotations

from pathlib import Path

import pytest
from laddered import ladder
from msgspec.structs import replace
from retarget.model import CheckState, DriverCheckOutcome, DriverReport, Rung
from retarget.results import SessionResults, Sessions
from retarget_bringup.driver import driver_targets, write_checks
from retarget_bringup.ladder.check import summary
from retarget_bringup.ladder.files import Ladder, Line
from retarget_bringup.ladder.states import Standing, TargetState, states

DIGEST = "abcdefabcdef"


def report(state: CheckState, rung: Rung) -> DriverReport:
    outcome = DriverCheckOutcome(
        config="vulkan",
        driver="vulkan",
        device="",
        check="fill.ranges",
        proves="it fills",
        digest=DIGEST,
        state=state,
        rung=rung,
        detail="4 of 8 bytes",
    )
    return DriverReport(config="vulkan", driver="vulkan", devices=(), rung=rung, outcomes=(outcome,))


def sessions(folder: Path, *reports: DriverReport) -> tuple[SessionResults, ...]:
    write_checks(folder, reports)
    return Sessions.read([folder])


def found(results: tuple[SessionResults, ...], held: Ladder) -> dict[str, TargetState]:
    return {one.id: one for one in states(driver_targets(results, held, {"vulkan"}), results, held, stable=3)}


def lines(*checks: str) -> Ladder:
    rows = (Line(target=check, rung=Rung.TRANSFERS, digest=DIGEST) for check in checks)
    return Ladder(file=Path("bringup/x.ladder"), lines=tuple(rows))


@pytest.mark.parametrize(
    ("state", "rung", "standing", "failure"),
    [
        (CheckState.PASSED, Rung.TRANSFERS, Standing.REACHED, "None"),
        (CheckState.FAILED, Rung.OPENS, Standing.BELOW, "failed at run: N of N bytes"),
        (CheckState.CRASHED, Rung.OPENS, Standing.BELOW, "failed at crash: N of N bytes"),
        (CheckState.TIMED_OUT, Rung.OPENS, Standing.BELOW, "failed at timeout: N of N bytes"),
        (CheckState.NOT_TRIED, Rung.FOUND, Standing.BELOW, "failed at run: N of N bytes"),
        (CheckState.NOT_TRIED, Rung.NONE, Standing.NOT_TRIED, "None"),
        (CheckState.NOT_APPLICABLE, Rung.TRANSFERS, Standing.PERMANENT, "None"),
    ],
)
def test_a_check_is_a_target_of_the_ladder(
    tmp_path: Path, state: CheckState, rung: Rung, standing: Standing, failure: str
) -> None:
    check = "driver:vulkan::fill.ranges"
    of = found(sessions(tmp_path, report(state, rung)), lines(check))
    assert list(of) == [check]
    assert (of[check].standing, str(of[check].failure)) == (standing, failure)


def test_a_check_of_a_driver_without_results_was_not_tried_and_one_that_is_no_more_is_gone(tmp_path: Path) -> None:
    results = sessions(tmp_path, report(CheckState.PASSED, Rung.TRANSFERS))
    of = found(results, lines("driver:vulkan::fill.ranges", "driver:vulkan::old", "driver:cuda::fill.ranges"))
    assert {check: one.standing for check, one in of.items()} == {
        "driver:vulkan::fill.ranges": Standing.REACHED,
        "driver:cuda::fill.ranges": Standing.NOT_TRIED,
    }
    assert summary("x", list(of.values())) == "x: 0 of 0 targets match; 1 of 1 check of its drivers pass"
    assert driver_targets((), ladder(), {"vulkan"}) == []


def test_a_check_that_was_not_asked_for_is_not_gone(tmp_path: Path) -> None:
    write_checks(tmp_path, [report(CheckState.PASSED, Rung.TRANSFERS)], ["fill.*"])
    of = found(Sessions.read([tmp_path]), lines("driver:vulkan::fill.ranges", "driver:vulkan::copy.sizes"))
    assert of["driver:vulkan::copy.sizes"].standing is Standing.NOT_TRIED


def test_checks_of_drivers_that_the_ladder_is_not_about_are_no_targets_of_it(tmp_path: Path) -> None:
    other = replace(report(CheckState.FAILED, Rung.OPENS), config="cuda")
    other = replace(other, outcomes=tuple(replace(one, config="cuda") for one in other.outcomes))
    results = sessions(tmp_path, report(CheckState.PASSED, Rung.TRANSFERS), other)
    assert list(found(results, lines("driver:vulkan::fill.ranges"))) == ["driver:vulkan::fill.ranges"]
