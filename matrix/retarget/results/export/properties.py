"""The properties of a target in junit files: `retarget.compile_key`, `retarget.device`, …"""

from __future__ import annotations

from collections.abc import Iterator

from retarget.results.record import Outcome, TargetRecord


def properties(record: TargetRecord) -> Iterator[tuple[str, str]]:
    """Yield the properties of a target that was tried, for junit. Values that are empty are left out."""
    for name, value in _properties(record) if record.stage else ():
        text = f"{value:.6f}" if isinstance(value, float) else str(value)
        if text:
            yield f"retarget.{name}", text


def _properties(record: TargetRecord) -> Iterator[tuple[str, str | float]]:
    for name in ("nodeid", "suite", "module", "compiler", "runtime", "stage"):
        yield name, getattr(record, name)
    if (compiled := record.compile) is not None:
        yield "compile_key", compiled.key
        yield "compiler_build", compiled.build
        yield "reused", str(compiled.reused).lower()
        yield "compile_seconds", compiled.seconds
        yield "compiled_on", compiled.host
    if (run := record.run) is not None:
        for name in ("load_seconds", "run_seconds", "compare_seconds"):
            yield name, getattr(run, name)
        yield "ran_on", run.host
        yield from (("case.failed", name) for name in run.failed_cases)
        for device in record.devices:
            yield "device", device.name
            yield "device_id", device.physical_id
            yield "driver_version", device.driver_version
        yield from (("runtime_build", build) for build in record.runtime_builds)
    if record.reused is not None:
        yield "result_reused", record.reused.words
    if record.attempt > 1:
        yield "attempts", str(record.attempt)
    yield from ((f"case_dispatches.{case.name}", case.dispatches) for case in record.cases)
    for case in record.cases if len(record.cases) > 1 else ():
        yield f"case_outcome.{case.name}", case.outcome
        yield f"case_seconds.{case.name}", case.seconds
    if record.outcome is Outcome.INTERMITTENT:
        yield "intermittent", record.chance
