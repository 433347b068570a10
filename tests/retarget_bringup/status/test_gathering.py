"""What a bring-up selects, measures and runs. Sessions, drivers and the engine are doubles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Suite, Target
from retarget.session import Declared, DeclaredTarget
from retarget.support import DiagnosticsError, RetargetError
from retarget_bringup.ladder.files import Settings
from retarget_bringup.status import gather
from retarget_bringup.status.gather import _key, _selected, new_folder, run_pytest

SUITE = Suite(name="ops", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)


def declared(*targets: Target) -> Declared:
    registry: Any = SimpleNamespace()
    found = [DeclaredTarget(suite_id="s.toml::ops", suite=SUITE, target=target) for target in targets]
    return Declared(registry=registry, targets=found)


def settings(**known: Any) -> Settings:
    values = {"select": "run", "reference": "", "stable": 2, "paths": ["ops", "nets"]}
    values |= {"file": Path("p/bringup/npu.toml"), "text": 'select = "run"\n'}
    return Settings.model_construct(**values | known)


COMPILED = compile_target("m", "cpu")
RUN = run_target(COMPILED, "sync", tags=("run", "fast"))


@pytest.mark.parametrize(
    ("known", "messages"),
    [
        ({"select": "slow"}, ["select: found 'slow', which selects no target of ops, nets"]),
        (
            {"select": "run and (fast or fats or kind(name='x')) and not slow"},
            [
                "select: found the word 'fats', which no target has as a tag; did you mean 'fast'?",
                """select: found the word "kind(name='x')", which no target has as a tag""",
            ],
        ),
        ({"reference": "gpv"}, ["reference: found 'gpv', which no target has; did you mean 'gpu'?"]),
        (
            {"reference": "zzzzzzzz"},
            ["reference: found 'zzzzzzzz', which no target has; expected one of: cpu/sync, gpu"],
        ),
    ],
)
def test_settings_that_mean_nothing_here_are_errors(known: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(DiagnosticsError) as caught:
        _selected(settings(**known), declared(RUN, compile_target("m", "gpu")))
    assert [f"{one.key_path}: {one.message}" for one in caught.value.diagnostics] == messages


@pytest.mark.parametrize(
    ("known", "key"),
    [("k", "k"), (None, "refused"), (UnavailableError("gone"), ""), (RetargetError("no such flag"), "")],
)
def test_a_target_that_has_no_key_is_refused_and_one_of_no_known_key_has_none(known: object, key: str) -> None:
    def compile_key(_: CompileTarget) -> object:
        if isinstance(known, Exception):
            raise known
        return known

    engine: Any = SimpleNamespace(compile_key=compile_key)
    assert _key(engine, COMPILED) == key


def test_the_folders_of_the_last_five_sessions_of_a_ladder_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(tmp_path))
    for number in range(6):
        (tmp_path / "bringup/npu" / f"2020010{number}T000000-x").mkdir(parents=True)
    (tmp_path / "bringup/other/19990101T000000-x").mkdir(parents=True)
    made = new_folder("npu")
    kept = sorted(path.name for path in (tmp_path / "bringup/npu").iterdir())
    assert kept == [*(f"2020010{number}T000000-x" for number in range(2, 6)), made.name]
    assert len(list((tmp_path / "bringup/other").iterdir())) == 1
    (tmp_path / "bringup/file").touch()
    with pytest.raises(RetargetError, match=rf"^cannot write results to {tmp_path}/bringup/file: File exists$"):
        new_folder("file")


class Session:
    """In place of a session of pytest: how it was started, and the targets that it was given by a file."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.command: list[str] = []
        self.targets = ""

    def __call__(self, command: list[str], root: Path, *, stdin: int, stdout: int) -> int:
        assert (root, stdin, stdout) == (Path("root"), subprocess.DEVNULL, 2)
        self.command = command
        for word in command:
            if word.startswith("@"):
                self.targets = Path(word[1:]).read_text()
        return self.status


@pytest.mark.parametrize("status", [0, 1])
def test_a_session_writes_results_to_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    session = Session(status)
    monkeypatch.setattr(gather, "run_session", session)
    run_pytest(Path("root"), tmp_path, ["-x"], targets=["a", "b"], extensions=["e", "f"], what="running it")
    assert capsys.readouterr().err == "running it\n"
    assert session.command[:2] == [sys.executable, "-c"]
    assert session.command[3:-2] == [
        *("-q", "--no-header", "--tb=no", "--no-summary", "--rootdir=."),
        *(f"--retarget-results={tmp_path}", "--retarget-extension=e", "--retarget-extension=f"),
    ]
    assert (session.command[-1], session.targets) == ("-x", "a\nb\n")
    run_pytest(Path("root"), tmp_path, [], what="")
    assert not any(word.startswith("@") for word in session.command)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (5, "pytest selects no target in root; it was given -m gpu"),
        (2, "pytest ended with exit status 2, expected results; what it printed is above"),
        (-9, "pytest ended by signal 9, expected results; what it printed is above"),
    ],
)
def test_a_session_without_results_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, message: str
) -> None:
    monkeypatch.setattr(gather, "run_session", Session(status))
    with pytest.raises(RetargetError) as caught:
        run_pytest(Path("root"), tmp_path, ["-m", "gpu"], what="w")
    assert str(caught.value) == message
