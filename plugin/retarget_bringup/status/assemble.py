"""The status from the states of all targets: what blocks, and the one thing to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from msgspec import Struct
from retarget.model import Rung
from retarget.results import TargetRecord
from retarget.session import Commands
from retarget.support import counted, display_path, first_line, shown

from retarget_bringup.ladder.check import fallen
from retarget_bringup.ladder.states import Standing, TargetState

_RUNGS = (Rung.NONE, *(rung for rung in Rung if rung >= Rung.COMPILES))
"""Those of targets; the others are of drivers alone."""


def status_of(
    name: str,
    states: Sequence[TargetState],
    *,
    root: Path,
    stable_runs: int,
    is_raised: bool,
    reference: str = "",
    declared: Set[str] = frozenset(),
) -> Status:
    """Return the status of a bring-up. Modules are below `root`. `reference` is the config of the backend to compare
    with, COMPILER or COMPILER/RUNTIME, whose targets are among those `declared`; empty for none."""
    seen = [one for one in states if one.standing in {Standing.REACHED, Standing.BELOW}]
    tried = [(one, rung) for one in states if (rung := _rung(one)) is not None and not one.is_permanent]
    stuck = [one for one, rung in tried if rung < one.target.top and one.is_tried]
    blocking = blockers(stuck, root, reference, declared)
    reached = sum(one.standing is Standing.REACHED for one in seen)
    excluded = _excluded(states)
    steps = _steps(
        name,
        blocking,
        fallen(states),
        unstable=sum(rung is Rung.MATCHES for _, rung in tried),
        stable_runs=stable_runs,
        is_raised=is_raised,
        missing=next((one.reason for one in excluded if one.state == Standing.NOT_TRIED), ""),
    )
    return Status(
        name=name,
        percentage=1000 * reached // len(seen) / 10 if seen else None,
        matches=reached,
        counted=len(seen),
        only_compiled=sum(one.target.top is rung is Rung.COMPILES for one, rung in tried),
        rungs=_rungs([rung if rung < one.target.top else max(rung, Rung.MATCHES) for one, rung in tried]),
        excluded=excluded,
        blockers=blocking,
        next=next(steps),
    )


def _rung(one: TargetState) -> Rung | None:
    """Return the rung of a target. A target that matches in too few runs stays stable if the ladder has it as
    stable."""
    is_stable = one.line is not None and one.line.rung is Rung.STABLE
    return Rung.STABLE if is_stable and one.rung is Rung.MATCHES else one.rung


def _rungs(rungs: Sequence[Rung]) -> tuple[RungCount, ...]:
    return tuple(
        RungCount(rung=rung.word, reach=sum(one >= rung for one in rungs), stop=sum(one == rung for one in rungs))
        for rung in _RUNGS
    )


def _excluded(states: Sequence[TargetState]) -> tuple[Excluded, ...]:
    """Group what the percentage leaves out by why it does; of the unseen by how far they come."""
    groups: dict[tuple[Standing, str], list[str]] = {}
    for one in states:
        if one.standing in {Standing.PERMANENT, Standing.NOT_TRIED, Standing.UNSEEN}:
            reason = one.reason or (one.rung.word if one.rung is not None else "")
            groups.setdefault((one.standing, reason), []).append(one.id)
    order = list(Standing)
    return tuple(
        Excluded(state=standing, reason=reason, targets=tuple(sorted(found)))
        for (standing, reason), found in sorted(groups.items(), key=lambda one: (order.index(one[0][0]), -len(one[1])))
    )


def _steps(
    name: str,
    blockers: Sequence[Blocker],
    fell: Set[str],
    *,
    unstable: int,
    stable_runs: int,
    is_raised: bool,
    missing: str,
) -> Iterator[Next]:
    """Yield the next steps: what fell; the blocker that frees the most; runs that show what is stable; the ladder.

    `fell` are the targets below their lines. `unstable` targets match and are not stable, which takes `stable_runs`
    runs. The ladder `is_raised` where it says all that was found. `missing` is why the rest was not tried, empty where
    all was.
    """
    own = f"retarget bringup {shlex.quote(name)}"
    counts = [len(fell & {*one.targets}) for one in blockers]
    if any(counts):
        why = f"{counted(max(counts), 'target')} fell by it, and a ladder only rises"
        yield _mend(blockers[counts.index(max(counts))], why)
    for first in blockers[:1]:
        as_many = sum(one.frees == first.frees for one in blockers) > 1
        most = "as many as any other does, in the smallest module" if as_many else "more than any other does"
        rest = f", {most}" if len(blockers) > 1 else ", and no other is below matches"
        yield _mend(first, f"it frees {counted(first.frees, 'target')}{rest}")
    if unstable:
        yield Next(
            what=f"run what matches again: {counted(unstable, 'target')} not stable yet",
            why=f"all that was tried matches; stable takes {stable_runs} runs",
            command=f"{own} --runs {stable_runs}",
        )
    if not is_raised:
        why = "what was found is not in it yet"
        yield Next(what="raise the ladder, and commit it", why=why, command=f"{own} --raise")
    if missing:
        yield Next(what="run the rest where it can run", why=missing)
    yield Next(what="add modules", why="all targets are stable, and the ladder says so")


def _mend(blocker: Blocker, why: str) -> Next:
    where = f"{blocker.stage}: " if blocker.stage else ""
    said = (blocker.message or blocker.signature).removeprefix(where)
    return Next(what=f"mend in {blocker.module}: {where}{said}", why=why, command=blocker.command)


_LINES = 3
"""Lines of a diagnostic that are shown."""

_BEGINS = 2000
"""Characters of a report in which they are looked for."""


def blockers(
    stuck: Iterable[TargetState], root: Path, reference: str = "", declared: Set[str] = frozenset()
) -> tuple[Blocker, ...]:
    """Group the targets that stop below `matches`, and rank the groups.

    A target that its compile target blocks counts with that one's failure. The smallest module is the one with the
    fewest bytes in its file below `root`, and where several share a file, the one that compiled fastest.
    """
    groups: dict[tuple[Rung, str, str], list[TargetState]] = {}
    for state in stuck:
        failure = state.failure
        way = (failure.stage, failure.signature) if failure is not None else ("", state.reason or "no failure is known")
        groups.setdefault((state.rung or Rung.NONE, *way), []).append(state)
    found = []
    for (rung, stage, signature), members in groups.items():
        (_, own, _), _, smallest = min(
            (_size(record, root), state.id, record) for state in members for record in _failed_record(state)
        )
        other = f"{smallest.nodeid.removesuffix(smallest.target)}{smallest.module}_{reference.replace('/', '_')}"
        known = smallest.reason if smallest.observation is not None else ""
        found.append(
            Blocker(
                rung=rung.word,
                stage=stage,
                signature=signature,
                frees=len(members),
                targets=tuple(sorted(state.id for state in members)),
                smallest=smallest.nodeid,
                module=smallest.module,
                size=own,
                message=first_line(smallest.message) if smallest.observation is not None else "",
                diagnostic=_diagnostic(smallest),
                known=known,
                command=_command(smallest.nodeid, root, known=bool(known)),
                reference=_command(other, root, known=False) if reference and other in declared else "",
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.frees, not one.size, one.size, one.rung, one.signature)))


def _failed_record(state: TargetState) -> tuple[TargetRecord, ...]:
    """Return the record that has the failure of a target: its own, or that of its compile target."""
    found = [one for one in (state.record, state.compiled) if one is not None]
    return tuple(sorted(found, key=lambda one: one.observation is None)[:1])


def _command(target: str, root: Path, *, known: bool) -> str:
    """Return the command that runs a target from where the user is; of a failure that a rule excuses, with a report."""
    where = "" if root.resolve() == Path.cwd().resolve() else f"cd {shlex.quote(display_path(root))} && "
    quoted = shlex.quote(target) if "'" in target else f"'{target}'"  # one shell or another expands brackets
    return f"{where}pytest {quoted}{' --retarget-ignore-expectations' if known else ''}"


def _size(record: TargetRecord, root: Path) -> tuple[bool, int, float]:
    """Return whether the size of a module is unknown, the bytes of its file, and the compiler's seconds where it has
    none of its own."""
    try:
        size = (root / record.module_file).stat().st_size if record.module_file else 0
    except (OSError, ValueError):  # not here, or no path at all
        size = 0
    return not size, size, 0.0 if size or record.compile is None else record.compile.seconds


def _diagnostic(record: TargetRecord) -> tuple[str, ...]:
    """Return the first lines of a failure's report that say more than its message, which is a summary of them."""
    lines = [line for line in record.text[:_BEGINS].partition(Commands.heading)[0].splitlines() if line.strip()]
    more = lines[1:] if lines and lines[0].strip() == record.message.strip() else lines
    return tuple(shown(line) for line in (more or [record.message])[:_LINES])


