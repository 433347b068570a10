"""`target_from` of a compiler config, its profiles and its flags → the flags that the compiler gets.

As in IREE's HAL driver features: a complete target that a flag gives (`--iree-hal-target-device=#hal.device.target<…>`)
overrides profiles, and profiles override what names a target in short (`--iree-vulkan-target=…`). Anything else must
not contradict.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from retarget.extension import CompilerError, ProfileTarget, TargetPart, UnavailableError
from retarget.model import CompilerConfig, DeviceInfo, tag_error
from retarget.profiles import Profile
from retarget.support import did_you_mean

from retarget_iree.compiler.flags import CPU_FLAG, FEATURES_FLAG, TRIPLE_FLAG, flag_values, split_flag, target_words
from retarget_iree.compiler.vulkan_targets import CAPABILITIES, device_target, spirv_executable, vulkan_target
from retarget_iree.runtime.devices import HAL_DRIVERS

_DEVICE_FLAG = "iree-hal-target-device"
_LOCAL_FLAG = "iree-hal-local-target-device-backends"
_BACKENDS_FLAG = "iree-hal-target-backends"
_SELECTING = {_DEVICE_FLAG, _LOCAL_FLAG, _BACKENDS_FLAG}
_SHORT = {CPU_FLAG, FEATURES_FLAG, TRIPLE_FLAG}
_SHORT |= {f"{flag}{end}" for hal in HAL_DRIVERS.values() for flag in hal.target_flags for end in ("", "-features")}
_DEVICE_OF = {backend: hal.device for hal in HAL_DRIVERS.values() for backend in hal.backends}
_TARGET = re.compile(r'#hal\.device\.target<"(?P<device>[^"]+)", \[(?P<executable>#hal\.executable\.target<.*>)\]>')
_FORMAT = re.compile(r'#hal\.executable\.target<"[^"]*", "(?P<format>[^"]*)"')


_FORMATS = {hal.device: hal.executable_format for hal in HAL_DRIVERS.values() if hal.executable_format}
"""The executable format of a device, if there is only one. Formats for CPUs name their architecture: the compiler knows
it."""


def asks_devices(config: CompilerConfig) -> bool:
    """Return whether a config is compiled for a device of this host, which may be another one in the next session."""
    return any(reference.startswith("host:") for reference in config.target_from)


def is_pure(config: CompilerConfig) -> bool:
    """Return whether the flags are known without asking a device or the compiler."""
    return len(config.target_from) <= 1 and not asks_devices(config)


def profiles_fact(config: CompilerConfig) -> str:
    """Return the targets of a config's profiles as text: a comment in a profile's file is no part of it."""
    return " ".join(flag for reference in config.target_from for flag in _target(reference).flags)


def profile_words(config: CompilerConfig) -> tuple[str, ...]:
    """Return the tags that the profiles of a config give: the words of IREE's flags for them, and the names of the
    profiles.

    For a device of this host, those of its driver. None without profiles, and where a flag overrides them.
    """
    words: dict[str, None] = {}
    if _complete(config.flags):
        return ()
    for reference in config.target_from:
        if reference.startswith("host:"):
            hal = HAL_DRIVERS.get(reference.removeprefix("host:").partition("://")[0])
            device = "" if hal is None else hal.device
            words.update(dict.fromkeys(target_words([f"--{_DEVICE_FLAG}={device}"] if device else [])))
            continue
        with contextlib.suppress(CompilerError):  # a profile without a target is an error when it compiles
            words.update(dict.fromkeys(target_words(_target(reference).flags)))
        name = "host" if reference == "host" else Profile.find(reference).name
        if tag_error(name) is None:
            words[name] = None
    return tuple(words)


def with_profiles(
    config: CompilerConfig, flags: Sequence[str], explicit: Callable[[Sequence[str]], str] | None = None
) -> tuple[str, ...]:
    """Return `flags` with the target of the config's profiles.

    `explicit` compiles a module without code and returns its text, which names the target; it is needed for several
    profiles. Raises `CompilerError` for flags that contradict a profile, for `devices` beside it, and for profiles that
    the runtime cannot choose between; `UnavailableError` for a device that is not there; `RetargetError` for a
    profile that cannot be read.
    """
    if not config.target_from or _complete(flags):
        return tuple(flags)
    _check(config, flags)
    targets = [(reference, _target(reference)) for reference in config.target_from]
    kept = [flag for flag in flags if split_flag(flag)[0] not in _SELECTING | _SHORT]
    chosen = targets[0][1].flags if len(targets) == 1 or explicit is None else _several(targets, explicit)
    return (*chosen, *kept)


def target_parts(config: CompilerConfig, flags: Sequence[str]) -> Iterator[TargetPart]:
    """Yield the parts of the target that the profiles of a config give, and what flags and profiles override.

    A device of this host is not asked. Raises as `with_profiles` does.
    """
    complete = _complete(flags)
    if not complete:
        _check(config, flags)
    for reference in config.target_from:
        if complete:
            yield TargetPart(name=reference, value="", source=f"overridden by --{_DEVICE_FLAG}=#hal.device.…")
        elif reference.startswith("host:"):
            yield TargetPart(name=reference.removeprefix("host:"), value="", source="the device, when it compiles")
        else:
            yield from _target(reference).parts
    if config.target_from and not complete:
        for flag in flags:
            name, value = split_flag(flag)
            if name in _SHORT:
                yield TargetPart(name=name, value=value or "", source="a flag; overridden by target_from")


def _check(config: CompilerConfig, flags: Sequence[str]) -> None:
    """Raise `CompilerError` where a config's profiles contradict its flags or devices. No device is asked."""
    if config.devices:
        msg = "found both devices and target_from, expected one of them"
        raise CompilerError(msg)
    devices = {reference: _device(reference) for reference in config.target_from}
    first: dict[str, str] = {}
    for reference, device in devices.items():
        if first.setdefault(device, reference) != reference and device in _FORMATS:
            raise CompilerError(_alike(first[device], reference, _FORMATS[device]))
    for device, name, flag in _selected(flags):
        if device not in devices.values() or (device == "local" and name not in {"local", "llvm-cpu"}):
            of = ", ".join(f"{reference!r}, which is for {one}" for reference, one in devices.items())
            msg = f"{flag} contradicts target_from = {of}; remove one of them"
            raise CompilerError(msg)


