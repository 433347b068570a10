"""Runs that begin before their turn: elsewhere all of them, each as soon as its compile is done; here the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.engine.compile.service import BuildService
from retarget.engine.run.service import RunService
from retarget.model import RunTarget
from retarget.model.outcomes import Artifact, CompileOutcome
from retarget.support.locks import HeldLock, hold_existing

if TYPE_CHECKING:
    from retarget.engine.run.elsewhere import RunsElsewhere

__all__ = ["RunsAhead", "hold_artifact"]


class RunsAhead:
    """What begins the runs of a session ahead of their turn. Targets are those of `Engine.generated`. To be closed."""

    def __init__(self, builds: Callable[[], BuildService], only: Sequence[str]) -> None:
        """`builds` returns what compiles for the session, once something is to be. `only` are the selected cases."""
        self._builds = builds
        self._only = tuple(only)
        self._held = ExitStack()

    def queue(
        self,
        target: RunTarget,
        elsewhere: RunsElsewhere,
        skipping: Sequence[tuple[str, bool]],
        is_kept: Callable[[Artifact], bool],
        outcome: CompileOutcome | None,
    ) -> None:
        """Have a target run elsewhere as soon as its compile is done, which is queued unless its `outcome` is known.

        The other arguments are those of `RunsElsewhere.queue`. Raises as `BuildService.submit` does.
        """
        elsewhere.queue(target, skipping, is_kept)
        if outcome is None:
            self._builds().submit([target.compile])
            outcome = self._builds().outcome(target.compile)
        if outcome is not None:
            elsewhere.compiled(target.compile, outcome)

    def begin(
        self,
        target: RunTarget,
        runs: Callable[[], RunService],
        skipping: Sequence[tuple[str, bool]],
        check: Callable[[RunTarget], object],
    ) -> None:
        """Have a run begin here, where nothing keeps it from that. `check` raises where its devices do not do."""
        outcome = self._builds().outcome(target.compile)
        if outcome is None or outcome.artifact is None or (held := hold_artifact(outcome.artifact)) is None:
            return
        self._held.enter_context(held)
        if target.requires:
            check(target)
        runs().begin(target, outcome.artifact, only=self._only, skipping=skipping)

    def taken(self) -> ExitStack:
        """Return what holds the artifacts of runs that have begun here: until it is closed they are not evicted."""
        return self._held.pop_all()


def hold_artifact(artifact: Artifact) -> HeldLock | None:
    """Hold an artifact, so that no session evicts it; None where it is not there."""
    with suppress(OSError):  # whoever reads it will say so
        return hold_existing(Path(artifact.path))
    return None
