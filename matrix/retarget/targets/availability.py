"""Why a runtime config cannot run: by what the host is, and by what its profile says of its run targets."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from retarget.model import Origin, Requirement, RunTarget, RuntimeConfig
from retarget.model.locations import SourceLocations
from retarget.profiles.files import Profile
from retarget.profiles.requirements import parse_requirement
from retarget.support.errors import RetargetError, did_you_mean
from retarget.support.text import counted
from retarget.support.toml import Problem

HOST_KINDS = ("ssh", "adb", "command")
"""How hosts are reached."""

HOST_SYSTEMS = ("android", "ios", "linux", "macos", "windows")
HOST_ARCHITECTURES = (
    "arm",
    "arm64",
    "loongarch64",
    "ppc64le",
    "riscv32",
    "riscv64",
    "s390x",
    "wasm32",
    "wasm64",
    "x86",
    "x86_64",
)

# How systems and tools name the same thing: sys.platform, platform.system(), uname -m, LLVM triples, Windows.
_SAME = {
    "darwin": "macos",
    "osx": "macos",
    "win32": "windows",
    "aarch64": "arm64",
    "aarch64_be": "arm64",
    "armv6l": "arm",
    "armv7l": "arm",
    "armv8l": "arm",
    "amd64": "x86_64",
    "x64": "x86_64",
    "x86-64": "x86_64",
    "i386": "x86",
    "i586": "x86",
    "i686": "x86",
    "rv32": "riscv32",
    "rv64": "riscv64",
}


class Platform(NamedTuple):
    """The system and the architecture of a host, in the words of `host_os` and `host_arch`."""

    system: str
    architecture: str

    @classmethod
    def here(cls, system: str = "", machine: str = "") -> Platform:
        """Return that of this host, or of what `uname -s` and `uname -m` say on another. A host that none of the words
        fits is named as it names itself."""
        system = (system or ("android" if hasattr(sys, "getandroidapilevel") else sys.platform)).lower()
        machine = (machine or platform.machine()).lower()
        return cls(_SAME.get(system, system), _SAME.get(machine, machine))

    @property
    def errors(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the words: `os` or `arch`, and why."""
        for key, word, known in (("os", self.system, HOST_SYSTEMS), ("arch", self.architecture, HOST_ARCHITECTURES)):
            if (message := word_error(word, known)) is not None:
                yield key, message


def host_mismatch(runtime: RuntimeConfig, platforms: Collection[tuple[str, str]] = ()) -> str | None:
    """Return why `runtime` cannot run on this host, or None if its host_os and host_arch allow it, and where it names
    another host.

    `platforms` are those of other hosts, where it is to run on one of them.
    """
    if not (runtime.host_os or runtime.host_arch):
        return None
    hosts = sorted(platforms) or [Platform.here()]
    which = "this host is" if len(hosts) == 1 else "the hosts are"
    return None if runtime.host is not None else runtime.mismatch(hosts, which)


def word_error(word: str, known: Sequence[str]) -> str | None:
    """Return what is wrong with `word` as one of the `known` ones, or None."""
    if word in known:
        return None
    same = _SAME.get(word.lower(), word.lower())
    hint = f"; did you mean {same!r}?" if same in known else did_you_mean(word, known)
    return f"found {word!r}, expected one of {', '.join(known)}{hint}"


_Unmet = tuple[Requirement, str]
"""A requirement, and what the profile has instead."""


def profile_mismatch(runtime: RuntimeConfig, profile: Profile) -> str | None:
    """Return why a profile cannot be that of a runtime config's device; None if it can."""
    if profile.is_of_family(runtime.drivers):
        return None
    wanted = " or ".join(map(repr, runtime.drivers))
    return f"found {profile.name!r}, a profile of the driver {profile.driver!r}, expected one of {wanted}"


class ProfileFit:
    """The requirements of run targets that the profiles of their runtime configs do not meet."""

    def __init__(self, targets: Sequence[RunTarget], profiles: Mapping[RuntimeConfig, Profile]) -> None:
        @cache
        def first(runtime: RuntimeConfig, texts: tuple[str, ...]) -> tuple[int, str] | None:
            devices = [profiles[runtime]] * max(1, len(runtime.devices))
            for index, text in enumerate(texts):
                try:
                    found = parse_requirement(text).answer(devices)
                except RetargetError as error:
                    return index, str(error)
                if found.is_unmet:  # the rest may be met
                    return index, found.reason
            return None

        self._ways: dict[tuple[str, str], list[tuple[RuntimeConfig, _Unmet | None]]] = {}
        self._by_runtime: dict[RuntimeConfig, list[_Unmet | None]] = {}
        for target in targets:
            runtime, unmet = target.runtime, None
            if runtime in profiles:
                if found := first(runtime, tuple(one.text for one in target.requires)):
                    unmet = target.requires[found[0]], found[1]
                self._by_runtime.setdefault(runtime, []).append(unmet)
            self._ways.setdefault((target.compile.suite, target.compile.name), []).append((runtime, unmet))
        self._useless = {runtime for runtime, unmet in self._by_runtime.items() if None not in unmet}

    def problems(self, locations: SourceLocations) -> Iterator[tuple[Origin, Problem]]:
        """Yield an error for each profile that meets none of its run targets, and for targets that no profile meets."""
        for runtime in self._useless:
            message = f"found a profile that meets no run target of this config: {self._unmet(runtime, locations)}"
            yield runtime.origin, Problem(("profile",), f"{message}; expected another profile, or other requirements")
        names: dict[Origin, list[str]] = {}
        reasons: dict[Origin, dict[str, None]] = {}
        for (_, name), ways in self._ways.items():
            unmet = [one for _, one in ways if one is not None]
            if len(unmet) == len(ways) and not self._useless.issuperset(runtime for runtime, _ in ways):
                origin = unmet[0][0].origin
                names.setdefault(origin, []).append(name)
                said = (f"{way[0].name}: {one[1]}" for way, one in zip(ways, unmet, strict=True))
                reasons.setdefault(origin, {}).update(dict.fromkeys(said))
        for origin, found in names.items():
            which = found[0] if len(found) == 1 else f"{found[0]} and {len(found) - 1} more"
            message = f"found no profile that meets this for {which}: {'; '.join(reasons[origin])}"
            yield origin, Problem((), f"{message}; expected a runtime config whose profile does, or exclude_targets")

    def notes(self, locations: SourceLocations) -> Iterator[str]:
        """Yield a line for each runtime config whose profile does not meet some of its run targets."""
        for runtime, unmet in self._by_runtime.items():
            if (count := sum(one is not None for one in unmet)) and runtime not in self._useless:
                which = f"{count} of {counted(len(unmet), 'run target')} of runtime config {runtime.name!r}"
                where = locations.location(runtime.origin, "profile")
                verb = "asks" if count == 1 else "ask"
                yield f"{which} ({where}) {verb} more than its profile has: {self._unmet(runtime, locations)}"

    def _unmet(self, runtime: RuntimeConfig, locations: SourceLocations) -> str:
        found = [one for one in self._by_runtime[runtime] if one is not None]
        counts = Counter((one.text, locations.location(one.origin), reason) for one, reason in found)
        return "; ".join(
            f"{counted(count, 'time')} {text} ({where}), and {reason}"
            for (text, where, reason), count in counts.most_common()
        )
