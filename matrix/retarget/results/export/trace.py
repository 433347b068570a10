"""Results as Chrome's trace events, which Perfetto (https://ui.perfetto.dev) opens: a timeline of workers and devices.

Format: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from retarget.results.files import SessionResults
from retarget.results.overview import state_of
from retarget.results.record import TargetRecord

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
    details = known | {"result": str(state_of(record))} | parts
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
