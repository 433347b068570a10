"""Compile targets and run targets as pytest items."""

from __future__ import annotations

from contextlib import suppress

from retarget.engine.trial.compile_trial import CompileTrial
from retarget.engine.trial.run_trial import RunTrial
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, RunTarget, RuntimeConfig
from retarget.support.errors import RetargetError

from pytest_retarget.items.base import MatrixItem
from pytest_retarget.session.services import SERVICES

__all__ = ["CompileItem", "RunItem"]

_MAY_SKIP = frozenset({"skip", "skipif", "xfail"})
"""Marks of pytest's by which a target may not be run."""


class CompileItem(MatrixItem):
    """One module, compiled one way."""

    target: CompileTarget
    _sort = CompileTrial

    @property
    def compile_target(self) -> CompileTarget:
        return self.target


class RunItem(MatrixItem):
    """One module, compiled one way and run one way."""

    target: RunTarget
    following: RunItem | None = None
    """The run target that is tried next, where it may begin while pytest reports this one."""
    _sort = RunTrial

    @property
    def compile_target(self) -> CompileTarget:
        return self.target.compile

    @property
    def runtime(self) -> RuntimeConfig:
        return self.target.runtime

    def runtest(self) -> None:
        if self.following is not None:
            self.trial.then = self.following.begin
        super().runtest()

    def begin(self) -> None:
        """Begin the run that `runtest` is going to wait for, where nothing keeps it from that."""
        if self.in_force.skipping is not None or any(mark.name in _MAY_SKIP for mark in self.iter_markers()):
            return
        services = self.config.stash[SERVICES]
        with suppress(RetargetError, UnavailableError):  # `runtest` says so
            if not services.references.needed(self.target):
                in_force = services.in_force(self.target, self.in_force)
                if in_force.skipping is None:
                    services.engine.begin_run(self.target, in_force.rules)
