"""The command that compiles a target by hand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from retarget.extension import CompilerError, UnavailableError
from retarget.model import CompileTarget

from retarget_iree.compiler.flags import phase_of, with_devices, with_one_phase
from retarget_iree.compiler.targets.combined import is_pure, with_profiles
from retarget_iree.toolchain import command, find_compiler, linker_flags


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


def reduce_command(source: Path, output: Path, script: Path) -> tuple[str, ...]:
    """Return the command of IREE's own reducer."""
    module = "retarget_iree.modules.reduce_by_library"
    return (sys.executable, "-m", module, str(script), str(source), "-o", str(output))