def _alike(first: str, second: str, name: str) -> str:
    return (
        f"target_from: {first!r} and {second!r} are both compiled to the format {name}, and IREE's runtime chooses by "
        "format alone, so that the second would never run; expected one of them, and the other in a compiler config of "
        "its own"
    )


def _complete(flags: Sequence[str]) -> bool:
    return any("#hal.device." in value for value in flag_values(flags, _DEVICE_FLAG))


def _target(reference: str) -> ProfileTarget:
    if reference == "host":
        return HOST
    if reference.startswith("host:"):
        info = _live(reference.removeprefix("host:"))
        return profile_target(Profile.of_device(info, info.uri))
    return profile_target(Profile.find(reference))


def asked_devices(config: CompilerConfig, flags: Sequence[str]) -> tuple[DeviceInfo, ...]:
    """Return the devices of this host that a config is compiled for. Raises `UnavailableError`."""
    references = () if _complete(flags) else config.target_from
    return tuple(_live(one.removeprefix("host:")) for one in references if one.startswith("host:"))


@functools.cache
def _live(uri: str) -> DeviceInfo:
    """Return a device of this host. Raises `UnavailableError`."""
    from retarget_iree.runtime.devices import select_device
    from retarget_iree.runtime.drivers import DRIVERS

    name = uri.partition("://")[0]
    driver = next(driver for driver in DRIVERS if driver.name == name)
    info = select_device(uri, driver.probe(), driver=name)
    if not info.features:
        msg = f"the driver {name} does not report what {info.uri} ({info.name}) can do"
        raise UnavailableError(msg, hint="name a device profile in target_from")
    return info


def _device(reference: str) -> str:
    """Return the id of the device that a profile is compiled for. Raises `CompilerError` if IREE has none."""
    if reference.startswith("host:"):
        name = reference.removeprefix("host:").partition("://")[0]
        if name not in HAL_DRIVERS:
            known = ", ".join(HAL_DRIVERS)
            nearest = did_you_mean(name, HAL_DRIVERS)
            expected = f"expected a URI of one of the drivers {known}{nearest}"
            msg = f"found the device {reference!r} in target_from, {expected}"
            raise CompilerError(msg)
        return HAL_DRIVERS[name].device
    value = flag_values(_target(reference).flags, _DEVICE_FLAG)[0]
    found = re.search(r'#hal\.device\.target<"([^"]+)"', value)
    return found[1] if found is not None else value


