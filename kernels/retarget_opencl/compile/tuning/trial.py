"""Kernels that IREE does not compile as they were prepared are left as they were, each by itself.

IREE (3.13) may not compile them as they were either: with a product of halves that is masked, as in causal attention,
it fails where it uses matrix units. Such a kernel is compiled without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from retarget_iree.compiler.capture import CapturedStderr
from retarget_iree.compiler.library import set_phases
from retarget_iree.toolchain import compiler_api

from retarget_opencl.compile.tuning.contractions import products_in
from retarget_opencl.compile.tuning.kernels import inside
from retarget_opencl.translation import Ir

__all__ = ["keep_what_compiles"]

_COMPILED = "executable-targets"
_UNITS = re.compile(r"mma = \[<[^\]]*\]")


def keep_what_compiles(module: Ir, change: Callable[[Ir], object], *, phase: str, flags: Sequence[str]) -> None:
    """Let `change` prepare the kernels of a module after `phase`, and undo it in executables that then do not compile
    with `flags`; those that do not compile without it either get no matrix units. Needs MLIR's context.
    """
    from iree.compiler import ir

    copies = [op.clone(ip=False) for op in inside(module, "hal.executable")]
    change(module)
    for prepared, copy in zip(inside(module, "hal.executable"), copies, strict=True):
        text, before = (one.get_asm(use_local_scope=True) for one in (prepared, copy))
        is_changed, may_use_units = text != before, _UNITS.search(before) is not None and any(products_in(copy))
        if not (is_changed or may_use_units) or _compiles(text, phase, flags):
            continue
        ir.InsertionPoint(prepared).insert(copy)
        prepared.erase()
        if may_use_units and not (is_changed and _compiles(before, phase, flags)):
            _drop_units(copy)


def _drop_units(executable: Ir) -> None:
    from iree.compiler import ir

    for variant in inside(executable, "hal.executable.variant"):
        target = _UNITS.sub("mma = []", str(variant.attributes["target"]))
        variant.attributes["target"] = ir.Attribute.parse(target)


def _compiles(executable: str, phase: str, flags: Sequence[str]) -> bool:
    """Say whether IREE compiles an executable, given as text, after `phase`."""
    api = compiler_api()
    with CapturedStderr(), api.Session() as session:
        session.set_flags(*flags)
        with session.invocation() as invocation:
            set_phases(invocation, phase, _COMPILED)
            source = api.Source.wrap_buffer(session, f"module {{\n{executable}\n}}\n\0".encode())
            return bool(invocation.parse_source(source) and invocation.execute())
