"""What `host` means on this machine, as a digest."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

__all__ = ["host_identity"]

_FIELDS = frozenset(
    {
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "flags",
        "features",
        "cpu implementer",
        "cpu architecture",
        "cpu variant",
        "cpu part",
        "cpu revision",
        "isa",
        "uarch",
        "mvendorid",
        "marchid",
        "mimpid",
        "cpu",
        "revision",
        "platform",
    }
)
"""The lines of Linux's /proc/cpuinfo that distinguish kinds of cores (x86, Arm, RISC-V, POWER)."""


def host_identity(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return a SHA-256 hex that differs wherever a compiler may take the host CPU for another.

    Where the system has no `/proc/cpuinfo`, machine, processor, system and release replace it.
    """
    facts = [platform.system(), platform.machine()]
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        facts += [platform.processor(), platform.release(), platform.node()]
    else:
        fields = (line.partition(":") for line in text.splitlines())
        named = ((name.strip().lower(), value.strip()) for name, _, value in fields)
        facts += sorted({f"{name}={value}" for name, value in named if name in _FIELDS})
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()
