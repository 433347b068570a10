"""Runs the cases of one artifact on the devices that this worker holds open.

Inputs for functions without cases, generated from their declared types: the same in every run.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from retarget.arrays.agreement import outvoted
from retarget.arrays.comparison import failing_checks, mismatches_of
from retarget.extension import (
    Case,
    CaseData,
    CaseLoader,
    Check,
    Device,
    Driver,
    DriverError,
    ExtensionError,
    Program,
    UnavailableError,
)
from retarget.model import RuntimeConfig
from retarget.model.names import MAJORITY, selected_cases
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Failure, Mismatch, Rung, RunOutcome, Stage, first_failure
from retarget.profiles.files import Profile
from retarget.profiles.requirements import parse_requirement
from retarget.support.dependencies import machine_folders, opened
from retarget.support.errors import RetargetError
from retarget.support.text import first_line
from retarget.worker.artifact import KeptFiles, map_artifact, read_artifact
from retarget.worker.child.outputs import OutputsWriter, read_outputs
from retarget.worker.messages import (
    Progress,
    RunModule,
    Timing,
    agreed_config,
    agreed_results,
    case_outcome,
    case_request,
    load_cases,
    must_check,
    tolerances_of,
)

if TYPE_CHECKING:
    from retarget.extension import Array


NOTHING_TO_RUN = Failure(
    stage=Stage.LOAD,
    summary="the module has no functions to run",
    hint="a check module exports at least one function without arguments",
)


def run_in_process(
    driver: Driver,
    device: Device,
    loader: CaseLoader,
    message: RunModule,
    send: Callable[[Progress], None],
    *,
    read_output: Callable[[], str],
) -> RunOutcome:
    """Load the artifact and run all its cases, also after one has failed.

    `read_output` returns what was written to descriptors 1 and 2 since the request came. Raises `UnavailableError` for
    an artifact that needs what the device does not have.
    """
    infos = tuple(device.infos)
    send(Progress(stage=Stage.LOAD))
    suspect = loaded = False
    start = time.perf_counter()
    try:
        request = case_request(message.target.compile)
        read = map_artifact if driver.maps_artifacts else read_artifact
        artifact = cast("bytes", read(message.artifact, message.digest))
        parameters = loader.parameters(request)
        declared = (
            KeptFiles().folder,
            *machine_folders(request.source, message.target.runtime.origin.file),
            message.artifact,
            request.source,
            *request.data,
            *(file for _, file in parameters),
        )
        with opened(declared):
            _check_needs(driver.needs(artifact), infos)
            program = device.load_with_parameters(artifact, parameters) if parameters else device.load(artifact)
            loaded = True
            functions = tuple(program.functions)
        request = replace(request, functions=functions)
        cases = load_cases(loader, request)
        references = {config: _by_name(found) for config, found in message.references}
        failure = None if cases else NOTHING_TO_RUN
    except DriverError as error:
        failure = driver_failure(Stage.LOAD, error)
        suspect = not error.harmless
    except ExtensionError:
        raise
    except RetargetError as error:
        failure = _not_loaded(error)
    load_seconds = time.perf_counter() - start
    if failure is not None:
        return RunOutcome(
            devices=infos,
            load_seconds=load_seconds,
            failure=failure,
            output=read_output(),
            loaded=loaded,
            suspect=suspect,
        )

    run = _Run(
        program=program,
        runtime=message.target.runtime,
        infos=infos,
        compiler=request.compiler,
        artifact=message.artifact,
        declared=declared,
        references=references,
        send=send,
        writer=None if message.record is None else OutputsWriter(message.record),
    )
    program.report_work(run.note_work)
    outcomes: list[CaseOutcome] = []
    names = tuple(case.name for case in cases)
    for case in selected_cases(cases, message.only, message.skipping):
        stage = Stage.RUN if case.read is None else Stage.LOAD
        run.report_stage(stage, case.name, *((outcomes[-1],) if outcomes else (None, names)))
        outcomes.append(run.case(case))
    if message.timing is not None and outcomes and first_failure(outcomes) is None:
        outcomes = run.timed(cases, outcomes, message.timing)
    if run.writer is not None:
        run.writer.close()
    return RunOutcome(
        devices=infos,
        load_seconds=load_seconds,
        run_seconds=run.run_seconds,
        compare_seconds=run.compare_seconds,
        cases=tuple(outcomes),
        names=names,
        failure=first_failure(outcomes),
        output=read_output(),
        loaded=loaded,
        suspect=run.suspect,
    )


def driver_failure(stage: Stage, error: DriverError) -> Failure:
    """Return what `error` means for a target. The summary is its first line, the text all of it."""
    text = str(error)
    return Failure(
        stage=error.stage or stage,
        summary=first_line(text, "the driver failed without a word"),
        text=text,
        hint=error.hint,
        signal=error.signal,
        no_verdict=error.no_verdict,
    )


def _check_needs(needs: Sequence[str], infos: Sequence[DeviceInfo]) -> None:
    """Raise `UnavailableError` with all needs for which a device has another value.

    An unreported capability is no reason for a skip: loading the artifact shows whether it has it.
    """
    devices = [Profile.of_device(info, info.runtime) for info in infos if needs]
    answers = [(need, parse_requirement(need).answer(devices)) for need in needs]
    unmet = [f"{need}, and {found.reason}" for need, found in answers if found.is_unmet]
    if unmet:
        msg = f"the artifact needs {'; '.join(unmet)}"
        raise UnavailableError(msg, hint="compile for this device: compare the compiler config's target with it")


def _by_name(found: Path | str) -> Mapping[str, Sequence[Array]] | str:
    """Return the results in a folder by the names of their cases; or why there are none."""
    return found if isinstance(found, str) else {case.name: case.results for case in read_outputs(found)}


class _Run(Struct, kw_only=True):
    """One artifact's cases while they run: the one that runs, and how far it has come. Seconds are wall time in calls
    and in comparisons, over all cases."""

    program: Program
    runtime: RuntimeConfig
    infos: Sequence[DeviceInfo]
    compiler: str
    artifact: Path
    declared: Sequence[Path]
    references: Mapping[str, Mapping[str, Sequence[Array]] | str]
    send: Callable[[Progress], None]
    writer: OutputsWriter | None
    run_seconds: float = 0.0
    compare_seconds: float = 0.0
    name: str = ""
    rung: Rung = Rung.LOADS
    suspect: bool = False
    first_calls: dict[str, float] = field(default_factory=dict)

    def report_stage(
        self, stage: Stage, name: str, done: CaseOutcome | None = None, names: tuple[str, ...] = ()
    ) -> None:
        """Report the stage that the run enters next."""
        is_work = stage is Stage.RUN and not self.program.overrides("report_work")
        self.name, self.rung = name, Rung.DISPATCHES if is_work else Rung.LOADS
        self.send(Progress(stage=stage, case=name, done=done, names=names, rung=self.rung))

    def note_work(self) -> None:
        """Say that the case's call hands work to the device. `Program.report_work` is given it."""
        if self.rung < Rung.DISPATCHES:
            self.rung = Rung.DISPATCHES
            self.send(Progress(stage=Stage.RUN, case=self.name, rung=self.rung))

    def case(self, case: Case) -> CaseOutcome:
        """Read, call, compare; and record, where that is wanted, what completed."""
        start = time.perf_counter()
        try:
            data = case.values()
        except ExtensionError:
            raise
        except RetargetError as error:
            return case_outcome(case, self.compiler, time.perf_counter() - start, _not_loaded(error), rung=self.rung)
        expected: Sequence[Array | None] | None = None
        unexpected: Failure | None = None
        agreed: Mapping[str, Sequence[Array]] = {}
        try:
            if agreed_config(case, self.compiler):
                agreed = agreed_results(case, self.references, is_reference=self.writer is not None)
            expected = next(iter(agreed.values())) if agreed else data.expected
        except RetargetError as error:  # reported if the call itself completes
            unexpected = dataclasses.replace(_not_loaded(error), lacking=case.agree_with, no_verdict=True)
        if case.read is not None:
            self.report_stage(Stage.RUN, case.name)
        checks: list[Check] = []
        called_at = time.perf_counter()
        results, dispatches, failure = self._called(case, data, checks)
        called = time.perf_counter()
        self.first_calls[case.name] = called - called_at
        if others := [type(check).__name__ for check in checks if not isinstance(check, Check)]:
            msg = f"the device gave a {others[0]} to on_check while {case.function!r} ran, expected a Check"
            raise ExtensionError(msg)
        if checks or expected:
            self.send(Progress(stage=Stage.COMPARE, case=case.name, rung=self.rung))
        wanted = expected if failure is None else None
        mismatches, agreeing = self._judged(case, checks, results, wanted, agreed)
        if self.writer is not None and failure is None:
            checked = [check.actual for check in checks]
            self.writer.add(case.name, results, checked, judged=bool(checks or expected))
        compared = time.perf_counter()
        self.run_seconds += called - called_at
        self.compare_seconds += compared - called
        if failure is None and mismatches:
            failure = Failure(stage=Stage.COMPARE, summary=mismatches[0].summary)
        if failure is None and not checks and must_check(case, expected):
            lacking = " made no check" if expected is None else ": 0 results to compare, expected 1 or more"
            failure = Failure(stage=Stage.COMPARE, summary=f"function {case.function!r}{lacking}")
        failure = failure or self._misplaced(dispatches)
        ended = failure or unexpected
        outcome = case_outcome(case, self.compiler, compared - start, ended, mismatches, rung=self.rung)
        outcome = dataclasses.replace(outcome, dispatches=tuple(dispatches), agreeing=agreeing)
        command = () if failure is None else tuple(self.program.last_command(self.artifact))
        return dataclasses.replace(outcome, command=command)

    def timed(self, cases: Sequence[Case], outcomes: Sequence[CaseOutcome], timing: Timing) -> list[CaseOutcome]:
        """Call again the cases that have passed, and return their outcomes with how long that took. Calls by a tool,
        each in a process, are not timed."""
        if self.program.overrides("last_command"):
            return list(outcomes)
        from retarget.worker.child.timing import call_times  # only benchmarks need its imports

        by_name = {case.name: case for case in cases}
        timing = msgspec.structs.replace(timing, seconds=timing.seconds / len(outcomes))
        found = []
        for outcome in outcomes:
            case = by_name[outcome.name]
            self.report_stage(Stage.RUN, case.name)
            try:
                inputs = case.values().inputs
                first = self.first_calls[case.name]
                times = call_times(self.program, case.function, inputs, timing, first, artifact=self.artifact)
                found.append(dataclasses.replace(outcome, times=times))
            except DriverError as error:
                failure = driver_failure(Stage.RUN, error)
                self.suspect |= not error.harmless
                failure = dataclasses.replace(failure, summary=f"a further call failed: {failure.summary}")
                found.append(dataclasses.replace(outcome, failure=failure))
        return found

    def _called(
        self, case: Case, data: CaseData, checks: list[Check]
    ) -> tuple[Sequence[Array], Sequence[tuple[str, int]], Failure | None]:
        """Make a case's call. Return its results, what each device executed, and how it failed, if it did."""
        try:
            with opened(self.declared):
                results = self.program.call(case.function, data.inputs, checks.append)
                dispatches = self._dispatches()
        except DriverError as error:
            failure = driver_failure(Stage.RUN, error)
            self.suspect |= failure.stage is Stage.RUN and not error.harmless
            self.rung = Rung.COMPILES if failure.stage is Stage.LOAD else self.rung
            return (), (), failure
        self.rung = Rung.COMPLETES
        return results, dispatches, None

    def _dispatches(self) -> Sequence[tuple[str, int]]:
        """Return what the last call executed on each device, by role or URI. Raises `DriverError`."""
        if not any(wanted is not None for wanted in self.runtime.used):
            return ()
        if not self.program.overrides("last_work"):
            msg = f"the driver {self.runtime.driver} does not count what a device executes"
            hint = f"take `used` out of the devices of runtime config {self.runtime.name!r}"
            raise DriverError(msg, hint=hint)
        names = self.runtime.roles or [info.uri for info in self.infos]
        return tuple(zip(names, self.program.last_work(), strict=True))

    def _misplaced(self, dispatches: Sequence[tuple[str, int]]) -> Failure | None:
        """Return a failure for the first device that executed nothing and should, or the other way round."""
        work = [(info.uri, count) for info, (_, count) in zip(self.infos, dispatches, strict=False)]
        if not (summary := self.runtime.misplaced(work)):
            return None
        hint = (
            "the compile devices say which device a program takes; those of one kind need ordinals, such as "
            "local[0] and local[1], to be different ones"
        )
        return Failure(stage=Stage.RUN, summary=summary, hint=hint)

    def _judged(
        self,
        case: Case,
        checks: Sequence[Check],
        results: Sequence[Array],
        expected: Sequence[Array | None] | None,
        others: Mapping[str, Sequence[Array]],
    ) -> tuple[list[Mismatch], tuple[str, ...]]:
        """Return how checks failed and results differ, and the targets that are a majority against them."""
        tolerances = tolerances_of(case)
        if others and expected is not None and case.agree_with == MAJORITY:
            own = f"{self.compiler}/{self.runtime.name}"
            found, agreeing = outvoted(own, results, others, tolerances)
            return [*failing_checks(checks), *found], agreeing
        return mismatches_of(checks, results, expected, tolerances, case.agree_with if others else ""), ()


def _not_loaded(error: RetargetError) -> Failure:
    text = str(error)
    return Failure(stage=Stage.LOAD, summary=first_line(text), text=text)
