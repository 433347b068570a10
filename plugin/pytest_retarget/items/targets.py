"""Compile targets and run targets as pytest items.

A compile target fails alone: run targets that need its artifact are *blocked*, which is a skip that names it. Where the
compile target was deselected, the run target reports the compile failure itself. Where an expectation is in force for
a target, `expected` says what becomes of its outcome.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import pytest
from _pytest._code.code import ExceptionInfo, TerminalRepr, TracebackStyle
from retarget.expect.cases import TargetRules, judge_target
from retarget.expect.verdict import Ruling, excuse, is_expired, judge, observed_text, today
from retarget.extension import ChecksArtifacts, UnavailableError
from retarget.model import CompileTarget, Expectation, RunTarget, RuntimeConfig, Target
from retarget.model.case_names import is_one_of
from retarget.model.outcomes import (
    Artifact,
    CompileOutcome,
    DeviceInfo,
    Failure,
    Observation,
    RunOutcome,
    Stage,
    first_failure,
)
from retarget.model.signatures import CRASH, TIMEOUT, observe_all
from retarget.support.errors import RetargetError
from retarget.targets.availability import host_mismatch

from pytest_retarget.items.expected import AsExpected, Attempts, attempts, settle
from pytest_retarget.items.skips import Blocked, Excused, Unavailable, Unselected
from pytest_retarget.items.status import Standing
from pytest_retarget.report.failures import check_failed, compile_failed, error_repr, first_line, run_failed
from pytest_retarget.report.summary import Record
from pytest_retarget.session import SERVICES, Services

if TYPE_CHECKING:
    from retarget.engine.references import Recording

__all__ = ["CompileItem", "MatrixItem", "RunItem"]


class Home(Protocol):
    """The collector of a suite, as its items see it."""

    @property
    def nodeid(self) -> str:
        """What the items' node ids start with."""

    @property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based; None if that cannot be told."""

    def rules(self, target: str) -> TargetRules:
        """The expectations in force for one of the suite's targets, selected or not."""

    def run_targets(self, module: str) -> Sequence[RunTarget]:
        """All run targets of a module of the suite, selected or not, in declared order."""


