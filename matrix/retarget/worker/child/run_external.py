"""Runs the cases of an artifact behind `run_under` where the driver has no tool: `worker.run_case` for each case."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from retarget.extension import Case, CaseLoader, Driver, DriverError, ExtensionError, RunPlan, UnavailableError
from retarget.extension.cases import run_case_plan
from retarget.extension.registry import Registry
from retarget.model.names import selected_cases
from retarget.model.outcomes import CaseOutcome, Failure, Rung, RunOutcome, Stage, first_failure
from retarget.support.errors import RetargetError
from retarget.support.text import clip, cut_stacks, first_line, strip_colour
from retarget.worker.artifact import read_artifact
from retarget.worker.messages import (
    AGREEING,
    NO_RESULTS,
    OPENED,
    UNAVAILABLE,
    Progress,
    RunModule,
    agreed_results,
    case_outcome,
    case_request,
    load_cases,
)
from retarget.worker.process import OUTPUT_LIMIT, signal_name

_RUNGS = {Stage.LOAD: Rung.COMPILES, Stage.RUN: Rung.DISPATCHES, Stage.COMPARE: Rung.COMPLETES}
"""How far a case came that failed at a stage: its process loads the artifact."""


def run_external(
    driver: Driver, loader: CaseLoader, message: RunModule, send: Callable[[Progress], None]
) -> RunOutcome:
    """List the artifact's functions without a device and run each case in its own process.

    Such a process reads and judges its case itself, and returns no results. Raises `UnavailableError` where something
    is missing for the first case; later it is a failure, which leaves the results of the cases before.
    """
    target = message.target.compile
    send(Progress(stage=Stage.LOAD))
    start = time.perf_counter()
    try:
        functions = tuple(driver.functions(read_artifact(message.artifact, message.digest)))
        cases = load_cases(loader, replace(case_request(target), functions=functions))
        failure = None
        if not cases:
            failure = Failure(stage=Stage.LOAD, summary="the module has no functions to run")
    except DriverError as error:
        failure = Failure(stage=Stage.LOAD, summary=first_line(str(error)), text=str(error), hint=error.hint)
    except ExtensionError:
        raise
    except RetargetError as error:
        failure = Failure(stage=Stage.LOAD, summary=str(error))
    load_seconds = time.perf_counter() - start
    if failure is not None:
        return RunOutcome(devices=(), load_seconds=load_seconds, failure=failure)

    outcomes: list[CaseOutcome] = []
    outputs = []
    names = tuple(case.name for case in cases)
    for case in selected_cases(cases, message.only, message.skipping):
        stage = Stage.RUN if case.read is None else Stage.LOAD
        first = not outcomes
        done, known = (None, names) if first else (outcomes[-1], ())
        send(Progress(stage=stage, case=case.name, done=done, names=known, rung=_RUNGS[stage]))
        outcome, output = _run_case(case, message, send, first=first)
        outcomes.append(outcome)
        outputs.append(output)
    return RunOutcome(
        devices=(),
        load_seconds=load_seconds,
        run_seconds=sum(outcome.seconds for outcome in outcomes),
        cases=tuple(outcomes),
        names=names,
        failure=first_failure(outcomes),
        output="".join(outputs),
    )


def _run_case(
    case: Case, message: RunModule, send: Callable[[Progress], None], *, first: bool
) -> tuple[CaseOutcome, str]:
    start = time.perf_counter()
    output = ""
    failure = _readable(case, message)
    if failure is None:
        if case.read is not None:
            send(Progress(stage=Stage.RUN, case=case.name, rung=Rung.DISPATCHES))
        try:
            failure, output = _judge(message.target.runtime.run_under, _plan(case, message), case.name)
        except UnavailableError as error:
            if first:
                raise
            failure = Failure(stage=Stage.LOAD, summary=str(error), hint=error.hint, no_verdict=True)
        if failure is not None and case.agree_with and failure.summary.startswith(NO_RESULTS):
            failure = dataclasses.replace(failure, lacking=case.agree_with, no_verdict=True)
    seconds, compiler = time.perf_counter() - start, message.target.compile.compiler.name
    rung = Rung.MATCHES if failure is None else _RUNGS[failure.stage]
    outcome = case_outcome(case, compiler, seconds, failure, rung=rung)
    agreeing = re.search(rf"(?m)^ *{AGREEING}: (.*?)\r?$", output)
    return dataclasses.replace(outcome, agreeing=tuple(agreeing[1].split()) if agreeing else ()), output


def _readable(case: Case, message: RunModule) -> Failure | None:
    """Return what is wrong with a case's data: reported as where a case runs in the worker."""
    try:
        if case.read is not None:
            case.read()
    except ExtensionError:
        raise
    except RetargetError as error:
        return Failure(stage=Stage.LOAD, summary=first_line(str(error)), text=str(error))
    found = {name: {case.name: one} if isinstance(one, Path) else one for name, one in message.references}
    try:
        agreed_results(case, found, is_reference=True)
    except RetargetError as error:
        why = str(error)
        return Failure(stage=Stage.LOAD, summary=first_line(why), text=why, lacking=case.agree_with, no_verdict=True)
    return None


