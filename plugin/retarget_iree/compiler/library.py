"""Compiles with the compiler's library in this process, and reads what it writes to file descriptor 2."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace
from retarget.extension import Compiled, CompileRequest, CompilerError, UnavailableError

from retarget_iree.compiler.flags import LAST_PHASE, PHASE_FLAG, flag_value, phase_of, without_phase
from retarget_iree.noise import clean_diagnostics, first_error, is_verdict
from retarget_iree.toolchain import compiler_api

FRONT_PHASE = "abi"
"""The last phase of IREE in which the program is the same for all targets."""

_TOOL_ONLY = re.compile(r"option not found: ")
_OWN_NAME = re.compile(r"^[\w.-]*: ")


@functools.cache
def library_error() -> UnavailableError | None:
    """Return why this process cannot load the library; None if it can."""
    try:
        compiler_api()
    except UnavailableError as error:
        return error
    return None


class FlagAnswer(Struct, frozen=True, kw_only=True):
    """The library's answer to one flag. `error` is its message; `tool` sends the flag to the tool's own process."""

    error: str = ""
    tool: bool = False


@functools.lru_cache(maxsize=4096)
def library_answer(flag: str) -> FlagAnswer:
    """Offer a flag to the library. Raises `UnavailableError` if it does not load.

    Some flags that a session takes hold for the whole process and would change every later compile of this worker
    (`--iree-codegen-tuning-spec-path`, in 3.13). Such a flag is found by looking at a fresh session, taken back, and
    left to the tool.
    """
    api = compiler_api()
    before = _fresh_flags()
    try:
        with CapturedStderr() as captured, api.Session() as session:
            session.set_flags(flag)
    except ValueError as error:
        message = next((_OWN_NAME.sub("", line).strip() for line in captured.text.splitlines() if line.strip()), "")
        message = message or str(error).partition("\n")[2].strip() or str(error)
        return FlagAnswer(error=message, tool=_TOOL_ONLY.match(message) is not None)
    stayed = [name for name, value in _fresh_flags().items() if before.get(name) != value]
    if not stayed:
        return FlagAnswer()
    with CapturedStderr(), api.Session() as session:
        session.set_flags(*(f"{name}={before[name]}" for name in stayed))
    return FlagAnswer(tool=True)


def _fresh_flags() -> dict[str, str]:
    """Return every flag with the value it has in a new session."""
    with compiler_api().Session() as session:
        return {name: value for name, _, value in (flag.partition("=") for flag in session.get_flags())}


def precompile_with_library(flags: Sequence[str], module: bytes) -> tuple[str, str]:
    """Take a module to where its targets are known. Return its text, empty if it fails, and the diagnostics."""
    api = compiler_api()
    with CapturedStderr() as captured, api.Session() as session:
        session.set_flags(*flags)
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        source = api.Source.wrap_buffer(session, module + b"\0", buffer_name="probe.mlir")
        from iree.compiler.api.ctypes_dl import PipelineType

        done = invocation.parse_source(source) and invocation.execute(PipelineType.IREE_COMPILER_PIPELINE_PRECOMPILE)
        text = _output(api, invocation.output_ir).decode("utf-8", "replace") if done else ""
        invocation.close()
    return text, clean_diagnostics(captured.text)


def _output(api: Any, write: Callable[[Any], None]) -> bytes:
    """Return what an invocation's method writes."""
    output = api.Output.open_membuffer()
    try:
        write(output)
        return bytes(output.map_memory())
    finally:
        output.close()


def set_phases(invocation: Any, start: str, end: str) -> None:
    """Begin an invocation after a phase and end it at one, which `resolve` has found to exist; empty: at either end.

    The package wraps all of the library's functions but these.
    """
    from iree.compiler.api import ctypes_dl

    library, pointer = ctypes_dl._dylib, ctypes.c_void_p(invocation._inv_p)  # noqa: SLF001 - see above
    if start:
        library.ireeCompilerInvocationSetCompileFromPhase(pointer, ctypes.c_char_p(start.encode()))
    if end:
        library.ireeCompilerInvocationSetCompileToPhase(pointer, ctypes.c_char_p(end.encode()))


