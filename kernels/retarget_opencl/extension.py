"""OpenCL as an extension of retarget: the compiler `iree-opencl` and the driver `opencl`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import Compiler, Driver, hookimpl


@hookimpl
def retarget_compilers() -> Iterable[Compiler]:
    """Return `iree-opencl`."""
    from retarget_opencl.compile.compiler import OpenClCompiler

    return (OpenClCompiler(),)


@hookimpl
def retarget_drivers() -> Iterable[Driver]:
    """Return `opencl`."""
    from retarget_opencl.run.driver import OpenClDriver

    return (OpenClDriver(),)
