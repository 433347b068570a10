"""`--check` and `--raise`: what of a ladder does not hold, and the ladder that results raise it to.

Pure: states and the lines of the ladder in; problems, and lines out. A ladder only rises: an entry of `[[lowered]]`
lets a target be lower than its line for a while, and leaves the line as it is.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from retarget.expect.verdict import is_expired, today
from retarget.model.rungs import Rung
from retarget.support.errors import did_you_mean, display_path, grouped
from retarget.support.text import counted, shown
from retarget.support.toml.keypaths import Problem

from retarget_bringup.ladder.agreement import CHANCE, disagreements, rungs_of
from retarget_bringup.ladder.files import Ladder, Line
from retarget_bringup.ladder.settings import Lowered, Settings
from retarget_bringup.ladder.states import DRIVER, Standing, TargetState

__all__ = ["Checked", "Raised", "check", "holds", "raised", "summary"]

_SHOWN = 10
"""How many targets are named of those that `--raise` settles or that only a note is about."""

_LONGEST = 200
"""Characters of a signature or reason that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What does not hold: `failures`, and what `--raise` settles. `notes` are what is reported besides.

    Each is a text of one line, or of several where it names targets.
    """

    failures: tuple[str, ...] = ()
    to_raise: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.failures and not self.to_raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A ladder as results raise it, and how many of its targets were raised, added, replaced or dropped."""

    lines: tuple[Line, ...]
    changes: Counter[str]


@dataclass(frozen=True, slots=True)
class _Moved:
    """A target that is not on the rung of its line, and the entry that allows it."""

    state: TargetState
    line: Line
    rung: Rung
    entry: Lowered | None = None


def check(settings: Settings, ladder: Ladder, states: Sequence[TargetState], *, day: date) -> Checked:
    """Return what of a ladder does not hold on a day."""
    name = display_path(ladder.file)
    moved = [*_moved(settings, states, day)]
    lower = [one for one in moved if one.rung < one.line.rung and one.entry is None]
    excused = [one for one in moved if one.entry is not None]
    permanent = [one for one in states if one.is_permanent and one.line is not None]
    return Checked(
        failures=(
            *_nothing_tried(states),
            *_lower(lower, name, display_path(settings.file)),
            *map(str, settings.diagnostics([*_entries(settings, states, moved, day)])),
            *disagreements(states, name),
        ),
        to_raise=(
            *grouped(ladder.unsettled),
            *([] if ladder.lines else [f"{name}: found no line of a target, expected the rungs that were reached"]),
            *_higher([one for one in moved if one.rung > one.line.rung], name),
            *_gone(ladder, states, name),
            *(f"{name}:{one.line.number}: {one.id} cannot be any more: {one.reason}" for one in permanent if one.line),
        ),
        notes=(
            *(f"lowered: {one.state.id}, {_rungs(one)}: {one.entry.reason}" for one in excused if one.entry),
            *_by_reason("not tried", [one for one in states if one.standing is Standing.NOT_TRIED]),
            *_unseen([one for one in states if one.standing is Standing.UNSEEN]),
        ),
    )


def _moved(settings: Settings, states: Iterable[TargetState], day: date) -> Iterator[_Moved]:
    """Yield what is not on the rung of its line, of those that have one of today's digest."""
    for one in states:
        if one.line is not None and one.rung is not None and not one.is_unseen and not holds(one, one.line):
            entries = (entry for entry in settings.lowered if day <= entry.until and _is_of(entry, one.id))
            entry = next((entry for entry in entries if entry.rung <= one.rung < one.line.rung), None)
            yield _Moved(one, one.line, one.rung, entry)


def holds(one: TargetState, line: Line) -> bool:
    """Whether a target is on its line. What is stable may match in fewer runs than that took, what is chance by a
    rule may be where the rule says, and what is only compiled here may come to any rung above."""
    is_stable = line.rung is Rung.STABLE and one.rung is Rung.MATCHES
    by_chance = any(rule.outcome in CHANCE and not is_expired(rule, today()) for rule in one.target.all_rules)
    may_be = one.only_compiled and one.rung is not None and one.rung < line.rung
    return one.rung is line.rung or is_stable or may_be or (by_chance and one.rung in rungs_of(one.target))


def _is_of(entry: Lowered, target: str) -> bool:
    return entry.target == target or fnmatchcase(target, entry.target)


def _rungs(one: _Moved) -> str:
    return f"{one.line.rung.word} → {one.rung.word}"


def _nothing_tried(states: Sequence[TargetState]) -> Iterator[str]:
    if not any(one.is_tried or _is_as_far(one) for one in states):
        reasons = Counter(one.reason for one in states if not one.is_permanent).most_common(1)
        why = f": {shown(reasons[0][0], _LONGEST)}" if reasons else ""
        yield f"found no target that was tried, expected results of {counted(len(states), 'target')}{why}"


def _is_as_far(one: TargetState) -> bool:
    """Whether a target that is only compiled here is expected to do no more."""
    return one.rung is not None and (one.line is None or one.line.rung <= one.rung)


def _lower(found: Sequence[_Moved], name: str, settings: str) -> Iterator[str]:
    """Yield what fell, by rung and failure, each with all of its targets and the command that runs one."""
    groups: dict[tuple[Rung, str], list[_Moved]] = {}
    for one in found:
        failure = one.state.failure
        said = "" if failure is None else f": {failure.stage}: {shown(failure.signature, _LONGEST)}"
        groups.setdefault((one.rung, said), []).append(one)
    for (rung, said), fell in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        targets = [f"  {name}:{one.line.number}: {one.state.id}  {_rungs(one)}" for one in fell]
        heading = f"lower: {counted(len(fell), 'target')} fell to {rung.word}{said}"
        run = f"  run just that: {_command(fell[0].state.id)}"
        yield "\n".join([heading, *targets, run, f"  mend it, or excuse it until a day with [[lowered]] in {settings}"])