def _selected(flags: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the device, the backend and the flag for each flag that says what to compile for."""
    for flag in flags:
        name, value = split_flag(flag)
        if name in _SELECTING:
            for word in (value or "").split(","):
                backend = re.sub(r"(\[.*|://.*)$", "", word.rpartition("=")[2])
                local = name == _LOCAL_FLAG or backend.startswith("vmvx")
                yield "local" if local else _DEVICE_OF.get(backend, backend), backend, flag


def _several(targets: Sequence[tuple[str, ProfileTarget]], explicit: Callable[[Sequence[str]], str]) -> Sequence[str]:
    """Return one device flag for the targets of several profiles, as the compiler itself writes each of them.

    Executables are not linked: IREE 3.13 links those of one backend, and the program then finds no other. The program
    takes the first executable whose format the device loads: two of one format cannot be told apart.
    """
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for reference, target in targets:
        match = _TARGET.search(explicit(target.flags))
        if match is None:
            msg = f"the compiler does not name its target for the profile {reference!r}"
            raise CompilerError(msg)
        form = _FORMAT.search(match["executable"])
        name = form["format"] if form is not None else ""
        formats = found.setdefault(match["device"], {})
        if name in formats:
            raise CompilerError(_alike(formats[name][0], reference, name))
        formats[name] = (reference, match["executable"])
    devices = [device_target(device, [text for _, text in formats.values()]) for device, formats in found.items()]
    whole = devices[0] if len(devices) == 1 else f"#hal.device.select<[{', '.join(devices)}]> : !hal.device"
    return (f"--{_DEVICE_FLAG}={DEVICE}={whole}", "--iree-hal-link-executables=false")


DEVICE = "__device_0"
"""IREE's default name of the first device in the program."""

_LLVM_CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
_CPU = (("cpu.triple", TRIPLE_FLAG), ("cpu.name", CPU_FLAG))

_CUDA_ARCHITECTURES = ((6, 0), (7, 0), (7, 2), (7, 5), (8, 0), (8, 6), (8, 7), (8, 9))
"""The compute capabilities that `--iree-cuda-target` of IREE 3.13.0 accepts; for others it finds no GPU target."""

HOST = ProfileTarget(
    flags=(*_LLVM_CPU, f"--{CPU_FLAG}=host"),
    parts=(TargetPart(name=CPU_FLAG, value="host", source="the CPU of the host, named when it compiles"),),
)
"""The target that `host` means."""


def profile_target(profile: Profile) -> ProfileTarget:
    """Return the flags for a profile, and where each part comes from.

    Raises `CompilerError` for a profile of a driver that IREE does not compile for, and for one that does not name its
    target.
    """
    hal = HAL_DRIVERS.get(profile.driver)
    if hal is None:
        msg = (
            f"{profile.label}: the compiler iree has no target for the driver {profile.driver!r}, "
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
    """Return the newest architecture that IREE knows and the device supports: newer devices run older PTX."""
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
    features = {
        one.name: f"{'+' if one.value else '-'}{one.name.removeprefix('cpu.')}"
        for one in profile.capabilities
        if one.name.startswith("cpu.") and isinstance(one.value, bool)
    }
    if features:
        value = ",".join(features.values())
        parts.append(TargetPart(name=FEATURES_FLAG, value=value, source=source_of(profile, features)))
    return ProfileTarget(flags=(*_LLVM_CPU, *(f"--{one.name}={one.value}" for one in parts)), parts=tuple(parts))


def _text(profile: Profile, name: str) -> str:
    value = profile.get(name)
    if not isinstance(value, str) or not value:
        msg = f"{profile.label}: found no {name}, which names what the compiler iree compiles for"
        raise CompilerError(msg)
    return value


def source_of(profile: Profile, names: Iterable[str]) -> str:
    """Return where the values of these capabilities come from."""
    wanted = set(names)
    sources = dict.fromkeys(one.source for one in profile.capabilities if one.name in wanted)
    if not sources:
        return "the profile does not say: what every device has"
    return f"{profile.label}: {', '.join(sources)}"
