"""The record of what happened to a target, as its report carries it: see `retarget.results.record`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from retarget.extension.registry import Registry
from retarget.model import RunTarget, Target
from retarget.results.record import TargetRecord, from_plain
from retarget.targets.tags import marks

__all__ = ["EARLIER", "RECORD", "declared_record", "earlier_records", "record_of"]

RECORD = "retarget_record"
"""The attribute of a target's report that holds the record."""


EARLIER = "retarget_earlier"
"""The attribute that holds the records of the attempts that failed before, where there are any."""


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


def earlier_records(report: pytest.TestReport) -> Iterator[TargetRecord]:
    """Yield the records of the attempts before that of a report."""
    yield from (from_plain(one) if isinstance(one, dict) else one for one in getattr(report, EARLIER, ()))


def record_of(report: pytest.CollectReport | pytest.TestReport) -> TargetRecord | None:
    """Return the record that a report carries; None where it is not a target's, or says nothing yet."""
    if isinstance(plain := getattr(report, RECORD, None), dict):  # it came from a worker of xdist
        setattr(report, RECORD, from_plain(plain))
    found: TargetRecord | None = getattr(report, RECORD, None)
    return found