def _command(target: str) -> str:
    driver = target.removeprefix(DRIVER).partition("::")[0]
    return f"retarget bringup driver {shlex.quote(driver)}" if target.startswith(DRIVER) else _pytest(target)


def _pytest(target: str) -> str:
    return f"pytest {shlex.quote(target)}"


def _higher(found: Sequence[_Moved], name: str) -> Iterator[str]:
    if found:
        rows = [f"{name}:{one.line.number}: {one.state.id}  {_rungs(one)}" for one in found]
        yield _listed(f"higher: {counted(len(found), 'target')} above the ladder", rows)


def _gone(ladder: Ladder, states: Sequence[TargetState], name: str) -> Iterator[str]:
    """Yield what the ladder has and nothing declares or selects any more, with its new name where it has one."""
    known = {one.id for one in states}
    fresh = {one.id: one.target.digest for one in states if one.line is None}
    by_digest = {digest: target for target, digest in fresh.items()}
    lines = {line.target: line for line in ladder.lines if line.target not in known}
    rows: list[str] = []
    for line in lines.values():
        same = by_digest.get(line.digest)
        near = did_you_mean(line.target, fresh) if len(rows) < _SHOWN else ""  # it is sought among all
        hint = f"; was it renamed to {same}?" if same is not None else near
        rows.append(f"{name}:{line.number}: {line.target}{hint}")
    if rows:
        yield _listed(f"gone: {counted(len(rows), 'target')} of the ladder, declared or selected no more", rows)


def _entries(
    settings: Settings, states: Sequence[TargetState], moved: Iterable[_Moved], day: date
) -> Iterator[Problem]:
    """Yield the entries of `[[lowered]]` that are of no use: past their date, of no target, of none that is lower."""
    below = {one.state.id for one in moved if one.rung < one.line.rung}
    for entry in settings.lowered:
        path = ("lowered", entry.index)
        matching = [one for one in states if _is_of(entry, one.id)]
        if day > entry.until:
            message = f"found {entry.until}, which is past; mend it, or decide anew how long it may be lower"
            yield Problem((*path, "until"), f"{message} ({entry.reason})")
        if not any(one.line is not None for one in matching):
            hint = did_you_mean(entry.target, [one.id for one in states]) or "; remove it"
            yield Problem((*path, "target"), f"found {entry.target!r}, which is no target of the ladder{hint}")
        elif any(one.is_tried for one in matching) and not any(one.id in below for one in matching):
            message = f"found {entry.target!r}, which is not lower than the ladder says: remove this entry"
            yield Problem((*path, "target"), message)


def _by_reason(what: str, found: Sequence[TargetState]) -> Iterator[str]:
    for reason, count in Counter(one.reason for one in found).most_common():
        first = next(one.id for one in found if one.reason == reason)
        yield f"{what}: {counted(count, 'target')}, such as {first}: {shown(reason, _LONGEST)}"


def _unseen(found: Sequence[TargetState]) -> Iterator[str]:
    for what, some in (
        ("new", [one.id for one in found if one.line is None]),
        ("of another digest than in the ladder", [one.id for one in found if one.line is not None]),
    ):
        if some:
            yield _listed(f"unseen: {counted(len(some), 'target')} {what}; --raise takes them in", some)


def _listed(heading: str, rows: Sequence[str]) -> str:
    more = [f"  … and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return "\n".join([heading, *(f"  {row}" for row in rows[:_SHOWN]), *more])


def raised(ladder: Ladder, states: Iterable[TargetState]) -> Raised:
    """Return a ladder with the rungs of states: higher ones, new targets, and those whose digest changed. Lines of what
    is no target any more, or cannot be one, go. No line of today's digest gets lower."""
    changes: Counter[str] = Counter()
    lines: dict[str, Line] = {}
    for one in states:
        line = one.line
        says_more = line is not None or bool(rungs_of(one.target))
        if one.rung is None or one.is_permanent or (one.only_compiled and one.is_unseen and says_more):
            if line is not None and not one.is_permanent:
                lines[one.id] = line
            continue
        now = Line(target=one.id, rung=one.rung, digest=one.target.digest)
        if line is None or one.is_unseen:
            lines[one.id] = now
            changes["added" if line is None else "replaced"] += 1
        elif now.rung > line.rung and not holds(one, line):
            lines[one.id] = now
            changes["raised"] += 1
        else:
            lines[one.id] = line
    changes["dropped"] = len({line.target for line in ladder.lines} - lines.keys())
    return Raised(lines=tuple(lines.values()), changes=+changes)


def summary(name: str, states: Sequence[TargetState]) -> str:
    """Return one line on all targets: how many match, of those that are seen and can be."""
    standings = Counter(one.standing for one in states if not one.id.startswith(DRIVER))
    checks = [one for one in states if one.id.startswith(DRIVER) and one.rung is not None]
    passed = sum(one.rung is Rung.TRANSFERS for one in checks)
    reached, below = standings[Standing.REACHED], standings[Standing.BELOW]
    share = f" ({1000 * reached // (reached + below) / 10} %)" if reached + below else ""
    others = [f"{standings[one]} {one}" for one in Standing if standings[one] and one is not Standing.REACHED]
    text = f"{name}: {reached} of {counted(reached + below, 'target')} match{share}"
    text += f"; {', '.join(others)}" if others else ""
    return f"{text}; {passed} of {counted(len(checks), 'check')} of its drivers pass" if checks else text
