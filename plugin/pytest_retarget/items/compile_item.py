"""A compile target as a pytest item."""

from __future__ import annotations

from retarget.engine.trial.compile_trial import CompileTrial
from retarget.model import CompileTarget

from pytest_retarget.items.base import MatrixItem

__all__ = ["CompileItem"]


class CompileItem(MatrixItem):
    """One module, compiled one way."""

    target: CompileTarget
    _sort = CompileTrial

    @property
    def compile_target(self) -> CompileTarget:
        return self.target