class RungCount(Struct, frozen=True, kw_only=True):
    """How many targets `reach` a rung, and how many of them `stop` there."""

    rung: str
    reach: int
    stop: int


class Excluded(Struct, frozen=True, kw_only=True):
    """Targets that the percentage leaves out for one reason. `state` is `permanent`, `unseen` or `not tried`."""

    state: str
    reason: str
    targets: tuple[str, ...]


class Blocker(Struct, frozen=True, kw_only=True):
    """Targets that stop at one rung for one reason: each is freed when it is mended.

    `smallest` is the target of the smallest module, which is what `command` runs; where the module does not compile,
    its compile target. `size` is that of its file in bytes. `message` is that of its failure, as the tool says it,
    and `diagnostic` the first lines that say more. `known` is the reason of the expectation rule. `reference` is the
    command that runs the module on the backend to compare with, empty where none is declared.
    """

    rung: str
    stage: str
    signature: str
    frees: int
    targets: tuple[str, ...]
    smallest: str
    module: str = ""
    size: int = 0
    message: str = ""
    diagnostic: tuple[str, ...] = ()
    known: str = ""
    command: str
    reference: str = ""


class Next(Struct, frozen=True, kw_only=True):
    """The one thing to do next."""

    what: str
    why: str
    command: str = ""


class Status(Struct, frozen=True, kw_only=True):
    """All of it. `percentage` is the share of `counted` targets that match, rounded down to a tenth (None without any):
    of those that are seen and not permanent. `rungs` count all that were tried, the unseen too. Of these,
    `only_compiled` are compile targets that nothing runs: as high as they can be, they count as matching."""

    name: str
    percentage: float | None = None
    matches: int = 0
    counted: int = 0
    only_compiled: int = 0
    rungs: tuple[RungCount, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    next: Next
