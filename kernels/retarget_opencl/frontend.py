"""IREE's compiler in this process, up to the phase `executable-targets`.

The compiled module is read in place through `iree.compiler.ir`; nothing is printed and parsed again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from retarget.extension import CompilerError, UnavailableError

__all__ = ["compiled_module", "compiler_build_id", "session_with_flags"]

Ir = Any
_PHASE = b"executable-targets"


def _api() -> Any:
    try:
        import iree.compiler.api.ctypes_dl as api  # noqa: PLC0415  (loads the compiler)
    except ImportError as error:
        msg = f"IREE's compiler is not installed ({error})"
        raise UnavailableError(msg, "pip install iree-base-compiler") from error
    return api


def compiler_build_id() -> str:
    """Return the installed compiler's version and revision. Raises `UnavailableError`."""
    api = _api()
    import iree.compiler.version as version  # noqa: PLC0415, PLR0402

    library = api._dylib  # noqa: SLF001  (the C API has no other door)
    library.ireeCompilerGetRevision.restype = ctypes.c_char_p
    revision = (library.ireeCompilerGetRevision() or b"").decode()
    return f"iree-base-compiler {version.PACKAGE_VERSION} {revision}".rstrip() if hasattr(version, "PACKAGE_VERSION") else revision


def session_with_flags(flags: Sequence[str]) -> Any:
    """Return a compiler session. Raises `CompilerError` for a flag that the compiler refuses."""
    session = _api().Session()
    try:
        session.set_flags(*flags)
    except ValueError as error:
        msg = f"IREE refuses the flags: {error}"
        raise CompilerError(msg, str(error)) from error
    return session


@contextmanager
def compiled_module(session: Any, source: bytes, source_name: str) -> Iterator[Ir]:
    """Compile `source` and yield the module as an `iree.compiler.ir` operation, valid inside the `with` block.

    Diagnostics go to file descriptor 2, as the compiler prints them. Raises `CompilerError`.
    """
    api = _api()
    library = api._dylib  # noqa: SLF001
    library.ireeCompilerInvocationSetCompileToPhase.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.ireeCompilerInvocationSetCompileToPhase.restype = None
    # The context must be ours before an invocation uses it.
    context = session.context
    invocation = session.invocation()
    try:
        invocation.enable_console_diagnostics()
        library.ireeCompilerInvocationSetCompileToPhase(invocation._inv_p, _PHASE)  # noqa: SLF001
        # Text wants a final zero; bytecode is known by its first bytes and taken as it is.
        wrapped = api.Source.wrap_buffer(session, source + b"\0", buffer_name=source_name)
        if not invocation.parse_source(wrapped):
            msg = f"{source_name}: the module does not parse"
            raise CompilerError(msg)
        if not invocation.execute():
            msg = f"{source_name}: IREE could not compile the module for OpenCL"
            raise CompilerError(msg)
        with context:
            module = invocation.export_module()
            yield module
            del module
    finally:
        invocation.close()
