"""Results in short: how many targets have which outcome, and failures that have one cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retarget.results.changes import state_of
from retarget.results.files import SessionResults
from retarget.results.record import Outcome, TargetRecord

__all__ = ["FailureGroup", "by_config", "by_outcome", "failure_groups", "not_reached"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """Failures of one stage and signature; the first record is that of the smallest module (see `failure_groups`)."""

    stage: str
    signature: str
    records: tuple[TargetRecord, ...]


def by_outcome(records: Iterable[TargetRecord]) -> dict[Outcome, int]:
    """Return how many records have each outcome that any has, in the order of `Outcome`."""
    counted = Counter(record.outcome for record in records)
    return {outcome: counted[outcome] for outcome in Outcome if counted[outcome]}


def by_config(records: Iterable[TargetRecord]) -> dict[tuple[str, str], dict[Outcome, int]]:
    """Return the same for each pair of compiler and runtime config, sorted; the runtime of compile targets is empty."""
    configs: dict[tuple[str, str], list[TargetRecord]] = {}
    for record in records:
        configs.setdefault((record.compiler, record.runtime), []).append(record)
    return {config: by_outcome(found) for config, found in sorted(configs.items())}


def failure_groups(records: Iterable[TargetRecord]) -> list[FailureGroup]:
    """Return the failures by stage and signature, the largest group first.

    Of a group, the target whose module compiles fastest comes first, which is the smallest one as far as records tell.
    """
    groups: dict[tuple[str, str], list[TargetRecord]] = {}
    for record in records:
        if (state := state_of(record)).is_bad:
            groups.setdefault((state.stage, state.signature), []).append(record)
    ordered = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
    return [
        FailureGroup(stage=stage, signature=signature, records=tuple(sorted(found, key=_size)))
        for (stage, signature), found in ordered
    ]


def _size(record: TargetRecord) -> tuple[bool, float, str]:
    seconds = record.compile.seconds if record.compile is not None else 0.0
    return not seconds, seconds, record.nodeid


def not_reached(session: SessionResults, results: Mapping[str, TargetRecord]) -> int:
    """Return how many targets a session was to run, and has no record of; `results` are its own, by id."""
    return max(session.start.selected - len(results), 0)
