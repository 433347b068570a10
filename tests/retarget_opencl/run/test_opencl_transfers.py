"""OpenCL devices pass the checks that need no compiler, and announce no more than OpenCL promises."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from opencl_support import find_or_skip
from retarget.model import CheckState
from retarget.worker.child.conformance.checks import CHECKS, run_check
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.run.device import OpenClDevice

NEED_ASYNCHRONOUS = ("queue.joined", "queue.shared", "queue.independent")


@pytest.mark.sampled(1, slow=1)
@pytest.mark.parametrize("uri", ["opencl://", "opencl://oclgrind/0"])
def test_the_device_passes_every_check_of_what_it_announces(uri: str, tmp_path: Path) -> None:
    with closing(OpenClDevice(find_or_skip(uri), cache=tmp_path)) as device:
        [info] = device.infos
        asynchronous = device.transfers().limits.asynchronous
        outcomes = {check.name: run_check(device, "opencl", check.name) for check in CHECKS}

    lenient = {"allocate.beyond", "fill.unaligned"} if info.vendor == "NVIDIA" else set()  # see docs/bringup.md
    at_once = "the device announces that its submissions are done when they return"
    assert {
        name: one.detail for name, one in outcomes.items() if one.state is not CheckState.PASSED and name not in lenient
    } == {"queue.independent": "the device announces that a submission may wait for all before it"} | (
        {} if asynchronous else dict.fromkeys(NEED_ASYNCHRONOUS, at_once)
    )


def test_the_largest_buffer_is_what_the_device_reports(device: OpenClDevice, found: FoundDevice) -> None:
    assert device.transfers().limits.largest_allocation == found.device.max_mem_alloc_size
