"""Where a worker runs a module: in its own process, or in one that the driver starts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.model.outcomes import RunOutcome
from retarget.worker.child import run_external, run_in_process
from retarget.worker.child.main import _Server


@pytest.mark.parametrize(("gives_no_outputs", "place"), [(True, "external"), (False, "in process")])
def test_a_driver_that_gives_no_outputs_runs_its_own_process(
    monkeypatch: pytest.MonkeyPatch, gives_no_outputs: bool, place: str
) -> None:
    places: list[str] = []

    def runs(where: str) -> object:
        def run(*_: object, **__: object) -> RunOutcome:
            places.append(where)
            return RunOutcome(devices=())

        return run

    monkeypatch.setattr(run_external, "run_external", runs("external"))
    monkeypatch.setattr(run_in_process, "run_in_process", runs("in process"))
    driver = SimpleNamespace(open=lambda _: SimpleNamespace(infos=()))
    registry: Any = SimpleNamespace(
        gives_no_outputs=lambda _: gives_no_outputs, case_loader=lambda _: None, driver=lambda _: driver
    )
    message: Any = SimpleNamespace(target=run_target(compile_target(), driver="d"))
    _Server(registry, lambda _: None)._run(message)
    assert places == [place]
