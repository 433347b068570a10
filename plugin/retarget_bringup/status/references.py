"""What the reference backend does with the modules that block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from msgspec.structs import replace
from retarget.results.changes import state_of
from retarget.results.record import Result, TargetRecord

from retarget_bringup.ladder.states import LadderTarget, TargetState
from retarget_bringup.status.model import Blocker, Reference

__all__ = ["with_references"]

Results = Mapping[str, TargetRecord]
Run = Callable[[Sequence[str]], Results]
"""Runs targets by their ids, all in one session, and returns the results."""


def with_references(
    blockers: Sequence[Blocker], config: str, *, results: Results, declared: Set[str], run: Run
) -> tuple[Blocker, ...]:
    """Return blockers with what the config `COMPILER[/RUNTIME]` makes of each one's smallest module: from `results`
    where they have it, else run with all the others that are `declared`."""
    homes = [one.smallest.removesuffix(results[one.smallest].target) for one in blockers]
    targets = [f"{home}{one.module}_{config.replace('/', '_')}" for home, one in zip(homes, blockers, strict=True)]
    missing = [one for one in dict.fromkeys(targets) if one in declared and one not in results]
    known = {**results, **(run(missing) if missing else {})}
    said = {one: _reference(one, config, known, is_declared=one in declared) for one in targets}
    return tuple(replace(blocker, reference=said[target]) for blocker, target in zip(blockers, targets, strict=True))


def _reference(target: str, config: str, known: Results, *, is_declared: bool) -> Reference:
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
