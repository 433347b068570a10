"""The status as text, the same in a terminal and in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retarget.support import counted, shown

from retarget_bringup.status.assemble import Blocker, Next, Status

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
    if status.rungs and status.rungs[0].reach:
        yield from _rungs(status)
        yield ""
    yield from _left_out(status, limit)
    if status.blockers:
        yield from _blockers(status.blockers, limit)
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
        if one.known:
            yield f"     known      {shown(one.known)}"
        for label, line in zip(("says", *[""] * len(one.diagnostic)), one.diagnostic, strict=False):
            yield f"     {label:<9}  {line}"
        yield f"     run        {one.command}"
        if one.reference:
            yield f"     reference  {one.reference}"
        yield ""
    if limit is not None and len(blockers) > limit:
        rest = blockers[limit:]
        count = counted(sum(one.frees for one in rest), "target")
        yield f"     … and {counted(len(rest), 'more signature')}, {count}; --all shows them"
        yield ""
