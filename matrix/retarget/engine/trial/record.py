"""The record of a target: what is declared of it, and how its trial ended."""

from __future__ import annotations

from typing import Any

from retarget.extension.registry import Registry
from retarget.model import RunTarget, Target
from retarget.results.record import TargetRecord
from retarget.targets.tags import marks

__all__ = ["declared_record"]


def declared_record(target: Target, registry: Registry, **known: Any) -> TargetRecord:
    """Return what is declared of a target, and what else is known: its node id, its file, its place there."""
    compiled = target.compile if isinstance(target, RunTarget) else target
    runtime = target.runtime if isinstance(target, RunTarget) else None
    module = compiled.module
    return TargetRecord(
        suite=compiled.suite,
        target=target.name,
        module=module.name,
        module_file="" if module.entry else str(module.path),
        compiler=compiled.compiler.name,
        runtime=runtime.name if runtime is not None else "",
        driver=runtime.driver if runtime is not None else "",
        tags=target.tags,
        marks=marks(target),
        runs_external=runtime is not None and registry.gives_no_outputs(runtime),
        **known,
    )
