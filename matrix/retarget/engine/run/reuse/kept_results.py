"""The results of runs that need not be run again: kept in the store by what they depend on (`dependencies`).

What is kept is what a run gave, not what expectations make of it: they judge it anew each time. A result is kept where
it stands for the next run: it passed, or failed as a rule says. Where the same target later comes to another result
although nothing that it depends on has changed, chance decides: it then runs always.
"""

from __future__ import annotations

import dataclasses
import platform
import time
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import msgspec

from retarget.engine.cache.store import Store, StoreError
from retarget.expect.cases import TargetRules, judge_target
from retarget.expect.verdict import Ruling, is_expired
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Failure, RunOutcome
from retarget.support.dependencies import Dependency

__all__ = ["KeptResult", "KeptResults", "stands"]

_BY_CHANCE: dict[str, Any] = {"by_chance": True}
"""What is kept of a target that passes and fails by chance."""


class KeptResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run gave, in the fields of `RunOutcome`; the host that ran it, and when it ended (seconds since 1970,
    UTC)."""

    host: str
    ended: float
    load_seconds: float
    run_seconds: float
    compare_seconds: float
    cases: tuple[CaseOutcome, ...]
    names: tuple[str, ...]
    loaded: bool
    failure: Failure | None = None
    output: str = ""
    dependencies: tuple[Dependency, ...] = ()

    def outcome(self, devices: Sequence[DeviceInfo]) -> RunOutcome:
        """Return the outcome of a run on `devices`, which began at no time of this session."""
        return RunOutcome(devices=tuple(devices), **{name: getattr(self, name) for name in _FIELDS})


msgspec.json.Decoder(KeptResult)
"""As in `retarget.engine.cache.sealed_files`: several threads may read results."""


_FIELDS = [one.name for one in dataclasses.fields(RunOutcome) if one.name in {*KeptResult.__struct_fields__} - {"host"}]


def stands(rules: TargetRules, outcome: RunOutcome, day: date) -> bool:
    """Return whether what a run gave is as good as another run on `day`: it passed, or failed as its rules say.

    Never where chance has a part: crashes, timeouts, failures of the driver itself, flaky and intermittent rules. Nor
    where a rule has expired, no case was run, or a case is to agree with another config, whose run counts as well.
    Raises `RetargetError` where two rules contradict each other on a case.
    """
    if any(rule.outcome in {"flaky", "intermittent"} or is_expired(rule, day) for rule in rules.all):
        return False
    failures = [outcome.failure, *(case.failure for case in outcome.cases)]
    if outcome.suspect or any(failure is not None and failure.transient for failure in failures):
        return False
    if any(case.agree_with for case in outcome.cases):
        return False
    verdict = judge_target(rules, outcome.failure, outcome.cases, day=day, names=outcome.names)
    if outcome.failure is None:
        return bool(outcome.cases) and not verdict.broken
    return not verdict.broken and verdict.ruling is Ruling.EXCUSED


class KeptResults:
    """The results in a store. What cannot be written is noted, once, and never an error: it runs again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.notes: list[str] = []

    def find(self, key: str, rules: TargetRules, day: date) -> KeptResult | None:
        """Return the result under a key where it stands by today's rules; None where the target is to run. Raises as
        `stands`."""
        try:
            kept = _decoded(self._store.read_result(key))
        except StoreError:  # who writes to it says so
            return None
        return kept if kept is not None and stands(rules, kept.outcome(()), day) else None

    def keep(
        self, key: str, rules: TargetRules, outcome: RunOutcome, day: date, hold: Callable[[Sequence[Dependency]], bool]
    ) -> None:
        """Keep what a run gave, if it stands. One that is kept already stays where its dependencies `hold`, unless this
        one is another. Raises as `stands`."""
        try:
            known = self._store.read_result(key, here=True)
            kept = _decoded(known)
            if known is not None and (kept is None or hold(kept.dependencies)):
                is_verdict = outcome.failure is None or not outcome.failure.no_verdict
                if kept is not None and is_verdict and (kept.failure is None) != (outcome.failure is None):
                    self._store.write_result(key, _BY_CHANCE)
            elif stands(rules, outcome, day):
                gave = {name: getattr(outcome, name) for name in _FIELDS}
                kept = KeptResult(host=outcome.host or platform.node(), ended=time.time(), **gave)
                self._store.write_result(key, msgspec.to_builtins(kept))
        except StoreError as error:
            if not self.notes:
                self.notes.append(f"results are not kept: {error}")


def _decoded(body: dict[str, Any] | None) -> KeptResult | None:
    """Return what a body says; None where it says nothing, or is of another form, which is as if it were not there."""
    try:
        return msgspec.convert(body, KeptResult)
    except msgspec.ValidationError:
        return None
