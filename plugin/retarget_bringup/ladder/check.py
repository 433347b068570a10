"""Options `--check`, `--raise`, `--lower`: what of a ladder does not hold, and the ladder that results make of it.

`--raise` only raises: what fell stays on its line, whatever changed, until `--lower` names it with a reason. Rules and
the ladder must agree on how far a target comes.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace
from retarget.model import Expectation, Rung, SourceLocations
from retarget.support import RetargetError, counted, did_you_mean, display_path, listed, shown

from retarget_bringup.ladder.files import Ladder, Line, Settings, committed_lines, read_ladder, write_ladder
from retarget_bringup.ladder.states import Devices, LadderTarget, Standing, TargetState

_SHOWN = 10
"""How many targets are named of those that `--raise` settles or that only a note is about."""

_LONGEST = 200
"""Characters of a signature or reason that are shown."""

_CHANCE = frozenset({"flaky", "intermittent"})
"""The outcomes of rules by which a target may pass, too."""

_AT_COMPILE = dict.fromkeys(("compile", "crash", "timeout"), frozenset({Rung.NONE}))
_STOPPED = frozenset({Rung.COMPILES, Rung.LOADS, Rung.DISPATCHES})
_AT_RUN = {
    "load": frozenset({Rung.COMPILES}),
    "run": frozenset({Rung.LOADS, Rung.DISPATCHES}),
    "compare": frozenset({Rung.COMPLETES}),
    "crash": _STOPPED,
    "timeout": _STOPPED,
}
_CHECKED = {
    "compile": frozenset({Rung.NONE}),
    **dict.fromkeys(("load", "run", "compare"), frozenset({Rung.COMPILES})),
    **dict.fromkeys(("crash", "timeout"), frozenset({Rung.NONE, Rung.COMPILES})),
}
"""Of a compile target, whose artifact may be checked."""


class Checked(Struct, frozen=True, kw_only=True):
    """The contradictions: `failures`, and what `--raise` settles. `notes` are what is reported besides."""

    failures: tuple[str, ...] = ()
    to_raise: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.failures and not self.to_raise


class Raised(Struct, frozen=True, kw_only=True):
    """A ladder as results change it, how many of its targets were raised, added, changed, dropped or lowered, and what
    was dropped and whose rung no target takes over, the highest first."""

    lines: tuple[Line, ...]
    changes: Counter[str]
    left: Sequence[str] = ()


_Moved = tuple[TargetState, Line, Rung]
"""A target that is not on the rung of its line."""


def _moved(states: Iterable[TargetState]) -> list[_Moved]:
    known = [(one, one.line, one.rung) for one in states if one.line is not None and one.rung is not None]
    return [(one, line, rung) for one, line, rung in known if not holds(one, line)]


def check(
    settings: Settings, ladder: Ladder, states: Sequence[TargetState], *, elsewhere: Set[str] = frozenset()
) -> Checked:
    """Return what of a ladder does not hold. `elsewhere` are the targets that ran on a device that the ladder was not
    recorded on: those without a line may not be possible there."""
    name = display_path(ladder.file)
    moved = _moved(states)
    lower = [one for one in moved if _is_lower(*one)]
    higher = [one for one in moved if one not in lower]
    without = [one for one in states if one.standing is Standing.UNSEEN]
    new = [one.id for one in without if one.id not in elsewhere]
    there = [one.id for one in without if one.id in elsewhere]
    changed = [one.id for one in states if one.is_changed and one.is_tried]
    permanent = [one for one in states if one.is_permanent and one.line is not None]
    here = [one for one in permanent if not one.is_over]
    cannot = "not on this device, which may have a ladder of its own; where none has it any more, remove the line"
    of_before = "of another digest, or where it does not say which cases fail"
    raises = f"`retarget bringup {settings.name} --raise`"
    return Checked(
        failures=(
            *_nothing_judged(states),
            *_by_reason("not of today", [one for one in states if one.is_stale]),
            *_by_reason("no verdict", [one for one in states if one.is_lost]),
            *_lower(lower, name, settings.name),
            *_disagreements(states, name),
            *_by_reason(cannot, [one for one in here if one.target.skipped_by is None]),
        ),
        to_raise=(
            *([] if ladder.lines else [f"{name}: found no line of a target, expected the rungs that were reached"]),
            *_listed(f"higher: {counted(len(higher), 'target')} above the ladder", [*_rows(higher, name)]),
            *_gone(ladder, states, name),
            *_listed(f"new: {counted(len(new), 'target')} without a line", new),
            *_by_reason("skipped by a rule", [one for one in permanent if one.is_over]),
        ),
        notes=(
            *(
                f"lowered: {line.target}, {line.lowered_from.word} → {line.rung.word}: {line.reason}"
                for line in ladder.line_of({}).values()
                if line.lowered_from is not None
            ),
            *_by_reason("skipped on this device", [one for one in here if one.target.skipped_by is not None]),
            *_by_reason(
                "not tried",
                [one for one in states if one.standing is Standing.NOT_TRIED and not (one.is_stale or one.is_lost)],
            ),
            *_listed(f"new on this device: {counted(len(there), 'target')}; {raises} takes them in", there),
            *_listed(f"changed: {counted(len(changed), 'line')} {of_before}; {raises} writes it", changed),
        ),
    )


def fallen(states: Iterable[TargetState]) -> set[str]:
    """Return the ids of the targets that are below their lines."""
    return {one.id for one, line, rung in _moved(states) if _is_lower(one, line, rung)}


def _is_lower(one: TargetState, line: Line, rung: Rung) -> bool:
    return rung < line.rung or not _moved_cases(one, line) <= {*line.failing}


def _moved_cases(one: TargetState, line: Line) -> set[str]:
    """Return the cases that fail newly and those that do no more, where the line has any and no rule excuses them."""
    return {*one.failing} ^ {*line.failing} if one.failing and line.failing and one.verdict.is_bad else set()


def holds(one: TargetState, line: Line) -> bool:
    """Whether a target is on its line. A stable target may match in fewer runs than that took, one that a rule calls
    chance may be where the rule says unless pytest failed it, and one that is only compiled here may reach any rung
    above."""
    is_stable = line.rung is Rung.STABLE and one.rung is Rung.MATCHES
    rules = one.target.all_rules if not one.verdict.is_bad else ()
    by_chance = any(rule.outcome in _CHANCE and not rule.is_expired for rule in rules)
    may_be = one.only_compiled and one.rung is not None and one.rung < line.rung
    is_same = one.rung is line.rung and not _moved_cases(one, line)
    return is_same or is_stable or may_be or (by_chance and one.rung in rungs_of(one.target))


def rungs_of(target: LadderTarget) -> frozenset[Rung]:
    """Return the rungs that the rules in force for a target leave it, none where no rule says how far it comes.

    Each rule that names cases is about at least one of them, and the lowest case counts.
    """
    compiled = target.compile_rules.whole
    if compiled is not None and _says(compiled):
        at_compile = _of(compiled, _AT_COMPILE, target)
        if compiled is not target.rules.whole:  # otherwise it is judged where the target runs, if it compiles
            return at_compile
        return at_compile | _of(compiled, _AT_RUN, target)
    stages = _AT_RUN if target.runs else _CHECKED
    said = [_of(rule, stages, target) for rule in target.rules.all if _says(rule)]
    top = min((max(one, default=Rung.STABLE) for one in said), default=Rung.STABLE)
    return frozenset(rung for one in said for rung in one if rung <= top)


def _says(rule: Expectation) -> bool:
    return rule.outcome != "skip" and not rule.is_expired


def _of(rule: Expectation, stages: dict[str, frozenset[Rung]], target: LadderTarget) -> frozenset[Rung]:
    found = frozenset(rung for stage in rule.stages for rung in stages.get(stage, ()))
    return found | {target.top, Rung.STABLE} if rule.outcome in _CHANCE else found


def _disagreements(states: Iterable[TargetState], ladder: str) -> Iterator[str]:
    """Yield each target of which a rule and the ladder, a file of that name, say different things; and each that is on
    its rung and failed otherwise than its rules say, such as in another case."""
    locations = SourceLocations()
    for one in states:
        allowed = rungs_of(one.target)
        if one.line is None or not allowed:
            continue
        rule = next(rule for rule in one.target.all_rules if _says(rule))
        where = f"{locations.location(rule.origin)}: {rule.origin.key_path}"
        at = f"{ladder}:{one.line.number}" if one.line.number else ladder
        if one.line.rung not in allowed:
            rungs = " or ".join(rung.word for rung in sorted(allowed))
            says = f"says that {one.id} fails at {' or '.join(rule.stages)}, which is the rung {rungs}"
            yield f"{where}: {says}; {at} says {one.line.rung.word}: expected that both agree"
        elif one.rung is one.line.rung and one.verdict.is_bad and (failure := one.failure) is not None:
            how = f"{failure.stage}: {shown(failure.signature, _LONGEST)}"
            found = f"{one.id} comes to {one.rung.word} and failed otherwise than {where} says: {how}"
            yield f"{at}: {found}; mend it, or write a rule that says so: {_command(one.id)}"


def _nothing_judged(states: Sequence[TargetState]) -> Iterator[str]:
    """Yield that no target was held against its line: compiles alone judge none where a device is missing for others to
    reach theirs."""
    lined, tried = [one for one in states if one.line], [one for one in states if one.is_tried]
    left = [one for one in lined if one.line and one.line.rung > Rung.COMPILES and not one.is_tried]
    is_missing = any(one.record is not None and one.record.unavailable for one in left)
    judged = [one for one in tried if one.line and not (is_missing and (one.rung is Rung.NONE or not one.target.runs))]
    as_far = [one for one in lined if one.line and one.rung is not None and one.line.rung <= one.rung]
    if judged or (as_far and not is_missing):  # what is only compiled may be as far as its line
        return
    if lined or not tried:  # that there is no ladder yet is said by itself
        reasons = Counter(one.reason for one in states if one.reason and not one.is_permanent).most_common(1)
        why = f": {shown(reasons[0][0], _LONGEST)}" if reasons else ""
        of = f"{counted(len(lined), 'target')} that it has lines of" if lined else counted(len(states), "target")
        where = f"{' on a device' if tried else ''} and is in the ladder" if lined else ""
        yield f"found no target that was tried{where}, expected results of {of}{why}"


def _lower(found: Sequence[_Moved], name: str, ladder: str) -> Iterator[str]:
    """Yield what fell, by rung and failure, each with all of its targets and the command that runs one."""
    groups: dict[tuple[Rung, str], list[_Moved]] = {}
    for one in found:
        failure = one[0].failure
        said = "" if failure is None else f": {failure.stage}: {shown(failure.signature, _LONGEST)}"
        groups.setdefault((one[2], said), []).append(one)
    for (rung, said), fell in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        targets = [f"  {row}" for row in _rows(fell, name)]
        heading = f"lower: {counted(len(fell), 'target')} fell to {rung.word}{said}"
        run = f"  run just that: {_command(fell[0][0].id)}"
        lower = f"retarget bringup {ladder} --lower {shlex.quote(fell[0][0].id)} --reason TEXT"
        yield "\n".join([heading, *targets, run, f"  mend it, or say why it may be lower: {lower}"])


def _rows(found: Iterable[_Moved], name: str) -> Iterator[str]:
    for one, line, rung in found:
        cases = f", failing {listed(line.failing)} → {listed(one.failing)}" if _moved_cases(one, line) else ""
        yield f"{name}:{line.number}: {one.id}  {line.rung.word} → {rung.word}{cases}"


def _command(target: str) -> str:
    return f"pytest {shlex.quote(target)}"


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
    yield from _listed(f"gone: {counted(len(rows), 'target')} of the ladder, declared or selected no more", rows)


def _by_reason(what: str, found: Sequence[TargetState]) -> Iterator[str]:
    for reason, count in Counter(one.reason for one in found).most_common():
        first = next(one.id for one in found if one.reason == reason)
        yield f"{what}: {counted(count, 'target')}, such as {first}: {shown(reason, _LONGEST)}"


def _listed(heading: str, rows: Sequence[str]) -> Iterator[str]:
    """Yield a heading with the first rows below it; nothing without rows."""
    more = [f"  … and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    if rows:
        yield "\n".join([heading, *(f"  {row}" for row in rows[:_SHOWN]), *more])


def raised(ladder: Ladder, states: Sequence[TargetState], committed: Mapping[str, Line] | None = None) -> Raised:
    """Return a ladder with the rungs of states: higher ones, new targets, and today's digests of what did not fall.

    Lines of what is no target any more, or can be one on no device, go; a new target of the same digest takes the rung
    over. No line gets lower than it is, or than it is in `committed`, from where one that was removed or lowered by
    hand comes back, but for those of what this device cannot run.
    """
    changes: Counter[str] = Counter()
    lines: dict[str, Line] = {}
    known = {one.id for one in states}
    gone = {line.digest: line for line in ladder.lines if line.target not in known}
    for one in states:
        line = one.line if one.is_permanent else _highest(one.line, (committed or {}).get(one.id))
        if line is None and one.target.digest in gone:
            line = replace(gone[one.target.digest], target=one.id)
        if one.is_over or (line is None and (one.rung is None or (one.only_compiled and rungs_of(one.target)))):
            continue
        if line is None and one.rung is not None:
            lines[one.id] = Line(target=one.id, rung=one.rung, digest=one.target.digest, failing=one.failing)
            changes["added"] += 1
        elif line is not None:
            lines[one.id] = now = _risen(one, line)
            if now != one.line:
                rises = one.line is not None and now.rung > one.line.rung
                changes["added" if one.line is None else "raised" if rises else "changed"] += 1
    dropped = {line.target: line for line in ladder.lines if line.target not in lines}
    changes["dropped"] = len(dropped)
    taken = {line.digest for line in lines.values()}
    left = sorted((line for line in dropped.values() if line.digest not in taken), key=lambda line: -line.rung)
    return Raised(
        lines=tuple(lines.values()), changes=+changes, left=[f"{one.target}  {one.rung.word}" for one in left]
    )


def _highest(line: Line | None, committed: Line | None) -> Line | None:
    if line is None or committed is None or line.lowered_from is not None:
        return line or committed
    return max(line, committed, key=lambda one: one.rung)


def _risen(one: TargetState, line: Line) -> Line:
    """Return the line of a target as its rung raises it, or as it is."""
    if (
        one.rung is None
        or (_is_lower(one, line, one.rung) and not holds(one, line))
        or (one.only_compiled and one.rung <= line.rung)
    ):
        return line
    rung = line.rung if holds(one, line) else one.rung
    is_same = one.rung < line.rung or (one.rung is line.rung and not one.failing)
    failing = line.failing if is_same else one.failing
    is_unchanged = rung is line.rung and failing == line.failing
    is_lowered = line.lowered_from is not None and (rung < line.lowered_from or is_unchanged)
    of_today = replace(line, rung=rung, digest=one.target.digest, failing=failing)
    return of_today if is_lowered else replace(of_today, lowered_from=None, reason="")


def lowered(ladder: Ladder, states: Sequence[TargetState], target: str, reason: str) -> Raised:
    """Return a ladder in which `target`, an id or a glob over ids, is as low as its results.

    Raises `RetargetError` where nothing that it names fell.
    """
    found = [one for one in states if one.id == target or fnmatchcase(one.id, target)]
    lines = ladder.line_of({one.id: one.target.digest for one in states})
    fell = [moved for moved in _moved(found) if _is_lower(*moved)]
    for one, line, rung in fell:
        before = line.lowered_from or line.rung
        now = replace(line, rung=rung, digest=one.target.digest, failing=one.failing)
        lines[one.id] = replace(now, lowered_from=before, reason=reason)
    if not fell:
        what = "is on its line, or was not tried" if found else "is no target of the ladder"
        hint = "" if found else did_you_mean(target, [one.id for one in states])
        msg = f"--lower: found {target!r}, which {what}; expected a target that `--check` says is lower{hint}"
        raise RetargetError(msg)
    return Raised(lines=tuple(lines.values()), changes=Counter(lowered=len(fell)))


def summary(name: str, states: Sequence[TargetState]) -> str:
    """Return one line on all targets: how many match, of those that are seen and can be."""
    standings = Counter(one.standing for one in states)
    reached, below = standings[Standing.REACHED], standings[Standing.BELOW]
    share = f" ({1000 * reached // (reached + below) / 10} %)" if reached + below else ""
    others = [f"{standings[one]} {one}" for one in Standing if standings[one] and one is not Standing.REACHED]
    text = f"{name}: {reached} of {counted(reached + below, 'target')} match{share}"
    return f"{text}; {', '.join(others)}" if others else text


def add_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare the options, in a group of options that exclude each other."""
    parser.add_argument(
        "--check", action="store_true", help="fail where a target is lower than bringup/NAME.ladder says: for CI"
    )
    parser.add_argument(
        "--raise", dest="raises", action="store_true", help="write what was reached to bringup/NAME.ladder"
    )
    parser.add_argument(
        "--lower", default="", metavar="TARGET", help="let a target that fell, or a glob over ids, be as low as it is"
    )


