"""Runs the cases of one artifact on the devices that this runner holds open."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..compare import compare_arrays, compare_check
from ..errors import RetargetError
from ..extension import Case, CaseLoader, Check, Device, DriverError, Program
from ..messages import Progress, RunModule
from ..outcomes import CaseOutcome, Failure, Mismatch, RunOutcome, Stage
from ..text import first_line
from .artifact import read_artifact

if TYPE_CHECKING:
    from ..extension import Array

__all__ = ["NOTHING_TO_RUN", "driver_failure", "run_inside"]

NOTHING_TO_RUN = Failure(
    stage=Stage.LOAD,
    summary="the module has no functions to run",
    hint="a check module exports at least one function without arguments",
)


def run_inside(
    device: Device,
    loader: CaseLoader,
    message: RunModule,
    send: Callable[[Progress], None],
    read_output: Callable[[], str],
) -> RunOutcome:
    """Load the artifact and run all its cases, also after one has failed.

    `read_output` returns what was written to descriptors 1 and 2 since the request came.
    """
    infos = tuple(device.infos)
    send(Progress(stage=Stage.LOAD))
    suspect = False
    start = time.perf_counter()
    try:
        program = device.load(read_artifact(message.artifact, message.digest))
        cases = tuple(loader.load(message.source, program.functions))
        failure = None if cases else NOTHING_TO_RUN
    except DriverError as error:
        failure = driver_failure(Stage.LOAD, error)
        suspect = True
    except RetargetError as error:
        failure = Failure(stage=Stage.LOAD, summary=str(error))
    load_seconds = time.perf_counter() - start
    if failure is not None:
        return RunOutcome(
            devices=infos, load_seconds=load_seconds, failure=failure, output=read_output(), suspect=suspect
        )

    clock = _Clock()
    outcomes: list[CaseOutcome] = []
    for case in cases:
        send(Progress(stage=Stage.RUN, case=case.name, done=outcomes[-1] if outcomes else None))
        outcomes.append(_run_case(program, case, send, clock))
    return RunOutcome(
        devices=infos,
        load_seconds=load_seconds,
        run_seconds=clock.run,
        compare_seconds=clock.compare,
        cases=tuple(outcomes),
        failure=next((outcome.failure for outcome in outcomes if outcome.failure is not None), None),
        output=read_output(),
        suspect=any(outcome.failure is not None and outcome.failure.stage is Stage.RUN for outcome in outcomes),
    )


def driver_failure(stage: Stage, error: DriverError) -> Failure:
    """Return what `error` means for a target. The summary is its first line, the text all of it."""
    text = str(error)
    return Failure(
        stage=stage, summary=first_line(text, "the driver failed without a word"), text=text, hint=error.hint
    )


class _Clock:
    """Wall seconds spent in calls and in comparisons, over all cases."""

    def __init__(self) -> None:
        self.run = 0.0
        self.compare = 0.0


def _run_case(program: Program, case: Case, send: Callable[[Progress], None], clock: _Clock) -> CaseOutcome:
    checks: list[Check] = []
    results: Sequence[Array] = ()
    failure: Failure | None = None
    start = time.perf_counter()
    try:
        results = program.call(case.function, case.inputs, checks.append)
    except DriverError as error:
        failure = driver_failure(Stage.RUN, error)
    called = time.perf_counter()
    if checks or case.expected is not None:
        send(Progress(stage=Stage.COMPARE, case=case.name))
    mismatches = _failing_checks(checks)
    if failure is None and case.expected is not None:
        mismatches += _failing_results(results, case.expected, case)
    compared = time.perf_counter()
    clock.run += called - start
    clock.compare += compared - called
    if failure is None and mismatches:
        failure = Failure(stage=Stage.COMPARE, summary=mismatches[0].summary)
    if failure is None and case.must_check and not checks:
        failure = Failure(stage=Stage.COMPARE, summary=f"function {case.function!r} made no check")
    return CaseOutcome(
        name=case.name,
        function=case.function,
        seconds=compared - start,
        failure=failure,
        mismatches=tuple(mismatches),
    )


def _failing_checks(checks: Sequence[Check]) -> list[Mismatch]:
    found = []
    for number, check in enumerate(checks, 1):
        mismatch = compare_check(check)
        if mismatch is not None:
            place = f"check {number} of {len(checks)}: " if len(checks) > 1 else ""
            found.append(_placed(mismatch, place))
    return found


def _failing_results(results: Sequence[Array], expected: Sequence[Array], case: Case) -> list[Mismatch]:
    if len(results) != len(expected):
        summary = f"{len(results)} results, expected {len(expected)}"
        return [Mismatch(summary=summary, report=summary)]
    found = []
    for number, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
        mismatch = compare_arrays(actual, wanted, atol=case.atol, rtol=case.rtol)
        if mismatch is not None:
            found.append(_placed(mismatch, f"result {number}: "))
    return found


def _placed(mismatch: Mismatch, place: str) -> Mismatch:
    return replace(mismatch, summary=place + mismatch.summary, report=place + mismatch.report) if place else mismatch
