"""Which code of this package makes artifacts, and which runs them: the builds of its two sides.

What is edited on one side changes that side's build alone, and with it what is compiled or run again. Each side has
what it imports elsewhere, where that decides what comes out. `tests/retarget_opencl/test_sides.py` compares the lists
with what is imported.
"""

from __future__ import annotations

from retarget import __version__
from retarget.extension import UnavailableError, code_digest

FRONT_END = (
    "retarget_opencl.compile.frontend",
    "retarget_opencl.compile.rewriting",
    "retarget_opencl.compile.attention",
    "retarget_opencl.compile.constants",
    "retarget_opencl.compile.contractions",
    "retarget_opencl.compile.kernels",
    "retarget_opencl.clc.attention",  # which attention has a kernel
    "retarget_opencl.translation",
    "retarget_iree.compiler.library",  # diagnostics, which are stored
    "retarget_iree.modules.onnx_import",
    "retarget_iree.noise",
)
"""From a module to IREE's SPIR-V."""

TRANSLATION = (
    "retarget_opencl.artifact.file",
    "retarget_opencl.clc",
    "retarget_opencl.compile",
    "retarget_opencl.device.profile",
    "retarget_opencl.hostprog",
    "retarget.arrays.dtypes",
    "retarget.model.element_types",
    "retarget_iree.runtime.elements",
)
"""From there to an artifact, and what decides how either is asked."""

RUNNING = (
    "retarget_opencl.artifact",
    "retarget_opencl.device",
    "retarget_opencl.internals",
    "retarget_opencl.run",
    "retarget_opencl.translation",
    "retarget.arrays.dtypes",
    "retarget.model.element_types",
    "retarget_iree.runtime.elements",
    "retarget_iree.runtime.exports",
)
"""From an artifact to results."""


def front_end_build() -> str:
    """Return the digest of the code that drives IREE's front end."""
    return code_digest(*FRONT_END)[:16]


def translation_build() -> str:
    """Return the digest of all code that an artifact depends on."""
    return code_digest(*FRONT_END, *TRANSLATION)[:16]


def runtime_build() -> str:
    """Name pyopencl and the build of the driver. Raises `UnavailableError` where pyopencl is not installed."""
    import importlib.metadata

    try:
        version = importlib.metadata.version("pyopencl")
    except importlib.metadata.PackageNotFoundError as error:
        msg = "pyopencl is not installed"
        raise UnavailableError(msg, hint="pip install pyopencl") from error
    return f"pyopencl {version} + retarget_opencl {__version__} (build {code_digest(*RUNNING)[:12]})"
