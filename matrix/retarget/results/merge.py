"""Results of several sessions, such as the legs of a CI run, in one file.

Merging is a union of lines, so it is idempotent, commutative and associative: the same session twice, or in several
files, counts once. The file is sorted, so the same sessions give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from retarget.results.files import SessionResults, Sessions
from retarget.results.overview import State
from retarget.results.record import TargetRecord
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import write_atomically
from retarget.support.scratch import hold_lock
from retarget.support.text import counted, shown

_SHOWN = 10
"""How many targets an error names."""

_LONGEST = 600
"""Characters of what differs that an error shows."""

_DIGITS = 12
"""Digits of a digest that an error shows."""

_ENCODER = msgspec.json.Encoder()


class Merged(Struct, frozen=True, kw_only=True):
    """The content of a file after a merge; `changed` says whether the merge changed any of its bytes."""

    path: Path
    sessions: Sessions
    changed: bool


def merge_into(paths: Sequence[Path], out: Path) -> Merged:
    """Merge results into `out`: a file, or a folder for `merged.jsonl`. Its own content stays.

    Any number of processes may merge into one file at once. Raises `RetargetError` for what `Sessions.read` and
    `check_agreement` refuse, and where the file cannot be written.
    """
    path = out if out.suffix == SessionResults.suffix and not out.is_dir() else out / f"merged{SessionResults.suffix}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = hold_lock(path.with_name(f".{path.name}.lock"))
        assert lock is not None  # noqa: S101  it waits
        try:
            return _merged(paths, path)
        finally:
            lock.delete()
    except OSError as error:
        msg = f"cannot write results to {display_path(path)}: {error.strerror or error}"
        raise RetargetError(msg) from error


def _merged(paths: Sequence[Path], path: Path) -> Merged:
    sessions = Sessions.read([*paths, path] if path.exists() else paths)
    check_agreement(sessions)
    content = file_of(sessions)
    changed = not path.exists() or path.read_bytes() != content
    if changed:
        write_atomically(path, content)
    return Merged(path=path, sessions=sessions, changed=changed)


def file_of(sessions: Sequence[SessionResults]) -> bytes:
    """Return the content of the file of all sessions: by their start, and in each by target and attempt."""
    ordered = sorted(sessions, key=lambda one: (one.start.started, one.start.session))
    return b"".join(line + b"\n" for line in chain.from_iterable(map(_lines, ordered)))


def _lines(session: SessionResults) -> Iterator[bytes]:
    """Yield the lines of a session. Of two records of one attempt the later is last: `latest` takes it."""
    yield _ENCODER.encode(session.start)
    places = ((one.nodeid, one.attempt, one.ended, one.outcome.is_bad, _ENCODER.encode(one)) for one in session.records)
    yield from (place[-1] for place in sorted(places))
    said = sorted(session.attributions, key=lambda line: (line.nodeid, line.sentence, line.section))
    yield from map(_ENCODER.encode, said)
    if session.end is not None:
        yield _ENCODER.encode(session.end)


def check_agreement(sessions: Sequence[SessionResults]) -> None:
    """Raise `RetargetError` where two sessions say different things of one target, with all that differs.

    They agree where outcome, stage, signature, artifact, compile key and case digest are the same; then both stay. A
    session that ended before a target, or ran a part of its cases, says nothing of it.
    """
    claims: dict[str, tuple[SessionResults, TargetRecord]] = {}
    problems: dict[str, str] = {}
    for session in sessions:
        for target, record in session.latest.items():
            if record.outcome.is_incomplete:
                continue
            other, first = claims.setdefault(target, (session, record))
            if other is not session and target not in problems and (found := [*_differences(first, record)]):
                said = shown(f"{target}: {'; '.join(found)}", _LONGEST)
                problems[target] = f"  {said}\n    {_named(other)}\n    {_named(session)}"
    if problems:
        first_ones = [text for _, text in sorted(problems.items())[:_SHOWN]]
        more = [f"  … and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        heading = (
            f"found {counted(len(problems), 'target')} of which sessions say different things, expected one result"
        )
        next_step = "keep the results of one of these sessions, or compare them with `retarget results diff`"
        raise RetargetError("\n".join([f"{heading} of each:", *first_ones, *more, next_step]))


def _differences(one: TargetRecord, two: TargetRecord) -> Iterator[str]:
    states = State.by_case(one).anywhere, State.by_case(two).anywhere
    if states[0] != states[1]:
        yield f"{states[0]} and {states[1]}"
    for (what, first), (_, second) in zip(_digests(one), _digests(two), strict=True):
        if first != second:
            yield f"{what} {first[:_DIGITS] or 'none'} and {second[:_DIGITS] or 'none'}"


def _digests(record: TargetRecord) -> Iterator[tuple[str, str]]:
    yield "artifact", record.compile.artifact if record.compile is not None else ""
    yield "compile key", record.compile.key if record.compile is not None else ""
    yield "case digest", record.case_digest


def _named(session: SessionResults) -> str:
    leg = f" of the leg {shown(session.start.leg)}" if session.start.leg else ""
    files = ", ".join(map(display_path, session.files))
    return f"session {session.start.session[:8]}{leg}{f' in {files}' if files else ''}"
