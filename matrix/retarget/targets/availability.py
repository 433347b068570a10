"""The host's platform, and why a runtime config cannot run on it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Collection, Sequence

from retarget.model import RuntimeConfig
from retarget.support.errors import did_you_mean

HOST_KINDS = ("ssh", "adb", "command")
"""How hosts are reached."""

HOST_SYSTEMS = ("android", "ios", "linux", "macos", "windows")
SYSTEM_ALIASES = {"darwin": "macos"}
"""Words that declarations and selections may use for others of `HOST_SYSTEMS`."""

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


def host_platform() -> tuple[str, str]:
    """Return the host's system and architecture in the words of `host_os` and `host_arch`.

    A host that none of the words fits is named as it names itself.
    """
    return platform_words("android" if hasattr(sys, "getandroidapilevel") else sys.platform, platform.machine())


def platform_words(system: str, machine: str) -> tuple[str, str]:
    """Return in the words of `host_os` and `host_arch` what `uname -s` and `uname -m` say."""
    return _SAME.get(system.lower(), system.lower()), _SAME.get(machine.lower(), machine.lower())


def host_mismatch(runtime: RuntimeConfig, platforms: Collection[tuple[str, str]] = ()) -> str | None:
    """Return why `runtime` cannot run on this host, or None if its host_os and host_arch allow it, and where it names
    another host.

    `platforms` are those of other hosts, as `host_platform` gives them, where it is to run on one of them.
    """
    if not (runtime.host_os or runtime.host_arch):
        return None
    hosts = sorted(platforms) or [host_platform()]
    which = "this host is" if len(hosts) == 1 else "the hosts are"
    return None if runtime.host is not None else platform_mismatch(runtime, hosts, which)


def platform_mismatch(runtime: RuntimeConfig, hosts: Sequence[tuple[str, str]], which: str) -> str | None:
    """Return why `runtime` can run on none of some hosts; `which` begins the words about them."""
    for system, architecture in hosts:
        system_fits = not runtime.host_os or system in runtime.host_os
        if system_fits and (not runtime.host_arch or architecture in runtime.host_arch):
            return None
    wanted = " on ".join(" or ".join(words) for words in (runtime.host_os, runtime.host_arch) if words)
    found = ", ".join(f"{system} on {architecture}" for system, architecture in hosts)
    return f"runtime config {runtime.name!r} needs {wanted}; {which} {found}"


def word_error(word: str, known: Sequence[str]) -> str | None:
    """Return what is wrong with `word` as one of `HOST_SYSTEMS` or `HOST_ARCHITECTURES`, or None."""
    if word in known:
        return None
    same = _SAME.get(word.lower(), word.lower())
    hint = f"; did you mean {same!r}?" if same in known else did_you_mean(word, known)
    return f"found {word!r}, expected one of {', '.join(known)}{hint}"
