"""What blocks: targets that stop at one rung for one reason, the reason that would free the most of them first.

And what the reference backend does with their modules.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path

from msgspec.structs import replace
from retarget.engine.commands import BY_HAND
from retarget.extension import ModuleSize
from retarget.model.rungs import Rung
from retarget.results.overview import state_of
from retarget.results.record import Result, TargetRecord
from retarget.support.errors import display_path
from retarget.support.text import first_line, shown

from retarget_bringup.ladder.states import LadderTarget, TargetState
from retarget_bringup.sizes import size_text
from retarget_bringup.status.model import Blocker, Reference

_Results = Mapping[str, TargetRecord]
_Run = Callable[[Sequence[str]], _Results]

_LINES = 3
"""Lines of a diagnostic that are shown."""

_BEGINS = 2000
"""Characters of a report in which they are looked for."""


def blockers(
    stuck: Iterable[TargetState], root: Path, sizes: Mapping[str, ModuleSize] | None = None
) -> tuple[Blocker, ...]:
    """Group the targets that stop below `matches`, and rank the groups.

    A target that its compile target blocks counts with that one's failure. The smallest module is that of the least of
    `sizes`, which are by the ids of targets; of those that were not measured, the one with the fewest bytes in its file
    below `root`, and where several share a file, the one that compiled fastest.
    """
    groups: dict[tuple[Rung, str, str], list[TargetState]] = {}
    for state in stuck:
        failure = state.failure
        way = (failure.stage, failure.signature) if failure is not None else ("", state.reason or "no failure is known")
        groups.setdefault((state.rung or Rung.NONE, *way), []).append(state)
    size, measured = _module_size(root), sizes or {}
    found = []
    for (rung, stage, signature), members in groups.items():
        candidates = [
            (_measured(measured, state.id), size(record), state.id, record)
            for state in members
            for record in _failed_record(state)
        ]
        _, (_, own, _), target, smallest = min(candidates)
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
                measure=size_text(measured[target]) if target in measured else "",
                message=first_line(smallest.message) if smallest.observation is not None else "",
                diagnostic=_diagnostic(smallest),
                known=known,
                command=_command(smallest.nodeid, root, known=bool(known)),
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


def _measured(sizes: Mapping[str, ModuleSize], target: str) -> tuple[bool, tuple[int, ...]]:
    return target not in sizes, sizes[target].order if target in sizes else ()


def _module_size(root: Path) -> Callable[[TargetRecord], tuple[bool, int, float]]:
    """Return the function that measures a module: whether its size is unknown, the bytes of its file, and the
    compiler's seconds where it has none of its own."""
    known: dict[str, int] = {"": 0}

    def size(record: TargetRecord) -> tuple[bool, int, float]:
        if (file := record.module_file) not in known:
            try:
                known[file] = (root / file).stat().st_size
            except (OSError, ValueError):  # not here, or no path at all
                known[file] = 0
        own = known[file]
        return not own, own, 0.0 if own or record.compile is None else record.compile.seconds

    return size


def _diagnostic(record: TargetRecord) -> tuple[str, ...]:
    """Return the first lines of a failure's report that say more than its message, which is a summary of them."""
    lines = [line for line in record.text[:_BEGINS].partition(BY_HAND)[0].splitlines() if line.strip()]
    more = lines[1:] if lines and lines[0].strip() == record.message.strip() else lines
    return tuple(shown(line) for line in (more or [record.message])[:_LINES])


def with_references(
    blockers: Sequence[Blocker], config: str, *, results: _Results, declared: Set[str], run: _Run
) -> tuple[Blocker, ...]:
    """Return blockers with what the config `COMPILER[/RUNTIME]` makes of each one's smallest module: from `results`
    where they have it, else `run` with all the others that are `declared`, in one session."""
    homes = [one.smallest.removesuffix(results[one.smallest].target) for one in blockers]
    targets = [f"{home}{one.module}_{config.replace('/', '_')}" for home, one in zip(homes, blockers, strict=True)]
    missing = [one for one in dict.fromkeys(targets) if one in declared and one not in results]
    known = {**results, **(run(missing) if missing else {})}
    said = {one: _reference(one, config, known, is_declared=one in declared) for one in targets}
    return tuple(replace(blocker, reference=said[target]) for blocker, target in zip(blockers, targets, strict=True))


def _reference(target: str, config: str, known: _Results, *, is_declared: bool) -> Reference:
    record = known.get(target)
    if record is None and not is_declared:
        return Reference(config=config, outcome="has no target of this module")
    if record is None:
        return Reference(config=config, target=target, outcome="was not run", signature="it is not in these results")
    if record.result is Result.PASSED and not record.missing_cases:
        return Reference(config=config, target=target, outcome="passes")
    compiled = known.get(f"{target.removesuffix(record.target)}{record.module}_{record.compiler}")
    state = TargetState(target=LadderTarget(id=target, digest=""), record=record, compiled=compiled)
    if (failure := state.failure) is None:
        why = record.reason or record.message or str(state_of(record))
        return Reference(config=config, target=target, outcome="was not run", signature=why)
    return Reference(config=config, target=target, outcome="fails", stage=failure.stage, signature=failure.signature)