def _plan(case: Case, message: RunModule) -> RunPlan:
    """Return how a case is run: with what this session has, its extensions and the results that a case agrees with."""
    target = message.target
    plan = run_case_plan(
        kind=target.compile.kind,
        config=target.runtime,
        artifact=message.artifact,
        module=target.compile.module,
        folder=target.compile.folder,
        case=case.name,
    )
    found = (one for one in message.references if isinstance(one[1], Path))
    references = (f"--reference={config}={folder}" for config, folder in found)
    own = (f"--compiler={target.compile.compiler.name}", f"--runtime={target.runtime.name}")
    agree = (f"--agree={target.compile.agree}",) if target.compile.agree else ()
    compiler = (*own, *agree, *references) if case.agree_with else ()
    return dataclasses.replace(
        plan, argv=(*plan.argv, "--say-opened", *compiler), env=tuple(Registry.environment().items())
    )


def _judge(run_under: Sequence[str], plan: RunPlan, case: str) -> tuple[Failure | None, str]:
    """Run a case behind a command, whose exit status may be another than that of what it runs.

    Where nothing says that the devices are open, the command, or the driver, is to blame: there is no verdict. Raises
    `UnavailableError` where something is missing.
    """
    argv = [*run_under, *plan.argv]
    env = {**os.environ, **dict(plan.env)}
    program = shutil.which(argv[0], path=env.get("PATH")) or argv[0]
    try:
        done = subprocess.run(
            [program, *argv[1:]],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError as error:
        summary = f"run_under: {argv[0]} does not start: {error.strerror or error}"
        return Failure(stage=Stage.LOAD, summary=summary, no_verdict=True), ""
    printed = re.sub(rf"{OPENED}\r?\n".encode(), b"", done.stdout)
    output, text = cut_stacks(clip(printed, OUTPUT_LIMIT)), strip_colour(printed.decode(errors="replace"))
    lines, detail = text.splitlines(), first_line(output)
    if done.returncode == 0 and any(line.rstrip().endswith(f"{case}: passed") for line in lines):
        return None, output
    if missing := re.search(rf"(?m)^{UNAVAILABLE}: (.*)(?:\nhint: (.*))?", text):
        raise UnavailableError(missing[1], missing[2] or "")
    signal = signal_name(-done.returncode) if done.returncode < 0 else ""
    ended = f"{argv[0]} crashed: {signal}" if signal else f"{argv[0]} exited with status {done.returncode}"
    if printed == done.stdout:
        summary = ": ".join(filter(None, (f"run_under: {ended} before the devices were open", detail)))
        return Failure(stage=Stage.LOAD, summary=summary, text=output, no_verdict=True), output
    if signal:
        return Failure(stage=Stage.RUN, summary=ended, text=output, signal=signal), output
    for stage, pattern in plan.telling:
        for line in lines:
            if found := re.match(pattern, line):
                return Failure(stage=stage, summary=found[1], text=output), output
    lost = " and without a word that the case has passed" if done.returncode == 0 else ""
    summary = ": ".join(filter(None, (f"{ended}{lost}", detail)))
    return Failure(stage=Stage.RUN, summary=summary, text=output), output
