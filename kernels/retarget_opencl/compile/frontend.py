"""IREE's compiler in this process, up to the phase `executable-targets`.

The compiled module is read through `iree.compiler.ir`: in place, or from bytecode that was kept of it.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import PurePath
from types import ModuleType

from retarget.extension import CompilerError
from retarget_iree.compiler.capture import CapturedStderr
from retarget_iree.compiler.library import FRONT_PHASE, set_phases
from retarget_iree.modules.onnx_import import import_onnx
from retarget_iree.noise import clean_diagnostics, first_error, is_verdict
from retarget_iree.toolchain import compiler_api

from retarget_opencl.compile.constants import LARGE, move_to_resources
from retarget_opencl.translation import Ir

__all__ = ["bytecode_of", "compiled_module", "module_of"]

_WITH_GLOBALS = "flow"  # constants are globals of their own, which the next phase packs
_PHASE = "executable-targets"
_BYTECODE_MAGIC = b"ML\xefR"


@cache
def _settle_dialects() -> None:
    """Give dialects without Python bindings an empty module.

    For each op that it returns, `iree.compiler.ir` tries to import the op's dialect, and does not remember failures:
    that would take most of the time of reading a module.
    """
    for dialect in ("spirv", "check"):
        name = f"iree.compiler.dialects.{dialect}"
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = ModuleType(name)


@contextmanager
def compiled_module(
    source: bytes, source_name: str, flags: Sequence[str], front_half: bytes | None = None
) -> Iterator[tuple[Ir, str]]:
    """Compile `source`, or what IREE's front half gave for it, and yield the module as an operation of
    `iree.compiler.ir`, with the compiler's diagnostics.

    The operation is valid inside the `with` block only. Raises `CompilerError`, whose summary is the compiler's first
    error, and `UnavailableError` if there is no compiler.
    """
    api = compiler_api()
    _settle_dialects()
    content = source if front_half is None else front_half
    if front_half is None and PurePath(source_name).suffix == ".onnx":
        content = import_onnx(source, source_name)
    steps = ("" if front_half is None else FRONT_PHASE, *((_WITH_GLOBALS,) if len(content) >= LARGE else ()), _PHASE)
    # Text must end in a null byte, or the library copies and checks it anew; bytecode must not.
    buffer = content if content[:4] == _BYTECODE_MAGIC else content + b"\0"
    with api.Session() as session:
        context, module, diagnostic, invocations = None, None, "", []
        with CapturedStderr() as captured:
            try:
                session.set_flags(*flags)
                # The context must be Python's before an invocation uses it.
                context = session.context
                wrapped = api.Source.wrap_buffer(session, buffer, buffer_name=source_name)
                for start, end in pairwise(steps):
                    invocations.append(invocation := session.invocation())
                    invocation.enable_console_diagnostics()
                    set_phases(invocation, start, end)
                    if module is None and not invocation.parse_source(wrapped):
                        break
                    if module is not None:
                        move_to_resources(module)
                        invocation.import_module(module)
                    module = invocation.export_module() if invocation.execute() else None
                    if module is None:
                        break
            except ValueError as error:
                diagnostic = str(error)
        diagnostics = clean_diagnostics(captured.text)
        if module is None or context is None:
            summary = (
                first_error(diagnostics) or diagnostic or f"{source_name}: the compiler failed and did not say why"
            )
            raise CompilerError(summary, diagnostics=diagnostics, verdict=is_verdict(diagnostics))
        with context:
            yield module, diagnostics
        del module
        for invocation in invocations:
            invocation.close()


def bytecode_of(module: Ir) -> bytes:
    """Return a module as MLIR's bytecode, with its locations."""
    content = io.BytesIO()
    module.write_bytecode(content)
    return content.getvalue()


@contextmanager
def module_of(bytecode: bytes) -> Iterator[Ir]:
    """Yield the module that `bytecode_of` wrote, valid inside the `with` block only. Raises `CompilerError`."""
    api = compiler_api()
    from iree.compiler import ir

    _settle_dialects()
    with api.Session() as session, session.context:
        try:
            module = ir.Module.parse(bytecode)
        except ir.MLIRError as error:
            msg = f"what the front end gave cannot be read: {error}"
            raise CompilerError(msg) from error
        yield module.operation
        del module
