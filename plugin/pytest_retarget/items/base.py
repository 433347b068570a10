"""What compile targets and run targets have in common as pytest items: what they are, their rules, their record."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, Protocol

import msgspec
import pytest
from _pytest._code.code import ExceptionInfo, TerminalRepr, TracebackStyle
from retarget.expect.cases import CaseRule, TargetRules, judge_target
from retarget.expect.matching import Assignment
from retarget.expect.verdict import Ruling, excuse, is_expired, today
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Expectation, RunTarget, RuntimeConfig, Target
from retarget.model.case_names import is_one_of
from retarget.model.outcomes import CompileOutcome, Failure, Observation, RunOutcome, Stage, first_failure
from retarget.model.rungs import Rung
from retarget.results.record import CompileRecord, Outcome, Result, TargetRecord
from retarget.support.errors import RetargetError

from pytest_retarget.items.cases import case_records
from pytest_retarget.items.expected import AsExpected, Attempts, attempts
from pytest_retarget.items.failures import StageFailedError, compile_failed, error_repr, failure_fields
from pytest_retarget.items.skips import ExcusedByRule, Unavailable, Unselected
from pytest_retarget.record import declared_record
from pytest_retarget.session.services import SERVICES, Services

__all__ = ["Home", "MatrixItem"]

_EXHAUSTED = pytest.StashKey[dict[str, Attempts]]()
"""Flaky compiles that failed at every attempt, by their node ids: they are not tried for each run target."""


class Home(Protocol):
    """The collector of a suite, as its items use it."""

    @property
    def nodeid(self) -> str:
        """What the items' node ids start with."""

    @property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based; None if that is unknown."""

    def rules(self, target: str) -> TargetRules:
        """The expectations in force for one of the suite's targets, selected or not."""

    def run_targets(self, module: str) -> Sequence[RunTarget]:
        """All run targets of a module of the suite, selected or not, in declared order."""


