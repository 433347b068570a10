"""The compiler `iree`: IREE's compiler library in the process, its tool for the flags that only the tool takes."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.extension import (
    Compiled,
    CompileRequest,
    CompilerError,
    ProfileTarget,
    Resolved,
    SuggestedTarget,
    TargetPart,
    UnavailableError,
)
from retarget.model import CompilerConfig, CompileTarget
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.profile import Profile
from retarget.support.errors import did_you_mean

from retarget_iree.compiler.capture import CapturedStderr
from retarget_iree.compiler.command import compile_command
from retarget_iree.compiler.devices import device_order, device_problems
from retarget_iree.compiler.flags import (
    PHASE_FLAG,
    flag_value,
    missing_files,
    not_inputs,
    phase_of,
    split_flag,
    target_words,
    with_devices,
    with_one_phase,
    without_phase,
)
from retarget_iree.compiler.hostcpu import explicit_host
from retarget_iree.compiler.onnx_import import import_onnx, onnx_version
from retarget_iree.compiler.targets.combined import (
    asks_devices,
    profile_words,
    profiles_fact,
    target_parts,
    with_profiles,
)
from retarget_iree.compiler.targets.profiles import profile_target
from retarget_iree.noise import clean_diagnostics, first_error, is_verdict
from retarget_iree.toolchain import Toolchain, compiler_api, compiler_hint, environment_facts, find_toolchain

__all__ = ["IreeCompiler"]

_TOOL_ONLY = re.compile(r"option not found: ")
_OWN_NAME = re.compile(r"^[\w.-]*: ")
_EMPTY_MODULE = b"module {\n}\n"
_PROBE_MODULE = b"util.func public @probe() {\n  util.return\n}\n\0"
_TOOL_LINE = re.compile(r"^(?:\S*/)?iree-compile(?:\.exe)?: (?P<text>.*)$")
_TOOL_HELP = re.compile(r"\s*(?:Try:|See:) .*--help'?$")
_PHASES_IN_HELP = re.compile(rf"(?m)^ *--{PHASE_FLAG}=<value>.*\n((?: +=.*\n)+)")


class IreeCompiler:
    """Compiles `.mlir`, `.mlirbc` and `.onnx` to `.vmfb`. Implements `retarget.extension.Compiler`.

    With `--compile-to=PHASE` among the flags the artifact is the program's text at that phase, byte for byte what
    `iree-compile` prints: without debug locations.
    """

    name = "iree"
    artifact_suffix = ".vmfb"

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name the compiler by version, folder and its files' sizes and modification times, with the package onnx.

        The content of profiles is part of it. For a device of this host it is empty: the next session may have another.
        """
        if asks_devices(config):
            return ""
        profiles = profiles_fact(config)
        return f"{find_toolchain().fingerprint()} {onnx_version()} {environment_facts()} {profiles}"

    def describe_build(self) -> str:
        """Return version and build. Implements `retarget.extension.DescribesBuild`."""
        return find_toolchain().describe()

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Check the flags one by one and name the host CPU.

        Raises `UnavailableError` without a compiler, `CompilerError` with the compiler's own message for a flag that
        neither the library nor the tool takes.
        """
        toolchain = find_toolchain()
        complete = with_one_phase(with_devices(config, with_profiles(config, flags, _named_target)))
        _check_flags(toolchain, complete)
        explicit = explicit_host(complete, _precompile)
        return Resolved(
            build_id=toolchain.build_id(),
            flags=explicit,
            not_inputs=not_inputs(explicit),
            files=tuple(Path(path) for _, path in environment_facts()),
            facts=environment_facts(),
            suffix_facts=((".onnx", f"onnx {onnx_version()}"),),
            build=toolchain.describe(),
        )

    def compile(self, request: CompileRequest) -> Compiled:
        """Compile one module. Raises `CompilerError` whose summary is the compiler's first error."""
        content = request.source
        if Path(request.source_name).suffix == ".onnx":
            content = import_onnx(content, request.source_name)
        if tool_only_flags(without_phase(request.resolved.flags)):
            return _compile_with_tool(find_toolchain(), content, request)
        return _compile_with_library(content, request)

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        """Return backend, platform and chip words that the config's flags and devices imply."""
        return profile_words(config) or target_words(with_devices(config, config.flags))

    def device_problems(self, devices: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Return what is wrong with the fallbacks of named devices. Implements `retarget.extension.NamesDevices`."""
        return device_problems(devices)

    def runtime_devices(self, devices: Mapping[str, str]) -> Mapping[str, bool]:
        """Return the devices in the order in which a program counts them, and whether it needs them."""
        return device_order(devices)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """Return the `iree-compile` command for a target."""
        return compile_command(target, flags, output)

    def profile_target(self, profile: Profile) -> ProfileTarget:
        """Return the flags for a profile. Implements `retarget.extension.TargetsProfiles`."""
        return profile_target(profile)

    def target_parts(self, config: CompilerConfig, flags: Sequence[str]) -> Sequence[TargetPart]:
        """Return where each part of a config's target comes from."""
        return tuple(target_parts(config, flags))

    def show(self, artifact: bytes) -> str:
        """Return a module's contents as text. Raises `RetargetError` for bytes that are no module."""
        from retarget_iree.compiler.dump import dump_module

        return dump_module(artifact)

    def suggest_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
        """Return a target config for each sort of device that was found."""
        from retarget_iree.compiler.suggest import iree_targets

        return iree_targets(devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The library's answer to one flag. `error` is its message; `tool` sends the flag to the tool's own process."""

    error: str = ""
    tool: bool = False


@functools.lru_cache(maxsize=4096)
def _library_answer(flag: str) -> _Answer:
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
        return _Answer(error=message, tool=_TOOL_ONLY.match(message) is not None)
    stayed = [name for name, value in _fresh_flags().items() if before.get(name) != value]
    if not stayed:
        return _Answer()
    with CapturedStderr(), api.Session() as session:
        session.set_flags(*(f"{name}={before[name]}" for name in stayed))
    return _Answer(tool=True)


def _fresh_flags() -> dict[str, str]:
    """Return every flag with the value it has in a new session."""
    with compiler_api().Session() as session:
        return {name: value for name, _, value in (flag.partition("=") for flag in session.get_flags())}


def tool_only_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return those of `flags` that hold for a whole process: the tool's own, LLVM's and MLIR's, some of IREE's."""
    return tuple(flag for flag in flags if _library_answer(flag).tool)


def _check_flags(toolchain: Toolchain, flags: Sequence[str]) -> None:
    diagnostics: list[str] = []
    unknown: list[str] = []
    for flag in flags:
        if not flag.startswith("-"):
            diagnostics.append(f"{flag!r} is no flag: expected --name or --name=value")
            continue
        if diagnostic := _phase_error(toolchain, flag):
            diagnostics.append(diagnostic)
            continue
        answer = _library_answer(flag)
        if answer.error and answer.tool:
            unknown.append(flag)
        elif answer.error:
            diagnostics.append(f"{flag}: {answer.error}")
    if unknown:
        diagnostics += _tool_diagnostics(toolchain, unknown)
    folder = Path.cwd()
    missing = [f"{flag}: there is no such file (relative paths start at {folder})" for flag in missing_files(flags)]
    diagnostics += missing
    if diagnostics:
        raise CompilerError("; ".join(diagnostics), diagnostics="\n".join(diagnostics), verdict=not missing)


def _phase_error(toolchain: Toolchain, flag: str) -> str:
    """Return what is wrong with a flag as the name of a phase; the empty string where it names one, or none at all.

    The library takes any name without a word, so a name must be known before it gets it.
    """
    name, phase = split_flag(flag)
    if name != PHASE_FLAG or phase is None:
        return ""
    phases = _phases(toolchain)
    if phase in phases or not phases:  # a help without phases: the tool is called as for any other flag
        return ""
    hint = did_you_mean(phase, phases)
    return f"{flag}: there is no phase {phase!r}{hint}; iree-compile has the phases {', '.join(phases)}"


@functools.cache
def _phases(toolchain: Toolchain) -> tuple[str, ...]:
    """Return the phases of the pipeline in their order, as the tool's help lists them."""
    done = _run_tool(toolchain, ["--help"], b"")
    found = _PHASES_IN_HELP.search(done.stdout.decode("utf-8", "replace"))
    return tuple(line.split()[0].removeprefix("=") for line in found[1].splitlines()) if found is not None else ()


def _tool_diagnostics(toolchain: Toolchain, flags: Sequence[str]) -> list[str]:
    """Return the tool's errors for flags that the library does not know, with its suggestions."""
    message = _tool_error(toolchain, flags)
    if not message:
        return []
    if len(flags) == 1:
        return [f"{flags[0]}: {message}"]
    diagnostics = [(flag, _tool_error(toolchain, [flag])) for flag in flags]
    return [f"{flag}: {text}" for flag, text in diagnostics if text] or [f"{' '.join(flags)}: {message}"]


def _tool_error(toolchain: Toolchain, flags: Sequence[str]) -> str:
    """Return the tool's error for `flags`; the empty string if it takes them."""
    done = _run_tool(toolchain, [*flags, "-", "-o", os.devnull], _EMPTY_MODULE)
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    texts = [match["text"] for match in map(_TOOL_LINE.match, lines) if match is not None]
    return " ".join(_TOOL_HELP.sub("", text).strip() for text in texts)


def _run_tool(toolchain: Toolchain, arguments: Sequence[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [str(toolchain.compile_tool), *arguments], input=content, capture_output=True, check=False
        )
    except OSError as error:
        msg = f"{toolchain.compile_tool} cannot be run: {error.strerror or error}"
        raise UnavailableError(msg, hint=compiler_hint()) from error


def _named_target(flags: Sequence[str]) -> str:
    return _precompile(explicit_host(flags, _precompile))


def _precompile(flags: Sequence[str]) -> str:
    """Take a module without code to where its targets are known, and return its text. See `hostcpu`."""
    api = compiler_api()
    with CapturedStderr() as captured, api.Session() as session:
        session.set_flags(*flags)
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        source = api.Source.wrap_buffer(session, _PROBE_MODULE, buffer_name="probe.mlir")
        from iree.compiler.api.ctypes_dl import PipelineType

        done = invocation.parse_source(source) and invocation.execute(PipelineType.IREE_COMPILER_PIPELINE_PRECOMPILE)
        text = _output(api, invocation.output_ir).decode("utf-8", "replace") if done else ""
        invocation.close()
    if not done:
        diagnostics = clean_diagnostics(captured.text)
        summary = first_error(diagnostics) or "the compiler cannot name its target"
        raise CompilerError(summary, diagnostics=diagnostics, verdict=is_verdict(diagnostics))
    return text


def _output(api: Any, write: Callable[[Any], None]) -> bytes:
    """Return what an invocation's method writes."""
    output = api.Output.open_membuffer()
    try:
        write(output)
        return bytes(output.map_memory())
    finally:
        output.close()


def _end_at(invocation: Any, phase: str) -> None:
    """End an invocation at a phase that `resolve` has found to exist; empty: at the end.

    The package wraps all of the library's functions but this one.
    """
    if phase:
        from iree.compiler.api import ctypes_dl

        library, pointer = ctypes_dl._dylib, ctypes.c_void_p(invocation._inv_p)  # noqa: SLF001 - see above
        library.ireeCompilerInvocationSetCompileToPhase(pointer, ctypes.c_char_p(phase.encode()))


def _compile_with_library(content: bytes, request: CompileRequest) -> Compiled:
    api = compiler_api()
    # Text must end in a null byte, or the library copies and checks it anew; bytecode must not.
    buffer = content if content[:4] == b"ML\xefR" else content + b"\0"
    artifact: bytes | None = None
    diagnostic = ""
    with CapturedStderr() as captured, api.Session() as session:
        session.set_flags(*without_phase(request.resolved.flags))
        invocation = session.invocation()
        invocation.enable_console_diagnostics()
        _end_at(invocation, flag_value(request.resolved.flags, PHASE_FLAG))
        source = api.Source.wrap_buffer(session, buffer, buffer_name=request.source_name)
        try:
            if invocation.parse_source(source) and invocation.execute():
                phase = phase_of(request.resolved.flags)
                artifact = _output(api, invocation.output_ir if phase else invocation.output_vm_bytecode)
        except ValueError as error:
            diagnostic = str(error)
        invocation.close()
    diagnostics = clean_diagnostics(captured.text)
    if artifact is None:
        summary = (
            first_error(diagnostics) or diagnostic or f"{request.source_name}: the compiler failed and did not say why"
        )
        raise CompilerError(summary, diagnostics=diagnostics, verdict=is_verdict(diagnostics))
    return Compiled(artifact=artifact, diagnostics=diagnostics)


def _compile_with_tool(toolchain: Toolchain, content: bytes, request: CompileRequest) -> Compiled:
    """Compile in a process of the tool's own: slower, and the only way for flags that are global to a process."""
    done = _run_tool(toolchain, [*request.resolved.flags, "-", "-o", "-"], content)
    output = re.sub(
        r"(?m)(^|\()(?:<stdin>|-)(?=:\d+:\d+)", rf"\1{request.source_name}", done.stderr.decode("utf-8", "replace")
    )
    if done.returncode < 0:
        _die_of(-done.returncode, output)
    diagnostics = clean_diagnostics(output)
    if done.returncode != 0:
        summary = first_error(diagnostics) or f"iree-compile ended with exit status {done.returncode}"
        has_error = bool(first_error(diagnostics))  # an error of the dynamic loader is none of the compiler's
        raise CompilerError(summary, diagnostics=diagnostics, verdict=has_error and is_verdict(diagnostics))
    return Compiled(artifact=done.stdout, diagnostics=diagnostics)


def _die_of(number: int, output: str) -> None:
    """End this process by the signal that ended the tool.

    A crash of the compiler must look like one to who started this worker: a verdict would be stored and never
    tried again.
    """
    sys.stderr.write(output)
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
