"""The conformance checks of drivers as results and as targets of a ladder: `driver:vulkan::fill.ranges`.

Their outcomes are kept as records of a session of their own, so that results of both are read as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.model import CheckState, DriverCheckOutcome, DriverReport, Observation, Rung, normalise
from retarget.results import (
    DeviceRecord,
    Outcome,
    Result,
    ResultsWriter,
    SessionResults,
    TargetRecord,
    digest_of_ids,
    new_session,
)

from retarget_bringup.ladder.files import Ladder
from retarget_bringup.ladder.states import DRIVER, LadderTarget

_STAGES = {CheckState.CRASHED: "crash", CheckState.TIMED_OUT: "timeout"}


def _record(one: DriverCheckOutcome, report: DriverReport) -> TargetRecord:
    """Return the outcome of a driver's check as a record."""
    is_tried = one.state not in {CheckState.NOT_APPLICABLE, CheckState.NOT_TRIED}
    # A driver that does not get as far as a check is below it; one that is not on this machine says nothing.
    is_here = is_tried or (one.state is CheckState.NOT_TRIED and one.rung > Rung.NONE)
    failed = is_here and one.state is not CheckState.PASSED
    detail = one.detail or report.reason
    outcome = (Outcome.FAILED if failed else Outcome.PASSED) if is_here else Outcome.SKIPPED
    seen = Observation(stage=_STAGES.get(one.state, "run"), signature=normalise(detail)) if failed else None
    return TargetRecord(
        nodeid=f"{DRIVER}{one.config}::{one.check}",
        target=one.check,
        driver=one.driver,
        runtime=one.config,
        rung=one.rung.word if is_here else "",
        outcome=outcome,
        result=Result.UNKNOWN if not is_here else Result.FAILED if failed else Result.PASSED,
        observation=seen,
        message=detail if failed else "",
        reason="" if is_here else detail,
        hint=report.hint,
        unavailable=not is_here and one.state is CheckState.NOT_TRIED,
        unsuitable=one.state is CheckState.NOT_APPLICABLE,
        text=one.text,
        devices=tuple(map(DeviceRecord.of, report.devices)),
        trial_digest=one.digest,
    )


def write_checks(folder: Path, reports: Iterable[DriverReport]) -> None:
    """Write the outcomes of checks into a folder of results. Raises `RetargetError` where that fails."""
    records = [_record(one, report) for report in reports for one in report.outcomes]
    start = new_session(selected=len(records), digest=digest_of_ids(one.nodeid for one in records))
    with ResultsWriter(folder, start) as writer:
        for record in records:
            writer.write(replace(record, session=start.session))
        writer.end(int(any(one.result is Result.FAILED for one in records)))


def driver_targets(sessions: Sequence[SessionResults], ladder: Ladder, configs: Collection[str]) -> list[LadderTarget]:
    """Return the checks of drivers that results have of some runtime configs, and those of drivers that only the ladder
    has. Results may have others too: those of another ladder's drivers.

    A check that the ladder has and results of other checks of its driver do not is no target any more.
    """
    found = {
        record.nodeid: record.trial_digest
        for session in sessions
        for record in session.records
        if record.nodeid.startswith(DRIVER) and record.runtime in configs
    }
    tried = {one.partition("::")[0] for one in found}
    for line in ladder.lines:
        if line.target.startswith(DRIVER) and line.target.partition("::")[0] not in tried:
            found.setdefault(line.target, line.digest)
    return [LadderTarget(id=one, digest=digest) for one, digest in sorted(found.items())]
