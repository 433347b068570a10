"""What moved: the rungs of now against the committed ladder, and each commit of the ladder against the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace
from retarget.model.rungs import Rung
from retarget.support.checkout import commits_of, short
from retarget.support.errors import RetargetError, display_path
from retarget.support.text import first_line

from retarget_bringup.ladder.check import holds
from retarget_bringup.ladder.files import Line, lines_at
from retarget_bringup.ladder.states import DRIVER, TargetState
from retarget_bringup.status.model import Commit, Move, Moves

Lines = Mapping[str, Line]
"""The lines of a ladder by their targets."""


def moves(before: Lines, after: Lines) -> Moves:
    """Return what moved between two ladders. A target that is only in `before` has not moved."""
    found: dict[str, list[Move]] = {"up": [], "down": [], "new": []}
    for target in sorted(after):
        now, was = after[target], before.get(target)
        if was is None:
            found["new"].append(Move(target=target, after=now.rung.word))
        elif now.rung != was.rung:
            move = Move(target=target, before=was.rung.word, after=now.rung.word)
            found["up" if now.rung > was.rung else "down"].append(move)
    return Moves(up=tuple(found["up"]), down=tuple(found["down"]), new=tuple(found["new"]))


def lines_of(states: Iterable[TargetState]) -> list[Line]:
    """Return the ladder as results say it is, up and down. The line of what was not tried stays, and of what is where
    its line allows; what cannot be has none."""
    found = []
    for one in states:
        if one.line is not None and (one.rung is None or holds(one, one.line)):
            found += [] if one.is_permanent else [one.line]
        elif one.rung is not None:
            found.append(Line(target=one.id, rung=one.rung, digest=one.target.digest))
    return found


def moves_since_commit(ladder: Path, now: Iterable[Line]) -> Moves:
    """Return what moved since the last commit that changed a ladder file. Without one, says so."""
    commits = commits_of(ladder, 1)
    if not commits:
        return Moves(unknown=f"git has no committed {display_path(ladder)}")
    revision = short(commits[0].revision)
    try:
        before = lines_at(ladder, commits[0].revision)
    except RetargetError as error:
        return Moves(unknown=f"the ladder of commit {revision} cannot be read: {first_line(str(error))}")
    return replace(moves(before, {one.target: one for one in now}), revision=revision, subject=commits[0].subject)


def log(ladder: Path, limit: int, tops: Mapping[str, Rung]) -> tuple[Commit, ...]:
    """Return the last commits of a ladder file, the newest first, with what each changed. `tops` are the rungs that
    targets can come to, where that is not `matches`."""
    found: list[Commit] = []
    before: Lines = {}
    for commit in reversed(commits_of(ladder, limit + 1)):
        own = Commit(revision=short(commit.revision), date=commit.date, subject=commit.subject)
        try:
            after = lines_at(ladder, commit.revision)
        except RetargetError as error:
            found.append(replace(own, error=first_line(str(error))))
            continue
        change = moves(before, after)
        lines = [line for line in after.values() if not line.target.startswith(DRIVER)]
        reached = sum(line.rung >= tops.get(line.target, Rung.MATCHES) for line in lines)
        found.append(
            replace(
                own,
                up=len(change.up),
                down=len(change.down),
                new=sum(not one.target.startswith(DRIVER) for one in change.new),
                gone=sum(not one.startswith(DRIVER) for one in before.keys() - after.keys()),
                targets=len(lines),
                percentage=1000 * reached // len(lines) / 10 if lines else None,
            )
        )
        before = after
    return tuple(reversed(found[-limit:]))
