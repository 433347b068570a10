"""Made-up states of targets: what the status is made of, without a compiler, a device or a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model_targets import ORIGIN, compile_target, run_target
from retarget.model import Observation, Rung, Suite
from retarget.results import Outcome, Result, TargetRecord
from retarget.results.record import CompileRecord
from retarget.session import DeclaredTarget
from retarget_bringup.ladder.files import Line
from retarget_bringup.ladder.states import LadderTarget, TargetState

__all__ = ["failed", "matches", "node_id", "not_compiled", "state"]

DIGEST = "0123456789ab"
_SUITE = Suite(name="ops", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)


def node_id(name: str) -> str:
    """The id of a target of the one suite."""
    return f"suites/suite.toml::ops::{name}"


def _record(module: str, runtime: str = "gpu", **fields: Any) -> TargetRecord:
    name = f"{module}_gpu_{runtime}" if runtime else f"{module}_gpu"
    known: dict[str, Any] = {
        "nodeid": node_id(name),
        "file": "suites/suite.toml",
        "suite": "ops",
        "target": name,
        "module": module,
        "module_file": f"suites/{module}.mlir",
        "compiler": "gpu",
        "runtime": runtime,
        "compile": CompileRecord(key="k", seconds=float(len(module))),
    }
    return TargetRecord(**known | fields)


def _failure(stage: str, signature: str, **fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "stage": stage if stage in {"compile", "load", "compare"} else "run",
        "outcome": Outcome.FAILED,
        "result": Result.FAILED,
        "observation": Observation(stage=stage, signature=signature),
        "message": f"{stage}: error: {signature}",
        "text": f"{stage}: error: {signature}\n\nx.mlir:3:1: error: {signature}\n  %0 = foo\n  ^\nnote\nmore",
    }
    return known | fields


def state(module: str, rung: Rung | None, *, was: Rung | None = None, **fields: Any) -> TargetState:
    """A target at a rung. The ladder has the rung `was`, by default the same; a reason goes with no rung."""
    target = node_id(f"{module}_gpu_gpu")
    before = was if was is not None else rung
    line = Line(target=target, rung=before, digest=DIGEST) if before is not None else None
    declared = DeclaredTarget(
        suite_id="suites/suite.toml::ops", suite=_SUITE, target=run_target(compile_target(module))
    )
    known = {"target": LadderTarget(id=target, digest=DIGEST, declared=declared), "line": line, "rung": rung}
    return TargetState(**known | fields)


def matches(module: str, rung: Rung = Rung.MATCHES, **fields: Any) -> TargetState:
    """A target that passed."""
    record = _record(module, outcome=Outcome.PASSED, result=Result.PASSED, stage="compare")
    return state(module, rung, **{"record": record} | fields)


def failed(module: str, rung: Rung, stage: str, signature: str, **fields: Any) -> TargetState:
    """A target that failed on its own."""
    of_record = {name: fields.pop(name) for name in ("reason", "outcome") if name in fields}
    return state(module, rung, record=_record(module, **_failure(stage, signature, **of_record)), **fields)


def not_compiled(module: str, signature: str, **fields: Any) -> TargetState:
    """A run target whose compile target failed."""
    compiled = _record(module, "", **_failure("compile", signature))
    blocked = _record(module, outcome=Outcome.BLOCKED, blocked_by=compiled.nodeid, reason="it does not compile")
    return state(module, Rung.NONE, record=blocked, compiled=compiled, **fields)
