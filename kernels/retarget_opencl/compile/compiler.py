"""The compiler `iree-opencl`: IREE up to SPIR-V, then OpenCL C."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace
from retarget import __version__
from retarget.extension import (
    Compiled,
    CompileRequest,
    CompilerError,
    ProfileTarget,
    ProgramStatistics,
    Resolved,
    SuggestedTarget,
    TargetPart,
    UnavailableError,
)
from retarget.model import CompilerConfig, CompileTarget, DeviceInfo, Toolchain
from retarget.profiles import Profile
from retarget.support import RetargetError, install_hint
from retarget_iree.builds import PLUGINS
from retarget_iree.compiler.compiler import CompilerOfIree, front_half
from retarget_iree.compiler.flags import not_inputs, programs
from retarget_iree.compiler.library import in_one_step_if_it_prints
from retarget_iree.compiler.tool import tool_runs
from retarget_iree.modules.onnx_import import onnx_version
from retarget_iree.toolchain import find_compiler

from retarget_opencl.artifact import ARTIFACT_SUFFIX
from retarget_opencl.builds import front_end_build, translation_build
from retarget_opencl.compile.target import parts_of, target_attribute
from retarget_opencl.device.profile import DRIVER, MODES, DeviceProfile, compile_profile
from retarget_opencl.translation import TranslationError

_BUILD = "retarget_opencl "
"""The prefix of our build in a build id."""

_PREFIX = "--opencl-"
_LARGEST = "opencl-max-allocation"
_PROFILE = "opencl-profile"
_KNOWN_FLAGS = (
    "--opencl-profile=NAME|FILE|URI|host, --opencl-arch=NAME, --opencl-half=native|emulated, "
    "--opencl-subgroups=none|khr|ptx, --opencl-matrices=none|ptx, --opencl-dot=none|khr|ptx or "
    "--opencl-contract=off|on"
)


def _require_templates() -> None:
    """Raise `UnavailableError` where the package is missing that OpenCL C is written with."""
    if importlib.util.find_spec("jinja2") is None:
        msg = "iree-opencl needs the package jinja2 of the extra [opencl], which is not installed"
        raise UnavailableError(msg, install_hint("opencl"))


def split_flags(flags: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the values of the `--opencl-…` flags by name, and IREE's flags.

    `profile` is a reference as in `CompilerConfig.target_from`, which it overrides; the others override fields of the
    profile. Raises `CompilerError` for one that does not exist.
    """
    ours: dict[str, str] = {}
    rest = []
    for flag in flags:
        if not flag.startswith(_PREFIX):
            rest.append(flag)
            continue
        name, _, value = flag.removeprefix(_PREFIX).partition("=")
        if name not in {"profile", "arch", *MODES} or not value:
            msg = f"unknown flag {flag!r}: expected {_KNOWN_FLAGS}"
            raise CompilerError(msg, verdict=True)
        if value not in MODES.get(name, (value,)):
            msg = f"{flag!r}: expected {' or '.join(MODES[name])}"
            raise CompilerError(msg, verdict=True)
        ours[name] = value
    return ours, tuple(rest)


def _overridden(ours: Mapping[str, str]) -> dict[str, str]:
    return {name: ours[name] for name in ("arch", *MODES) if name in ours}


_DEFAULT = "opencl-generic"
_HOST = f"{DRIVER}://"


def reference_of(config: CompilerConfig, ours: Mapping[str, str]) -> str:
    """Return the reference to the one profile to compile for: by flag, else by `target_from`, else a generic one.

    Raises `CompilerError` for several.
    """
    if "profile" in ours or not config.target_from:
        return ours.get("profile", _DEFAULT)
    if len(config.target_from) > 1:
        found = ", ".join(config.target_from)
        msg = f"target_from: found {len(config.target_from)} profiles ({found}), expected one for iree-opencl"
        raise CompilerError(msg)
    return config.target_from[0]


def _device_of(reference: str) -> str | None:
    """Return the URI of the device of this host that a reference means; None for a file or a shipped profile."""
    if reference == "host" or reference.startswith(_HOST):
        return _HOST if reference == "host" else reference
    return reference.removeprefix("host:") if reference.startswith("host:") else None


def profile_of_reference(reference: str) -> tuple[Profile, DeviceInfo | None]:
    """Return a profile: that of a device of this host, with the device, of a file, or a shipped one, whose name may
    lack `opencl-`.

    Raises `RetargetError`, and `UnavailableError` for a device that is not here.
    """
    uri = _device_of(reference)
    if uri is None:
        return Profile.find(reference, prefix=f"{DRIVER}-"), None
    if not uri.startswith(_HOST):
        msg = f"found {reference!r}, expected a device of the driver {DRIVER} for iree-opencl: host:{_HOST}"
        raise RetargetError(msg)
    from retarget_opencl.device.devices import SOURCE, find_device, info_of, list_devices

    info = info_of(find_device(uri, list_devices()))
    return Profile.of_device(info, SOURCE), info


