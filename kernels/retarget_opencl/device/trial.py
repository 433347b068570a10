"""Whether the compiler of a device works: a one-line kernel, built and run by a process of this module, and remembered.

PoCL lists a device for a CPU that its LLVM does not know, and then refuses each program (pocl#1049). A compiler may
also crash, hang, print, or end the process; a process of its own makes each of these an answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from retarget.engine.cache.host import host_identity
from retarget.support.text import error_line, first_line
from retarget.worker.kept_files import kept_folder, read_kept, write_kept
from retarget.worker.process import available_cores, signal_name

from retarget_opencl.device.icds import icd_libraries, platforms_here
from retarget_opencl.internals import kernel_object

__all__ = ["KERNEL", "known_fault", "try_compiler"]

KERNEL = "__kernel void one(__global int *x) { x[get_global_id(0)] += 41; }"

_OPENED = "opened"
"""What the process says once the device is open. Before, a failure says nothing of the compiler: a GPU may be busy."""

_SECONDS = 15
"""How much time of the CPU a device may take. PoCL takes one second, and in QEMU five."""
_WAITS = 45
"""How long it may take by the clock, once Python has loaded what it needs."""
_ENDS = 75
"""When it is ended: a driver that lists devices, all of them tried at once, has longer (`OPEN_TIMEOUT`)."""
_FORGOTTEN_AFTER = 1800.0
"""Seconds until a compiler that failed is tried again. One that works is not: what it builds later says so itself."""

_host = cache(host_identity)


def known_fault(identity: Sequence[str], place: tuple[int, int], *, again: bool = False) -> str | None:
    """Return why a device builds no kernels, as one line; nothing where it does. None where it could not be tried.

    `identity` is what the driver says of it and of itself, `place` where it is listed: the numbers of its platform and
    of the device there. With `again`, that it has failed before is not taken for an answer.
    """
    folder = kept_folder()
    key = hashlib.sha256(json.dumps([*identity, _host(), *icd_libraries()]).encode()).hexdigest()
    if (kept := read_kept(folder, key)) is not None:
        with suppress(ValueError, TypeError):
            fault, until = json.loads(kept)
            if not fault or (not again and time.time() < until):
                return str(fault)
    tried = try_compiler(place)
    if tried is not None:
        write_kept(folder, key, json.dumps([tried, time.time() + _FORGOTTEN_AFTER]).encode())
    return tried


def try_compiler(place: tuple[int, int], *, kernel: str = KERNEL, seconds: int = _SECONDS) -> str | None:
    """Build and run a kernel in a process; return why that fails, or nothing. None where it says nothing of that.

    The process ends itself after `seconds` of the CPU, or `_WAITS`: whoever started it may be killed meanwhile.
    """
    command = [sys.executable, "-P", "-m", "retarget_opencl.device.trial", *map(str, (seconds, *place)), kernel]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ENDS, check=False, errors="replace")
        status, output, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, output, errors = -signal.SIGALRM, "", ""
    except OSError:
        return None
    if status == -signal.SIGPROF:
        return f"a one-line kernel was not built and run in {seconds} s of CPU time"
    if status == -signal.SIGALRM:  # without the CPU: it waits, or others have it
        busy = os.getloadavg()[0] > available_cores()
        return None if busy else f"a one-line kernel was not built and run in {_WAITS} s"
    state, _, said = output.partition("\n")
    if status >= 0 and state != _OPENED:
        return None
    if status != 0:
        last = error_line(errors) or first_line("\n".join(reversed(errors.splitlines())), "it printed nothing")
        how = signal_name(-status) if status < 0 else f"exit status {status}"
        return f"a one-line kernel ends its compiler with {how}: {last}"
    return (error_line(said) or first_line(said)).removeprefix("error: ")


def _main(seconds: int, platform: int, device: int, kernel: str) -> None:
    """Print that the device is open, then what is wrong, if anything. Descriptor 1 is the compiler's to write to."""
    import numpy as np
    import pyopencl as cl

    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(_WAITS)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.environ["POCL_KERNEL_CACHE"] = "0"  # what it has kept it would not compile

    tried = platforms_here()[platform].get_devices()[device]
    context = cl.Context([tried])
    print(_OPENED, file=answers, flush=True)
    program = cl.Program(context, kernel)
    try:
        program.build(["-cl-std=CL1.2"], cache_dir=False)
        queue, numbers = cl.CommandQueue(context), np.ones(1, np.int32)
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
        one = kernel_object(program, "one")
        one.set_arg(0, buffer)
        cl.enqueue_nd_range_kernel(queue, one, (1,), None)
        cl.enqueue_copy(queue, numbers, buffer)
        if numbers[0] != 42:
            print(f"a one-line kernel gives {numbers[0]}, expected 42", file=answers)
    except cl.Error as error:
        log = program.get_build_info(tried, cl.program_build_info.LOG).strip()
        print(error if error.code != cl.status_code.BUILD_PROGRAM_FAILURE else log or error, file=answers)
    answers.close()


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
