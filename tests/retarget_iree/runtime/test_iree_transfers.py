"""The drivers of IREE pass the checks that need no compiler, and announce no more than the HAL and the binding do."""

from __future__ import annotations

import iree.runtime as rt
import pytest
from iree_support import OpenDevice
from retarget.extension import BufferRange, DriverError
from retarget.model import CheckState
from retarget.worker.child.conformance.checks import CHECKS, run_check

NOT_APPLICABLE = {
    "local-sync": ["map.write", "queue.joined", "queue.shared", "queue.independent"],
    "local-task": ["map.write"],
    "vulkan": ["map.write"],
}


@pytest.mark.parametrize(
    "driver",
    [
        "local-task",
        pytest.param("local-sync", marks=pytest.mark.slow),
        pytest.param("vulkan", marks=[pytest.mark.slow, pytest.mark.needs_vulkan]),
    ],
)
def test_a_driver_passes_every_check_of_what_it_announces(open_device: OpenDevice, driver: str) -> None:
    device = open_device(driver)
    outcomes = {check.name: run_check(device, driver, check.name) for check in CHECKS}

    states = (CheckState.PASSED, CheckState.NOT_APPLICABLE)
    assert {name: one for name, one in outcomes.items() if one.state not in states} == {}
    not_applicable = [name for name, one in outcomes.items() if one.state is CheckState.NOT_APPLICABLE]
    assert not_applicable == NOT_APPLICABLE[driver]


def test_local_sync_refuses_to_wait_for_ever(open_device: OpenDevice) -> None:
    device = open_device("local-sync")
    transfers = device.transfers()
    assert transfers is not None
    buffer, event = transfers.allocate(4, False), transfers.host_event()

    with pytest.raises(
        DriverError, match=r"^local-sync does a submission when it is made; what this one waits for is not complete$"
    ):
        transfers.fill(BufferRange(buffer, 0, 4), b"\x01", [event])
    transfers.signal(event)
    assert transfers.wait(transfers.fill(BufferRange(buffer, 0, 4), b"\x01", [event]), 10)


def test_mappable_memory_is_the_hosts(open_device: OpenDevice) -> None:
    transfers = open_device("local-sync").transfers()
    assert transfers is not None
    kinds = [transfers.allocate(4, mappable).hal.memory_type() for mappable in (True, False)]
    for kind, memory in zip(kinds, (rt.MemoryType.HOST_LOCAL, rt.MemoryType.DEVICE_LOCAL), strict=True):
        assert kind & int(memory) == int(memory)
