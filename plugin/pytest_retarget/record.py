"""The record of what happened to a target, as its report carries it: see `retarget.results.record`; and that something
other than a target failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import convert
from msgspec.structs import replace
from retarget.results import Outcome, TargetRecord
from retarget.support import first_line

RECORD = "retarget_record"
"""The attribute of a target's report that holds the record."""

EARLIER = "retarget_earlier"
"""The attribute that holds the records of the attempts that failed before, where there are any."""


def earlier_records(report: pytest.TestReport) -> Iterator[TargetRecord]:
    """Yield the records of the attempts before that of a report."""
    yield from (convert(one, TargetRecord) if isinstance(one, dict) else one for one in getattr(report, EARLIER, ()))


def record_of(report: pytest.CollectReport | pytest.TestReport) -> TargetRecord | None:
    """Return the record that a report carries; None where it is not a target's, or says nothing yet."""
    if isinstance(plain := getattr(report, RECORD, None), dict):  # it came from a worker of xdist
        setattr(report, RECORD, convert(plain, TargetRecord))
    found: TargetRecord | None = getattr(report, RECORD, None)
    # Another plugin made it a failure. "not run" is one already: of a required target, the report of it fails.
    if found is not None and report.failed and not (found.outcome.is_bad or found.outcome is Outcome.NOT_RUN):
        outcome = Outcome.FAILED if report.when == "call" else Outcome.ERROR
        found = replace(found, outcome=outcome, message=first_line(str(report.longrepr)))
        setattr(report, RECORD, found)
    return found


OTHER_FAILURES = pytest.StashKey[bool]()
"""Set where something other than a target failed."""


def fail_session(session: pytest.Session, status: pytest.ExitCode = pytest.ExitCode.TESTS_FAILED) -> None:
    """Let a session fail, with `status` if nothing else has failed, for something that is no result of a target."""
    session.config.stash[OTHER_FAILURES] = True
    session.exitstatus = session.exitstatus or status
