"""What is kept of a run that others are to agree with; the engine is a double."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.engine import references
from retarget.engine.references import Recording, ReferenceRuns
from retarget.model.outcomes import Artifact, CompileOutcome, Failure, RunOutcome, Stage

FAILURE = Failure(stage=Stage.RUN, summary="no")
TARGET = run_target(compile_target("m"))


def recorded(
    monkeypatch: pytest.MonkeyPatch, *, compiles: bool = True, failure: Failure | None = None, whole: bool = True
) -> Recording:
    artifact = Artifact(digest="", size=0, path="") if compiles else None
    made = CompileOutcome(key="", seconds=0.0, reused=False, artifact=artifact, failure=None if compiles else FAILURE)
    engine: Any = SimpleNamespace(
        devices_of=lambda _: (), compile=lambda _: made, run=lambda *_, **__: RunOutcome(devices=(), failure=failure)
    )
    runs = ReferenceRuns(engine)
    monkeypatch.setattr(runs, "_scratch", SimpleNamespace(subfolder=lambda: Path("kept")), raising=False)
    monkeypatch.setattr(references, "is_recorded", lambda _: whole)
    return runs._recorded(TARGET)


def test_a_run_that_gave_all_its_results_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recorded(monkeypatch) == Recording(folder=Path("kept"))


def test_of_one_that_failed_the_target_and_the_reason_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    why, known = f"{TARGET.name}: no", {"failed": TARGET, "ran": TARGET, "failure": FAILURE}
    assert recorded(monkeypatch, failure=FAILURE, whole=False) == Recording(why=why, **known)
    assert recorded(monkeypatch, failure=FAILURE) == Recording(folder=Path("kept"), **known)
    assert recorded(monkeypatch, whole=False) == Recording(why=f"{TARGET.name}: gave nothing")


def test_of_one_that_did_not_compile_the_compile_target_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    why = f"{TARGET.compile.name}: no"
    known = {"failed": TARGET.compile, "ran": TARGET, "failure": FAILURE}
    assert recorded(monkeypatch, compiles=False) == Recording(why=why, **known)
