"""The hooks of the extension `iree`: its compilers, the drivers of its runtime, its case loaders and its subcommand.

Nothing here imports IREE: a worker imports it when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CaseLoader, CommandModule, Compiler, Driver, hookimpl

from retarget_iree.checks import CheckCaseLoader
from retarget_iree.compiler.compiler import IreeCompiler, IreeOptCompiler
from retarget_iree.flagfile.loader import RunModuleCaseLoader
from retarget_iree.runtime.drivers import DRIVERS


@hookimpl
def retarget_compilers() -> Iterable[Compiler]:
    """The compilers `iree` and `iree-opt`."""
    return (IreeCompiler(), IreeOptCompiler())


@hookimpl
def retarget_drivers() -> Iterable[Driver]:
    """The HAL drivers of IREE's own runtime."""
    return DRIVERS


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    """The case loaders `check` and `run-module`."""
    return (CheckCaseLoader(), RunModuleCaseLoader())


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """The subcommand `import-xfails`."""
    return (
        CommandModule(
            name="import-xfails",
            module="retarget_iree.import_xfails",
            help="turn expected failures in config files of iree-test-suites into rules",
            examples=(("retarget import-xfails onnx_ops_cpu_llvm_sync.json", "print the rules"),),
        ),
    )
