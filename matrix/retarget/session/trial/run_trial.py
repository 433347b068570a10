"""The trials of compile targets and run targets.

A compile target fails alone: run targets that need its artifact are *blocked*, which is a skip that names it. Where the
compile target was deselected, the run target reports the compile failure itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from msgspec.structs import replace

from retarget.expect.matching import RulesInForce
from retarget.expect.verdict import Ruling, TargetRules, judge, judge_target
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Expectation, RunTarget, Target
from retarget.model.outcomes import (
    CRASH,
    TIMEOUT,
    Artifact,
    CompileOutcome,
    DeviceInfo,
    Failure,
    Observation,
    Rung,
    RunOutcome,
    Stage,
)
from retarget.results.record import DeviceRecord, ReusedRecord, RunRecord
from retarget.session.requirements import UnsuitableError
from retarget.session.trial.attempts import Attempts, attempts, raise_verdict
from retarget.session.trial.failures import (
    AsExpected,
    Skip,
    SkipKind,
    StageFailedError,
    check_failed,
    first_line,
    run_failed,
)
from retarget.session.trial.services import TrialServices
from retarget.session.trial.trial import SuiteContext, Trial
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.session.references import Recording


class RunTrial(Trial):
    """One module, compiled one way and run one way."""

    target: RunTarget

    def prepare(self) -> None:
        super().prepare()
        runtime = self.target.runtime
        if reason := self.services.engine.host_mismatch(runtime):
            raise Skip(SkipKind.UNAVAILABLE, reason)
        registry = self.services.registry
        for driver in runtime.drivers:
            registry.driver(driver)
        registry.case_loader(self.target.compile.kind)
        self.check_files()
        if self.services.settings.artifacts is None:
            try:
                self.check_compiler()
            except RetargetError as error:
                self._block_or_raise(error)
        try:
            self._record_devices(self.services.engine.devices_of(self.target))
        except UnavailableError as error:
            if isinstance(error, UnsuitableError):  # a failure on other devices stands
                self._record_devices(self.services.engine.devices(runtime))
            self._unavailable_device(error)
        except RetargetError:  # its module compiles all the same, if it does
            with suppress(RetargetError, Skip):
                if self.try_compile()[0].artifact is not None:
                    self.record_rung(Rung.COMPILES)
            raise
        self.resolve_rules()

    def attempt(self) -> None:
        outcome, compiled = self._compiled_or_blocked()
        if outcome.artifact is None:
            self._not_compiled(compiled)
        tried = self._tried(outcome.artifact)
        self.observe(replace(tried, before=(*compiled.before, *tried.before)), self.rules)
        as_expected = None
        try:
            raise_verdict(self.rules, tried, self.services.locations)
        except AsExpected as error:
            as_expected = error
        if not self.in_force.is_deferred and self.compile_id not in self.services.selected_compiles:
            # no compile target here reports it
            raise_verdict(self.in_force.compile_rules, compiled, self.services.locations)
        if as_expected is not None:
            raise as_expected

    def _tried(self, artifact: Artifact) -> Attempts:
        """Run, with retries if the target is flaky; or reuse an earlier result."""

        def once() -> Attempts:
            try:
                run = self._kept_result(artifact)
                if run is None:
                    others = self.suite.run_targets(self.target.compile.module.name)
                    skipping = self.rules.skipping()
                    run = self.services.run(
                        self.target, artifact, others, skipping=skipping, is_skipped=self._is_skipped
                    )
                    if run.failure is None and self.on_passed is not None:
                        self.on_passed()
                    with suppress(RetargetError, UnavailableError):  # what keeps it from being kept is no error
                        self.services.engine.keep_result(self.target, artifact, self.rules, run)
            except UnavailableError as error:
                self._unavailable_device(error)
            self._record_run(run)
            if run.failure is not None and run.failure.lacking:
                self._excuse_or_block_by_others(run, run.failure)

            def word(failure: Failure, expected: Sequence[str]) -> StageFailedError:
                target, commands = replace(self.target, compile=self.generated), self.services.commands
                return run_failed(
                    commands, target, artifact, run, failure, in_full=self.services.in_full, expected=expected
                )

            return self.attempted(run, word)

        return attempts(self.rules, once, lambda tried: self.keep_attempt(tried, self.rules))

    def _kept_result(self, artifact: Artifact) -> RunOutcome | None:
        """Return a reusable result of an earlier run, if the session reuses results, and record that it was reused."""
        if not self.services.settings.reuses:
            return None
        kept = self.services.engine.kept_result(self.target, artifact, self.rules)
        if kept is None:
            return None
        self.update_record(unchanged=True, reused=ReusedRecord(host=kept.host, ended=kept.ended))
        return kept.outcome(self.services.engine.devices(self.target.runtime))

    def _excuse_or_block_by_others(self, run: RunOutcome, failure: Failure) -> None:
        """Raise that the target is expected to fail, blocked or skipped, as those that were to give its reference
        results.

        Returns if one of them does not report its failure: then this target does.
        """
        configs = dict.fromkeys(case.failure.lacking for case in run.cases if case.failure is not None)
        recordings = [one for name in configs for one in self.services.references.recorded(name, self.target)]
        if all(recording.unavailable for recording in recordings):
            raise Skip(SkipKind.UNAVAILABLE, failure.summary)
        excuses = [self._excuse_of(recording) for recording in recordings]
        if all(excuses):
            raise AsExpected(excuses[0])
        reporters = [self._reporter(one) for one, excused in zip(recordings, excuses, strict=True) if not excused]
        if not all(reporters):
            return
        fails_here = self.services.settings.artifacts is None  # what is not compiled may not fail in this session
        msg = f"blocked by {reporters[0]}, which gave no results to agree with"
        raise Skip(SkipKind.BLOCKED, msg, by=reporters[0] if fails_here else "")

    def _excuse_of(self, recording: Recording) -> str:
        """Why a failure that left cases without results is expected; empty where it is not."""
        failure, failed = recording.failure, recording.failed
        if failed is None or failure is None or failure.no_verdict:
            return ""
        seen = failure.observed_in(recording.cases)
        rules = self._rules_of(failed)
        is_written = self.services.settings.update_expectations and not any(rule.is_expired for rule in rules.all)
        if is_written and self._reporter(recording):  # as the new rule will
            return f"{failed.name} is expected to fail: {seen.text}"
        verdict = judge_target(rules, failure, recording.cases)
        if verdict.ruling in {Ruling.EXCUSED, Ruling.CHANCE} and verdict.rules:
            return _excused_by(failed, verdict.rules[0])
        return ""

    def _is_skipped(self, other: RunTarget) -> bool:
        """Whether a rule says of another target that it is not to be run."""
        rules: list[Expectation] = []
        for one in (other, other.compile):
            with suppress(UnavailableError):  # then it is not run either
                rules += self._rules_of(one).wholes
        return any(rule.outcome == "skip" and not rule.is_expired for rule in rules)

    def _rules_of(self, other: Target) -> TargetRules:
        """The rules in force for another target, that has been tried, on its devices."""
        rules = self.suite.rules(other.name)
        return rules.on(other, self.services.engine.traits(other)) if rules.possible else rules

    def _reporter(self, recording: Recording) -> str:
        """The node id of the selected target that reports a failure; empty where none surely does.

        A target that runs once more may pass where it is flaky or intermittent, and so may one that crashed or ran out
        of time.
        """
        failure, failed, ran = recording.failure, recording.failed, recording.ran
        if failed is None or ran is None:
            return ""
        rules = self._rules_of(failed)
        may_pass = isinstance(failed, RunTarget) and failure is not None and failure.transient
        if may_pass or any(rule.outcome in {"flaky", "intermittent"} for rule in rules.all):
            return ""
        ids = [f"{self.suite.nodeid}::{target.name}" for target in (failed, ran)]
        return next((one for one in ids if one in self.services.selected), "")

    def _not_compiled(self, compiled: Attempts) -> NoReturn:
        """Fail as expected, block, or report the failed compile that no other target reports."""
        reports = self.services.settings.artifacts is None and self.compile_id not in self.services.selected_compiles
        if reports:
            self.observe(compiled, self.in_force.compile_rules)
            raise_verdict(self.in_force.compile_rules, compiled, self.services.locations)
        elif self.services.settings.artifacts is None and compiled.error is not None:
            self.compile_observation = None if compiled.error.failure.no_verdict else compiled.observation
        if compiled.error is None or not compiled.error.failure.no_verdict:
            self._excuse_by_compile(compiled.observation)
        self._block_or_raise(compiled.error or RetargetError(f"{self.target.compile.name} was not compiled"))

    def _excuse_by_compile(self, observation: Observation | None) -> None:
        """Raise an expected failure if the failed compile is one."""
        if (rule := self.in_force.compile_rule) is None:
            return
        ruling = judge(rule, observation).ruling
        if ruling is Ruling.CHANCE:
            self.record_chance(rule)
        if ruling in {Ruling.EXCUSED, Ruling.CHANCE}:
            raise AsExpected(_excused_by(self.target.compile, rule), by_chance=ruling is Ruling.CHANCE)

    def _compiled_or_blocked(self) -> tuple[CompileOutcome, Attempts]:
        """Return the result of `try_compile`. Errors that prevent an outcome are reported by the compile target."""
        try:
            return self.try_compile()
        except RetargetError as error:
            if self.services.settings.artifacts is not None:
                self._excuse_by_crash()  # an outcome that is never exported
                raise
            self._block_or_raise(error)

    def _excuse_by_crash(self) -> None:
        rule = self.in_force.compile_rule
        if rule is not None and rule.outcome in {"xfail", "intermittent"} and {CRASH, TIMEOUT} & {*rule.stages}:
            self._excuse_by_compile(Observation(stage=rule.stages[0], signature=rule.signature))

    def _unavailable_device(self, error: UnavailableError) -> NoReturn:
        if error.lost:
            raise Skip(SkipKind.LOST, str(error), error.hint) from None
        msg = f"{self.target.runtime.name}: {error}"
        kind = SkipKind.UNSUITABLE if isinstance(error, UnsuitableError) else SkipKind.UNAVAILABLE
        raise Skip(kind, msg, error.hint) from None

    def _block_or_raise(self, error: Exception) -> NoReturn:
        if self.services.settings.artifacts is not None:
            msg = f"blocked: it was not compiled where the artifacts come from: {first_line(error)}"
            raise Skip(SkipKind.BLOCKED, msg, elsewhere=self.compile_id) from None
        if self.compile_id in self.services.selected_compiles:
            msg = f"blocked by {self.compile_id}"
            raise Skip(SkipKind.BLOCKED, msg, by=self.compile_id) from None
        raise error

    def _record_devices(self, devices: Iterable[DeviceInfo]) -> None:
        if found := tuple(DeviceRecord.of(device) for device in devices):
            self.update_record(devices=found)

    def _record_run(self, run: RunOutcome) -> None:
        self._record_devices(run.devices)
        if self.declared_rules.rules.possible and run.devices:  # a worker of a cluster may have others
            rules = self.declared_rules.rules.on(self.target, [one.traits for one in run.devices])
            self.rules, self.in_force = rules, replace(self.in_force, rules=rules)
        self.record_rung(run.rung, run.names)
        self.update_record(
            stage=run.failure.stage if run.failure is not None else Stage.COMPARE,
            run=RunRecord(
                load_seconds=run.load_seconds,
                run_seconds=run.run_seconds,
                compare_seconds=run.compare_seconds,
                failed_cases=tuple(case.name for case in run.cases if case.failure is not None),
                started=run.started,
                wait_seconds=run.wait_seconds,
                host=run.host,
                opened=tuple((name, state) for sort, name, state in run.dependencies if sort == "path"),
                notes=run.notes,
            ),
        )


def _excused_by(failed: Target, rule: Expectation) -> str:
    """Why a target is excused for which another one, which `rule` is in force for, has failed."""
    what = "failed, which is intermittent" if rule.outcome == "intermittent" else "is expected to fail"
    return f"{failed.name} {what}: {rule.excuse}"


class CompileTrial(Trial):
    """One module, compiled one way."""

    target: CompileTarget

    def prepare(self) -> None:
        super().prepare()
        if self.services.settings.artifacts is not None:
            msg = f"not compiled: --retarget-artifacts takes artifacts from {self.services.settings.artifacts}"
            raise Skip(SkipKind.NOT_COMPILED, msg)
        self.services.registry.case_loader(self.target.kind)
        self.check_compiler()
        self.check_files()
        self.resolve_rules()

    def attempt(self) -> None:
        outcome, tried = self.try_compile()
        if outcome.artifact is not None:
            self.record_rung(Rung.COMPILES)
            if self.services.registry.artifact_checker(self.target.kind) is not None:
                tried = replace(self._checked(outcome.artifact), before=tried.before)
            elif self.in_force.is_deferred:
                self.observe(tried, None)
                return
        self.observe(tried, self.rules)
        raise_verdict(self.rules, tried, self.services.locations)

    def _checked(self, artifact: Artifact) -> Attempts:
        """Check the artifact as its module requires."""
        try:
            checked = self.services.engine.check(self.target, artifact, skipping=self.rules.skipping())
        except UnavailableError as error:
            raise Skip(SkipKind.UNAVAILABLE, str(error), error.hint) from None
        self.record_rung(checked.rung, checked.names)
        return self.attempted(
            checked,
            lambda failure, expected: check_failed(
                self.services.commands,
                self.generated,
                checked,
                failure,
                in_full=self.services.in_full,
                expected=expected,
            ),
        )


class Trials(TrialServices):
    """The trials of one process, and what they share."""

    def trial(self, target: Target, *, suite: SuiteContext, position: int, rules: RulesInForce) -> Trial:
        """Return a trial of a target. `position` is that of the target in its suite, `rules` are those in force for
        it."""
        of = RunTrial if isinstance(target, RunTarget) else CompileTrial
        return of(target=target, suite=suite, services=self, position=position, rules=rules)
