"""What compile targets and run targets have in common as pytest items."""

from __future__ import annotations

import os
from collections.abc import MutableMapping, Sequence
from typing import Any, ClassVar

import pytest
from retarget.engine.trial.ends import AsExpected
from retarget.engine.trial.rules import NO_RULES, RulesInForce
from retarget.engine.trial.trial import Home, Trial
from retarget.expect.cases import TargetRules
from retarget.expect.matching import Assignment
from retarget.model import CompileTarget, RuntimeConfig, Target

from pytest_retarget.internals import TerminalRepr, TracebackStyle
from pytest_retarget.items.benchmark import BENCHMARK
from pytest_retarget.items.outcomes import end_of, pytest_outcomes
from pytest_retarget.items.reprs import error_repr
from pytest_retarget.session.services import SERVICES

__all__ = ["MatrixItem"]


class MatrixItem(pytest.Item):
    """A target as a pytest item. What it does is its trial's, a new one each time it runs."""

    home: Home
    target: Target
    in_force: RulesInForce = NO_RULES
    """The rules in force for the target."""
    _sort: ClassVar[type[Trial]]
    _trial: Trial | None = None
    _has_keywords = False

    def __init__(
        self, *, target: Target, home: Home, position: int, marks: Sequence[pytest.Mark], **kwargs: object
    ) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.position = position
        self.target = target
        self.home = home
        self.own_markers = list(marks)

    # ------------------------------------------------------------ what it is to pytest

    @property
    def keywords(self) -> MutableMapping[str, Any]:
        """Names and marks. The marks are entered when somebody asks: a hundred thousand items stay light."""
        if not self._has_keywords:
            self._has_keywords = True
            self._keywords.update({str(mark.name): mark for mark in self.own_markers})  # of `str` itself, for xdist
        return self._keywords

    @keywords.setter
    def keywords(self, keywords: MutableMapping[str, Any]) -> None:
        self._keywords = keywords

    def reportinfo(self) -> tuple[os.PathLike[str], int | None, str]:
        """The suite's source location, and a headline."""
        return self.path, self.home.line, f"{self.compile_target.suite}: {self.name}"

    def setup(self) -> None:
        """Forget an earlier try; skip if an expectation says so, or what the target needs is missing."""
        self._trial = None
        with pytest_outcomes():
            self.trial.prepare()

    def runtest(self) -> None:
        """Try the target."""
        benchmark = self.config.stash.get(BENCHMARK, None)
        with pytest_outcomes():
            if benchmark is not None:
                benchmark.prepare(self.trial)
            self.trial.attempt()
            if benchmark is not None:
                benchmark.judge(self.trial, self.path)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        """Word a failure for its reader: no traceback of ours, unless the error is ours.

        One that is expected is worded too, for `--xfail-tb`. Not by pytest, which would read the source of every frame
        again and again: thousands of expected failures are daily life.
        """
        path, line, _ = self.reportinfo()
        error = end_of(excinfo.value)
        if isinstance(error, AsExpected):
            return (error_repr(error.error, path, line) if error.error is not None else None) or error.reason
        return error_repr(excinfo.value, path, line) or super().repr_failure(excinfo, style)

    # ------------------------------------------------------------ what it is to the matrix

    @property
    def trial(self) -> Trial:
        """The latest try of the target; one that has not begun, if there was none."""
        if self._trial is None:
            self._trial = self._sort(
                target=self.target,
                home=self.home,
                services=self.config.stash[SERVICES],
                position=self.position,
                rules=self.in_force,
            )
        return self._trial

    @property
    def compile_target(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one it needs."""
        raise NotImplementedError

    @property
    def runtime(self) -> RuntimeConfig | None:
        """The runtime config, None for a compile target."""
        return None

    @property
    def rules(self) -> TargetRules:
        """All expectations in force for the target."""
        return self.in_force.rules

    @property
    def compile_id(self) -> str:
        """The node id of the compile target; of one that no item has, an id that no item has."""
        return f"{self.home.nodeid}::{self.compile_target.name}"

    def serve(self, assignment: Assignment) -> None:
        """Take the rules in force for the target and its compile target from those of its suite."""
        self.in_force = RulesInForce.of(self.target, assignment)
