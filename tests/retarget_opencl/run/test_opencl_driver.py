"""The driver: which runtime configs it opens, and the functions that it lists without a device."""

from __future__ import annotations

import pyopencl as cl
import pytest
from opencl_support import ADD_ONE, Compile, runtime_config
from retarget.extension import DriverError
from retarget.model import RuntimeConfig
from retarget_opencl.run.driver import OpenClDriver
from retarget_opencl.run.errors import ProgramError, driver_errors


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (runtime_config("0", "1"), "the opencl driver runs on one device, the runtime config r names 2"),
        (runtime_config(flags=("--fast",)), "the opencl driver has no flags, found '--fast'"),
    ],
)
def test_a_runtime_config_that_cannot_be_is_refused(config: RuntimeConfig, message: str) -> None:
    with pytest.raises(DriverError) as caught:
        OpenClDriver().open(config)
    assert str(caught.value) == message


def test_functions_are_listed_without_a_device(compiled: Compile) -> None:
    artifact = compiled(ADD_ONE.replace("EXPECTED", "4.0"))
    assert [(item.name, item.arguments) for item in OpenClDriver().functions(artifact)] == [("checked", 0)]
    with pytest.raises(DriverError, match=r"^not an OpenCL artifact"):
        OpenClDriver().functions(b"nothing")


@pytest.mark.parametrize(
    ("error", "harmless"),
    [(ProgramError("an assertion"), True), (ZeroDivisionError(), True), (cl.Error("lost"), False)],
)
def test_what_the_program_itself_reports_leaves_the_device_as_it_was(error: Exception, *, harmless: bool) -> None:
    with pytest.raises(DriverError) as caught, driver_errors("calling f", "device"):
        raise error
    assert caught.value.harmless is harmless
