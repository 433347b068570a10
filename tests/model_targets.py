"""Targets of the model, made without declaration files; nothing is compiled or run for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retarget.model import CompilerConfig, CompileTarget, Module, Origin, RunTarget, RuntimeConfig

__all__ = ["ORIGIN", "compile_target", "run_target"]

ORIGIN = Origin(file=Path("suite.toml"), key_path="module_test_suite[0]")


def compile_target(module: str = "m", config: str = "c", **fields: Any) -> CompileTarget:
    """A compile target of a module and a config of these names."""
    values: dict[str, Any] = {
        "name": f"{module}_{config}",
        "suite": "linalg",
        "kind": "check",
        "folder": Path(),
        "module": Module(name=module, path=Path(f"{module}.mlir")),
        "compiler": CompilerConfig(name=config, compiler="iree", origin=ORIGIN),
        "flags": (),
        "timeout": None,
        "tags": ("compile",),
    }
    return CompileTarget(**values | fields)


def run_target(compiled: CompileTarget, config: str = "r", driver: str = "local-sync", **fields: Any) -> RunTarget:
    """A run target of a compile target on a runtime config of this name."""
    tags = fields.pop("tags", ("run",))
    runtime = RuntimeConfig(name=config, driver=driver, origin=ORIGIN, **fields)
    return RunTarget(name=f"{compiled.name}_{config}", compile=compiled, runtime=runtime, timeout=None, tags=tags)
