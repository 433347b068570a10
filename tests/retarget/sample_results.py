"""Records and sessions as a test needs them, made by hand: what they say is what is tested."""

from __future__ import annotations

from typing import Any

from retarget.model.outcomes import Observation
from retarget.results.files import SessionEnd, SessionResults, SessionStart
from retarget.results.plan import digest_of_ids
from retarget.results.record import CompileRecord, Outcome, RunRecord, TargetRecord

__all__ = ["DAY", "compiled", "failed", "passed", "session"]

DAY = 86400.0


def passed(name: str, seconds: float = 1.0, **known: Any) -> TargetRecord:
    """A run target that passed after `seconds`."""
    known = {"outcome": Outcome.PASSED, "stage": "compare", "suite": "s", "compiler": "c", "runtime": "r"} | known
    return TargetRecord(
        nodeid=name,
        target=name.rpartition("::")[2],
        run=RunRecord(load_seconds=0.0, run_seconds=seconds, compare_seconds=0.0),
        **known,
    )


def failed(name: str, signature: str = "values differ", stage: str = "compare", **known: Any) -> TargetRecord:
    """A run target that failed."""
    known = {"outcome": Outcome.FAILED, "message": f"{stage}: {signature}"} | known
    return passed(name, stage=stage, observation=Observation(stage=stage, signature=signature), **known)


def compiled(name: str, seconds: float = 1.0, **known: Any) -> TargetRecord:
    """A compile target that passed."""
    known = {"outcome": Outcome.PASSED, "stage": "compile", "suite": "s", "compiler": "c"} | known
    return TargetRecord(
        nodeid=name,
        target=name.rpartition("::")[2],
        compile=CompileRecord(key="k", seconds=seconds, artifact="a"),
        **known,
    )


def session(
    name: str,
    *records: TargetRecord,
    day: float = 0.0,
    killed: bool = False,
    status: int = 0,
    other_failures: bool = False,
    **known: Any,
) -> SessionResults:
    """A session with its records, `day` days after the first, which pytest ended with `status`."""
    started = 1_750_000_000 + day * DAY
    ids = {record.nodeid for record in records}
    start = SessionStart(
        version=1, session=name, started=started, selected=len(ids), digest=digest_of_ids(ids), **known
    )
    own = tuple(TargetRecord(**_fields(record) | {"session": name, "leg": start.leg}) for record in records)
    end = SessionEnd(session=name, ended=started + 60, status=status, records=len(own), other_failures=other_failures)
    return SessionResults(start=start, records=own, end=None if killed else end)


def _fields(record: TargetRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}