def in_one_step_if_it_prints(step: Callable[[CompileRequest], Compiled], request: CompileRequest) -> Compiled:
    """Compile a module from its front half on; all of the module where diagnostics come of that, or there is no half:
    bytecode has no source, of which diagnostics show the line. Raises what `step` does."""
    if request.front_half is not None:
        with suppress(CompilerError):
            compiled = step(request)
            if not compiled.diagnostics:
                return compiled
    return step(replace(request, front_half=None))


def compile_with_library(content: bytes, request: CompileRequest) -> Compiled:
    """Compile one module, or its front half if the request has that. Where the request keeps the front half, the
    compile halts after it, and goes on. Raises as `IreeCompiler.compile` does."""
    api = compiler_api()
    # Text must end in a null byte, or the library copies and checks it anew; bytecode must not.
    buffer = content if content[:4] == b"ML\xefR" else content + b"\0"
    artifact: bytes | None = None
    half, diagnostic = b"", ""
    with CapturedStderr() as captured, api.Session() as session:
        session.set_flags(*without_phase(request.resolved.flags))
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        end = FRONT_PHASE if request.keeps_front_half else flag_value(request.resolved.flags, PHASE_FLAG)
        set_phases(invocation, "" if request.front_half is None else FRONT_PHASE, end)
        source = api.Source.wrap_buffer(session, buffer, buffer_name=request.source_name)
        try:
            done = invocation.parse_source(source) and invocation.execute()
            if done and request.keeps_front_half:
                half = _output(api, invocation.output_ir_bytecode)
                set_phases(invocation, FRONT_PHASE, LAST_PHASE)
                done = invocation.execute()
            if done:
                write = invocation.output_ir if phase_of(request.resolved.flags) else invocation.output_vm_bytecode
                artifact = _output(api, write)
        except ValueError as error:
            diagnostic = str(error)
        invocation.close()
    diagnostics = clean_diagnostics(captured.text)
    if artifact is None:
        summary = (
            first_error(diagnostics) or diagnostic or f"{request.source_name}: the compiler failed and did not say why"
        )
        in_front_half = request.keeps_front_half and not half
        raise CompilerError(summary, diagnostics, verdict=is_verdict(diagnostics), in_front_half=in_front_half)
    return Compiled(artifact=artifact, diagnostics=diagnostics, front_half=half)


class CapturedStderr:
    """Context manager: takes what is written to descriptor 2 inside the `with`; `text` holds it afterwards.

    Where descriptor 2 is a file that can be read back, as in a worker, it stays what it is, so that the last words of a
    compiler that dies are in the worker's log; what was taken is removed from the file, so that it is not reported
    twice. Elsewhere (a terminal, a pipe) descriptor 2 is redirected for the duration.
    """

    def __init__(self) -> None:
        self.text = ""
        self._start: int | None = None
        self._saved: int | None = None
        self._spool = -1

    def __enter__(self) -> Self:
        sys.stderr.flush()
        self._start = _readable_size(2)
        if self._start is None:
            with tempfile.TemporaryFile() as file:
                self._spool = os.dup(file.fileno())
            self._saved = os.dup(2)
            os.dup2(self._spool, 2)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.stderr.flush()
        if self._start is not None:
            self.text = _tail(2, self._start)
            os.ftruncate(2, self._start)
            os.lseek(2, self._start, os.SEEK_SET)
        elif self._saved is not None:
            os.dup2(self._saved, 2)
            os.close(self._saved)
            self.text = _tail(self._spool, 0)
            os.close(self._spool)


def _readable_size(descriptor: int) -> int | None:
    """Return the size in bytes of the file that a descriptor writes at its end; None if it cannot be read back."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        os.pread(descriptor, 1, 0)
        if os.lseek(descriptor, 0, os.SEEK_CUR) > status.st_size:
            return None
        os.lseek(descriptor, 0, os.SEEK_END)
    except OSError:
        return None
    return status.st_size


def _tail(descriptor: int, start: int) -> str:
    size = max(0, os.fstat(descriptor).st_size - start)
    return os.pread(descriptor, size, start).decode("utf-8", "replace") if size else ""
