"""Declared targets and a `ci.toml`, made without files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from model_targets import ORIGIN, run_target
from msgspec.structs import replace
from retarget.model import CompilerConfig, CompileTarget, Module, RunTarget, Suite, Target
from retarget.session import Declared, DeclaredTarget, Registry, load_extensions
from retarget_ci.files import CiConfig, EventTable, RunnerTable, WaiverTable

__all__ = ["CPU", "HOST", "VULKAN", "ci", "declared", "ids", "registry", "runner", "waiver"]

CPU = CompilerConfig(name="cpu", compiler="iree", origin=ORIGIN)
HOST = CompilerConfig(name="host", compiler="iree", flags=("--iree-llvmcpu-target-cpu=host",), origin=ORIGIN)
VULKAN = CompilerConfig(name="vulkan", compiler="iree", origin=ORIGIN)

SUITE = Suite(name="s", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)
_HOME = "s/suite.toml::s"


def registry() -> Registry:
    """The extensions that are installed."""
    return load_extensions(())


def lists(fields: dict[str, Any]) -> dict[str, Any]:
    """Values as a file has them."""
    return {name: [*value] if isinstance(value, tuple) else value for name, value in fields.items()}


def runner(name: str, **fields: Any) -> RunnerTable:
    return RunnerTable(name=name, labels=[name], **lists(fields))


def ci(*runners: RunnerTable, waivers: Sequence[WaiverTable] = (), **event: Any) -> tuple[CiConfig, EventTable]:
    """A `ci.toml` with one event, `pr`."""
    found = EventTable(**lists({"name": "pr", "on": ("push",), "budget": "60 s"} | event))
    config = CiConfig.model_construct(
        file=Path("ci.toml").absolute(),
        paths=["s"],
        labels=[one.name for one in runners],
        runners=[*runners],
        events=[found],
        waivers=[*waivers],
    )
    return config, found


def waiver(select: str, until: date) -> WaiverTable:
    return WaiverTable(select=select, reason="no machine", until=until)


def declared(
    known: Registry, modules: Iterable[str], runs: Sequence[tuple[CompilerConfig, Sequence[str]]], **fields: Any
) -> Declared:
    """For each module and compiler config a compile target, and a run target for each driver."""
    found: list[Target] = []
    for name in modules:
        for config, drivers in runs:
            compiled = CompileTarget(
                **{
                    "name": f"{name}_{config.name}",
                    "suite": "s",
                    "kind": "check",
                    "folder": Path(),
                    "module": Module(name=name, path=Path(f"{name}.mlir")),
                    "compiler": config,
                    "flags": config.flags,
                    "timeout": None,
                    "tags": ("compile", config.name),
                }
                | fields
            )
            found.append(compiled)
            found += [_run(compiled, driver) for driver in drivers]
    return Declared(
        registry=known, targets=[DeclaredTarget(suite_id=_HOME, suite=SUITE, target=target) for target in found]
    )


def _run(compiled: CompileTarget, driver: str) -> RunTarget:
    tags = ("run", compiled.compiler.name, driver)
    return replace(run_target(compiled, driver, driver, tags=tags), name=f"{compiled.name}_{driver}")


def ids(*names: str) -> tuple[str, ...]:
    return tuple(sorted(f"{_HOME}::{name}" for name in names))
