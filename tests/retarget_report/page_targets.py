"""Targets and sessions for tests of the page."""

from __future__ import annotations

from typing import Any

from retarget.model import Observation
from retarget.results import Outcome, SessionResults, TargetRecord
from retarget.results.files import SessionStart
from retarget_report.read import Target, state_of

__all__ = ["SUITE", "nodeid_of", "record", "session", "target"]

SUITE = "suites/s/suite.toml"


def nodeid_of(name: str) -> str:
    return f"{SUITE}::s::{name}"


def record(
    name: str, outcome: Outcome = Outcome.FAILED, stage: str = "", signature: str = "", **fields: Any
) -> TargetRecord:
    """The record of `module_compiler` or `module_compiler_runtime`; it failed at `stage` with `signature`."""
    module, _, configs = name.partition("_")
    compiler, _, runtime = configs.partition("_")
    if stage:
        fields["observation"] = Observation(stage=stage, signature=signature, **fields.pop("ways", {}))
    names = {"file": SUITE, "suite": "s", "module": module, "compiler": compiler, "runtime": runtime}
    return TargetRecord(nodeid=nodeid_of(name), outcome=outcome, **names, **fields)


def target(name: str, outcome: Outcome = Outcome.FAILED, stage: str = "", signature: str = "", **fields: Any) -> Target:
    """The target with such a record."""
    one = record(name, outcome, stage, signature, **fields)
    names = {"suite_file": SUITE, "suite": "s", "module": one.module, "compiler": one.compiler, "runtime": one.runtime}
    return Target(id=one.nodeid, state=state_of(one), attempts=(one,), **names)


def session(*records: TargetRecord, started: float = 0.0, **fields: Any) -> SessionResults:
    """A session with these records."""
    start = SessionStart(
        version=1,
        session=fields.pop("session", "0123456789abcdef"),
        started=started,
        selected=len(records),
        digest="",
        **fields,
    )
    return SessionResults(start=start, records=records)
