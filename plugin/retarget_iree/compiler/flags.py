"""Compiler flags as text: the device flags, those that name files to read, the words that select a target; and the
meaning of `host` on this machine, which the compiler itself determines.

Pure but for asking whether a named file exists, and what the machine is.

A program takes, for each of its devices, the first device of the runtime that fits, or with an ordinal the n-th that
fits: `local[1]`, `#hal.device.target<"local", {ordinal = 1 : index}, …>`.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from retarget.extension import CompilerError
from retarget.model import CompilerConfig
from retarget.support import did_you_mean

from retarget_iree.builds import LINKERS
from retarget_iree.runtime.devices import HAL_DRIVERS

PHASE_FLAG = "compile-to"
"""The tool's flag that ends a compile at a phase and makes its artifact the text of the program there."""

LAST_PHASE = "end"
"""The phase that is the whole pipeline; its artifact is none of text."""

_CHIP_FLAGS = (*(flag for hal in HAL_DRIVERS.values() for flag in hal.target_flags), "iree-metal-target")
_OF_CHIPS = "|".join(flag.split("-")[1] for flag in _CHIP_FLAGS)
_TARGET_FLAG = re.compile(rf"iree-(?:hal|codegen|llvmcpu|vmvx|llvmgpu|gpu|spirv|webgpu|{_OF_CHIPS})-")
"""Flags that nothing reads before devices are assigned, which IREE does after its phase `abi`."""

_OUTPUT_FLAG = re.compile(
    r"(?:-dump-.*|-to|-output(?:-file|-path)?|-o|save-temps.*|print-.*-(?:file|dir)|stack-usage-file|write-config-file"
    r"|dot-file.*|dot-cfg-dir|crash-.*|parameter-(?:export|splat)|(?:export|splat)-parameters)$"
)
_WORD_FLAG = re.compile(
    r"iree-hal-target-(?:device|backends)|iree-hal-local-target-device-backends|iree-input-type|iree-opt-level"
    rf"|compile-(?:to|from)|iree-llvmcpu-target-.*|iree-(?:{_OF_CHIPS})-target.*"
)
_INPUT_FLAG = re.compile(r"(?:spec-path|spec-filename|transform-dialect-library|func-ops-file-name)$")
_COMMAND_FLAG = re.compile(r"-linker-path$|-preprocess-executables-with$")
_DEVICE_WORDS = {
    word: (hal.device, *hal.backends[:1])
    for hal in HAL_DRIVERS.values()
    if not hal.cores
    for word in (hal.device, *hal.backends[:1])
} | {
    "amdgpu": ("amdgpu", "rocm"),
    "metal": ("metal", "metal-spirv"),
    "metal-spirv": ("metal", "metal-spirv"),
    "webgpu": ("webgpu",),
    "webgpu-spirv": ("webgpu",),
    "llvm-cpu": ("llvm-cpu",),
    "vmvx": ("vmvx",),
    "vmvx-inline": ("vmvx",),
}
_ARCHITECTURES = {"aarch64": "arm64", "arm64": "arm64", "x86_64": "x86_64", "amd64": "x86_64", "i686": "x86"}
_SYSTEMS = ("android", "linux", "ios", "macos", "windows", "wasi", "tvos", "watchos")


def split_flag(flag: str) -> tuple[str, str | None]:
    """Split `--name=value` into name and value; the value is None where there is no `=`."""
    name, separator, value = flag.lstrip("-").partition("=")
    return name, value if separator else None


def flag_values(flags: Iterable[str], name: str) -> list[str]:
    """Return every value that `flags` give to `name`, in order."""
    return [value for found, value in map(split_flag, flags) if found == name and value is not None]


def flag_value(flags: Iterable[str], name: str) -> str:
    """Return the value given last, which is the one that counts; the empty string where there is none."""
    values = flag_values(flags, name)
    return values[-1] if values else ""


