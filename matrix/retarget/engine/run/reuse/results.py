"""Which results of earlier runs serve a session's targets."""

from __future__ import annotations

from collections.abc import Sequence

from retarget.engine.cache.store import Store
from retarget.engine.run.reuse.case_digest import CaseDigests
from retarget.engine.run.reuse.dependencies import RunDependencies
from retarget.engine.run.reuse.kept_results import KeptResult, KeptResults
from retarget.expect.cases import TargetRules
from retarget.expect.verdict import today
from retarget.extension.registry import Registry
from retarget.model import RunTarget
from retarget.model.outcomes import Artifact, DeviceInfo, RunOutcome

__all__ = ["ReusableResults"]


class ReusableResults:
    """The results in a store, by the targets, artifacts and devices of a session. Targets are those of
    `Engine.generated`; the `devices` are those that a target runs on."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        *,
        extensions: Sequence[str],
        only: Sequence[str],
        case_digests: CaseDigests,
        runs_elsewhere: bool,
    ) -> None:
        """`extensions` are those of `RunDependencies`, `only` the selected cases. If it `runs_elsewhere`, nothing but
        its devices says where a target runs."""
        self._kept = KeptResults(store)
        self._dependencies = RunDependencies(registry, extensions)
        self._only = tuple(only)
        self._case_digests = case_digests
        self._runs_elsewhere = runs_elsewhere

    def find(
        self, target: RunTarget, artifact: Artifact, rules: TargetRules, devices: Sequence[DeviceInfo]
    ) -> KeptResult | None:
        """Return what `Engine.kept_result` does."""
        key = self._key(target, artifact, rules, devices)
        return self._kept.find(key, rules, today()) if key else None

    def keep(
        self,
        target: RunTarget,
        artifact: Artifact,
        rules: TargetRules,
        outcome: RunOutcome,
        devices: Sequence[DeviceInfo],
    ) -> None:
        """Do what `Engine.keep_result` does."""
        if key := self._key(target, artifact, rules, devices):
            self._kept.keep(key, rules, outcome, today())

    @property
    def notes(self) -> Sequence[str]:
        """Why results are not kept, in at most one line."""
        return self._kept.notes

    def _key(self, target: RunTarget, artifact: Artifact, rules: TargetRules, devices: Sequence[DeviceInfo]) -> str:
        if self._runs_elsewhere and not devices:
            return ""
        cases = self._case_digests.of(target)
        return self._dependencies.of(target, artifact.digest, cases, devices, self._only, rules.skipping(today()))