class MatrixItem(Standing):
    """What the two sorts of targets have in common."""

    home: Home
    devices: tuple[DeviceInfo, ...] = ()
    compile_key = ""
    compiler_build = ""
    _has_keywords = False

    def __init__(
        self, *, target: Target, home: Home, position: int, marks: Sequence[pytest.Mark], **kwargs: object
    ) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.position = position
        self.target = target
        self.home = home
        self.own_markers = list(marks)

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

    @property
    def runtime(self) -> RuntimeConfig | None:
        """The runtime config, None for a compile target."""
        return None

    @property
    def compile_id(self) -> str:
        """The node id of the compile target."""
        return f"{self.home.nodeid}::{self.compile_target.name}"

    def reportinfo(self) -> tuple[os.PathLike[str], int | None, str]:
        """The suite's place in its file, and a headline."""
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

    @property
    def services(self) -> Services:
        """Compiling and running, shared by the items of this process."""
        return self.config.stash[SERVICES]

    def record(self, reason: str) -> Record:
        """What the summary needs to know. `reason` says why it was skipped, empty if it was not."""
        return Record(
            file=str(self.path),
            suite=self.compile_target.suite,
            compiler=self.compile_target.compiler.name,
            runtime=self.runtime.name if self.runtime else "",
            reason=reason,
            devices=tuple(f"{device.driver}: {device.name}" for device in self.devices),
            key=self.compile_key,
            line=self.home.line or 0,
            position=self.position,
            target=self.target.name,
            module=self.compile_target.module.name,
            tags=self.target.tags,
            observed=self.observed,
            compiler_build=self.compiler_build,
            runtime_build=", ".join(dict.fromkeys(device.runtime for device in self.devices if device.runtime)),
        )

    def _note_stage(self, stage: Stage) -> None:
        """Say how far the target came, in place of what was said before."""
        self.user_properties[:] = [pair for pair in self.user_properties if pair[0] != "retarget.stage"]
        self.note("stage", stage)

    @property
    def concrete(self) -> CompileTarget:
        """The compile target with files that are there, where a kind makes its modules."""
        return self.services.engine.generated(self.compile_target)

    def check_files(self) -> None:
        """Skip or fail if the module's files are to be generated and cannot be."""
        try:
            self.services.engine.generated(self.compile_target)
        except UnavailableError as error:
            self._not_compiled_here(error)

    def _not_compiled_here(self, error: UnavailableError) -> NoReturn:
        """Skip: what compiles the module is missing, for the compile target and its run targets alike."""
        raise Unavailable(str(error), error.hint, by=self.compile_id)

    def check_compiler(self) -> None:
        """Skip if the compiler is not installed. Raises `RetargetError` for one that no extension provides."""
        try:
            self.services.engine.check_compiler(self.compile_target.compiler)
        except UnavailableError as error:
            self._not_compiled_here(error)

    @property
    def in_full(self) -> bool:
        """Whether a failure is to show all of its cases in full: with `-vv`."""
        return self.config.get_verbosity() > 1

    def skip_without_cases(self, names: Sequence[str]) -> NoReturn:
        """Skip a target none of whose cases was run: none is selected, or rules skip those that are."""
        selected = [name for name in names if is_one_of(name, self.services.settings.cases)]
        self.cases_missed = () if selected else tuple(names)
        if not selected:
            msg = f"no case matches --retarget-case {' or '.join(self.services.settings.cases)}"
            raise Unselected(msg)
        rules = [rule for rule in (self.rules.of(name) for name in selected) if rule is not None]
        raise Excused("; ".join(dict.fromkeys(excuse(rule) for rule in rules)))

    def unexpected(self, run: RunOutcome, failure: Failure) -> tuple[Failure, Sequence[str]]:
        """The failure to tell of a run, and the cases that failed as expected, where there are others."""
        expected = judge_target(self.rules, failure, run.cases, day=today()).expected
        others = [case for case in run.cases if case.failure is not None and case.name not in expected]
        is_of_case = any(case.failure == failure for case in run.cases)
        if not expected or (is_of_case and not others):
            return failure, ()
        return (first_failure(others) or failure) if is_of_case else failure, expected

    def note_names(self) -> None:
        """Say in the report what the target is."""
        self.note("nodeid", self.nodeid)
        self.note("suite", self.compile_target.suite)
        self.note("module", self.compile_target.module.name)
        self.note("compiler", self.compile_target.compiler.name)
        self.note("runtime", self.runtime.name if self.runtime else "")
        self.note("stage", Stage.COMPILE)

    def try_compile(self) -> tuple[CompileOutcome, Attempts]:
        """Wait for the compile, with its retries if it is flaky, and note what is known of it."""
        self.note_names()
        outcome = self._compiled()
        by_chance = self.compile_rule is not None and self.compile_rule.outcome == "intermittent"
        if by_chance and outcome.reused and outcome.artifact is None:  # what is stored is the chance of another day
            self.services.engine.compile_again(self.compile_target)
            outcome = self._compiled()

        def once() -> Attempts:
            if outcome.artifact is not None:
                return Attempts(error=None)
            return Attempts(error=compile_failed(self.services.commands, self.concrete, outcome))

        def again() -> None:
            nonlocal outcome
            self.services.engine.compile_again(self.compile_target)
            outcome = self._compiled()

        tried = self.services.exhausted.get(self.compile_id) or attempts(self.compile_rules, once, again)
        if tried.before and tried.error is not None:
            self.services.exhausted[self.compile_id] = tried
        self.compile_key = outcome.key
        self.note("compile_key", outcome.key)
        if outcome.build:
            self.compiler_build = outcome.build
            self.note("compiler_build", outcome.build)
        self.note("reused", str(outcome.reused).lower())
        self.note("compile_seconds", outcome.seconds)
        return outcome, tried

    def _compiled(self) -> CompileOutcome:
        try:
            return self.services.engine.compile(self.compile_target)
        except UnavailableError as error:
            self._not_compiled_here(error)


class CompileItem(MatrixItem):
    """One module, compiled one way."""

    target: CompileTarget

    @property
    def compile_target(self) -> CompileTarget:
        return self.target

    def setup(self) -> None:
        self.skip_as_expected()
        if self.services.settings.artifacts is not None:
            msg = f"not compiled: --retarget-artifacts takes artifacts from {self.services.settings.artifacts}"
            raise Excused(msg)
        self.services.registry.case_loader(self.target.kind)
        self.check_compiler()
        self.check_files()

    def runtest(self) -> None:
        outcome, tried = self.try_compile()
        if outcome.artifact is not None:
            if isinstance(self.services.registry.case_loaders.get(self.target.kind), ChecksArtifacts):
                tried = replace(self._checked(outcome.artifact), before=tried.before)
            elif self.is_deferred:
                self.observe(tried, None)
                return
        self.observe(tried, self.rules)
        settle(self.rules, tried, self.services.places)

    def _checked(self, artifact: Artifact) -> Attempts:
        """Hold the artifact against what its module's checks ask for."""
        try:
            checked = self.services.engine.check(self.target, artifact, skipping=self.rules.skipping(today()))
        except UnavailableError as error:
            raise Unavailable(str(error), error.hint) from None
        if checked.failure is None:
            if not checked.cases:
                self.skip_without_cases(checked.names)
            return Attempts(error=None, cases=checked.cases, names=checked.names)
        self._note_stage(checked.failure.stage)
        failure, expected = self.unexpected(checked, checked.failure)
        failed = check_failed(
            self.services.commands, self.concrete, checked, failure, in_full=self.in_full, expected=expected
        )
        return Attempts(error=failed, cases=checked.cases, names=checked.names)


