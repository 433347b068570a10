"""An OpenCL device and a compiler for the tests of `retarget_opencl`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opencl_support import Compile, Load, compile_text, find_or_skip
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice

WIDE = ("--iree-input-demote-f64-to-f32=false",)


@pytest.fixture(scope="session")
def found() -> FoundDevice:
    """The first OpenCL device, of whatever implementation works here."""
    return find_or_skip()


@pytest.fixture(scope="session")
def device(found: FoundDevice, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenClDevice]:
    """The device opened, with a cache of binaries of its own."""
    opened = OpenClDevice(found, cache=tmp_path_factory.mktemp("binaries"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def compiled(device: OpenClDevice) -> Compile:
    """Compile a module's text for the device; return the artifact."""
    profile = compile_profile(device.profile)
    return lambda text: compile_text(text, profile, "test.mlir", WIDE)


@pytest.fixture(scope="session")
def load(device: OpenClDevice, compiled: Compile) -> Load:
    """Compile a module's text and load it."""
    return lambda text: device.load(compiled(text))
