"""The common part of the trials of compile targets and run targets: the steps, the rules, the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, Protocol

import msgspec
from msgspec.structs import replace

from retarget.expect.matching import RulesInForce
from retarget.expect.verdict import Ruling, TargetRules, judge_target
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Expectation, RunTarget, Target
from retarget.model.names import is_one_of
from retarget.model.outcomes import CompileOutcome, Failure, Observation, Rung, RunOutcome, Stage, first_failure
from retarget.results.record import CompileRecord, DeviceRecord, Outcome, Result, Sibling, TargetRecord
from retarget.session.trial.attempts import Attempts, UnexpectedPassError, attempts, case_records
from retarget.session.trial.failures import AsExpected, Skip, SkipKind, StageFailedError, compile_failed, failure_fields
from retarget.session.trial.services import TrialServices
from retarget.support.errors import RetargetError

_OUTCOMES = {SkipKind.BLOCKED: Outcome.BLOCKED, SkipKind.LOST: Outcome.NOT_RUN}
_UNAVAILABLE = frozenset({SkipKind.UNAVAILABLE, SkipKind.UNSUITABLE, SkipKind.LOST})


class SuiteContext(Protocol):
    """The suite of a target, as its trial uses it."""

    @property
    def nodeid(self) -> str:
        """The prefix of the node ids of its targets."""

    @property
    def path(self) -> Path:
        """Its `suite.toml`."""

    @property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based; None if that is unknown."""

    def rules(self, target: str) -> TargetRules:
        """The expectations in force for one of the suite's targets, selected or not."""

    def run_targets(self, module: str) -> Sequence[RunTarget]:
        """All run targets of a module of the suite, selected or not, in declared order."""


