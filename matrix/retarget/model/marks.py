"""The keyword marks of targets, which `-m` selects by: `-m "driver(name='vulkan')"`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

Mark = tuple[str, tuple[tuple[str, str], ...]]

MARK_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("suite", ("name",)),
    ("compiler", ("name",)),
    ("backend", ("name",)),
    ("runtime", ("name",)),
    ("driver", ("name",)),
    ("platform", ("os", "arch")),
    ("device", ("name",)),
    ("toolchain", ("name",)),
)
"""Each keyword mark with the names of its arguments. `compiler` and `runtime` are the names of the configs."""

SYSTEM_ALIASES = {"darwin": "macos"}
"""Words that declarations and selections may use for others of the systems of hosts."""


def toolchain_marks(names: Iterable[str]) -> Iterable[Mark]:
    """Yield a mark for each toolchain."""
    return (("toolchain", (("name", name),)) for name in dict.fromkeys(names))


# Many targets have the same marks: they are created once.


@lru_cache(maxsize=1024)
def compile_marks(suite: str, compiler: str, backends: tuple[str, ...]) -> tuple[Mark, ...]:
    """Return the marks of a compile target but for those of its toolchain."""
    return (
        ("suite", (("name", suite),)),
        ("compiler", (("name", compiler),)),
        *(("backend", (("name", backend),)) for backend in backends),
    )


@lru_cache(maxsize=1024)
def runtime_marks(
    runtime: str,
    drivers: tuple[str, ...],
    host_os: tuple[str, ...],
    host_arch: tuple[str, ...],
    devices: tuple[str, ...],
) -> tuple[Mark, ...]:
    """Return the marks of a runtime config. One that allows several systems or architectures has a `platform` for each
    pair."""
    platforms = [
        tuple((name, word) for name, word in (("os", system), ("arch", architecture)) if word)
        for system in (*host_os, *(alias for alias, word in SYSTEM_ALIASES.items() if word in host_os)) or ("",)
        for architecture in host_arch or ("",)
    ]
    return (
        ("runtime", (("name", runtime),)),
        *(("driver", (("name", driver),)) for driver in drivers),
        *(("platform", platform) for platform in platforms if platform),
        *(("device", (("name", device),)) for device in devices),
    )
