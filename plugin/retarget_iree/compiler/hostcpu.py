"""The meaning of `host` on this machine, determined by the compiler itself."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence

from msgspec import Struct
from retarget.extension import CompilerError

from retarget_iree.compiler.flags import architecture, flag_value, split_flag

CPU_FLAG = "iree-llvmcpu-target-cpu"
FEATURES_FLAG = "iree-llvmcpu-target-cpu-features"
TRIPLE_FLAG = "iree-llvmcpu-target-triple"
_PROBE_FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
_TARGET = re.compile(
    r'#hal\.executable\.target<"llvm-cpu"[^{]*\{cpu = "(?P<cpu>[^"]*)", cpu_features = "(?P<features>[^"]*)"'
)

Precompile = Callable[[Sequence[str]], str]
"""Compiles a module without code with the given flags, up to where its target is known, and returns its text."""


class _Cpu(Struct, frozen=True, kw_only=True):
    cpu: str
    features: str


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
    host = _ask((*base, f"--{CPU_FLAG}=host"), precompile)
    own = _ask((*base, f"--{CPU_FLAG}={host.cpu}"), precompile)
    # The compiler puts the features a CPU has by name before those that were given; only the latter are ours to give.
    extra = host.features.removeprefix(own.features).lstrip(",")
    explicit = (f"--{CPU_FLAG}={host.cpu}", *((f"--{FEATURES_FLAG}={extra}",) if extra else ()))
    again = _ask((*base, *explicit), precompile)
    if again != host:
        msg = (
            f"the host CPU cannot be named to this compiler: `host` gives {host.cpu} {host.features!r}, "
            f"and {' '.join(explicit)} gives {again.cpu} {again.features!r}; name the CPU instead of `host`"
        )
        raise CompilerError(msg)
    kept = tuple(flag for flag in flags if split_flag(flag)[0] not in {CPU_FLAG, FEATURES_FLAG})
    return (*kept, *explicit)


def _ask(flags: Sequence[str], precompile: Precompile) -> _Cpu:
    found = _TARGET.search(precompile(flags))
    if found is None:
        msg = f"the compiler names no CPU for {' '.join(flags)}; name the CPU with --{CPU_FLAG} instead of `host`"
        raise CompilerError(msg)
    return _Cpu(cpu=found["cpu"], features=found["features"])