class Trial:
    """One trial of a target: `prepare`, then `attempt`. They raise how it ended; `record` has what is known."""

    target: Target

    def __init__(
        self, *, target: Target, suite: SuiteContext, services: TrialServices, position: int, rules: RulesInForce
    ) -> None:
        """`position` is that of the target in its suite, `rules` are those in force for it."""
        self.target = target
        self.suite = suite
        self.services = services
        self.position = position
        self.declared_rules = rules
        self.in_force = rules
        self.rules = rules.rules
        self.started = 0.0
        self.compile_observation: Observation | None = None
        """How the compile target failed that blocks this one, or that excuses it."""
        self.earlier: tuple[TargetRecord, ...] = ()
        """The records of the attempts that failed before the one that counts."""
        self.on_passed: Callable[[], None] | None = None
        """Called when the target's run has passed, before its outcome is judged."""
        self._record: TargetRecord | None = None

    # ------------------------------------------------------------ what is tried

    def prepare(self) -> None:
        """Find what the target needs. Raises `Skip`, and `RetargetError` for what is in error."""
        self.started = time.time()
        self._skip_by_rule()

    def _skip_by_rule(self) -> None:
        if (rule := self.in_force.skipping) is not None:
            raise Skip(SkipKind.RULE, rule.excuse)

    def resolve_rules(self) -> None:
        """Find which rules are in force on the target's devices. Skips the target if one says so."""
        self.in_force = self.services.in_force(self.target, self.declared_rules)
        self.rules = self.in_force.rules
        self._skip_by_rule()

    def attempt(self) -> None:
        """Try the target. Raises `End`, or the error with which it failed."""
        raise NotImplementedError

    @property
    def nodeid(self) -> str:
        """The target's node id."""
        return f"{self.suite.nodeid}::{self.target.name}"

    @property
    def compile_id(self) -> str:
        """The node id of the compile target; of one that no item has, an id that no item has."""
        return f"{self.suite.nodeid}::{self.target.compiled.name}"

    @property
    def generated(self) -> CompileTarget:
        """The compile target with files that exist, where its kind generates its modules."""
        return self.services.engine.generated(self.target.compiled)

    @property
    def digests(self) -> dict[str, str]:
        """The digests that its record has of what is tried, by their names; empty where its files cannot be had."""
        try:
            compiled = self.generated
        except (UnavailableError, RetargetError):
            return {}
        target = replace(self.target, compile=compiled) if isinstance(self.target, RunTarget) else compiled
        digests = self.services.engine.case_digests
        return {"case_digest": digests.of(target, self.declared_rules.rules), "trial_digest": digests.trial(target)}

    # ------------------------------------------------------------ what is recorded of it

    @property
    def record(self) -> TargetRecord:
        """The target's record so far."""
        if self._record is None:
            self._record = TargetRecord.declared(
                self.target,
                self.services.registry,
                nodeid=self.nodeid,
                file=str(self.suite.path),
                line=self.suite.line or 0,
                position=self.position,
                started=self.started,
            )
        return self._record

    def update_record(self, **known: Any) -> None:
        """Change fields of the record."""
        self._record = msgspec.structs.replace(self.record, **known)

    def record_rung(self, rung: Rung, names: Sequence[str] = ()) -> None:
        """Record how far an attempt came: the lowest rung of all attempts counts. Where `--retarget-case` leaves out
        some of the cases `names`, the rung is unknown."""
        selected = self.services.settings.cases
        is_part = bool(selected) and not all(is_one_of(name, selected) for name in names)
        earlier = [Rung[one.rung.upper()] for one in self.earlier if one.rung]
        self.update_record(rung="" if is_part else min([rung, *earlier]).word)

    def observe(self, tried: Attempts, rules: TargetRules | None) -> None:
        """Record how the target ended, before it is judged by `rules`."""
        verdict = tried.verdict(rules) if rules is not None else None
        if verdict is not None and rules is not None:
            only = self.services.settings.cases
            cases = tuple(case_records(rules, verdict, tried.cases, tried.names, only))
            left_out = tuple(case.name for case in cases if not (case.excused or is_one_of(case.name, only)))
            self.update_record(cases=cases, unselected_cases=left_out)
        if tried.error is None:
            result = Result.PASSED
        else:
            result = Result.UNKNOWN if tried.error.failure.no_verdict else Result.FAILED
        self.update_record(result=result, observation=tried.observation, attempt=len(tried.before) + 1)
        if result is not Result.UNKNOWN and verdict is not None and verdict.ruling is Ruling.CHANCE:
            self.record_chance(next(one.rule for one in verdict.verdicts if one.ruling is Ruling.CHANCE))

    def keep_attempt(self, tried: Attempts, rules: TargetRules) -> None:
        """Keep the record of a failed attempt that another one follows."""
        self.observe(tried, rules)
        failed = {**failure_fields(tried.error), "text": str(tried.error)} if tried.error is not None else {}
        now, attempt = time.time(), len(self.earlier) + 1
        record = msgspec.structs.replace(self.record, outcome=Outcome.FAILED, attempt=attempt, ended=now, **failed)
        self.earlier += (record,)
        self.update_record(started=now)

    def record_chance(self, rule: Expectation | None) -> None:
        """Record that the target's result, or that of its compile target, is chance."""
        self.update_record(outcome=Outcome.INTERMITTENT, reason=rule.excuse if rule is not None else self.record.chance)

    # ------------------------------------------------------------ compile

    def check_files(self) -> None:
        """Skip or fail if the module's files are to be generated and cannot be."""
        with self._compiling():
            self.services.engine.generated(self.target.compiled)

    def check_compiler(self) -> None:
        """Skip if the compiler is not installed. Raises `RetargetError` for one that no extension provides."""
        with self._compiling():
            self.services.engine.check_compiler(self.target.compiled.compiler)

    def try_compile(self) -> tuple[CompileOutcome, Attempts]:
        """Wait for the compile, with its retries if it is flaky, and record its outcome."""
        self.update_record(stage=Stage.COMPILE)
        try:
            outcome = self._compiled()
        except RetargetError:
            self.record_rung(Rung.NONE)
            raise
        by_chance = self.in_force.compile_rule is not None and self.in_force.compile_rule.outcome == "intermittent"
        if by_chance and outcome.reused and outcome.artifact is None:  # what is stored is the chance of another day
            outcome = self._compiled_again()

        def once() -> Attempts:
            if outcome.artifact is not None:
                return Attempts(error=None)
            return Attempts(error=compile_failed(self.services.commands, self.generated, outcome))

        def again(failed: Attempts) -> None:
            nonlocal outcome
            self._record_compile(outcome)
            self.keep_attempt(failed, self.in_force.compile_rules)
            outcome = self._compiled_again()

        exhausted = self.services.exhausted
        tried = exhausted.get(self.compile_id) or attempts(self.in_force.compile_rules, once, again)
        if tried.before and tried.error is not None:
            exhausted[self.compile_id] = tried
        self._record_compile(outcome)
        checks = self.services.registry.artifact_checker(self.target.compiled.kind) is not None
        is_all = outcome.artifact is None or not (checks or isinstance(self.target, RunTarget))
        if self.services.settings.changed and outcome.reused and is_all:
            self.update_record(unchanged=True)
        return outcome, tried

    def _record_compile(self, outcome: CompileOutcome) -> None:
        if outcome.artifact is None:
            self.record_rung(Rung.NONE)
        self.update_record(
            compile=CompileRecord(
                key=outcome.key,
                returns_checks=self.target.compiled.returns_checks,
                reused=outcome.reused,
                seconds=outcome.seconds,
                build=outcome.build,
                artifact=outcome.artifact.digest if outcome.artifact is not None else "",
                started=outcome.started,
                worker=outcome.worker,
                host=outcome.host,
                size=outcome.artifact.size if outcome.artifact is not None else 0,
                devices=tuple(map(DeviceRecord.of, outcome.devices)),
            )
        )

    def _compiled(self) -> CompileOutcome:
        with self._compiling():
            return self.services.engine.compile(self.target.compiled)

    def _compiled_again(self) -> CompileOutcome:
        self.services.engine.compile_again(self.target.compiled)
        return self._compiled()

    @contextmanager
    def _compiling(self) -> Generator[None]:
        """Skip if what compiles the module is missing, for the compile target and its run targets alike."""
        try:
            yield
        except UnavailableError as error:
            raise Skip(SkipKind.UNAVAILABLE, str(error), error.hint, by=self.compile_id) from None

    # ------------------------------------------------------------ cases

    def _skip_without_cases(self, names: Sequence[str]) -> NoReturn:
        """Skip a target none of whose cases was run: none is selected, or rules skip those that are."""
        selected = [name for name in names if is_one_of(name, self.services.settings.cases)]
        if not selected:
            self.update_record(unselected_cases=tuple(names))
            msg = f"no case matches --retarget-case {' or '.join(self.services.settings.cases)}"
            raise Skip(SkipKind.UNSELECTED, msg)
        rules = [rule for rule in (self.rules.of(name) for name in selected) if rule is not None]
        raise Skip(SkipKind.RULE, "; ".join(dict.fromkeys(rule.excuse for rule in rules)))

    def attempted(self, run: RunOutcome, word: Callable[[Failure, Sequence[str]], StageFailedError]) -> Attempts:
        """The result of running, or checking, the target's cases. `word` words a failure and the expected cases."""
        error = None
        if run.failure is not None:
            failure, expected = self._unexpected(run, run.failure)
            self.update_record(stage=failure.stage)
            error = word(failure, expected)
        elif not run.cases:
            self._skip_without_cases(run.names)
        return Attempts(error=error, cases=run.cases, names=run.names)

    def _unexpected(self, run: RunOutcome, failure: Failure) -> tuple[Failure, Sequence[str]]:
        """The failure to report of a run, and the cases that failed as expected, where there are others."""
        expected = judge_target(self.rules, failure, run.cases).expected
        others = [case for case in run.cases if case.failure is not None and case.name not in expected]
        is_of_case = any(case.failure == failure for case in run.cases)
        if not expected or (is_of_case and not others):
            return failure, ()
        return (first_failure(others) or failure) if is_of_case else failure, expected

    # ------------------------------------------------------------ its end

    def outcome(self, error: BaseException | None, *, was_tried: bool) -> tuple[Outcome, str]:
        """Return the target's outcome and the reason for it. `error` is what the trial raised, None if it raised
        nothing. `was_tried` is false where this was before the attempt: the target could not be tried."""
        if isinstance(error, Skip):
            return _OUTCOMES.get(error.kind, Outcome.SKIPPED), error.reason
        record = self.record
        if isinstance(error, AsExpected):
            return (Outcome.INTERMITTENT, record.reason) if error.by_chance else (Outcome.XFAILED, error.reason)
        if error is not None:
            failed = Outcome.FAILED if was_tried else Outcome.ERROR
            return Outcome.XPASSED if isinstance(error, UnexpectedPassError) else failed, ""
        if record.outcome is Outcome.INTERMITTENT:
            return record.outcome, record.reason
        if record.attempt == 1:
            return Outcome.PASSED, ""
        rule = self.rules.whole or self.in_force.compile_rule
        reason = f"{self.nodeid} passed at attempt {record.attempt}"
        return Outcome.FLAKY, f"{reason} ({rule.excuse})" if rule is not None else reason

    def finished(
        self,
        error: BaseException | None,
        outcome: Outcome,
        reason: str,
        *,
        started: float,
        ended: float,
        with_digests: bool = False,
    ) -> TargetRecord:
        """Return the record of the trial that has ended with an error, or none.

        `started`, where the trial never began, and `ended` are times in seconds since the epoch. `with_digests`: the
        files of the cases are read for their digests.
        """
        failure = error.error if isinstance(error, AsExpected) and error.error is not None else error
        skip = error if isinstance(error, Skip) else None
        kind = skip.kind if skip is not None else None
        return replace(
            self.record,
            outcome=outcome,
            reason=reason,
            hint=skip.hint if skip is not None else "",
            unavailable=kind in _UNAVAILABLE,
            unsuitable=kind is SkipKind.UNSUITABLE,
            blocked_by=skip.by if skip is not None and kind is SkipKind.BLOCKED else "",
            excused=kind is SkipKind.RULE,
            unchanged=self.record.unchanged and outcome in {Outcome.PASSED, Outcome.XFAILED},
            siblings=self._siblings() if outcome.is_bad else (),
            **(self.digests if with_digests else {}),
            started=self.record.started or started,
            ended=ended,
            **(failure_fields(failure) if failure is not None else {}),
        )

    def _siblings(self) -> Sequence[Sibling]:
        if not isinstance(self.target, RunTarget):
            return ()
        return tuple(
            Sibling(
                target=other.name,
                compiler=other.compile.compiler.name,
                runtime=other.runtime.name,
                driver=other.runtime.driver,
            )
            for other in self.suite.run_targets(self.target.compile.module.name)
            if other.name != self.target.name
        )
