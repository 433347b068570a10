"""Results in the formats of other tools.

A junit file, as pytest's `--junitxml` writes it (family xunit2), with the properties of each target.

CTRF, the Common Test Report Format: https://ctrf.io, schema in the npm package `ctrf`.

Chrome's trace events, which Perfetto (https://ui.perfetto.dev) opens: a timeline of workers and devices. Format: "Trace
Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

from __future__ import annotations

import heapq
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from msgspec import Struct, field

from retarget import __version__
from retarget.results.files import Attribution, SessionResults, Sessions
from retarget.results.history import seconds_of
from retarget.results.overview import State
from retarget.results.record import Outcome, Result, TargetRecord
from retarget.support.text import strip_colour

_INVALID = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 forbids, and DEL: https://www.w3.org/TR/xml/#charsets."""

_LONGEST = 500
"""Characters of a message in an attribute; the element has all of it."""


def junit(sessions: Sequence[SessionResults]) -> bytes:
    """Return the file: one testsuite, a testcase per target, and one with an error for each session that is not whole
    or failed for more than targets. Control characters are written as `#x1B`."""
    together = Sessions(sessions)
    results = together.results
    cases: list[bytes] = []
    kinds: Counter[str] = Counter()
    said = {(one.session, one.nodeid): one for session in sessions for one in session.attributions}
    lost = TargetRecord.unexplained(results)
    for target, record in sorted(results.items()):
        case = _case(record, said.get((record.session, target)), is_lost=target in lost)
        kinds.update(child.tag for child in case)
        cases.append(tostring(case, encoding="utf-8"))
    for session in together.faulty:
        case = Element("testcase", classname="pytest", name=_text(session.start.leg or session.start.session))
        SubElement(case, "error", message=_text(f"session {session.start.session[:8]}: {session.fault}"))
        kinds["error"] += 1
        cases.append(tostring(case, encoding="utf-8"))
    starts = [session.start for session in sessions]
    start = min((one.started for one in starts), default=0.0)
    stop = max([start, *(one.end.ended for one in sessions if one.end), *(one.ended for one in results.values())])
    suite = Element(
        "testsuite",
        name="pytest",
        errors=str(kinds["error"]),
        failures=str(kinds["failure"]),
        skipped=str(kinds["skipped"]),
        tests=str(len(cases)),
        time=f"{stop - start:.3f}",
        timestamp=datetime.fromtimestamp(start, UTC).isoformat(),
        hostname=_text(", ".join(dict.fromkeys(one.host for one in starts if one.host))),
    )
    suite.text = "\n"
    head, tail = tostring(suite, encoding="utf-8").split(
        b"\n"
    )  # with many targets, a tree of all would fill the memory
    top = b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="pytest tests">'
    return b"\n".join([top, head, *cases, tail, b"</testsuites>", b""])


def _case(record: TargetRecord, said: Attribution | None, *, is_lost: bool) -> Element:
    path, *names = record.nodeid.split("::")
    *scopes, name = (path.replace("/", "."), *names)
    seconds = record.ended - record.started if record.ended > record.started else seconds_of(record)
    case = Element("testcase", classname=_text(".".join(scopes)), name=_text(name), time=f"{seconds:.3f}")
    found = [*record.properties(), *([("retarget.attribution", said.sentence)] if said is not None else [])]
    if found:
        parent = SubElement(case, "properties")
        for key, value in found:
            SubElement(parent, "property", name=_text(key), value=_text(value))
    outcome, whole = record.outcome, strip_colour(record.text or record.message)
    whole += f"\n\n{said.section}" if said is not None else ""
    if outcome in {Outcome.FAILED, Outcome.XPASSED}:
        SubElement(case, "failure", message=_short(record.message or whole)).text = _text(whole)
    elif outcome is Outcome.ERROR:
        message = _short(f'failed on setup with "{record.message}"')
        SubElement(case, "error", message=message).text = _text(whole)
    elif outcome is Outcome.XFAILED or (outcome is Outcome.INTERMITTENT and record.result is Result.FAILED):
        SubElement(case, "skipped", type="pytest.xfail", message=_text(record.reason))
    elif is_lost:
        SubElement(case, "error", message=_short(f"blocked by {record.blocker}, which did not fail in these results"))
    elif outcome in {Outcome.SKIPPED, Outcome.BLOCKED} or outcome.is_incomplete:
        reason = record.reason or str(State.of(record))
        where = f"{record.file}:{record.line + 1}: {reason}"
        SubElement(case, "skipped", type="pytest.skip", message=_text(reason)).text = _text(where)
    return case


def _short(message: str) -> str:
    message = strip_colour(message)
    return _text(message if len(message) <= _LONGEST else f"{message[:_LONGEST]}...")


