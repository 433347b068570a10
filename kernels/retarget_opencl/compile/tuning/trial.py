"""Kernels that IREE does not compile as they were prepared are left as they were, each by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from retarget_iree.compiler.capture import CapturedStderr
from retarget_iree.compiler.library import set_phases
from retarget_iree.toolchain import compiler_api

from retarget_opencl.compile.tuning.kernels import inside
from retarget_opencl.translation import Ir

__all__ = ["keep_what_compiles"]

_COMPILED = "executable-targets"


def keep_what_compiles(module: Ir, change: Callable[[Ir], object], *, phase: str, flags: Sequence[str]) -> None:
    """Let `change` prepare the kernels of a module after `phase`, and undo it in executables that then do not compile
    with `flags`. Needs MLIR's context.
    """
    from iree.compiler import ir

    copies = [op.clone(ip=False) for op in inside(module, "hal.executable")]
    change(module)
    for prepared, copy in zip(inside(module, "hal.executable"), copies, strict=True):
        text = prepared.get_asm(use_local_scope=True)
        if text != copy.get_asm(use_local_scope=True) and not _compiles(text, phase, flags):
            ir.InsertionPoint(prepared).insert(copy)
            prepared.erase()


def _compiles(executable: str, phase: str, flags: Sequence[str]) -> bool:
    """Say whether IREE compiles an executable, given as text, after `phase`."""
    api = compiler_api()
    with CapturedStderr(), api.Session() as session:
        session.set_flags(*flags)
        with session.invocation() as invocation:
            set_phases(invocation, phase, _COMPILED)
            source = api.Source.wrap_buffer(session, f"module {{\n{executable}\n}}\n\0".encode())
            return bool(invocation.parse_source(source) and invocation.execute())