class MatrixItem(pytest.Item):
    """A target as a pytest item."""

    home: Home
    target: Target
    rule: Expectation | None = None
    """The expectation in force for the target as a whole."""
    by_case: tuple[CaseRule, ...] = ()
    """The expectations in force for cases of the target."""
    compile_rule: Expectation | None = None
    """The one in force for the compile target; of a compile target itself, the same."""
    is_deferred = False
    """Whether the compile target's rule is judged at run targets, if the compile passes."""
    compile_observation: Observation | None = None
    """How the compile target failed that blocks this one, or that excuses it."""
    earlier: tuple[TargetRecord, ...] = ()
    """The records of the attempts that failed before the one that counts."""
    _record: TargetRecord | None = None
    _started = 0.0
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

    def repr_failure(
        self, excinfo: ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        """Word a failure for its reader: no traceback of ours, unless the error is ours.

        One that is expected is worded too, for `--xfail-tb`. Not by pytest, which would read the source of every frame
        again and again: thousands of expected failures are daily life.
        """
        path, line, _ = self.reportinfo()
        error = excinfo.value
        if isinstance(error, AsExpected):
            return (error_repr(error.error, path, line) if error.error is not None else None) or error.reason
        return error_repr(error, path, line) or super().repr_failure(excinfo, style)

    # ------------------------------------------------------------ what it is to the matrix

    @property
    def compile_target(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one it needs."""
        raise NotImplementedError

    @property
    def runtime(self) -> RuntimeConfig | None:
        """The runtime config, None for a compile target."""
        return None

    @property
    def compile_id(self) -> str:
        """The node id of the compile target; of one that no item has, an id that no item has."""
        return f"{self.home.nodeid}::{self.compile_target.name}"

    @property
    def generated(self) -> CompileTarget:
        """The compile target with files that exist, where its kind generates its modules."""
        return self.services.engine.generated(self.compile_target)

    @property
    def digests(self) -> dict[str, str]:
        """The digests that its record has of what is tried, by their names; empty where its files cannot be had."""
        try:
            compiled = self.generated
        except (UnavailableError, RetargetError):
            return {}
        target = replace(self.target, compile=compiled) if isinstance(self.target, RunTarget) else compiled
        digests = self.services.engine.case_digests
        return {"case_digest": digests.of(target, self.rules), "trial_digest": digests.trial(target)}

    @property
    def services(self) -> Services:
        """Compiling and running, shared by the items of this process."""
        return self.config.stash[SERVICES]

    @property
    def in_full(self) -> bool:
        """Whether a failure is to show all of its cases in full: with `-vv`."""
        return self.config.get_verbosity() > 1

    # ------------------------------------------------------------ what is recorded of it

    @property
    def record(self) -> TargetRecord:
        """What is known of the target so far."""
        if self._record is None:
            self._record = declared_record(
                self.target,
                self.services.registry,
                nodeid=self.nodeid,
                file=str(self.path),
                line=self.home.line or 0,
                position=self.position,
                started=self._started,
            )
        return self._record

    def enter(self, **known: Any) -> None:
        """Enter fields of the record."""
        self._record = msgspec.structs.replace(self.record, **known)

    def enter_rung(self, rung: Rung, names: Sequence[str] = ()) -> None:
        """Enter how far an attempt came: the lowest rung of all attempts counts. Where `--retarget-case` leaves out
        some of the cases `names`, nothing says how far the target comes."""
        selected = self.services.settings.cases
        is_part = bool(selected) and not all(is_one_of(name, selected) for name in names)
        earlier = [Rung[one.rung.upper()] for one in self.earlier if one.rung]
        self.enter(rung="" if is_part else min([rung, *earlier]).word)

    def observe(self, tried: Attempts, rules: TargetRules | None) -> None:
        """Enter how the target ended, before anything is made of it. `rules` are those by which it is judged."""
        verdict = tried.verdict(rules) if rules is not None else None
        if verdict is not None and rules is not None:
            why_not = "not selected by --retarget-case" if tried.error is None else "the run ended before it"
            self.enter(cases=tuple(case_records(rules, verdict, tried.cases, tried.names, why_not)))
        if tried.error is None:
            result = Result.PASSED
        else:
            result = Result.UNKNOWN if tried.error.failure.no_verdict else Result.FAILED
        self.enter(result=result, observation=tried.observation, attempt=len(tried.before) + 1)
        if result is not Result.UNKNOWN and verdict is not None and verdict.ruling is Ruling.CHANCE:
            self.enter_chance(next(one.rule for one in verdict.verdicts if one.ruling is Ruling.CHANCE))

    def keep_attempt(self, tried: Attempts, rules: TargetRules) -> None:
        """Keep the record of an attempt that failed, which another one follows."""
        self.observe(tried, rules)
        failed = {**failure_fields(tried.error), "text": str(tried.error)} if tried.error is not None else {}
        now, attempt = time.time(), len(self.earlier) + 1
        record = msgspec.structs.replace(self.record, outcome=Outcome.FAILED, attempt=attempt, ended=now, **failed)
        self.earlier += (record,)
        self.enter(started=now)

    def enter_chance(self, rule: Expectation | None) -> None:
        """Enter that the target's result, or that of its compile target, is chance."""
        self.enter(outcome=Outcome.INTERMITTENT, reason=excuse(rule) if rule is not None else self.record.chance)

    # ------------------------------------------------------------ expectations

    @property
    def rules(self) -> TargetRules:
        """All expectations in force for the target."""
        return TargetRules(whole=self.rule, by_case=self.by_case)

    @property
    def compile_rules(self) -> TargetRules:
        """Those in force for the compile target's compile, which has no cases."""
        return TargetRules(whole=self.compile_rule)

    def serve(self, assignment: Assignment) -> None:
        """Take the rules in force for the target and its compile target from those of its suite."""
        compiled = self.compile_target.item
        rule, compile_rule = assignment.rules.get(self.target.name), assignment.rules.get(compiled)
        if rule is not None:
            self.rule = rule
        if assignment.by_case and (by_case := assignment.by_case.get(self.target.name)):
            self.by_case = by_case
        if compile_rule is not None:
            self.compile_rule = compile_rule
            self.is_deferred = compiled in assignment.deferred

    @property
    def skipping(self) -> Expectation | None:
        """The expectation that has the target skipped, None if there is none."""
        rules = [rule for rule in (self.rule, self.compile_rule) if rule is not None and rule.outcome == "skip"]
        return next((rule for rule in rules if not is_expired(rule, today())), None)

    # ------------------------------------------------------------ setup and compile

    def setup(self) -> None:
        """Forget an earlier try; skip if an expectation says so."""
        self._record = self.compile_observation = None
        self._started, self.earlier = time.time(), ()
        if (rule := self.skipping) is not None:
            raise ExcusedByRule(excuse(rule))

    def check_files(self) -> None:
        """Skip or fail if the module's files are to be generated and cannot be."""
        with self._compiling():
            self.services.engine.generated(self.compile_target)

    def check_compiler(self) -> None:
        """Skip if the compiler is not installed. Raises `RetargetError` for one that no extension provides."""
        with self._compiling():
            self.services.engine.check_compiler(self.compile_target.compiler)

    def try_compile(self) -> tuple[CompileOutcome, Attempts]:
        """Wait for the compile, with its retries if it is flaky, and enter what is known of it."""
        self.enter(stage=Stage.COMPILE)
        try:
            outcome = self._compiled()
        except RetargetError:
            self.enter_rung(Rung.NONE)
            raise
        by_chance = self.compile_rule is not None and self.compile_rule.outcome == "intermittent"
        if by_chance and outcome.reused and outcome.artifact is None:  # what is stored is the chance of another day
            outcome = self._compiled_again()

        def once() -> Attempts:
            if outcome.artifact is not None:
                return Attempts(error=None)
            return Attempts(error=compile_failed(self.services.commands, self.generated, outcome))

        def again(failed: Attempts) -> None:
            nonlocal outcome
            self._enter_compile(outcome)
            self.keep_attempt(failed, self.compile_rules)
            outcome = self._compiled_again()

        exhausted = self.config.stash.setdefault(_EXHAUSTED, {})
        tried = exhausted.get(self.compile_id) or attempts(self.compile_rules, once, again)
        if tried.before and tried.error is not None:
            exhausted[self.compile_id] = tried
        self._enter_compile(outcome)
        checks = self.services.registry.artifact_checker(self.compile_target.kind) is not None
        is_all = outcome.artifact is None or not (checks or self.runtime is not None)
        if self.services.settings.changed and outcome.reused and is_all:
            self.enter(unchanged=True)
        return outcome, tried

    def _enter_compile(self, outcome: CompileOutcome) -> None:
        if outcome.artifact is None:
            self.enter_rung(Rung.NONE)
        self.enter(
            compile=CompileRecord(
                key=outcome.key,
                returns_checks=self.compile_target.returns_checks,
                reused=outcome.reused,
                seconds=outcome.seconds,
                build=outcome.build,
                artifact=outcome.artifact.digest if outcome.artifact is not None else "",
                started=outcome.started,
                worker=outcome.worker,
                host=outcome.host,
            )
        )

    def _compiled(self) -> CompileOutcome:
        with self._compiling():
            return self.services.engine.compile(self.compile_target)

    def _compiled_again(self) -> CompileOutcome:
        self.services.engine.compile_again(self.compile_target)
        return self._compiled()

    @contextmanager
    def _compiling(self) -> Generator[None]:
        """Skip if what compiles the module is missing, for the compile target and its run targets alike."""
        try:
            yield
        except UnavailableError as error:
            raise Unavailable(str(error), error.hint, by=self.compile_id) from None

    # ------------------------------------------------------------ cases

    def _skip_without_cases(self, names: Sequence[str]) -> NoReturn:
        """Skip a target none of whose cases was run: none is selected, or rules skip those that are."""
        selected = [name for name in names if is_one_of(name, self.services.settings.cases)]
        if not selected:
            self.enter(unselected_cases=tuple(names))
            msg = f"no case matches --retarget-case {' or '.join(self.services.settings.cases)}"
            raise Unselected(msg)
        rules = [rule for rule in (self.rules.of(name) for name in selected) if rule is not None]
        raise ExcusedByRule("; ".join(dict.fromkeys(excuse(rule) for rule in rules)))

    def attempted(self, run: RunOutcome, word: Callable[[Failure, Sequence[str]], StageFailedError]) -> Attempts:
        """What came of running, or checking, the target's cases. `word` words a failure and the expected cases."""
        error = None
        if run.failure is not None:
            failure, expected = self._unexpected(run, run.failure)
            self.enter(stage=failure.stage)
            error = word(failure, expected)
        elif not run.cases:
            self._skip_without_cases(run.names)
        return Attempts(error=error, cases=run.cases, names=run.names)

    def _unexpected(self, run: RunOutcome, failure: Failure) -> tuple[Failure, Sequence[str]]:
        """The failure to report of a run, and the cases that failed as expected, where there are others."""
        expected = judge_target(self.rules, failure, run.cases, day=today()).expected
        others = [case for case in run.cases if case.failure is not None and case.name not in expected]
        is_of_case = any(case.failure == failure for case in run.cases)
        if not expected or (is_of_case and not others):
            return failure, ()
        return (first_failure(others) or failure) if is_of_case else failure, expected
