"""Compiles and runs single targets for a command, with the cache and the processes that a test session has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from retarget.engine.cache.folder import cache_of_command
from retarget.engine.cache.generated import MADE_FOLDER, MadeModules
from retarget.engine.cache.store import Store
from retarget.engine.compile.service import BuildService
from retarget.engine.run.lease import OnLeaseWait
from retarget.engine.run.service import RunService
from retarget.extension import MakesModules, Tolerance
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, RunTarget
from retarget.model.outcomes import CompileOutcome, Failure, OutputComparison, RunOutcome, Stage
from retarget.worker.artifact import OUTPUTS_INDEX

__all__ = ["Rerunner"]

_COMPILE_SECONDS = 600.0
_RUN_SECONDS = 120.0
"""Time limits where a target declares none, as in a test session."""


class Rerunner:
    """Compiles and runs; what it compiles is stored in the user's cache. To be closed."""

    def __init__(
        self,
        *,
        registry: Registry,
        extensions: Sequence[str],
        seed: int | None = None,
        on_wait: OnLeaseWait | None = None,
    ) -> None:
        """With a `seed`, functions without cases are called with inputs made from their types.

        `on_wait` is called while another session has a device.
        """
        cache = cache_of_command().folder
        self._registry = registry
        self._seed = seed
        self._on_wait = on_wait
        self._build = BuildService(
            store=Store(cache), extensions=extensions, default_timeout=_COMPILE_SECONDS, registry=registry
        )
        self._run = RunService(extensions=extensions, default_timeout=_RUN_SECONDS)
        self._made = MadeModules(cache / MADE_FOLDER, self._run.make)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        self._made.close()
        try:
            self._build.close()
        finally:
            self._run.close()

    def check(self, target: RunTarget) -> None:
        """See that a target can run here. Raises `UnavailableError` where something is missing, `RetargetError`."""
        config = target.compile.compiler
        self._registry.case_loader(target.compile.kind)
        self._registry.driver(target.runtime.driver)
        self._build.check(config)
        self._run.devices(target.runtime)

    def compile(self, target: CompileTarget) -> CompileOutcome:
        """Compile a target, or take what is stored from the cache. Raises `UnavailableError` and `RetargetError`."""
        return self._build.result(self._concrete(target))

    def run(self, target: RunTarget, record: Path) -> RunOutcome:
        """Compile a target, or take it from the cache, and run it; what it gives is written to the folder `record`.

        A compile that fails is a failure at stage compile. Raises as `check` does.
        """
        target = replace(target, compile=self._concrete(target.compile))
        outcome = self._build.result(target.compile)
        if outcome.artifact is None:
            failure = outcome.failure or Failure(stage=Stage.COMPILE, summary="there is no artifact")
            return RunOutcome(devices=(), failure=failure)
        return self._run.run(target, outcome.artifact, record=record, seed=self._seed, on_wait=self._on_wait)

    def compare(self, folders: tuple[Path, Path], sides: tuple[str, str], tolerance: Tolerance) -> OutputComparison:
        """Compare what two runs gave. `sides` are what they are called."""
        return self._run.compare(folders, sides, tolerance)

    @staticmethod
    def is_recorded(folder: Path) -> bool:
        """Whether a run came to its end, so that there is something to compare."""
        return (folder / OUTPUTS_INDEX).is_file()

    def _concrete(self, target: CompileTarget) -> CompileTarget:
        loader = self._registry.case_loaders.get(target.kind)
        return self._made.resolve(target, loader) if isinstance(loader, MakesModules) else target
