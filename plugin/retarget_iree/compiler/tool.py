"""IREE's tools. `iree-dump-module` prints an artifact. `iree-compile` is slower than the library, and the only way for
flags that are global to a process, and for builds whose library this process cannot load."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from retarget.extension import Compiled, CompileRequest, CompilerError, UnavailableError
from retarget.model import CompileTarget
from retarget.support import RetargetError, decoded

from retarget_iree.builds import CompilerBuild, build_hint, locate
from retarget_iree.compiler.combined_targets import is_pure, with_profiles
from retarget_iree.compiler.flags import PHASE_FLAG, phase_of, with_devices, with_one_phase
from retarget_iree.modules.measure import disassembled, memory_line
from retarget_iree.noise import clean_diagnostics, clean_status, first_error, is_verdict
from retarget_iree.toolchain import command, find_compiler, linker_flags

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
        raise UnavailableError(msg, hint=build_hint("compiler"))
    try:
        return subprocess.run(
            [str(build.tool), *linker_flags(build), *arguments], input=content, capture_output=True, check=False
        )
    except OSError as error:
        msg = f"{build.tool} cannot be run: {error.strerror or error}"
        raise UnavailableError(msg, hint=build_hint("compiler")) from error


def _die_of(number: int, output: str) -> None:
    """End this process by the signal that ended the tool.

    A crash of the compiler must look like one to the parent of this worker: a verdict would be stored and never tried
    again.
    """
    sys.stderr.write(output)
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def compile_command(target: CompileTarget, flags: Sequence[str], output: Path) -> tuple[str, ...]:
    """Return the command that compiles a target to `output`.

    `iree-compile` for what it reads; an ONNX model goes through `python3 -m retarget_iree.compile_onnx`, which imports
    it with the importer of IREE's package first. A target that only a device or the compiler can name is named by
    `python3 -m retarget_iree.compile_for`. Where the flags name a phase to compile to, the output is text and has
    the suffix of a program instead of an artifact's.
    """
    toolchain = target.compiler.toolchain
    tool: tuple[str, ...] = (command("iree-compile", toolchain),)
    with suppress(UnavailableError):  # a build that is missing, as the shell says
        tool += linker_flags(find_compiler(toolchain))[: 1 + ("wasm" in " ".join(flags))]
    if target.module.path.suffix == ".onnx":
        tool = (command("python"), "-m", "retarget_iree.compile_onnx")
    named = None
    with suppress(CompilerError):  # flags that contradict a profile: what is run by hand fails with the same words
        named = with_profiles(target.compiler, flags) if is_pure(target.compiler) else None
    if named is None:
        tool = (command("python"), "-m", "retarget_iree.compile_for", *target.compiler.target_from)
    flags = flags if named is None else named
    complete = with_one_phase(with_devices(target.compiler, flags))
    if phase_of(complete):
        output = output.with_suffix(".mlir")
    return (*tool, str(target.module.path), *complete, "-o", str(output))


def shrink_command(source: Path, folder: Path, *, keep_types: bool) -> tuple[str, ...]:
    """Return the command that writes smaller variants of a module into a folder."""
    words = (sys.executable, "-m", "retarget_iree.modules.shrink", str(source), "-o", str(folder))
    return (*words, "--keep-types") if keep_types else words


_TOOL = "iree._runtime.scripts.iree_dump_module"
_SECONDS = 300.0
_DISASSEMBLED = 16 << 20  # bytes of a module; the tool prints its constants as text
_HEADING = "\nDevice memory that functions allocate, beside their arguments and .rodata:"
_TOO_LARGE = f"{_HEADING}\n  not read from modules over {_DISASSEMBLED >> 20} MiB\n"
_SOURCE = re.compile(r"^\S+\.c:\d+: ")


def dump_module(artifact: bytes) -> str:
    """Return what the tool prints of a module; the text itself where the compile stopped at a phase (`--compile-to=`).

    Raises `RetargetError` for bytes that are no module, and without the runtime.
    """
    if artifact and (text := decoded(artifact)) is not None:
        return text
    if locate("iree.runtime") is None:
        hint = build_hint("runtime")
        msg = f"the IREE runtime is not installed, whose tool iree-dump-module prints modules; {hint}"
        raise RetargetError(msg)
    with tempfile.TemporaryDirectory(prefix="retarget-dump-") as folder:
        path = Path(folder) / "module.vmfb"
        path.write_bytes(artifact)
        done = _run(path)
        memory = ""
        if not done.returncode:
            is_small = len(artifact) <= _DISASSEMBLED
            memory = _memory(_run(path, "--output=disassembly").stdout) if is_small else _TOO_LARGE
    if done.returncode:
        detail = _SOURCE.sub("", clean_status(done.stderr).strip()) or f"it ended with exit status {done.returncode}"
        msg = f"not a module that iree-dump-module can print: {detail}"
        raise RetargetError(msg)
    return f"{done.stdout}{memory}"


def _run(path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, "-m", _TOOL, *flags, path.name],
            cwd=path.parent,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        msg = f"iree-dump-module did not end within {_SECONDS:.0f} s"
        raise RetargetError(msg) from error


def _memory(text: str) -> str:
    found = [line for name, allocations in disassembled(text.splitlines()) if (line := memory_line(name, allocations))]
    return "".join(f"{line}\n" for line in (_HEADING, *(f"  {line}" for line in found or ["none is allocated"])))
