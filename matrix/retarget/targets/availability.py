"""What the host is, and why a runtime config cannot run on it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.model import CompilerConfig, RuntimeConfig
from retarget.model.locations import SourceLocations
from retarget.support.errors import RetargetError, did_you_mean

__all__ = [
    "HOST_ARCHITECTURES",
    "HOST_SYSTEMS",
    "SYSTEM_ALIASES",
    "check_python_path",
    "host_mismatch",
    "host_platform",
    "python_path_unused",
    "unusable_build",
    "word_error",
]

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
    system = "android" if hasattr(sys, "getandroidapilevel") else sys.platform
    machine = platform.machine().lower()
    return _SAME.get(system, system), _SAME.get(machine, machine)


def host_mismatch(runtime: RuntimeConfig) -> str | None:
    """Return why `runtime` cannot run on this host, or None if its host_os and host_arch allow it."""
    system, architecture = host_platform()
    system_fits = not runtime.host_os or system in runtime.host_os
    architecture_fits = not runtime.host_arch or architecture in runtime.host_arch
    if system_fits and architecture_fits:
        return None
    wanted = " on ".join(" or ".join(words) for words in (runtime.host_os, runtime.host_arch) if words)
    return f"runtime config {runtime.name!r} needs {wanted}; this host is {system} on {architecture}"


def check_python_path(config: CompilerConfig | RuntimeConfig) -> None:
    """Raise `RetargetError` if the `env` of a config has a PYTHONPATH with an entry that does not exist.

    Python ignores such an entry, so that what is installed would be tested in place of what is meant.
    """
    for entry in dict(config.env).get("PYTHONPATH", "").split(os.pathsep):
        if entry and not Path(entry).exists():
            kind = "compiler" if isinstance(config, CompilerConfig) else "runtime"
            location = SourceLocations().location(config.origin, "env", "PYTHONPATH")
            relative = "" if Path(entry).is_absolute() else f" in {Path.cwd()}"
            msg = (
                f"{kind} config {config.name!r} ({location}): "
                f"env.PYTHONPATH names {entry}, which does not exist{relative}; "
                f"expected the folder that holds the Python packages of the {kind}'s build"
            )
            raise RetargetError(msg)


def unusable_build(config: CompilerConfig, error: Exception) -> RetargetError:
    """Return the error for a config whose PYTHONPATH names a build that is not usable: it is no reason for a skip."""
    location = SourceLocations().location(config.origin, "env", "PYTHONPATH")
    return RetargetError(f"compiler config {config.name!r} ({location}): the build of its env.PYTHONPATH: {error}")


def python_path_unused(config: CompilerConfig, build: str) -> str:
    """Return a line that says so if `build`, which names where it lies, is from no folder of a config's PYTHONPATH."""
    entries = [entry for entry in dict(config.env).get("PYTHONPATH", "").split(os.pathsep) if entry]
    if not entries or any(str(Path(entry).absolute()) in build for entry in entries):
        return ""
    return f"compiler config {config.name!r}: its PYTHONPATH does not hold the compiler; {build} compiles"


def word_error(word: str, known: Sequence[str]) -> str | None:
    """Return what is wrong with `word` as one of `HOST_SYSTEMS` or `HOST_ARCHITECTURES`, or None."""
    if word in known:
        return None
    same = _SAME.get(word.lower(), word.lower())
    hint = f"; did you mean {same!r}?" if same in known else did_you_mean(word, known)
    return f"found {word!r}, expected one of {', '.join(known)}{hint}"