def with_devices(config: CompilerConfig, flags: Sequence[str]) -> tuple[str, ...]:
    """Return `flags` with one `--iree-hal-target-device=name=specification` per named device of the config before them,
    unless they are there already."""
    devices = tuple(f"--iree-hal-target-device={name}={full_specification(one)}" for name, one in config.devices)
    return tuple(flags) if tuple(flags[: len(devices)]) == devices else (*devices, *flags)


def with_one_phase(flags: Sequence[str]) -> tuple[str, ...]:
    """Return `flags` with the last of several phases alone: a module's phase replaces the suite's.

    The tool itself refuses a phase that is given twice.
    """
    last = max((at for at, flag in enumerate(flags) if _names_phase(flag)), default=-1)
    return tuple(flag for at, flag in enumerate(flags) if at == last or not _names_phase(flag))


def without_phase(flags: Sequence[str]) -> tuple[str, ...]:
    """Return `flags` without the phase to compile to."""
    return tuple(flag for flag in flags if not _names_phase(flag))


def phase_of(flags: Sequence[str]) -> str:
    """Return the phase whose text `flags` request; the empty string where they request a whole compile."""
    phase = flag_value(flags, PHASE_FLAG)
    return "" if phase == LAST_PHASE else phase


def _names_phase(flag: str) -> bool:
    return split_flag(flag)[0] == PHASE_FLAG and flag.startswith("-")


def front_flags(flags: Iterable[str]) -> tuple[str, ...] | None:
    """Return those of `flags` that can change a program before devices are assigned; None where they name a phase."""
    kept = tuple(flag for flag in flags if not _TARGET_FLAG.match(split_flag(flag)[0]))
    return None if any(map(_names_phase, kept)) else kept


def not_inputs(flags: Iterable[str]) -> tuple[str, ...]:
    """Return those of `flags` that name no file to read: they name a file to write, or take words only.

    A folder `local` beside the suites is nothing that `--iree-hal-target-device=local` reads.
    """
    return tuple(
        flag
        for flag, (name, _) in ((flag, split_flag(flag)) for flag in flags)
        if _OUTPUT_FLAG.search(name) or _WORD_FLAG.fullmatch(name)
    )


def programs(flags: Sequence[str]) -> tuple[Path, ...]:
    """Return the names of programs that a compile finds on PATH: those of commands that flags name, and the linkers of
    the system where these are to link."""
    words = [
        word for name, value in map(split_flag, flags) if _COMMAND_FLAG.search(name) for word in (value or "").split()
    ]
    links = flag_value(flags, "iree-llvmcpu-link-embedded").lower() in {"false", "0"}
    return tuple(Path(word) for word in (*words, *(LINKERS if links else ())) if "/" not in word)


def missing_files(flags: Iterable[str]) -> tuple[str, ...]:
    """Return the flags that name a file to read which is not there."""
    return tuple(
        flag
        for flag, (name, value) in ((flag, split_flag(flag)) for flag in flags)
        if value and _INPUT_FLAG.search(name) and not _names_file(value)
    )


def _names_file(value: str) -> bool:
    """Whether a value is an existing file, also with a leading `@` or a trailing `@entry`."""
    for candidate in (value, value.removeprefix("@"), value.rpartition("@")[0]):
        try:
            if candidate and Path(candidate).is_file():
                return True
        except (OSError, ValueError):  # a value that is no path: too long a name, say
            continue
    return False


