"""Compiles with the tool `iree-compile`: slower than the library, and the only way for flags that are global to a
process, and for builds whose library this process cannot load."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence

from retarget.extension import Compiled, CompileRequest, CompilerError, UnavailableError

from retarget_iree.builds import CompilerBuild, compiler_hint
from retarget_iree.compiler.flags import PHASE_FLAG
from retarget_iree.noise import clean_diagnostics, first_error, is_verdict
from retarget_iree.toolchain import linker_flags

_EMPTY_MODULE = b"module {\n}\n"
_TOOL_LINE = re.compile(r"^(?:\S*/)?iree-(?:compile|opt)(?:\.exe)?: (?P<text>.*)$")
_TOOL_HELP = re.compile(r"\s*(?:Try:|See:) .*--help'?$")
_PHASES_IN_HELP = re.compile(rf"(?m)^ *--{PHASE_FLAG}=<value>.*\n((?: +=.*\n)+)")


@functools.cache
def tool_runs(build: CompilerBuild) -> bool:
    """Return whether a build has a tool that this machine runs."""
    try:
        return _run_tool(build, ["--version"], b"").returncode == 0
    except UnavailableError:
        return False


@functools.cache
def phases(build: CompilerBuild) -> tuple[str, ...]:
    """Return the phases of the pipeline in their order, as the tool's help lists them; none without a tool."""
    if build.tool is None:
        return ()
    done = _run_tool(build, ["--help"], b"")
    found = _PHASES_IN_HELP.search(done.stdout.decode("utf-8", "replace"))
    return tuple(line.split()[0].removeprefix("=") for line in found[1].splitlines()) if found is not None else ()


def tool_diagnostics(build: CompilerBuild, flags: Sequence[str]) -> list[str]:
    """Return the tool's errors for flags, with its suggestions; none if it takes them."""
    message = _tool_error(build, flags)
    if not message:
        return []
    if len(flags) == 1:
        return [f"{flags[0]}: {message}"]
    diagnostics = [(flag, _tool_error(build, [flag])) for flag in flags]
    return [f"{flag}: {text}" for flag, text in diagnostics if text] or [f"{' '.join(flags)}: {message}"]


def _tool_error(build: CompilerBuild, flags: Sequence[str]) -> str:
    """Return the tool's error for `flags`; the empty string if it takes them."""
    done = _run_tool(build, [*flags, "-", "-o", os.devnull], _EMPTY_MODULE)
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    texts = [match["text"] for match in map(_TOOL_LINE.match, lines) if match is not None]
    return " ".join(_TOOL_HELP.sub("", text).strip() for text in texts)


def precompile_with_tool(build: CompilerBuild, flags: Sequence[str], module: bytes) -> tuple[str, str]:
    """Take a module to where its targets are known. Return its text, empty if it fails, and the diagnostics."""
    done = _run_tool(build, ["--compile-mode=precompile", *flags, "-", "-o", "-"], module)
    return done.stdout.decode("utf-8", "replace"), clean_diagnostics(done.stderr.decode("utf-8", "replace"))


def compile_with_tool(build: CompilerBuild, content: bytes, request: CompileRequest) -> Compiled:
    """Compile in a process of the tool's own. Raises as `IreeCompiler.compile` does; a crash of the tool is this
    process's."""
    done = _run_tool(build, [*request.resolved.flags, "-", "-o", "-"], content)
    output = re.sub(
        r"(?m)(^|\()(?:<stdin>|-)(?=:\d+:\d+)", rf"\1{request.source_name}", done.stderr.decode("utf-8", "replace")
    )
    if done.returncode < 0:
        _die_of(-done.returncode, output)
    diagnostics = clean_diagnostics(output)
    if done.returncode != 0:
        name = build.tool.stem if build.tool is not None else "iree-compile"
        summary = first_error(diagnostics) or f"{name} ended with exit status {done.returncode}"
        has_error = bool(first_error(diagnostics))  # an error of the dynamic loader is none of the compiler's
        raise CompilerError(summary, diagnostics=diagnostics, verdict=has_error and is_verdict(diagnostics))
    return Compiled(artifact=done.stdout, diagnostics=diagnostics)


def _run_tool(build: CompilerBuild, arguments: Sequence[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    if build.tool is None:
        msg = f"{build.folder} has no iree-compile, which this needs"
        raise UnavailableError(msg, hint=compiler_hint())
    try:
        return subprocess.run(
            [str(build.tool), *linker_flags(build), *arguments], input=content, capture_output=True, check=False
        )
    except OSError as error:
        msg = f"{build.tool} cannot be run: {error.strerror or error}"
        raise UnavailableError(msg, hint=compiler_hint()) from error


def _die_of(number: int, output: str) -> None:
    """End this process by the signal that ended the tool.

    A crash of the compiler must look like one to the parent of this worker: a verdict would be stored and never tried
    again.
    """
    sys.stderr.write(output)
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
