"""OpenCL devices pass the checks that need no compiler, and announce no more than OpenCL promises."""

from __future__ import annotations

from retarget.model.driver_checks import CheckState
from retarget.worker.child.conformance.run import CHECKS, run_check
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.run.device import OpenClDevice


def test_the_device_passes_every_check_of_what_it_announces(device: OpenClDevice) -> None:
    outcomes = {check.name: run_check(device, "opencl", check.name) for check in CHECKS}

    assert {name: one.detail for name, one in outcomes.items() if one.state is not CheckState.PASSED} == {
        "queue.independent": "the device announces that a submission may wait for all before it"
    }


def test_the_largest_buffer_is_what_the_device_reports(device: OpenClDevice, found: FoundDevice) -> None:
    assert device.transfers().limits.largest_allocation == found.device.max_mem_alloc_size
