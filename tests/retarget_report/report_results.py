"""Results and plans as files, for tests of the page: targets by their names, without a session of pytest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from retarget.model import Observation
from retarget.results import (
    CaseRecord,
    DeviceRecord,
    Leg,
    Outcome,
    Plan,
    Result,
    ResultsWriter,
    TargetRecord,
    Waived,
    digest_of_ids,
    new_session,
)
from retarget.results.files import SessionStart
from retarget.results.record import CompileRecord, RunRecord

__all__ = ["failed", "node_id", "record", "some_records", "write_leg_plan", "write_results"]


COMMAND = "iree-compile add.mlir -o add.vmfb"


def node_id(name: str, suite: str = "linalg") -> str:
    """The id of a target."""
    return f"suites/{suite}/suite.toml::{suite}::{name}"


def record(module: str, compiler: str = "llvm-cpu", runtime: str = "", **fields: Any) -> TargetRecord:
    """A target that passed."""
    suite = fields.pop("suite", "linalg")
    name = "_".join(filter(None, (module, compiler, runtime)))
    driver = runtime and fields.pop("driver", "local-sync")
    marks = (("suite", suite), ("compiler", compiler), *((("runtime", runtime), ("driver", driver)) if runtime else ()))
    known: dict[str, Any] = {
        "nodeid": node_id(name, suite),
        "file": f"suites/{suite}/suite.toml",
        "suite": suite,
        "target": name,
        "module": module,
        "module_file": f"suites/{suite}/{module}.mlir",
        "compiler": compiler,
        "runtime": runtime,
        "driver": driver,
        "tags": ("run" if runtime else "compile", suite, compiler, *((runtime, driver) if runtime else ())),
        "marks": tuple((mark, (("name", value),)) for mark, value in marks),
        "stage": "compare" if runtime else "compile",
        "outcome": Outcome.PASSED,
        "result": Result.PASSED,
    }
    return TargetRecord(**known | fields)


def failed(module: str, compiler: str = "llvm-cpu", runtime: str = "", **fields: Any) -> TargetRecord:
    """A target that failed, at `stage` with `signature`."""
    stage, signature = fields.pop("stage", "compare"), fields.pop("signature", "values differ")
    known = {
        "outcome": Outcome.FAILED,
        "result": Result.FAILED,
        "stage": stage if stage in {"compile", "load", "compare"} else "run",
        "observation": Observation(stage=stage, signature=signature),
        "message": f"{stage}: {signature}",
        "text": f"error: {signature}",
    }
    return record(module, compiler, runtime, **known | fields)


def some_records() -> list[TargetRecord]:
    """Two suites with every outcome: `linalg` (add, matmul, conv) and `tensor` (pad)."""
    add = [
        record("add", position=0, compile=CompileRecord(key="k", seconds=1.5, build="IREE 3.13.0", artifact="a")),
        record(
            "add",
            runtime="local-sync",
            position=1,
            cases=(CaseRecord(name="first", outcome=Outcome.PASSED, seconds=0.002),),
            run=RunRecord(
                load_seconds=0.001, run_seconds=0.01, compare_seconds=0.0005, wait_seconds=0.2, notes=("GPU was lost",)
            ),
            devices=(DeviceRecord(driver="local-sync", uri="local-sync://0", name="host CPU", physical_id="cpu"),),
        ),
        record("add", compiler="vulkan-spirv", position=2),
        failed("add", "vulkan-spirv", "lavapipe", driver="vulkan", position=3, commands=(COMMAND,)),
    ]
    blocked = {
        "outcome": Outcome.BLOCKED,
        "result": Result.UNKNOWN,
        "stage": "",
        "blocked_by": node_id("matmul_llvm-cpu"),
    }
    matmul = [
        failed("matmul", stage="compile", signature="failed to legalize operation 'linalg.x'", position=4),
        record("matmul", runtime="local-sync", position=5, **blocked),
        record("matmul", compiler="vulkan-spirv", position=6),
        failed(
            "matmul", "vulkan-spirv", "lavapipe", driver="vulkan", position=7, outcome=Outcome.XFAILED, reason="known"
        ),
    ]
    unavailable = {"outcome": Outcome.SKIPPED, "unavailable": True, "stage": "", "reason": "no Vulkan device"}
    again = record("conv", runtime="local-sync", position=9, attempt=3, outcome=Outcome.FLAKY)
    before = [
        failed("conv", runtime="local-sync", position=9, attempt=number, stage="crash", signature="SIGSEGV")
        for number in (1, 2)
    ]
    conv = [
        record("conv", position=8),
        *before,
        again,
        record("conv", compiler="vulkan-spirv", position=10),
        record("conv", compiler="vulkan-spirv", runtime="lavapipe", driver="vulkan", position=11, **unavailable),
    ]
    pad = [
        record("pad", suite="tensor", position=0),
        record("pad", suite="tensor", runtime="local-sync", position=1, outcome=Outcome.INTERMITTENT),
    ]
    return [*add, *matmul, *conv, *pad]


def write_results(
    folder: Path, records: Sequence[TargetRecord], *, status: int | None = 1, selected: int | None = None, **start: Any
) -> SessionStart:
    """Write the file of a session. Without a `status` it does not come to its end."""
    ids = {one.nodeid for one in records}
    known = {"selected": len(ids) if selected is None else selected, "digest": digest_of_ids(ids), "host": "here"}
    session = replace(new_session(**known), **start)
    with ResultsWriter(folder, session) as writer:
        for one in records:
            writer.write(replace(one, session=session.session))
        if status is not None:
            writer.end(status)
    return session


def write_leg_plan(path: Path, run: Sequence[str], waived: Sequence[str] = (), build: Sequence[str] = ()) -> Plan:
    """Write a plan with one leg of each kind."""
    legs = [
        Leg(name=f"{kind}-1", kind=kind, runner="linux", ids=tuple(sorted(ids)), digest=digest_of_ids(ids))
        for kind, ids in (("build", build), ("run", run))
        if ids
    ]
    plan = Plan(
        event="pr",
        paths=("suites",),
        legs=tuple(legs),
        waived=(Waived(ids=tuple(waived), reason="no such machine yet", issue="https://example.org/7"),)
        if waived
        else (),
    )
    path.write_bytes(plan.text)
    return plan
