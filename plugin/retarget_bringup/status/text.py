"""The status as text, the same in a terminal and in a file; and what moved since the committed ladder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.support import Checkout, RetargetError, counted, display_path, first_line, shown

from retarget_bringup.ladder.check import holds
from retarget_bringup.ladder.files import Line, lines_at
from retarget_bringup.ladder.states import TargetState
from retarget_bringup.status.assemble import Blocker, DriverStatus, Move, Moves, Next, Status

TOP = 10
"""How many of a list are shown without `--all`."""

_REASONS = 5
_BAR = 40
"""Columns of a bar."""


def status_lines(status: Status, *, everything: bool = False) -> Iterator[str]:
    """Yield the lines."""
    limit = None if everything else TOP
    yield heading(status)
    yield ""
    if status.drivers:
        yield "drivers, without a compiler (rungs 0 to 2)"
        for driver in status.drivers:
            yield from _driver(driver)
        yield ""
    if status.rungs and status.rungs[0].reach:
        yield from _rungs(status)
        yield ""
    yield from _left_out(status, limit)
    if status.blockers:
        yield from _blockers(status.blockers, limit)
    yield from _moved(status.moved, limit)
    yield from next_lines(status.next)


def next_lines(step: Next) -> Iterator[str]:
    """Yield the one thing to do next."""
    yield f"next: {shown(step.what)}"
    yield f"  why  {shown(step.why)}"
    if step.command:
        yield f"  run  {step.command}"


def heading(status: Status) -> str:
    """Return the status in one line."""
    if status.percentage is not None:
        of = f"{status.matches} of {counted(status.counted, 'target')}"
        return f"{status.name}: {status.percentage:.1f} %: {of} match"
    reach = {one.rung: one.reach for one in status.rungs}
    of = f"{reach.get('matches', 0)} of {counted(reach.get('none', 0), 'target')}"
    if any(one.state == "unseen" for one in status.excluded):
        return f"{status.name}: {of} match, and none is in the ladder yet"
    untried = sum(len(one.targets) for one in status.excluded if one.state == "not tried")
    compiled = f"; {reach['compiles']} compile" if reach.get("compiles") else ""
    return f"{status.name}: none of {counted(untried, 'target')} was tried{compiled}"


def _driver(driver: DriverStatus) -> Iterator[str]:
    passed = len(driver.checks) - len(driver.failed)
    checks = f"  {passed} of {counted(len(driver.checks), 'check')} pass" if driver.checks else ""
    others = f", {driver.not_applicable} not applicable" if driver.not_applicable else ""
    yield f"  {shown(driver.name):<24}  {driver.rung}{checks}{others}"
    messages = {check.message: check.name for check in reversed(driver.failed)}  # a driver that is not here: once
    yield from (f"      {shown(name)}: {shown(message)}" for message, name in reversed(messages.items()))


def _rungs(status: Status) -> Iterator[str]:
    tried = status.rungs[0].reach
    digits = len(str(tried))
    yield f"{'rung':<12}{'reached by':<{_BAR + 2 * digits + 14}}stopped there"
    for one in status.rungs:
        if one.rung == "none":
            yield f"{'none':<12}{'':<{_BAR + 2 * digits + 14}}{one.stop or '':>{digits}}".rstrip()
            continue
        cells = round(_BAR * one.reach / tried)
        cells = min(max(cells, one.reach > 0), _BAR - (one.reach < tried))  # neither hides a target
        reach = f"{one.reach:>{digits}} of {tried}  {100 * one.reach // tried:3} %"
        yield f"{one.rung:<12}{'#' * cells}{'.' * (_BAR - cells)}  {reach}  {one.stop or '':>{digits}}".rstrip()
    if status.only_compiled:
        yield f"{counted(status.only_compiled, 'target')} without a runtime config: compiled, they count as matching"


def _left_out(status: Status, limit: int | None) -> Iterator[str]:
    """Yield what the percentage leaves out, by state and reason."""
    for state in dict.fromkeys(one.state for one in status.excluded):
        own = [one for one in status.excluded if one.state == state]
        shown_ones = own[: limit and _REASONS]
        until = f" until `retarget bringup {status.name} --raise`" if state == "unseen" else ""
        count = counted(sum(len(one.targets) for one in own), "target")
        yield f"{state}, not in the percentage{until}: {count}"
        yield from (f"{len(one.targets):6}  {shown(one.reason)}" for one in shown_ones)
        if len(own) > len(shown_ones):
            yield f"        … and {counted(len(own) - len(shown_ones), 'more reason')}; --all shows them"
        yield ""


def _blockers(blockers: Sequence[Blocker], limit: int | None) -> Iterator[str]:
    stopped = sum(one.frees for one in blockers)
    yield f"what blocks: {counted(len(blockers), 'signature')}, {counted(stopped, 'target')} below matches"
    yield ""
    for number, one in enumerate(blockers[:limit], 1):
        stop = f"stop at {one.rung}: " if one.rung != "none" else ""  # their stage says it
        way = shown(": ".join(filter(None, (one.stage, one.signature))))
        yield f"{number:3}. frees {one.frees}  {stop}{way}"
        size = f"  ({one.size} bytes)" if one.size else ""
        yield f"     smallest   {shown(one.smallest)}{size}"
        if one.reference is not None:
            is_same = (one.reference.stage, one.reference.signature) == (one.stage, one.signature)
            said = f"{one.reference.config} fails in the same way" if is_same else str(one.reference)
            yield f"     reference  {shown(said)}"
        if one.known:
            yield f"     known      {shown(one.known)}"
        for label, line in zip(("says", *[""] * len(one.diagnostic)), one.diagnostic, strict=False):
            yield f"     {label:<9}  {line}"
        yield f"     run        {one.command}"
        yield ""
    if limit is not None and len(blockers) > limit:
        rest = blockers[limit:]
        count = counted(sum(one.frees for one in rest), "target")
        yield f"     … and {counted(len(rest), 'more signature')}, {count}; --all shows them"
        yield ""


def _moved(moved: Moves, limit: int | None) -> Iterator[str]:
    if moved.unknown:
        yield f"moved: not known: {shown(moved.unknown)}"
        yield ""
        return
    counts = ((moved.up, "up"), (moved.down, "down"), (moved.new, "new"))
    said = ", ".join(f"{len(found)} {word}" for found, word in counts if found) or "nothing"
    yield f"moved since {moved.revision} ({shown(moved.subject)}): {said}"
    for found, word in ((moved.down, "down"), (moved.up, "up")):
        yield from move_lines(found, word, limit)
    yield ""


def move_lines(found: Sequence[Move], word: str, limit: int | None) -> Iterator[str]:
    """Yield the targets that moved in one way."""
    yield from (
        f"  {word:<4}  {shown(one.target)}  {f'{one.before} ' if one.before else ''}→ {one.after}"
        for one in found[:limit]
    )
    if limit is not None and len(found) > limit:
        yield f"  {word:<4}  … and {len(found) - limit} more; --all shows them"


Lines = Mapping[str, Line]
"""The lines of a ladder by their targets."""


def moves(before: Lines, after: Lines) -> Moves:
    """Return what moved between two ladders. A target that is only in `before` has not moved."""
    found: dict[str, list[Move]] = {"up": [], "down": [], "new": []}
    for target in sorted(after):
        now, was = after[target], before.get(target)
        if was is None or now.rung != was.rung:
            way = "new" if was is None else "up" if now.rung > was.rung else "down"
            found[way].append(Move(target=target, before=was.rung.word if was else "", after=now.rung.word))
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
    commit, subject = Checkout(ladder.parent).last_commit(ladder.name)
    if not commit:
        return Moves(unknown=f"git has no committed {display_path(ladder)}")
    revision = Checkout.short(commit)
    try:
        before = lines_at(ladder, commit)
    except RetargetError as error:
        return Moves(unknown=f"the ladder of commit {revision} cannot be read: {first_line(str(error))}")
    return replace(moves(before, {one.target: one for one in now}), revision=revision, subject=subject)