def _text(text: str) -> str:
    return text if text.isprintable() else _INVALID.sub(lambda found: f"#x{ord(found[0]):02X}", text)


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
    together = Sessions(sessions)
    attempts, lost = together.attempts, TargetRecord.unexplained(together.results)
    results = [of_target[-1] for _, of_target in sorted(attempts.items())]
    tests = [_test(record, attempts[record.nodeid]) for record in results]
    for test in tests:
        test["status"] = "failed" if test["name"] in lost else test["status"]
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
        "healthy": not together.faulty,
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
    state = State.of(record)
    labels = {name: getattr(record, name) for name in ("compiler", "runtime", "driver", "module", "leg")}
    labels |= {"stage": state.stage or record.stage, "signature": state.signature, "blocked_by": record.blocked_by}
    digests = {"case_digest": record.case_digest}
    digests |= {"result_reused": record.reused.words} if record.reused is not None else {}
    digests |= {"notes": "\n".join(record.run.notes)} if record.run is not None else {}
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


_GROUPS = ("compile workers", "devices", "waiting for a device")


class Span(Struct, frozen=True, kw_only=True):
    """A stretch of a session, in seconds since 1970, UTC. `group` is one of compile workers, devices and waiting for a
    device; `lane` is what is busy: a worker, or a device's physical id."""

    group: str
    lane: str
    started: float
    seconds: float
    name: str
    details: Mapping[str, Any] = field(default_factory=dict)


def spans(session: SessionResults) -> Iterator[Span]:
    """Yield what a session's workers and devices did. A compile that several targets share comes once.

    Reused results, and targets that did not run, have no span.
    """
    compiles: set[tuple[str, int, float]] = set()
    for record in session.records:
        done = record.compile
        if done is not None and done.started and (key := (record.process, done.worker, done.started)) not in compiles:
            compiles.add(key)
            yield Span(
                group=_GROUPS[0],
                lane=f"{record.process} worker {done.worker}".strip(),
                started=done.started,
                seconds=done.seconds,
                name=f"{record.module}_{record.compiler}" if record.module else record.target,
                details={"key": done.key, "build": done.build},
            )
        yield from _run(record)


def _run(record: TargetRecord) -> Iterator[Span]:
    if (run := record.run) is None or not run.started:
        return
    name, known = record.target or record.nodeid, {"id": record.nodeid, "attempt": record.attempt}
    parts = {"load": run.load_seconds, "run": run.run_seconds, "compare": run.compare_seconds}
    details = known | {"result": str(State.of(record))} | parts
    devices = dict.fromkeys(device.physical_id or device.name for device in record.devices)
    for lane in devices or (record.driver or record.runtime,):
        seconds, waited = sum(parts.values()), run.wait_seconds
        yield Span(group=_GROUPS[1], lane=lane, started=run.started, seconds=seconds, name=name, details=details)
        if waited:
            begun = run.started - waited
            yield Span(group=_GROUPS[2], lane=lane, started=begun, seconds=waited, name=name, details=known)


def lanes(found: Sequence[Span]) -> list[tuple[str, str, list[Span]]]:
    """Return spans by group and lane. A lane in which spans overlap becomes several: `cpu`, `cpu (2)`."""
    by_lane: dict[tuple[str, str], list[Span]] = {}
    for span in sorted(found, key=lambda one: (_GROUPS.index(one.group), one.lane, one.started, one.name)):
        by_lane.setdefault((span.group, span.lane), []).append(span)
    result: list[tuple[str, str, list[Span]]] = []
    for (group, lane), of_lane in by_lane.items():
        rows: list[list[Span]] = []
        free: list[tuple[float, int]] = []  # when each row ends
        for span in of_lane:
            if free and free[0][0] <= span.started + 1e-6:
                _, row = heapq.heappop(free)
            else:
                row = len(rows)
                rows.append([])
            rows[row].append(span)
            heapq.heappush(free, (span.started + span.seconds, row))
        result += [(group, f"{lane} ({n})" if n > 1 else lane, row) for n, row in enumerate(rows, 1)]
    return result


def trace(sessions: Sequence[SessionResults]) -> bytes:
    """Return the trace: for each session a process per group, in it a thread per worker or device. Times are real:
    microseconds since 1970, UTC."""
    events: list[dict[str, Any]] = []
    process = 0
    for number, session in enumerate(sessions):
        name = session.start.leg or f"session {session.start.session[:8]}"
        suffix = f", {name}" if len(sessions) > 1 else ""
        thread, group = 0, ""
        for of_group, lane, of_lane in lanes([*spans(session)]):
            if of_group != group:
                group, thread, process = of_group, 0, process + 1
                label = f"{group}{suffix}"
                events.append({"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": label}})
                order = {"sort_index": number * len(_GROUPS) + _GROUPS.index(group)}
                events.append({"ph": "M", "name": "process_sort_index", "pid": process, "tid": 0, "args": order})
            thread += 1
            events.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": lane}})
            events += [_event(span, process, thread) for span in of_lane]
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": events}) + b"\n"


def _event(span: Span, process: int, thread: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.group,
        "ts": round(span.started * 1e6),
        "dur": round(span.seconds * 1e6),
        "pid": process,
        "tid": thread,
        "args": span.details,
    }