def _compiled_for(config: CompilerConfig, ours: Mapping[str, str]) -> tuple[DeviceProfile, DeviceInfo | None]:
    """Return what to compile for, and the device of this host that it is. Raises `CompilerError` or
    `UnavailableError`."""
    try:
        profile, device = profile_of_reference(reference_of(config, ours))
        return replace(compile_profile(profile), **cast("dict[str, Any]", _overridden(ours))), device
    except RetargetError as error:
        raise CompilerError(str(error)) from error


def _target_flag(profile: DeviceProfile) -> str:
    """Return IREE's flag with the target; it is named, or IREE would name it by the whole attribute's text."""
    return f"--iree-hal-target-device=opencl={target_attribute(profile)}"


def _run_front_end(request: CompileRequest) -> Compiled:
    from retarget_opencl.compile.frontend import bytecode_of, compiled_module

    largest = int(dict(request.resolved.facts)[_LARGEST])
    half: list[bytes] | None = [] if request.keeps_front_half else None
    with compiled_module(request, largest, half) as (module, diagnostics):
        return Compiled(artifact=bytecode_of(module), diagnostics=diagnostics, front_half=half[-1] if half else b"")


def _translated(bytecode: bytes, profile: DeviceProfile) -> Compiled:
    """Return the artifact for a module of IREE's. Raises `CompilerError`."""
    from retarget_opencl.artifact.file import OpenClArtifact, write_artifact
    from retarget_opencl.compile.constants import resources_of
    from retarget_opencl.compile.frontend import module_of
    from retarget_opencl.compile.translate import translate

    try:
        with module_of(bytecode) as module:
            translation = translate(module, profile, lambda: resources_of(bytecode))
    except TranslationError as error:
        raise CompilerError(str(error), verdict=True) from error
    artifact = OpenClArtifact(
        profile=profile,
        needs=translation.needs,
        sources=translation.sources,
        program=translation.program,
        blobs=translation.blobs,
    )
    return Compiled(artifact=write_artifact(artifact))


