"""A run target as a pytest item."""

from __future__ import annotations

from retarget.engine.trial.run_trial import RunTrial
from retarget.model import CompileTarget, RunTarget, RuntimeConfig

from pytest_retarget.items.base import MatrixItem

__all__ = ["RunItem"]


class RunItem(MatrixItem):
    """One module, compiled one way and run one way."""

    target: RunTarget
    _sort = RunTrial

    @property
    def compile_target(self) -> CompileTarget:
        return self.target.compile

    @property
    def runtime(self) -> RuntimeConfig:
        return self.target.runtime
