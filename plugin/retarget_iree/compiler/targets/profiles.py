"""A device profile → the flags of IREE that compile for it, with the source of each part. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from retarget.extension import CompilerError, ProfileTarget, TargetPart
from retarget.profiles.profile import Profile
from retarget.profiles.references import profile_label

from retarget_iree.compiler.hostcpu import CPU_FLAG, FEATURES_FLAG, TRIPLE_FLAG
from retarget_iree.compiler.targets.attribute import device_target, spirv_executable
from retarget_iree.compiler.targets.vulkan import CAPABILITIES, vulkan_target
from retarget_iree.runtime.devices.hal import HAL_DRIVERS

__all__ = ["DEVICE", "HOST", "profile_target", "source_of"]

DEVICE = "__device_0"
"""The name of the device in the program, which IREE gives the first one if nobody does."""

_LLVM_CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
_CPU = (("cpu.triple", TRIPLE_FLAG), ("cpu.name", CPU_FLAG))

_CUDA_ARCHITECTURES = ((6, 0), (7, 0), (7, 2), (7, 5), (8, 0), (8, 6), (8, 7), (8, 9))
"""The compute capabilities that `--iree-cuda-target` of IREE 3.13.0 takes; of others it finds no GPU target."""

HOST = ProfileTarget(
    flags=(*_LLVM_CPU, f"--{CPU_FLAG}=host"),
    parts=(TargetPart(name=CPU_FLAG, value="host", source="the CPU of the host, named when it compiles"),),
)
"""The target that `host` means."""


def profile_target(profile: Profile) -> ProfileTarget:
    """Return the flags for a profile, and where each part comes from.

    Raises `CompilerError` for a profile of a driver that IREE does not compile for, and for one that lacks what names
    its target.
    """
    hal = HAL_DRIVERS.get(profile.driver)
    if hal is None:
        msg = (
            f"{profile_label(profile)}: the compiler iree has no target for the driver {profile.driver!r}, "
            f"expected one of {', '.join(HAL_DRIVERS)}"
        )
        raise CompilerError(msg)
    if hal.cores:
        return _llvm_cpu(profile)
    if not hal.chip:
        return _vulkan(profile)
    chip = _text(profile, hal.chip)
    value = _cuda_architecture(chip) if hal.name == "cuda" else chip.partition(":")[0]
    part = TargetPart(name=hal.target_flags[0], value=value, source=source_of(profile, (hal.chip,)))
    flags = (f"--iree-hal-target-device={hal.device}", f"--{hal.target_flags[0]}={value}")
    return ProfileTarget(flags=flags, parts=(part,))


def _cuda_architecture(capability: str) -> str:
    """Return the newest architecture that IREE knows and the device has: newer devices run older PTX."""
    numbers = [int(one) for one in capability.split(".") if one.isdecimal()]
    known = [one for one in _CUDA_ARCHITECTURES if [*one] <= numbers]
    return "sm_" + (f"{known[-1][0]}{known[-1][1]}" if known else capability.replace(".", ""))


def _vulkan(profile: Profile) -> ProfileTarget:
    target = vulkan_target(profile)
    text = device_target("vulkan", [spirv_executable(target)])
    parts = (
        TargetPart(name=name, value=value, source=source_of(profile, (f"vulkan.{one}" for one in CAPABILITIES[name])))
        for name, value in target.fields().items()
    )
    return ProfileTarget(flags=(f"--iree-hal-target-device={DEVICE}={text}",), parts=tuple(parts))


def _llvm_cpu(profile: Profile) -> ProfileTarget:
    """Name triple, CPU and features. Without the name of a CPU the features are added to those of a generic one."""
    parts = [
        TargetPart(name=flag, value=_text(profile, name), source=source_of(profile, (name,)))
        for name, flag in _CPU
        if name != "cpu.name" or profile.get(name)
    ]
    features = dict(_features(profile))
    if features:
        value = ",".join(features.values())
        parts.append(TargetPart(name=FEATURES_FLAG, value=value, source=source_of(profile, features)))
    return ProfileTarget(flags=(*_LLVM_CPU, *(f"--{one.name}={one.value}" for one in parts)), parts=tuple(parts))


def _features(profile: Profile) -> Iterator[tuple[str, str]]:
    for one in profile.capabilities:
        prefix, _, name = one.name.partition(".")
        if prefix == "cpu" and isinstance(one.value, bool):
            yield one.name, f"{'+' if one.value else '-'}{name}"


def _text(profile: Profile, name: str) -> str:
    value = profile.get(name)
    if not isinstance(value, str) or not value:
        msg = f"{profile_label(profile)}: found no {name}, which names what the compiler iree compiles for"
        raise CompilerError(msg)
    return value


def source_of(profile: Profile, names: Iterable[str]) -> str:
    """Return where the values of these capabilities come from."""
    wanted = set(names)
    sources = dict.fromkeys(one.source for one in profile.capabilities if one.name in wanted)
    if not sources:
        return "the profile does not say: what every device has"
    return f"{profile_label(profile)}: {', '.join(sources)}"
