"""Which results of earlier runs serve a session's targets: those that depend on nothing that has changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from retarget.engine.cache.host import host_identity
from retarget.engine.cache.key import digest_of
from retarget.engine.cache.store import Store
from retarget.engine.run.reuse.case_digest import CaseDigests
from retarget.engine.run.reuse.kept_results import KeptResult, KeptResults
from retarget.engine.toolchains import describe_build
from retarget.expect.cases import TargetRules
from retarget.expect.verdict import today
from retarget.extension import code_digest
from retarget.extension.registry import Registry
from retarget.model import RunTarget, RuntimeConfig
from retarget.model.outcomes import Artifact, DeviceInfo, RunOutcome

__all__ = ["ReusableResults", "RunDependencies"]

_FORMAT = "2"
"""Raised whenever what the digest covers, or what is kept under it, changes."""

_CORE = ("retarget.arrays", "retarget.engine.run", "retarget.model", "retarget.worker")
_VARIABLES = ("LD_*", "DYLD_*", "*ICD*", "*VISIBLE_DEVICES", "*DRIVER_FILES*", "*LAYER*")


class RunDependencies:
    """What the result of each target depends on, as a digest. What several of them share is determined once.

    It covers the artifact, the case digest, the devices as their drivers report them, the builds of driver and runtime,
    the code that makes and compares cases, the kind of host, and the variables by which loaders choose drivers. Of what
    runs behind `run_under` nothing is reported: there the content of the command counts.
    """

    def __init__(self, registry: Registry, extensions: Sequence[str]) -> None:
        """`extensions` are module names to load in workers in addition to the installed entry points."""
        self._registry = registry
        self._extensions = tuple(extensions)
        self._known: dict[RuntimeConfig | str, str] = {}

    def of(
        self, target: RunTarget, artifact: str, case_digest: str, devices: Sequence[DeviceInfo], *more: object
    ) -> str:
        """Return the digest (SHA-256 hex) for a target, the digest of its artifact, and its devices. `more` is covered,
        too. It is empty where devices, and what stands for them, are not known."""
        if not devices and not target.runtime.run_under:
            return ""
        about = [self._of_kind(target.compile.kind), self._of_runtime(target.runtime), [*map(_identity, devices)]]
        return digest_of(json.dumps([_FORMAT, artifact, case_digest, *about, *more]).encode())

    def _of_kind(self, kind: str) -> str:
        if kind not in self._known:
            loader = self._registry.case_loaders.get(kind)
            self._known[kind] = code_digest(*_CORE) + (self._registry.code_of(loader) if loader is not None else "")
        return self._known[kind]

    def _of_runtime(self, runtime: RuntimeConfig) -> str:
        if runtime not in self._known:
            drivers = [self._registry.code_of(self._registry.drivers[name]) for name in runtime.drivers]
            build = describe_build(self._registry, self._extensions, runtime)
            command = shutil.which(runtime.run_under[0]) if runtime.run_under else None
            under = digest_of(Path(command).read_bytes()) if command is not None else ""
            variables = sorted(
                one for one in os.environ.items() if any(fnmatchcase(one[0], like) for like in _VARIABLES)
            )
            host = host_identity() if runtime.run_under else ""
            self._known[runtime] = digest_of(json.dumps([drivers, build, under, variables, host]).encode())
        return self._known[runtime]


def _identity(device: DeviceInfo) -> list[object]:
    """What a driver reports of a device, but for where it is listed and what may change from one moment to the next."""
    about = [device.driver, device.name, device.physical_id, device.driver_version, device.runtime, device.host]
    return [*about, device.features]


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
