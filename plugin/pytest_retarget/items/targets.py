"""Compile targets and run targets as pytest items: their trials, how these end, and failures without a traceback."""

from __future__ import annotations

import os
from collections.abc import Generator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, RunTarget, RuntimeConfig, Target
from retarget.session import Assignment, End, SuiteContext, Trial
from retarget.support import RetargetError, strip_colour

from pytest_retarget.internals import (
    ExceptionRepr,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    Skipped,
    TerminalRepr,
    TerminalWriter,
    TracebackStyle,
    XFailed,
)
from pytest_retarget.session.services import SERVICES

if TYPE_CHECKING:
    from pytest_retarget.items.benchmark import Benchmark


class MatrixItem(pytest.Item):
    """A target as a pytest item. Its trial does the work, a new one for each run."""

    suite: SuiteContext
    target: Target
    in_force = Assignment.nothing
    """The rules in force for the target."""
    _trial: Trial | None = None
    _has_keywords = False

    def __init__(
        self, *, target: Target, suite: SuiteContext, position: int, marks: Sequence[pytest.Mark], **kwargs: object
    ) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.position = position
        self.target = target
        self.suite = suite
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
        return self.path, self.suite.line, f"{self.target.compiled.suite}: {self.name}"

    def setup(self) -> None:
        """Forget an earlier try; skip if an expectation says so, or what the target needs is missing."""
        self._trial = None
        with pytest_outcomes():
            self.trial.prepare()

    def runtest(self) -> None:
        """Try the target."""
        benchmark: Benchmark | None = self.config.pluginmanager.get_plugin("retarget-matrix-benchmark")
        with pytest_outcomes():
            if benchmark is not None:
                benchmark.prepare(self.trial)
            try:
                self.trial.attempt()
            except End as end:
                if benchmark is not None and end.as_expected:
                    benchmark.judge(self.trial, self.path, passes=False)
                raise
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
        if isinstance(error, End) and error.as_expected:
            return (error_repr(error.error, path, line) if error.error is not None else None) or error.reason
        return error_repr(excinfo.value, path, line) or super().repr_failure(excinfo, style)

    # ------------------------------------------------------------ what it is to the matrix

    @property
    def trial(self) -> Trial:
        """The latest try of the target; one that has not begun, if there was none."""
        if self._trial is None:
            services = self.config.stash[SERVICES]
            self._trial = services.trial(self.target, suite=self.suite, position=self.position, rules=self.in_force)
        return self._trial

    @property
    def runtime(self) -> RuntimeConfig | None:
        """The runtime config, None for a compile target: for hooks of a project's `conftest.py`."""
        return self.target.runtime

    @property
    def compile_id(self) -> str:
        """The node id of the compile target; of one that no item has, an id that no item has."""
        return f"{self.suite.nodeid}::{self.target.compiled.name}"


_MAY_SKIP = frozenset({"skip", "skipif", "xfail"})
"""Marks of pytest's by which a target may not be run."""


class CompileItem(MatrixItem):
    """One module, compiled one way."""

    target: CompileTarget


class RunItem(MatrixItem):
    """One module, compiled one way and run one way."""

    target: RunTarget
    following: RunItem | None = None
    """The run target that is tried next, where it may begin while pytest reports this one."""

    def runtest(self) -> None:
        if self.following is not None:
            self.trial.on_passed = self.following.begin
        super().runtest()

    def begin(self) -> None:
        """Begin the run that `runtest` is going to wait for, where nothing keeps it from that."""
        if any(mark.name in _MAY_SKIP for mark in self.iter_markers()):
            return
        services = self.config.stash[SERVICES]
        with suppress(RetargetError, UnavailableError):  # `runtest` reports it
            if (rules := services.rules_ahead(self.target, self.in_force)) is not None:
                services.engine.begin_run(self.target, rules)


class TargetSkipped(Skipped):
    """A target is skipped: `end` has what kept it from running."""

    def __init__(self, end: End) -> None:
        super().__init__(end.reason)
        self.end = end


class FailedAsExpected(XFailed):
    """A target failed as expected: `end` has how."""

    def __init__(self, end: End) -> None:
        super().__init__(end.reason)
        self.end = end


@contextmanager
def pytest_outcomes() -> Generator[None]:
    """Raise what pytest knows for how a trial ended."""
    try:
        yield
    except End as end:
        raise (FailedAsExpected if end.as_expected else TargetSkipped)(end) from None


def end_of(error: BaseException | None) -> BaseException | None:
    """Return how a trial ended that raised an error to pytest: the error itself, where it is none of ours."""
    return error.end if isinstance(error, TargetSkipped | FailedAsExpected) else error


def error_repr(error: BaseException, path: os.PathLike[str], line: int | None = None) -> ExceptionRepr | None:
    """Represent an error that is worded for the user without a traceback; None for any other.

    The result crosses xdist's channel, and has the one line of `--tb=line`, the short summary and junit. `path` and
    `line` (0-based) are the location, unless the error knows a better one.
    """
    if not isinstance(error, RetargetError):
        return None
    text = str(error)
    message = strip_colour(text.partition("\n")[0])
    if error.location is not None:
        path, line = error.location[0], error.location[1] - 1
    return text_repr(text, path, line, message)


def text_repr(text: str, path: os.PathLike[str], line: int | None = None, message: str = "") -> ExceptionRepr:
    """Represent a text, and the one line of it that goes elsewhere: its first, if none is given."""
    entry = ReprEntryNative([line + "\n" for line in text.split("\n")])
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([entry], extraline=None, style="native"),
        reprcrash=ReprFileLocation(os.fspath(path), (line or 0) + 1, message or text.partition("\n")[0]),
    )


class PlainWhereItMust(ReprEntryNative):
    """An entry that shows its colours only where there are colours, and its first line in red."""

    def toterminal(self, tw: TerminalWriter) -> None:
        text = "".join(self.lines)
        if not tw.hasmarkup:
            tw.write(strip_colour(text))
            return
        head, end, rest = text.partition("\n")
        tw.write(head, red=True, bold=True)
        tw.write(end + rest)
