"""Targets, records and sessions for ladders, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.model import CompileTarget, Expectation, Observation, Rung, Suite
from retarget.results import Outcome, Result, SessionResults, TargetRecord
from retarget.results.files import SessionEnd, SessionStart
from retarget.results.record import CompileRecord
from retarget.session import DeclaredTarget
from retarget_bringup.ladder.files import Ladder, Line
from retarget_bringup.ladder.states import LadderTarget

__all__ = ["DIGEST", "HOME", "compiles", "fails", "id_of", "ladder", "passes", "record", "rule", "session", "target"]

DIGEST = "0123456789ab"
HOME = "s/suite.toml::s"
_SUITE = Suite(name="s", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)


def id_of(module: str) -> str:
    """The id of the run target of a module."""
    return f"{HOME}::{module}_c_r"


def target(module: str = "m", digest: str = DIGEST, *, runs: bool = True, **fields: Any) -> LadderTarget:
    """The run target of a module, or its compile target."""
    compiled: CompileTarget = compile_target(module, suite="s")
    made = run_target(compiled) if runs else compiled
    declared = DeclaredTarget(suite_id=HOME, suite=_SUITE, target=made)
    return LadderTarget(id=declared.id, digest=digest, declared=declared, **fields)


def record(module: str = "m", **fields: Any) -> TargetRecord:
    """A record of the run target of a module."""
    values = {
        "nodeid": id_of(module),
        "suite": "s",
        "target": f"{module}_c_r",
        "module": module,
        "compiler": "c",
        "runtime": "r",
        "trial_digest": f"{DIGEST}ffff",
        "compile": CompileRecord(key="k"),
    }
    return TargetRecord(**values | fields)


def passes(module: str = "m", **fields: Any) -> TargetRecord:
    """It matches."""
    values = {"outcome": Outcome.PASSED, "result": Result.PASSED, "stage": "compare", "rung": "matches"}
    return record(module, **values | fields)


def fails(module: str = "m", stage: str = "run", signature: str = "no", **fields: Any) -> TargetRecord:
    """It fails at a stage."""
    seen = Observation(stage=stage, signature=signature)
    rung = {"load": "compiles", "run": "loads", "compare": "completes"}.get(stage, "")
    values = {"outcome": Outcome.FAILED, "result": Result.FAILED, "stage": stage, "observation": seen, "rung": rung}
    return record(module, **values | fields)


def compiles(module: str = "m", *, failed: bool = False) -> TargetRecord:
    """The record of the compile target of a module."""
    made = fails(module, "compile", "op is illegal") if failed else passes(module, stage="compile", rung="compiles")
    return replace(made, nodeid=f"{HOME}::{module}_c", target=f"{module}_c", runtime="")


def session(*records: TargetRecord, at: float = 1.0, name: str = "") -> SessionResults:
    """A session with some records."""
    start = SessionStart(version=1, session=name or f"s{at}", started=at, selected=len(records), digest="")
    end = SessionEnd(session=start.session, ended=at, status=0, records=len(records))
    return SessionResults(start=start, records=records, end=end)


def ladder(**lines: str | tuple[str, str]) -> Ladder:
    """A ladder with a rung for each module, or a rung and a digest."""
    found = []
    for number, (module, said) in enumerate(sorted(lines.items()), 2):
        word, digest = (said, DIGEST) if isinstance(said, str) else said
        found.append(Line(target=id_of(module), rung=Rung[word.upper()], digest=digest, number=number))
    return Ladder(file=Path("bringup/x.ladder"), lines=tuple(found))


def rule(*stages: str, **fields: Any) -> Expectation:
    """A rule for module `m`."""
    values = {"match": ("m",), "stages": stages, "reason": "why", "origin": ORIGIN}
    return Expectation(**values | fields)
