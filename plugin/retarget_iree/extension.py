"""The hooks of the extension `iree`: its compiler, the drivers of its runtime, its case loaders.

Nothing here imports IREE; what does is imported when a worker asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CaseLoader, Compiler, Driver, hookimpl

from retarget_iree.checks import CheckCaseLoader
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.flagfile.loader import RunModuleCaseLoader
from retarget_iree.runtime.drivers import DRIVERS

__all__ = ["retarget_case_loaders", "retarget_compilers", "retarget_drivers"]


@hookimpl
def retarget_compilers() -> Iterable[Compiler]:
    """The compiler `iree`."""
    return (IreeCompiler(),)


@hookimpl
def retarget_drivers() -> Iterable[Driver]:
    """The drivers `local-sync`, `local-task`, `vulkan`, `cuda` and `hip`."""
    return DRIVERS


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    """The case loaders `check` and `run-module`."""
    return (CheckCaseLoader(), RunModuleCaseLoader())