def target_words(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the words that say what `flags` compile for, each once.

    Backends first (`llvm-cpu`, `vulkan`), then architecture and system of the target triple (`arm64`, `android`), then
    the chips that are named (`adreno`, `gfx942`).
    """
    words: dict[str, None] = {}
    for backend in _backends(flags):
        words.update(dict.fromkeys(_DEVICE_WORDS.get(backend, (backend,))))
    words.update(dict.fromkeys(_triple_words(flag_value(flags, "iree-llvmcpu-target-triple"))))
    platform = flag_value(flags, "iree-metal-target-platform")
    if platform:
        words[platform.lower()] = None
    for flag in _CHIP_FLAGS:
        value = flag_value(flags, flag)
        if re.fullmatch(r"[A-Za-z0-9][\w.+-]*", value):
            words[value] = None
    return tuple(words)


def architecture(name: str) -> str:
    """Return this project's word for an architecture, as `arm64` for `aarch64`; unknown ones as they are."""
    return _ARCHITECTURES.get(name.lower(), name.lower())


def _backends(flags: Sequence[str]) -> list[str]:
    backends: list[str] = []
    for value in flag_values(flags, "iree-hal-target-device"):
        if "#hal." in value:  # a complete target
            backends += re.findall(r'#hal\.executable\.target<"([\w.-]+)"', value)
            continue
        for specification in value.split(","):
            scheme = re.sub(r"\[.*$", "", specification.rpartition("=")[2]).partition("://")[0].strip()
            if scheme == "local":
                named = flag_values(flags, "iree-hal-local-target-device-backends")
                backends += [name for names in named for name in names.split(",") if name] or ["llvm-cpu"]
            elif re.fullmatch(r"[\w.-]+", scheme):
                backends.append(scheme)
    for value in flag_values(flags, "iree-hal-target-backends"):
        backends += [name for name in value.split(",") if name]
    return backends


def _triple_words(triple: str) -> list[str]:
    parts = triple.lower().split("-")
    if parts == [""]:
        return []
    words = [architecture(parts[0])]
    rest = "-".join(parts[1:])
    if "android" in rest:
        words.append("android")
    elif "darwin" in rest:
        words.append("macos")
    else:
        words += [system for system in _SYSTEMS if system in rest][:1]
    return words


_FALLBACK = re.compile(r"#hal\.device\.fallback<@\"?(?P<name>[^>\"]*)\"?>(?:\s*:\s*!hal\.device)?")
_NAME = re.compile(r"\w+", re.ASCII)
"""IREE takes anything else before `=` for a part of the value."""

_ORDINAL = re.compile(r"\[\s*(\d{1,9})\s*\]|\bordinal\s*=\s*(\d{1,9})\b")


def full_specification(specification: str) -> str:
    """Return a specification whose fallbacks have their type, without which the compiler does not parse them."""
    return _FALLBACK.sub(lambda match: f"#hal.device.fallback<@{match['name']}> : !hal.device", specification)


def device_order(devices: Mapping[str, str]) -> Mapping[str, bool]:
    """Return the names, those of lower ordinals first, each with whether the program needs such a device."""
    ordered = sorted(devices, key=lambda name: _ordinal(devices[name]))
    return {name: not _fallbacks(devices[name]) for name in ordered}


def device_problems(devices: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return (name, what is wrong) for names and values that the compiler takes for something else; for fallbacks to no
    device, and once for each cycle: the compiler crashes on the former and never ends on the latter."""
    problems: list[tuple[str, str]] = []
    cyclic: set[str] = set()
    for name, specification in devices.items():
        if _NAME.fullmatch(name) is None:
            problems.append(
                (name, f"found the name {name!r}, expected ASCII letters, digits and _, such as 'device_a'")
            )
        if not specification.strip():
            problems.append((name, "found an empty text, expected what to compile for, such as 'vulkan'"))
        for other in _fallbacks(specification):
            if other not in devices:
                message = f"found a fallback to {other!r}, expected one of {', '.join(map(repr, devices))}"
                problems.append((name, message + did_you_mean(other, devices)))
        cycle = () if name in cyclic else _cycle(name, devices, (name,))
        if cycle:
            cyclic.update(cycle)
            message = f"found a cycle of fallbacks: {' → '.join(cycle)}; expected a chain that ends in a device"
            problems.append((name, message))
    return problems


def _cycle(name: str, devices: Mapping[str, str], chain: Sequence[str]) -> Sequence[str]:
    """Return the chain of fallbacks that leads back to its first name; empty where none does."""
    for other in _fallbacks(devices.get(name, "")):
        if other == chain[0]:
            return (*chain, other)
        if other not in chain and (found := _cycle(other, devices, (*chain, other))):
            return found
    return ()


def _fallbacks(specification: str) -> Sequence[str]:
    return [match["name"] for match in _FALLBACK.finditer(specification)]


def _ordinal(specification: str) -> int:
    found = _ORDINAL.search(specification)
    return int(found[1] or found[2]) if found else 0


CPU_FLAG = "iree-llvmcpu-target-cpu"
FEATURES_FLAG = "iree-llvmcpu-target-cpu-features"
TRIPLE_FLAG = "iree-llvmcpu-target-triple"
_PROBE_FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
_TARGET = re.compile(
    r'#hal\.executable\.target<"llvm-cpu"[^{]*\{cpu = "(?P<cpu>[^"]*)", cpu_features = "(?P<features>[^"]*)"'
)

Precompile = Callable[[Sequence[str]], str]
"""Compiles a module without code with the given flags, up to where its target is known, and returns its text."""


def explicit_host(flags: Sequence[str], precompile: Precompile) -> tuple[str, ...]:
    """Return `flags` with `host` replaced by this machine's CPU and features.

    The explicit flags give the compiler the very target attribute that `host` gives it; this is verified. Flags without
    `host` come back as they are. Raises `CompilerError` where `host` is mixed with explicit features, or means a
    target of another architecture.
    """
    cpu, features = flag_value(flags, CPU_FLAG), flag_value(flags, FEATURES_FLAG)
    if "host" not in {cpu, features}:
        return tuple(flags)
    if {cpu, features} - {"host", ""}:
        msg = (
            f"--{CPU_FLAG}={cpu} with --{FEATURES_FLAG}={features}: `host` means a CPU and all its features; "
            "expected both to be `host`, or one of them alone; name the CPU to choose its features"
        )
        raise CompilerError(msg, verdict=True)
    triple = flag_value(flags, TRIPLE_FLAG)
    if triple and architecture(triple.partition("-")[0]) != architecture(platform.machine()):
        msg = (
            f"--{TRIPLE_FLAG}={triple} is for another architecture than this machine's ({platform.machine()}), "
            "so `host` cannot name its CPU; expected the name of a CPU of that architecture, or `generic`"
        )
        raise CompilerError(msg)
    base = (*_PROBE_FLAGS, *((f"--{TRIPLE_FLAG}={triple}",) if triple else ()))
    host, all_features = wanted = _ask((*base, f"--{CPU_FLAG}=host"), precompile)
    _, own = _ask((*base, f"--{CPU_FLAG}={host}"), precompile)
    # The compiler puts the features a CPU has by name before those that were given; only the latter are ours to give.
    extra = all_features.removeprefix(own).lstrip(",")
    explicit = (f"--{CPU_FLAG}={host}", *((f"--{FEATURES_FLAG}={extra}",) if extra else ()))
    found = _ask((*base, *explicit), precompile)
    if found != wanted:
        msg = (
            f"the host CPU cannot be named to this compiler: `host` gives {host} {all_features!r}, "
            f"and {' '.join(explicit)} gives {found[0]} {found[1]!r}; name the CPU instead of `host`"
        )
        raise CompilerError(msg)
    kept = tuple(flag for flag in flags if split_flag(flag)[0] not in {CPU_FLAG, FEATURES_FLAG})
    return (*kept, *explicit)


def _ask(flags: Sequence[str], precompile: Precompile) -> tuple[str, str]:
    """Return the CPU and its features."""
    found = _TARGET.search(precompile(flags))
    if found is None:
        msg = f"the compiler names no CPU for {' '.join(flags)}; name the CPU with --{CPU_FLAG} instead of `host`"
        raise CompilerError(msg)
    return found["cpu"], found["features"]
