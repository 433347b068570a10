"""Why a runtime config cannot run on a host, or have a profile."""

from __future__ import annotations

import platform
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from retarget.model import RuntimeConfig
from retarget.profiles.files import Profile
from retarget.support.errors import did_you_mean

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


def profile_mismatch(runtime: RuntimeConfig, profile: Profile) -> str | None:
    """Return why a profile cannot be that of a runtime config's device; None if it can."""
    if profile.is_of_family(runtime.drivers):
        return None
    wanted = " or ".join(map(repr, runtime.drivers))
    return f"found {profile.name!r}, a profile of the driver {profile.driver!r}, expected one of {wanted}"