class OpenClCompiler(CompilerOfIree):
    """Compiles `.mlir`, `.mlirbc` and `.onnx` for OpenCL devices."""

    name = "iree-opencl"
    artifact_suffix = ARTIFACT_SUFFIX
    build_has_code = True

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name the installed compiler and this package; empty where the profile comes from a device.

        Raises `UnavailableError` if a package is missing, too.
        """
        _require_templates()
        ours, _ = split_flags(config.flags)
        try:
            if _device_of(reference_of(config, ours)) is not None:
                return ""
            fact = _compiled_for(config, ours)[0].fact()
        except CompilerError:
            return ""  # `resolve` says it
        build = find_compiler(config.toolchain)
        return f"{build.fingerprint()} {onnx_version(build)}; retarget_opencl {translation_build()}; {fact}"

    def describe_build(self, toolchain: Toolchain | None) -> str:
        """Return the builds of IREE and of this package."""
        return (
            f"{find_compiler(toolchain).describe()} + retarget_opencl {__version__} (build {translation_build()[:12]})"
        )

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Turn the profile flags into a profile, which becomes part of the compile key."""
        if config.devices:
            msg = f"the compiler config {config.name} names devices; iree-opencl compiles for the one of target_from"
            raise CompilerError(msg, verdict=True)
        ours, others = split_flags(flags)
        clash = next((flag for flag in others if flag.startswith("--iree-hal-target-")), None)
        if clash is not None:
            msg = f"{clash!r}: iree-opencl sets the target itself; choose it with target_from or --opencl-profile"
            raise CompilerError(msg, verdict=True)
        if os.environ.get(PLUGINS) and find_compiler().tool is not None and not tool_runs(find_compiler()):
            msg = f"{PLUGINS}={os.environ[PLUGINS]}: `iree-compile --version` fails with it; name plugins that load"
            raise CompilerError(msg)
        profile, device = _compiled_for(config, ours)
        front_end = self._front(others, profile)
        return Resolved(
            build_id=f"{find_compiler().build_id()}; {_BUILD}{translation_build()}",
            flags=others,
            not_inputs=not_inputs(others),
            files=front_end.files,
            facts=((_PROFILE, profile.fact()),),
            devices=() if device is None else (device,),
            suffix_facts=front_end.suffix_facts,
            build=front_end.build,
            front_end=front_end,
        )

    def _front(self, flags: tuple[str, ...], profile: DeviceProfile) -> Resolved:
        """Return what the front end's output depends on."""
        complete = (*flags, _target_flag(profile))
        return Resolved(
            build_id=f"{find_compiler().build_id()}; front end of retarget_opencl {front_end_build()}",
            flags=complete,
            not_inputs=not_inputs(complete),
            files=programs(flags),
            facts=((_LARGEST, str(profile.max_allocation)),),
            suffix_facts=((".onnx", f"onnx {onnx_version(find_compiler())}"),),
            build=self.describe_build(None),
            front_half=front_half(flags),
        )

    def run_front_end(self, request: CompileRequest) -> Compiled:
        """Run IREE alone, and return its module as bytecode."""
        return in_one_step_if_it_prints(_run_front_end, request)

    def compile(self, request: CompileRequest) -> Compiled:
        """Translate what the front end gave for a module, which runs first where it has not. Raises `CompilerError`."""
        _, is_ours, expected = request.resolved.build_id.rpartition(_BUILD)
        if (
            is_ours and expected != translation_build()
        ):  # what this process would make must not be stored as that build's
            msg = f"retarget_opencl was edited since this session began: found build {translation_build()}, "
            msg += f"expected {expected}; run it again"
            raise CompilerError(msg)
        _require_templates()
        profile = msgspec.json.decode(dict(request.resolved.facts)[_PROFILE], type=DeviceProfile)
        if request.front_end is not None:
            return _translated(request.front_end, profile)
        made = self.run_front_end(replace(request, resolved=self._front(request.resolved.flags, profile)))
        return replace(_translated(made.artifact, profile), diagnostics=made.diagnostics)

    def program_statistics(self, artifact: bytes, diagnostics: str) -> ProgramStatistics:
        """Return what an artifact's host program has."""
        del diagnostics
        from retarget_opencl.artifact.file import read_artifact

        functions = read_artifact(artifact, check_constants=False).program.functions
        dispatches = transient = 0
        for function in functions:
            numbers = {one.register: one.value for one in function.constants if isinstance(one.value, int)}
            words = [word for block in function.blocks for word in block]
            dispatches += sum(word[0] == "dispatch" for word in words)
            transient += sum(numbers.get(cast("int", word[-1]), 0) for word in words if word[0] == "allocate")
        return ProgramStatistics(dispatches=dispatches, transient=transient)

    def show(self, artifact: bytes) -> str:
        """Return profile, host program and kernels as text. Raises `RetargetError` for bytes that are no artifact."""
        from retarget_opencl.artifact.show import show_artifact

        return show_artifact(artifact)

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        """`opencl`, and the name of the profile if the config names one that ships."""
        reference = next((flag for flag in reversed(config.flags) if flag.startswith("--opencl-profile=")), "")
        words = (reference.partition("=")[2] or " ".join(config.target_from)).split()
        return ("opencl", *(word for word in words if _device_of(word) is None and not word.endswith(".toml")))

    def profile_target(self, profile: Profile) -> ProfileTarget:
        """Return the target for a profile."""
        try:
            return ProfileTarget(flags=(_target_flag(compile_profile(profile)),), parts=parts_of(profile))
        except RetargetError as error:
            raise CompilerError(str(error)) from error

    def target_parts(self, config: CompilerConfig, flags: Sequence[str]) -> Sequence[TargetPart]:
        """Return where each part of a config's target comes from; a device of this host is not asked."""
        ours, _ = split_flags(flags)
        reference = reference_of(config, ours)
        overridden = [
            TargetPart(name=one, value="", source=f"overridden by --opencl-profile={reference}")
            for one in config.target_from
            if "profile" in ours
        ]
        if (uri := _device_of(reference)) is not None:
            return (*overridden, TargetPart(name=uri, value="", source="the device, when it compiles"))
        fields = _overridden(ours).items()
        given = [TargetPart(name=f"--opencl-{name}", value=value, source="a flag") for name, value in fields]
        return (*overridden, *self.profile_target(profile_of_reference(reference)[0]).parts, *given)

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """The command that compiles a target by hand: `python3 -m retarget_opencl compile`."""
        by_flag = any(flag.startswith("--opencl-profile=") for flag in flags)
        profile = () if by_flag else tuple(f"--opencl-profile={one}" for one in target.compiler.target_from)
        command = (sys.executable, "-m", "retarget_opencl", "compile", str(target.module.path))
        return (*command, *flags, *profile, "-o", str(output))

    def suggest_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
        """Return a target config where the driver `opencl` found a device."""
        if "opencl" not in devices:
            return ()
        return (
            SuggestedTarget(
                name="opencl",
                comment="OpenCL, for the first OpenCL device of this machine; `retarget profile list` has others.",
                compiler_config="opencl",
                target_from=(f"host:{_HOST}",),
                drivers=(DRIVER,),
            ),
        )