class RunItem(MatrixItem):
    """One module, compiled one way and run one way."""

    target: RunTarget

    @property
    def compile_target(self) -> CompileTarget:
        return self.target.compile

    @property
    def runtime(self) -> RuntimeConfig:
        return self.target.runtime

    def setup(self) -> None:
        self.skip_as_expected()
        runtime = self.target.runtime
        if reason := host_mismatch(runtime):
            raise Unavailable(reason)
        registry = self.services.registry
        registry.driver(runtime.driver)
        registry.case_loader(self.target.compile.kind)
        self.check_files()
        if self.services.settings.artifacts is None:
            self._check_compiler_or_block()
        try:
            self.devices = self.services.engine.devices(runtime)
        except UnavailableError as error:
            self._unavailable_device(error)

    def runtest(self) -> None:
        outcome, compiled = self._compiled_or_blocked()
        if outcome.artifact is None:
            self._not_compiled(compiled)
        tried = self._tried(outcome.artifact)
        self.observe(replace(tried, before=(*compiled.before, *tried.before)), self.rules)
        compiles_against_rule = not self.is_deferred and self.compile_id not in self.services.selected_compiles
        try:
            settle(self.rules, tried, self.services.places)
        except AsExpected:
            if compiles_against_rule:
                settle(self.compile_rules, compiled, self.services.places)
            raise
        if compiles_against_rule:  # there is no compile target here to say so
            settle(self.compile_rules, compiled, self.services.places)

    def _tried(self, artifact: Artifact) -> Attempts:
        """Run, with retries if the target is flaky."""

        def once() -> Attempts:
            try:
                others = self.home.run_targets(self.target.compile.module.name)
                run = self.services.run(self.target, artifact, others, skipping=self.rules.skipping(today()))
            except UnavailableError as error:
                self._unavailable_device(error)
            self._note_run(run)
            if run.failure is None:
                if not run.cases:
                    self.skip_without_cases(run.names)
                return Attempts(error=None, cases=run.cases, names=run.names)
            if run.failure.lacking:
                self._excuse_or_block_by_others(run, run.failure)
            target = replace(self.target, compile=self.concrete)
            failure, expected = self.unexpected(run, run.failure)
            self._note_stage(failure.stage)
            failed = run_failed(
                self.services.commands, target, artifact, run, failure, in_full=self.in_full, expected=expected
            )
            return Attempts(error=failed, cases=run.cases, names=run.names)

        return attempts(self.rules, once, lambda: None)

    def _excuse_or_block_by_others(self, run: RunOutcome, failure: Failure) -> None:
        """Be an expected failure, blocked or skipped as are those that were to give the results to agree with.

        Returns where one of them does not tell why it gave none: then this target does.
        """
        configs = dict.fromkeys(case.failure.lacking for case in run.cases if case.failure is not None)
        recordings = [self.services.references.recorded(config, self.target) for config in configs]
        if all(recording.unavailable for recording in recordings):
            raise Unavailable(failure.summary)
        excuses = [self._excuse_of(recording) for recording in recordings]
        if all(excuses):
            raise AsExpected(excuses[0])
        tellers = [self._teller(one) for one, said in zip(recordings, excuses, strict=True) if not said]
        if not all(tellers):
            return
        fails_here = self.services.settings.artifacts is None  # what is not compiled may not fail in this session
        msg = f"blocked by {tellers[0]}, which gave no results to agree with"
        raise Blocked(msg, by=tellers[0] if fails_here else "")

    def _excuse_of(self, recording: Recording) -> str:
        """Why a failure that left cases without results is expected; empty where it is not."""
        failure, failed = recording.failure, recording.failed
        if failed is None or failure is None or failure.no_verdict:
            return ""
        seen = observe_all(failure, recording.cases)
        rules = self.home.rules(failed.name)
        is_written = self.services.settings.update_expectations and not any(
            is_expired(rule, today()) for rule in rules.all
        )
        if is_written and self._teller(recording):  # as the rule will that comes of it
            return f"{failed.name} is expected to fail: {observed_text(seen)}"
        verdict = judge_target(rules, failure, recording.cases, day=today())
        if verdict.ruling in {Ruling.EXCUSED, Ruling.CHANCE} and verdict.rules:
            return _excused_by(failed, verdict.rules[0])
        return ""

    def _teller(self, recording: Recording) -> str:
        """The node id of the selected target that reports a failure; empty where none surely does.

        A target that runs once more may pass where it is flaky or intermittent, and so may one that crashed or ran out
        of time.
        """
        failure, failed, ran = recording.failure, recording.failed, recording.ran
        if failed is None or ran is None:
            return ""
        rules = self.home.rules(failed.name)
        may_pass = isinstance(failed, RunTarget) and failure is not None and failure.transient
        if may_pass or any(rule.outcome in {"flaky", "intermittent"} for rule in rules.all):
            return ""
        ids = [f"{self.home.nodeid}::{target.name}" for target in (failed, ran)]
        return next((one for one in ids if one in self.services.selected), "")

    def _not_compiled(self, compiled: Attempts) -> NoReturn:
        """Fail as expected, block, or report the failed compile that no other target reports."""
        reports = self.services.settings.artifacts is None and self.compile_id not in self.services.selected_compiles
        if reports:
            self.observe(compiled, self.compile_rules)
            settle(self.compile_rules, compiled, self.services.places)
        elif self.services.settings.artifacts is None and compiled.error is not None:
            self.compile_observed = None if compiled.error.failure.no_verdict else compiled.observation
        if compiled.error is None or not compiled.error.failure.no_verdict:
            self._excuse_by_compile(compiled.observation)
        self._block_or_raise(compiled.error or RetargetError(f"{self.target.compile.name} was not compiled"))

    def _excuse_by_compile(self, observation: Observation | None) -> None:
        """Be an expected failure if the failed compile is one."""
        rule = self.compile_rule
        if rule is None:
            return
        ruling = judge(rule, observation, day=today()).ruling
        if ruling is Ruling.CHANCE:
            self.note_chance(rule, "not compiled")
        if ruling in {Ruling.EXCUSED, Ruling.CHANCE}:
            raise AsExpected(_excused_by(self.target.compile, rule), by_chance=ruling is Ruling.CHANCE)

    def _compiled_or_blocked(self) -> tuple[CompileOutcome, Attempts]:
        """What `try_compile` gives. What keeps a compile from being stored at all is its compile target's to report."""
        try:
            return self.try_compile()
        except RetargetError as error:
            if self.services.settings.artifacts is not None:
                self._excuse_by_crash()  # an outcome that is never exported
                raise
            self._block_or_raise(error)

    def _excuse_by_crash(self) -> None:
        rule = self.compile_rule
        if (
            rule is not None
            and rule.outcome in {"xfail", "intermittent"}
            and not {CRASH, TIMEOUT}.isdisjoint(rule.stages)
        ):
            self._excuse_by_compile(Observation(stage=rule.stages[0], signature=rule.signature))

    def _unavailable_device(self, error: UnavailableError) -> NoReturn:
        msg = f"{self.target.runtime.name}: {error}"
        raise Unavailable(msg, error.hint) from None

    def _check_compiler_or_block(self) -> None:
        try:
            self.check_compiler()
        except RetargetError as error:
            self._block_or_raise(error)

    def _block_or_raise(self, error: Exception) -> NoReturn:
        if self.services.settings.artifacts is not None:
            msg = f"blocked: it was not compiled where the artifacts come from: {first_line(error)}"
            raise Blocked(msg) from None
        if self.compile_id in self.services.selected_compiles:
            msg = f"blocked by {self.compile_id}"
            raise Blocked(msg, by=self.compile_id) from None
        raise error

    def _note_run(self, run: RunOutcome) -> None:
        self.devices = run.devices or self.devices
        stage = run.failure.stage if run.failure is not None else Stage.COMPARE
        self._note_stage(stage)
        names = {
            "load_seconds",
            "run_seconds",
            "compare_seconds",
            "device",
            "device_id",
            "driver_version",
            "runtime_build",
            "case.failed",
        }
        self.user_properties[:] = [pair for pair in self.user_properties if pair[0].partition(".")[2] not in names]
        self.note("load_seconds", run.load_seconds)
        self.note("run_seconds", run.run_seconds)
        self.note("compare_seconds", run.compare_seconds)
        for case in run.cases:
            if case.failure is not None:
                self.note("case.failed", case.name)
        for device in self.devices:
            self.note("device", device.name)
            self.note("device_id", device.physical_id)
            self.note("driver_version", device.driver_version)
        for build in dict.fromkeys(device.runtime for device in self.devices if device.runtime):
            self.note("runtime_build", build)


def _excused_by(failed: Target, rule: Expectation) -> str:
    """Why a target is excused for which another one, which `rule` is in force for, has failed."""
    what = "failed, which is intermittent" if rule.outcome == "intermittent" else "is expected to fail"
    return f"{failed.name} {what}: {excuse(rule)}"