def apply_options(
    settings: Settings,
    ladder: Ladder,
    states: Sequence[TargetState],
    *,
    raises: bool = False,
    lower: str = "",
    reason: str = "",
) -> int:
    """Check a ladder against states, raised before where `raises` says so, or with the target `lower` lowered for a
    `reason`; print what does not hold, and return the exit status.

    Raises `RetargetError` for a ladder that cannot be written, and for a target that did not fall.
    """
    name = display_path(ladder.file)
    devices = Devices(states, ladder.devices)
    lines = devices.notes(raises=raises)
    now = None
    if lower:
        now = lowered(ladder, states, lower, reason)
    elif raises and any(one.rung is not None for one in states):
        now = raised(ladder, states, committed_lines(ladder.file))
    if now is not None:
        changed = write_ladder(ladder.file, now.lines, devices.after(changed=raises and bool(now.changes)))
        counts = ", ".join(f"{count} {what}" for what, count in now.changes.items())
        lines.append(f"{name}: {'written' if changed else 'unchanged'}{f': {counts}' if counts else ''}")
        lines += _listed(f"dropped: {counted(len(now.left), 'line')} whose rung no target takes over", now.left)
        ladder = read_ladder(ladder.file)
        by_id = {line.target: line for line in ladder.lines}
        states = [replace(one, line=by_id.get(one.id)) for one in states]
    checked = check(settings, ladder, states, elsewhere=devices.elsewhere)
    lines += [*checked.notes, *checked.failures, *checked.to_raise, summary(settings.name, states)]
    problems = counted(len(checked.failures) + len(checked.to_raise), "problem")
    lines.append(f"{name} holds" if checked.holds else f"{name} does not hold: {problems}")
    if checked.to_raise:
        lines[-1] += f"; `retarget bringup {settings.name} --raise` settles {len(checked.to_raise)} of them"
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if checked.holds else 1
