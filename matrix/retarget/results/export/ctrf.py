"""Results as CTRF, the Common Test Report Format: https://ctrf.io, schema in the npm package `ctrf`."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from retarget import __version__
from retarget.results.files import SessionResults, attempts_of, faulty_sessions
from retarget.results.history import seconds_of
from retarget.results.overview import state_of
from retarget.results.record import Outcome, TargetRecord

_SPECIFICATION = "0.0.0"
"""The version of the format: the only one that is published."""

_STATUS = {
    Outcome.PASSED: "passed",
    Outcome.PARTIAL: "other",
    Outcome.FLAKY: "passed",
    Outcome.INTERMITTENT: "other",
    Outcome.XFAILED: "other",
    Outcome.XPASSED: "failed",
    Outcome.FAILED: "failed",
    Outcome.ERROR: "failed",
    Outcome.BLOCKED: "skipped",
    Outcome.SKIPPED: "skipped",
    Outcome.NOT_RUN: "pending",
}
"""CTRF's names of the outcomes; `rawStatus` has our own word."""


def ctrf(sessions: Sequence[SessionResults]) -> bytes:
    """Return the report: one test per target, whose id is the UUID (version 5) of the target's. Times are milliseconds.

    Attempts before the last are `retryAttempts`, cases are `steps`. `environment.healthy` is false where a session was
    killed, or failed for more than targets.
    """
    attempts = attempts_of(sessions)
    results = [of_target[-1] for _, of_target in sorted(attempts.items())]
    tests = [_test(record, attempts[record.nodeid]) for record in results]
    counted = Counter(test["status"] for test in tests)
    starts = [session.start for session in sessions]
    ends = [session.end.ended for session in sessions if session.end] + [record.ended for record in results]
    start = min((one.started for one in starts), default=0.0)
    stop = max([start, *ends])
    summary = {
        "tests": len(tests),
        **{status: counted[status] for status in ("passed", "failed", "skipped", "pending", "other")},
        "flaky": sum(test.get("flaky", False) for test in tests),
        "suites": len({(record.file, record.suite) for record in results}),
        "start": _milliseconds(start),
        "stop": _milliseconds(stop),
        "duration": _milliseconds(stop - start),
    }
    names = sorted({one.session for one in starts})
    of_all = {
        "commit": {one.revision for one in starts},
        "osPlatform": {one.platform for one in starts},
        "shardId": {one.leg for one in starts},
    }
    environment = {
        **{name: value for name, values in of_all.items() if len(values) == 1 for value in values if value},
        "healthy": not faulty_sessions(sessions),
        "extra": {"sessions": names, "selected": sum(one.selected for one in starts)},
    }
    report = {
        "reportFormat": "CTRF",
        "specVersion": _SPECIFICATION,
        "reportId": str(_uuid(*names)),
        "timestamp": datetime.fromtimestamp(stop, UTC).isoformat().replace("+00:00", "Z"),
        "generatedBy": f"retarget {__version__}",
        "results": {
            "tool": {"name": "retarget", "version": __version__},
            "summary": summary,
            "tests": tests,
            "environment": environment,
        },
    }
    return msgspec.json.encode(report) + b"\n"


def _test(record: TargetRecord, attempts: Sequence[TargetRecord]) -> dict[str, Any]:
    earlier = [one for one in attempts if one.attempt < record.attempt]
    state = state_of(record)
    labels = {name: getattr(record, name) for name in ("compiler", "runtime", "driver", "module", "leg")}
    labels |= {"stage": state.stage or record.stage, "signature": state.signature, "blocked_by": record.blocked_by}
    digests = {"case_digest": record.case_digest}
    digests |= {"result_reused": record.reused.words} if record.reused is not None else {}
    if record.compile is not None:
        digests |= {"compile_key": record.compile.key, "artifact": record.compile.artifact}
    test: dict[str, Any] = {
        "id": str(_uuid(record.nodeid)),
        "name": record.nodeid or "?",
        "rawStatus": str(record.outcome),
        "filePath": record.file,
        "line": record.line + 1,
        "suite": [text for text in (record.file, record.suite) if text],
        "tags": list(record.tags),
        "labels": {name: text for name, text in labels.items() if text},
        "type": "run" if record.runtime else "compile",
        "threadId": record.process,
        "device": ", ".join(device.name for device in record.devices),
        "steps": [{"name": one.name, "status": _STATUS[one.outcome]} for one in record.cases],
        "extra": {name: text for name, text in digests.items() if text},
        "retryAttempts": [{"attempt": one.attempt} | _attempt(one) for one in earlier],
    }
    test = {name: value for name, value in test.items() if value} | _attempt(record)
    if earlier:
        test |= {"retries": len(earlier), "flaky": record.outcome is Outcome.FLAKY}
    return test


def _attempt(record: TargetRecord) -> dict[str, Any]:
    """Return what a test and an attempt at it have in common."""
    seconds = record.ended - record.started if record.ended > record.started else seconds_of(record)
    texts = {"message": record.reason or record.message, "trace": record.text}
    times = {"start": _milliseconds(record.started), "stop": _milliseconds(record.ended)} if record.started else {}
    return {
        "status": _STATUS[record.outcome],
        "duration": _milliseconds(seconds),
        **times,
        **{name: text for name, text in texts.items() if text},
    }


def _uuid(*names: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, "".join(f"retarget:{name}\n" for name in names))


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
