"""What the outcome of a target depends on, as a digest: where it is the digest of an earlier run, nothing needs to run.

It covers the artifact, the case digest, the builds of the driver and of the runtime, the code that makes and compares
cases, the kind of host, and the variables by which loaders choose drivers and devices. Devices are not asked: that one
was replaced, or its system driver, is not seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from retarget.engine.cache.host import host_identity
from retarget.engine.cache.key import digest_of
from retarget.engine.compile.builds import describe_build
from retarget.extension import code_digest
from retarget.extension.registry import Registry
from retarget.model import RunTarget, RuntimeConfig, Target
from retarget.model.outcomes import CompileOutcome

__all__ = ["RunDependencies"]

_FORMAT = "1"
"""Raised whenever what the digest covers changes."""

_CORE = ("retarget.arrays", "retarget.engine.run", "retarget.expect", "retarget.model", "retarget.worker")
_VARIABLES = ("LD_*", "DYLD_*", "*ICD*", "*VISIBLE_DEVICES", "*DRIVER_FILES*", "*LAYER*")


class RunDependencies:
    """The digests of a session's targets. What several of them share is determined once."""

    def __init__(self, registry: Registry, extensions: Sequence[str]) -> None:
        """`extensions` are module names to load in workers in addition to the installed entry points."""
        self._registry = registry
        self._extensions = tuple(extensions)
        self._known: dict[RuntimeConfig | str, str] = {}

    def of(self, target: Target, compiled: CompileOutcome, case_digest: str, *more: str) -> str:
        """Return the digest (SHA-256 hex) for a target whose compile came to `compiled`. `more` is covered, too."""
        runs = isinstance(target, RunTarget)
        kind = target.compile.kind if isinstance(target, RunTarget) else target.kind
        artifact = compiled.artifact.digest if compiled.artifact is not None else f"none {compiled.key}"
        parts = [_FORMAT, runs, artifact, case_digest, self._of_kind(kind), *more]
        if isinstance(target, RunTarget):
            parts.append(self._of_runtime(target.runtime))
        return digest_of(json.dumps(parts).encode())

    def _of_kind(self, kind: str) -> str:
        if kind not in self._known:
            loader = self._registry.case_loaders.get(kind)
            self._known[kind] = code_digest(*_CORE) + (self._registry.code_of(loader) if loader is not None else "")
        return self._known[kind]

    def _of_runtime(self, runtime: RuntimeConfig) -> str:
        if runtime not in self._known:
            drivers = [self._registry.code_of(self._registry.drivers[name]) for name in runtime.drivers]
            build = describe_build(self._registry, self._extensions, runtime)
            variables = sorted(
                one for one in os.environ.items() if any(fnmatchcase(one[0], like) for like in _VARIABLES)
            )
            self._known[runtime] = digest_of(json.dumps([drivers, build, variables, host_identity()]).encode())
        return self._known[runtime]
