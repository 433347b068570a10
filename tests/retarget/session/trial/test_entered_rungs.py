"""How far a target comes by what it compiled alone; nothing is compiled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.model.outcomes import Rung
from retarget.session.trial.run_trial import CompileTrial, RunTrial
from retarget.session.trial.trial import Trial
from retarget.support.errors import RetargetError


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[Rung]:
    """The rungs that trials record, of which only the steps in question are left."""
    rungs: list[Rung] = []
    monkeypatch.setattr(Trial, "prepare", lambda _: None)
    monkeypatch.setattr(Trial, "record_rung", lambda _, rung: rungs.append(rung))
    for name in ("check_files", "check_compiler", "resolve_rules", "observe"):
        monkeypatch.setattr(Trial, name, lambda *_: None)
    monkeypatch.setattr("retarget.session.trial.run_trial.raise_verdict", lambda *_: None)
    return rungs


def services(**engine: Any) -> Any:
    registry = SimpleNamespace(driver=lambda _: None, case_loader=lambda _: None, artifact_checker=lambda _: None)
    return SimpleNamespace(
        engine=SimpleNamespace(host_mismatch=lambda _: "", **engine),
        registry=registry,
        settings=SimpleNamespace(artifacts=None),
        locations=None,
    )


@pytest.mark.parametrize(("artifact", "rungs"), [("made", [Rung.COMPILES]), (None, [])])
def test_a_module_whose_device_fails_comes_as_far_as_its_compile(
    entered: list[Rung], monkeypatch: pytest.MonkeyPatch, artifact: str | None, rungs: list[Rung]
) -> None:
    def fails(_: object) -> None:
        msg = "the device is gone"
        raise RetargetError(msg)

    trial = RunTrial.__new__(RunTrial)
    trial.target, trial.services = run_target(compile_target("m")), services(devices_of=fails)
    monkeypatch.setattr(trial, "try_compile", lambda: (SimpleNamespace(artifact=artifact), None))
    with pytest.raises(RetargetError, match="the device is gone"):
        trial.prepare()
    assert entered == rungs


@pytest.mark.parametrize(("artifact", "rungs"), [("made", [Rung.COMPILES]), (None, [])])
def test_a_compile_target_comes_as_far_as_its_artifact(
    entered: list[Rung], monkeypatch: pytest.MonkeyPatch, artifact: str | None, rungs: list[Rung]
) -> None:
    trial: Any = CompileTrial.__new__(CompileTrial)
    trial.target, trial.services = compile_target("m"), services()
    trial.rules, trial.in_force = None, SimpleNamespace(is_deferred=False)
    monkeypatch.setattr(trial, "try_compile", lambda: (SimpleNamespace(artifact=artifact), None))
    trial.attempt()
    assert entered == rungs
