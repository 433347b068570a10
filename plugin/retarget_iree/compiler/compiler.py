"""The compiler `iree`: IREE's compiler library in the process, its tool for the flags that only the tool takes;
and the target configs that `retarget init` writes for it.

The compiler `iree-opt`: passes of IREE over a module, whose output FileCheck judges (kind `filecheck`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.extension import (
    Compiled,
    Compiler,
    CompileRequest,
    CompilerError,
    ProfileTarget,
    ProgramStatistics,
    Resolved,
    SuggestedTarget,
    TargetPart,
    UnavailableError,
)
from retarget.model import CompilerConfig, CompileTarget, DeviceInfo, RuntimeConfig, Toolchain
from retarget.profiles import Profile
from retarget.support import did_you_mean

from retarget_iree.builds import COMPILER_PACKAGE, PLUGINS, CompilerBuild, build_hint
from retarget_iree.compiler.combined_targets import (
    asked_devices,
    asks_devices,
    profile_target,
    profile_words,
    profiles_fact,
    target_parts,
    with_profiles,
)
from retarget_iree.compiler.flags import (
    PHASE_FLAG,
    device_order,
    device_problems,
    explicit_host,
    front_flags,
    missing_files,
    not_inputs,
    programs,
    split_flag,
    target_words,
    with_devices,
    with_one_phase,
    without_phase,
)
from retarget_iree.compiler.library import (
    FRONT_PHASE,
    compile_with_library,
    in_one_step_if_it_prints,
    library_answer,
    library_error,
    precompile_with_library,
)
from retarget_iree.compiler.tool import (
    compile_command,
    compile_with_tool,
    dump_module,
    phases,
    precompile_with_tool,
    shrink_command,
    tool_diagnostics,
    tool_runs,
)
from retarget_iree.modules.measure import STREAM_FLAGS, stream_statistics
from retarget_iree.modules.onnx_import import import_onnx, onnx_version
from retarget_iree.noise import first_error, is_verdict
from retarget_iree.toolchain import command, compiler_environment, find_compiler

_LOCAL = "--iree-hal-target-device=local"
_PROBE_MODULE = b"util.func public @probe() {\n  util.return\n}\n"


class CompilerOfIree(Compiler):
    """What compilers that begin with IREE have in common."""

    def toolchain_environment(self, config: CompilerConfig | RuntimeConfig) -> Sequence[tuple[str, str]]:
        """Return the variable that selects a toolchain."""
        return compiler_environment(config.toolchain)

    def release_packages(self) -> Sequence[str]:
        """Return the package of a release."""
        return (COMPILER_PACKAGE,)

    def shrink_command(self, source: Path, folder: Path, keep_types: bool) -> Sequence[str]:
        """Return the command that writes smaller variants."""
        return shrink_command(source, folder, keep_types=keep_types)


class IreeCompiler(CompilerOfIree):
    """Compiles `.mlir`, `.mlirbc` and `.onnx` to `.vmfb`.

    With `--compile-to=PHASE` among the flags the artifact is the program's text at that phase, byte for byte what
    `iree-compile` prints: without debug locations.
    """

    name = "iree"
    artifact_suffix = ".vmfb"
    build_has_code = True
    statistics_flags = STREAM_FLAGS

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name the compiler by version, folder and its files' sizes and modification times, with the package onnx.

        The content of profiles is part of it. For a device of this host it is empty: the next session may have another.
        """
        if asks_devices(config):
            return ""
        profiles = profiles_fact(config)
        build = find_compiler(config.toolchain)
        return f"{build.fingerprint()} {onnx_version(build)} {profiles}"

    def describe_build(self, toolchain: Toolchain | None) -> str:
        """Return version and build."""
        return find_compiler(toolchain).describe()

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Check the flags one by one and name the host CPU.

        Raises `UnavailableError` without a compiler, `CompilerError` with the compiler's own message for a flag that
        neither the library nor the tool takes.
        """
        build = find_compiler()
        with_target = with_profiles(config, flags, lambda own: _precompile(explicit_host(own, _precompile)))
        complete = with_one_phase(with_devices(config, with_target))
        _check_flags(build, complete)
        explicit = explicit_host(complete, _precompile)
        asked = asked_devices(config, flags)
        return replace(_resolved(build, explicit), front_half=front_half(explicit), devices=asked)

    def compile(self, request: CompileRequest) -> Compiled:
        """Compile one module. Raises `CompilerError` whose summary is the compiler's first error."""
        return in_one_step_if_it_prints(_compile, request)

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        """Return backend, platform and chip words that the config's flags and devices imply."""
        return profile_words(config) or target_words(with_devices(config, config.flags))

    def device_problems(self, devices: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Return what is wrong with the fallbacks of named devices."""
        return device_problems(devices)

    def runtime_devices(self, devices: Mapping[str, str]) -> Mapping[str, bool]:
        """Return the devices in the order in which a program counts them, and whether it needs them."""
        return device_order(devices)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """Return the `iree-compile` command for a target."""
        return compile_command(target, flags, output)

    def profile_target(self, profile: Profile) -> ProfileTarget:
        """Return the flags for a profile."""
        return profile_target(profile)

    def target_parts(self, config: CompilerConfig, flags: Sequence[str]) -> Sequence[TargetPart]:
        """Return where each part of a config's target comes from."""
        return tuple(target_parts(config, flags))

    def show(self, artifact: bytes) -> str:
        """Return a module's contents as text. Raises `RetargetError` for bytes that are no module."""
        return dump_module(artifact)

    def program_statistics(self, artifact: bytes, diagnostics: str) -> ProgramStatistics:
        """Return what the compiler prints at the phase `stream`."""
        del artifact
        return stream_statistics(diagnostics)

    def suggest_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
        """Return a target config for each sort of device that was found. A driver without given devices stands for any
        of its devices."""
        local = tuple(driver for driver in ("local-sync", "local-task") if driver in devices)
        hip = devices.get("hip")
        architecture = _gfx(hip or ())
        whose = f"{architecture} is this machine's" if architecture else "put yours here"
        targets = (
            SuggestedTarget(
                name="cpu",
                comment="This machine's CPU, with code generated for it.",
                compiler_config="llvm-cpu",
                flags=(_LOCAL, "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"),
                drivers=local,
            ),
            SuggestedTarget(
                name="portable",
                comment="IREE's portable bytecode backend: slow, and independent of LLVM and of the CPU.",
                compiler_config="vmvx",
                flags=(_LOCAL, "--iree-hal-local-target-device-backends=vmvx"),
                drivers=local[:1],
                is_reference=True,
            ),
            SuggestedTarget(
                name="vulkan",
                comment="Vulkan, for the first Vulkan device of this machine; `retarget profile list` has others.",
                compiler_config="vulkan",
                target_from=("host:vulkan://",),
                drivers=("vulkan",) if "vulkan" in devices else (),
            ),
            SuggestedTarget(
                name="cuda",
                comment="CUDA. sm_80 runs on all NVIDIA GPUs since Ampere.",
                compiler_config="cuda",
                flags=("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"),
                drivers=("cuda",) if "cuda" in devices else (),
            ),
            SuggestedTarget(
                name="hip",
                comment=f"ROCm. Code objects run on exactly one architecture: {whose}.",
                compiler_config="rocm",
                flags=("--iree-hal-target-device=hip", f"--iree-rocm-target={architecture or 'gfx942'}"),
                drivers=("hip",) if architecture or (hip is not None and not hip) else (),
            ),
        )
        return [target for target in targets if target.drivers]


def tool_only_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return those of `flags` that hold for a whole process: the tool's own, LLVM's and MLIR's, some of IREE's."""
    return tuple(flag for flag in flags if library_answer(flag).tool)


def _compile(request: CompileRequest) -> Compiled:
    if request.front_half is not None:
        return compile_with_library(request.front_half, request)
    is_model = Path(request.source_name).suffix == ".onnx"
    content, build = import_onnx(request.source, request.source_name) if is_model else request.source, find_compiler()
    if not _loads(build) or tool_only_flags(without_phase(request.resolved.flags)):
        return compile_with_tool(build, content, request)
    return compile_with_library(content, request)


def front_half(flags: Sequence[str]) -> Resolved | None:
    """Return what the phases before devices are assigned depend on; compiler configs with equal ones share them.

    None where the flags leave no such half to the library. Raises `UnavailableError`.
    """
    build, kept = find_compiler(), front_flags(flags)
    if kept is None or not _loads(build) or tool_only_flags(flags):
        return None
    resolved = _resolved(build, kept)
    # The fact tells it from a whole compile with these flags.
    return replace(resolved, compiler=IreeCompiler.name, facts=(*resolved.facts, ("compiled to", FRONT_PHASE)))


def _resolved(build: CompilerBuild, flags: tuple[str, ...]) -> Resolved:
    return Resolved(
        build_id=build.build_id(),
        flags=flags,
        not_inputs=not_inputs(flags),
        files=programs(flags),
        suffix_facts=((".onnx", f"onnx {onnx_version(build)}"),),
        build=build.describe(),
    )


def _loads(build: CompilerBuild) -> bool:
    """Return whether this process compiles with the library; else it does with the tool.

    Raises `UnavailableError` if it can do neither.
    """
    if os.environ.get(PLUGINS) and build.tool is not None:
        return False
    error = library_error()
    if error is not None and not tool_runs(build):
        if build.tool is None:
            raise error
        msg = f"{error}; {build.tool} --version does not succeed here"
        raise UnavailableError(msg, error.hint)
    return error is None


def _check_flags(build: CompilerBuild, flags: Sequence[str]) -> None:
    diagnostics: list[str] = []
    tool: list[str] = []
    loads = _loads(build)
    for flag in flags:
        if not flag.startswith("-"):
            diagnostics.append(f"{flag!r} is no flag: expected --name or --name=value")
        elif diagnostic := _phase_error(build, flag):
            diagnostics.append(diagnostic)
        elif not loads:
            tool.append(flag)
        elif error := library_answer(flag).error:
            if library_answer(flag).tool and build.tool is not None:
                tool.append(flag)
            else:
                diagnostics.append(f"{flag}: {error}")
    if tool:
        diagnostics += tool_diagnostics(build, tool)
    folder = Path.cwd()
    missing = [f"{flag}: there is no such file (relative paths start at {folder})" for flag in missing_files(flags)]
    diagnostics += missing
    if diagnostics:
        raise CompilerError("; ".join(diagnostics), diagnostics="\n".join(diagnostics), verdict=not missing)


def _phase_error(build: CompilerBuild, flag: str) -> str:
    """Return what is wrong with a flag as the name of a phase; the empty string where it names one, or none at all.

    The library takes any name without a word, so a name must be known before it gets it.
    """
    name, phase = split_flag(flag)
    if name != PHASE_FLAG or phase is None:
        return ""
    known = phases(build)
    if phase in known or not known:  # a help without phases: the tool is called as for any other flag
        return ""
    hint = did_you_mean(phase, known)
    return f"{flag}: there is no phase {phase!r}{hint}; iree-compile has the phases {', '.join(known)}"


def _precompile(flags: Sequence[str]) -> str:
    """Take a module without code to where its targets are known, and return its text. See `explicit_host`."""
    build = find_compiler()
    if _loads(build):
        text, diagnostics = precompile_with_library(flags, _PROBE_MODULE)
    else:
        text, diagnostics = precompile_with_tool(build, flags, _PROBE_MODULE)
    if not text:
        summary = first_error(diagnostics) or "the compiler cannot name its target"
        raise CompilerError(summary, diagnostics=diagnostics, verdict=is_verdict(diagnostics))
    return text


def _gfx(devices: Sequence[DeviceInfo]) -> str:
    """Return the architecture of the first device that names it (`gfx942`)."""
    for device in devices:
        for text in (device.name, *(value for _, value in device.capabilities)):
            if found := re.search(r"\bgfx[0-9a-f]+\b", text):
                return found[0]
    return ""


class IreeOptCompiler(Compiler):
    """Runs the passes that the flags name over `.mlir` and prints the result, as the tool `iree-opt` does."""

    name = "iree-opt"
    artifact_suffix = ".mlir"
    build_has_code = True

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name the compiler as `iree` does, with the tool that runs: a build folder may have built it alone."""
        return _build(config.toolchain).fingerprint()

    toolchain_environment = CompilerOfIree.toolchain_environment

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:  # noqa: ARG002  the base class's
        """Check the flags. Raises `UnavailableError` without the tool, `CompilerError` with its message."""
        build = _build()
        if diagnostics := tool_diagnostics(build, flags):
            raise CompilerError("; ".join(diagnostics), diagnostics="\n".join(diagnostics), verdict=True)
        return _resolved(build, flags)

    def compile(self, request: CompileRequest) -> Compiled:
        """Run the passes. Raises `CompilerError` whose summary is the tool's first error."""
        return compile_with_tool(_build(), request.source, request)

    def tags(self, config: CompilerConfig) -> Sequence[str]:  # noqa: ARG002  the base class's
        """Return the name: passes are of no backend."""
        return (self.name,)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """Return the command."""
        tool = command(self.name, target.compiler.toolchain)
        return (tool, str(target.module.path), *flags, "-o", str(output))


def _build(toolchain: Toolchain | None = None) -> CompilerBuild:
    """Return the compiler of a toolchain, or of this process, with `iree-opt` as its tool.

    It lies beside the library or `iree-compile`. Raises `UnavailableError`.
    """
    build = find_compiler(toolchain)
    beside = [path.with_name("iree-opt") for path in (build.tool, build.library) if path is not None]
    tool = next((path for path in beside if path.is_file()), None)
    if tool is None:
        msg = f"{build.folder} has no iree-opt, expected it beside {' or '.join(str(path.parent) for path in beside)}"
        raise UnavailableError(msg, hint=build_hint("compiler"))
    return replace(build, tool=tool)
