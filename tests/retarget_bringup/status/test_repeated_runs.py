"""What a bring-up runs again to see whether it stays as it is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.model import Rung
from retarget_bringup.status import gather

STATES = [
    SimpleNamespace(id="unknown", rung=None),
    SimpleNamespace(id="completes", rung=Rung.COMPLETES),
    SimpleNamespace(id="matches", rung=Rung.MATCHES),
    SimpleNamespace(id="stable", rung=Rung.STABLE),
]


@pytest.mark.parametrize(("states", "runs", "again"), [(STATES, 1, 0), (STATES, 3, 2), (STATES[:2], 3, 0)])
def test_only_what_matches_is_run_again(
    monkeypatch: pytest.MonkeyPatch, states: list[object], runs: int, again: int
) -> None:
    ran: list[tuple[list[str], dict[str, Any]]] = []

    def run_pytest(root: Path, folder: Path, words: list[str], *, extensions: object, **known: Any) -> None:
        assert (root, folder, extensions) == (Path("root"), Path("results"), ("e",))
        ran.append(([*words], known))

    for name, value in (
        ("read_ladder", lambda _: None),
        ("Declared", SimpleNamespace(collect=lambda *_: None)),
        ("new_folder", lambda _: Path("results")),
        ("_selected", lambda *_: None),
        ("run_pytest", run_pytest),
        ("read_found", lambda *_, **__: SimpleNamespace(states=states)),
    ):
        monkeypatch.setattr(gather, name, value)
    settings: Any = SimpleNamespace(
        name="gpu", root=Path("root"), paths=["suites", "-odd"], select="gpu", ladder_file=Path("ladder")
    )
    gather.run_found(settings, runs=runs, pytest_args=["-x"], extensions=("e",))
    first, *others = ran
    assert first == (["suites", "./-odd", "-m", "gpu", "-x"], {"what": "running the targets of gpu"})
    assert others == [
        (["-x"], {"targets": ["matches", "stable"], "what": f"run {number} of {runs}: 2 targets"})
        for number in range(2, 2 + again)
    ]
