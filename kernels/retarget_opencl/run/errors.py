"""Errors of a run: those that the program itself reports, and OpenCL's, as errors of the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from retarget.extension import DriverError

BUILD_HINT = "look at the kernels with: retarget show <artifact>"
_HINTS = {
    "MEM_OBJECT_ALLOCATION_FAILURE": "the device is out of memory: run fewer targets at a time, or smaller ones",
    "OUT_OF_RESOURCES": "the device ran out of resources: fewer or smaller work-groups, or less local memory, may fit",
    "INVALID_WORK_GROUP_SIZE": 'compile for this device\'s profile: target_from = "host:<device URI>"',
    "INVALID_BUFFER_SIZE": "a buffer is larger than the device allows",
    "OUT_OF_HOST_MEMORY": "the host is out of memory",
    "BUILD_PROGRAM_FAILURE": BUILD_HINT,
    "DEVICE_NOT_AVAILABLE": "the device was lost: look at the system's log, and reset it",
}


class ProgramError(Exception):
    """The program itself reports an error: an assertion, a wrong argument, unreachable code."""


def status_name(error: Exception) -> str:
    """Return the name of an OpenCL error's status, without the prefix `CL_`."""
    import pyopencl as cl

    code = getattr(error, "code", None)
    return "error" if code is None else str(cl.status_code.to_string(code, "<unknown error %d>"))


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an OpenCL error says that buffers do not fit."""
    return status_name(error) in {"MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY"}


@contextmanager
def driver_errors(what: str, device: str) -> Iterator[None]:
    """Turn OpenCL's errors and those that the program reports into `DriverError`."""
    import pyopencl as cl

    try:
        yield
    except ProgramError as error:
        raise DriverError(str(error), harmless=True) from error
    except ZeroDivisionError as error:
        msg = f"the host program divides an integer by zero\n{what} on {device}"
        raise DriverError(msg, harmless=True) from error
    except MemoryError as error:  # C++'s, within the driver
        msg = f"the host is out of memory\n{what} on {device}"
        raise DriverError(msg, _HINTS["MEM_OBJECT_ALLOCATION_FAILURE"]) from error
    except cl.Error as error:
        name = status_name(error)
        # The first line is what expectations recognise failures by: it names neither function nor device.
        msg = f"CL_{name}: {error}\n{what} on {device}"
        raise DriverError(msg, _HINTS.get(name, "")) from error
