"""Runs the cases of one artifact behind `run_under`: one process per case, judged by its exit status."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

from ..errors import RetargetError
from ..extension import Case, CaseLoader, Driver, DriverError
from ..messages import Progress, RunModule
from ..outcomes import CaseOutcome, Failure, RunOutcome, Stage
from ..process import OUTPUT_LIMIT, signal_name
from ..text import clip, cut_stacks, first_line
from .artifact import read_artifact
from .request import case_request

__all__ = ["run_outside"]


def run_outside(driver: Driver, loader: CaseLoader, message: RunModule, send: Callable[[Progress], None]) -> RunOutcome:
    """List the artifact's functions without a device and run each case in a process of its own.

    Such a process gets no inputs and returns no results: cases that have them fail.
    """
    send(Progress(stage=Stage.LOAD))
    start = time.perf_counter()
    try:
        functions = tuple(driver.functions(read_artifact(message.artifact, message.digest)))
        cases = tuple(loader.load(replace(case_request(message), functions=functions)))
        failure = None
        if not cases:
            failure = Failure(stage=Stage.LOAD, summary="the module has no functions to run")
    except DriverError as error:
        failure = Failure(stage=Stage.LOAD, summary=first_line(str(error)), text=str(error), hint=error.hint)
    except RetargetError as error:
        failure = Failure(stage=Stage.LOAD, summary=str(error))
    load_seconds = time.perf_counter() - start
    if failure is not None:
        return RunOutcome(devices=(), load_seconds=load_seconds, failure=failure)

    outcomes: list[CaseOutcome] = []
    outputs = []
    for case in cases:
        send(Progress(stage=Stage.RUN, case=case.name, done=outcomes[-1] if outcomes else None))
        outcome, output = _run_case(driver, case, message)
        outcomes.append(outcome)
        outputs.append(output)
    return RunOutcome(
        devices=(),
        load_seconds=load_seconds,
        run_seconds=sum(outcome.seconds for outcome in outcomes),
        cases=tuple(outcomes),
        failure=next((outcome.failure for outcome in outcomes if outcome.failure is not None), None),
        output="".join(outputs),
    )


def _run_case(driver: Driver, case: Case, message: RunModule) -> tuple[CaseOutcome, str]:
    start = time.perf_counter()
    output = ""
    plan = driver.run_outside(message.config, message.artifact, case.function, message.kind)
    if case.inputs or case.expected is not None or case.read is not None or case.agree_with:
        failure: Failure | None = Failure(
            stage=Stage.RUN,
            summary="a case with inputs or expected results cannot be run behind run_under",
            hint="run it on a runtime config without run_under",
        )
    elif plan is None:
        failure = Failure(
            stage=Stage.RUN,
            summary=f"driver {driver.name!r} has no tool that runs a module of kind {message.kind!r} out of process",
            hint="remove run_under from the runtime config",
        )
    else:
        argv = [*message.config.run_under, *plan.argv]
        failure, output = _judge(argv, {**os.environ, **dict(plan.env)})
    seconds = time.perf_counter() - start
    return CaseOutcome(name=case.name, function=case.function, seconds=seconds, failure=failure), output


def _judge(argv: list[str], env: dict[str, str]) -> tuple[Failure | None, str]:
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except OSError as error:
        return Failure(stage=Stage.RUN, summary=f"cannot start {argv[0]!r}: {error.strerror or error}"), ""
    output = cut_stacks(clip(done.stdout, OUTPUT_LIMIT))
    if done.returncode == 0:
        return None, output
    if done.returncode < 0:
        name = signal_name(-done.returncode)
        return Failure(stage=Stage.RUN, summary=f"{argv[0]} crashed: {name}", text=output, signal=name), output
    summary = f"{argv[0]} exited with status {done.returncode}"
    said = first_line(output)
    return Failure(stage=Stage.RUN, summary=f"{summary}: {said}" if said else summary, text=output), output
