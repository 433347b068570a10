"""The vocabulary as frozen data: what is declared, what it expands to, and what became of it."""

from __future__ import annotations

from retarget.model.declared import (
    CompilerConfig,
    CompileTarget,
    Expectation,
    Module,
    ModuleOverride,
    Origin,
    RunTarget,
    RuntimeConfig,
    Suite,
    Target,
    TargetConfig,
)

__all__ = [
    "CompileTarget",
    "CompilerConfig",
    "Expectation",
    "Module",
    "ModuleOverride",
    "Origin",
    "RunTarget",
    "RuntimeConfig",
    "Suite",
    "Target",
    "TargetConfig",
]
