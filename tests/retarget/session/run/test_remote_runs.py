"""Runs ahead of need: what waits, what is dispatched, what is done; and that nothing is kept of what was taken."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from model_targets import compile_target, run_target
from retarget.extension.registry import Registry
from retarget.model import RunTarget
from retarget.model.outcomes import Artifact, CompileOutcome, Failure, RunOutcome, Stage
from retarget.session.executor import Executor, RunJob
from retarget.session.run.ahead import RemoteRuns
from retarget.support.errors import RetargetError
from retarget.worker.messages import RunModule

GONE = RetargetError("no scheduler")


def request(target: RunTarget, artifact: Artifact) -> RunModule:
    return RunModule(target=target, artifact=Path(artifact.path), digest=artifact.digest)


class Futures:
    """An executor whose runs end when a test says so."""

    def __init__(self) -> None:
        self.given: dict[str, Future[RunOutcome]] = {}

    def run(self, job: RunJob) -> Future[RunOutcome]:
        if job.message.target.name == "gone_c_1":
            raise GONE
        return self.given.setdefault(job.message.target.name, Future())


def test_progress_counts_what_waits_runs_and_is_done_and_outcomes_are_not_kept(tmp_path: Path) -> None:
    executor = Futures()
    runs = RemoteRuns(cast("Executor", executor), Registry(), default_timeout=1, means_this_host=lambda _: False)
    good, bad, taken, gone = (compile_target(name) for name in ("good", "bad", "taken", "gone"))
    targets = [run_target(one, number) for one in (good, bad, taken) for number in "12"]
    for target in targets:
        runs.queue(target, partial(request, target), lambda _: False)
    assert runs.progress == (0, 6)

    path = tmp_path / "artifact"
    path.write_bytes(b"")
    artifact = Artifact(path=str(path), digest="0" * 64, size=0)
    failure = Failure(stage=Stage.COMPILE, summary="refused")
    runs.compiled(good, CompileOutcome(key="k", artifact=artifact, seconds=0, reused=False))
    runs.compiled(bad, CompileOutcome(key="k", failure=failure, seconds=0, reused=False))
    assert (runs.progress, sorted(executor.given)) == ((0, 4), ["good_c_1", "good_c_2"])

    outcome = RunOutcome(devices=())
    executor.given["good_c_1"].set_result(outcome)
    assert runs.progress == (1, 4)
    assert runs.run(request(targets[0], artifact)) is outcome
    assert len(runs._open) == 1

    executor.given["taken_c_1"] = ended = Future()
    ended.set_result(outcome)
    assert runs.run(request(targets[4], artifact)) is outcome
    runs.compiled(taken, CompileOutcome(key="k", artifact=artifact, seconds=0, reused=False))
    assert (runs.progress, "taken_c_2" in executor.given) == ((1, 3), True)

    alone = run_target(gone, "1")
    runs.queue(alone, partial(request, alone), lambda _: False)
    runs.compiled(gone, CompileOutcome(key="k", artifact=artifact, seconds=0, reused=False))
    with pytest.raises(RetargetError, match=str(GONE)):
        runs.run(request(alone, artifact))

    runs.close()
    assert executor.given["good_c_2"].cancelled()
    assert runs.progress == (3, 3)


def test_a_compile_that_ends_while_the_session_closes_dispatches_nothing(tmp_path: Path) -> None:
    executor = Futures()
    runs = RemoteRuns(cast("Executor", executor), Registry(), default_timeout=1, means_this_host=lambda _: False)
    target = compile_target("late")

    def is_kept(_: Artifact) -> bool:
        runs.close()
        return False

    runs.queue(run_target(target, "1"), partial(request, run_target(target, "1")), is_kept)
    artifact = Artifact(path=str(tmp_path), digest="0" * 64, size=0)
    runs.compiled(target, CompileOutcome(key="k", artifact=artifact, seconds=0, reused=False))
    assert (runs.progress, executor.given) == ((0, 0), {})
