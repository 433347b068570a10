"""The checks of a driver pass what keeps to the protocol, and each of them finds what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from memory_doubles import DEFECTS, LARGEST, Memory
from retarget.extension import TransferLimits
from retarget.model.driver_checks import CheckState
from retarget.worker.child.conformance.checks import CHECKS, driver_checks, run_check
from retarget.worker.messages import CheckedDriver

NAMES = [check.name for check in CHECKS]


def checked(device: Memory, name: str) -> CheckedDriver:
    return run_check(device, "double", name)


def test_a_device_that_keeps_to_the_protocol_passes() -> None:
    assert [name for name in NAMES if checked(Memory(), name) != CheckedDriver(state=CheckState.PASSED)] == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "limits",
    [
        TransferLimits(asynchronous=False, offset_alignment=4, fill_alignment=32),
        TransferLimits(largest_allocation=LARGEST, in_order=True, moves_overlap=True, maps=False),
        TransferLimits(largest_allocation=LARGEST, offset_alignment=16, writes_maps=False),
    ],
)
def test_a_device_is_asked_for_no_more_than_it_announces(limits: TransferLimits) -> None:
    states = {name: checked(Memory(limits), name) for name in NAMES}

    assert {one.state for one in states.values()} <= {CheckState.PASSED, CheckState.NOT_APPLICABLE}, states


@pytest.mark.parametrize(
    ("limits", "name", "detail"),
    [
        (
            {"asynchronous": False},
            "queue.joined",
            "the device announces that its submissions are done when they return",
        ),
        (
            {"asynchronous": False},
            "queue.shared",
            "the device announces that its submissions are done when they return",
        ),
        ({"in_order": True}, "queue.independent", "the device announces that a submission may wait for all before it"),
        ({"maps": False}, "map.read", "the device announces that it maps no memory"),
        ({"writes_maps": False}, "map.write", "the device announces that its maps are for reading only"),
    ],
)
def test_what_a_device_does_not_announce_is_not_applicable(limits: dict[str, Any], name: str, detail: str) -> None:
    found = checked(Memory(TransferLimits(**limits)), name)

    assert found == CheckedDriver(state=CheckState.NOT_APPLICABLE, detail=detail)


def test_every_check_has_a_defect_that_it_finds() -> None:
    assert list(DEFECTS) == NAMES


@pytest.mark.parametrize(("name", "defect"), [(name, one) for name, defects in DEFECTS.items() for one in defects])
def test_a_check_finds_the_defect(name: str, defect: type[Memory]) -> None:
    assert checked(defect(), name).state is CheckState.FAILED


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        (
            "fill.ranges",
            "after fill b0[1:32] with a1: expected a1 7b d5 d4 7e 44 6f ce at byte 31, read 1e 7b d5 d4 7e 44 6f ce "
            "(1 of 1024 bytes differ, the last at byte 31)",
        ),
        ("fill.beyond", "fill [0:128] of 64 bytes: expected an error, and the device took it"),
        ("queue.held", "fill b0[0:64] with 5a: complete before the host signalled what it waits for"),
        ("queue.signalled", "fill b0[0:64] with 3c: not complete after 20 s"),
    ],
)
def test_a_failure_says_what_was_done_what_was_expected_and_what_was_read(name: str, detail: str) -> None:
    assert checked(DEFECTS[name][0](), name).detail == detail


def test_an_error_of_the_driver_where_none_is_expected_is_a_failure(capfd: pytest.CaptureFixture[str]) -> None:
    found = checked(Memory(TransferLimits(largest_allocation=100)), "allocate.sizes")

    assert found.detail == "b8 = allocate 255 bytes: the driver refuses it: 255 bytes are too many"
    assert capfd.readouterr().err.endswith("b8 = allocate 255 bytes\n")


def test_a_device_without_the_protocol_is_not_tried() -> None:
    found = run_check(None, "double", "fill.ranges")

    assert found == CheckedDriver(
        state=CheckState.NOT_TRIED, detail="the driver double does not implement Device.transfers"
    )


def test_checks_say_what_they_prove() -> None:
    assert all(check.proves.endswith(".") for check in driver_checks())


def test_the_docs_list_the_checks_and_what_they_prove() -> None:
    page = (Path(__file__).parents[5] / "docs" / "bringup.md").read_text()
    listed = [line for line in page.splitlines() if line.startswith("| `") and line.split("`")[1] in NAMES]

    assert listed == [f"| `{check.name}` | {check.proves} |" for check in driver_checks()]
