"""The engine that pytest and the commands drive: from a target to its outcome, and what is left when it closes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn, cast

import pytest
from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.extension.registry import load_extensions
from retarget.model import Host, RunTarget, RuntimeConfig
from retarget.session.engine import Engine
from retarget.session.executor import Executor
from retarget.support.errors import RetargetError
from retarget.worker.artifact import is_recorded
from targets_of_doubles import EXTENSIONS, ORIGIN, compile_target, lines_of, run_target, runtime_config


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOUBLE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("RETARGET_LEASE_DIR", str(tmp_path / "leases"))
    return tmp_path / "log"


@pytest.fixture
def engine(tmp_path: Path, log: Path) -> Iterator[Engine]:
    with Engine(registry=load_extensions(EXTENSIONS), cache=tmp_path / "cache", extensions=EXTENSIONS) as engine:
        yield engine


def target(folder: Path, text: str) -> RunTarget:
    return replace(run_target(folder, runtime_config()), compile=compile_target(folder, "module", text))


def test_a_target_is_compiled_run_and_recorded(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = target(tmp_path, "pass a")
    compiled = engine.compile(wanted.compile)
    assert compiled.artifact is not None
    outcome = engine.run(wanted, compiled.artifact, record=tmp_path / "record")
    assert [(case.name, case.failure) for case in outcome.cases] == [("a", None)]
    assert is_recorded(tmp_path / "record")
    assert engine.statistics is not None
    assert engine.statistics.compiled == 1
    assert engine.notes == ()
    noted = dataclasses.replace(outcome, notes=("it came back",))
    monkeypatch.setattr(engine._runs, "run", lambda *_, **__: noted)
    engine.run(wanted, compiled.artifact)
    assert engine.notes == ("it came back",)


class Elsewhere:
    """An executor that refuses whatever it is asked."""

    platforms = frozenset({("linux", "x86_64")})
    notes = ()

    def devices(self, runtime: RuntimeConfig) -> NoReturn:
        msg = f"the cluster was asked for {runtime.name}"
        raise RetargetError(msg)

    def close(self) -> None:
        pass


def test_an_executor_has_the_devices_but_those_of_a_host_which_this_user_reaches(tmp_path: Path) -> None:
    registry = load_extensions(EXTENSIONS)
    with Engine(registry=registry, cache=tmp_path, executor=cast("Executor", Elsewhere())) as engine:
        with pytest.raises(RetargetError, match=r"^the cluster was asked for rc$"):
            engine.devices(RuntimeConfig(name="rc", driver="absent", origin=ORIGIN))
        host = Host(name="board", kind="ssh", address="board", origin=ORIGIN)
        with pytest.raises((RetargetError, UnavailableError), match="absent"):
            engine.devices(RuntimeConfig(name="rc", driver="absent", host=host, origin=ORIGIN))


def test_a_session_that_waits_for_uploads_says_so(tmp_path: Path) -> None:
    notes: list[str] = []
    waited: list[float] = []
    slow = SimpleNamespace(flush=waited.append, unsent=3, close=lambda: None)
    with Engine(registry=load_extensions(EXTENSIONS), cache=tmp_path, note=notes.append) as engine:
        vars(engine)["_remote"] = slow
    assert notes == ["waiting for the shared store to take 3 more, for at most 29 s"]
    assert waited == [1.0, 29.0]


def test_nothing_is_started_before_a_target_needs_it(engine: Engine, log: Path) -> None:
    assert engine.statistics is None
    assert engine.notes == ()
    engine.close()
    assert lines_of(log) == []


def test_a_failed_compile_is_tried_again(engine: Engine, tmp_path: Path, log: Path) -> None:
    wanted = compile_target(tmp_path, "module", "@exit 7")
    assert engine.compile(wanted).failure is not None
    engine.compile_again(wanted)
    assert engine.compile(wanted).failure is not None
    assert len([line for line in lines_of(log) if line.startswith("compile")]) == 2


def test_an_exported_artifact_is_taken_from_its_folder_and_not_compiled(tmp_path: Path, log: Path) -> None:
    registry, wanted = load_extensions(EXTENSIONS), compile_target(tmp_path, "module", "pass a")
    artifacts = tmp_path / "artifacts"
    with Engine(registry=registry, cache=tmp_path / "one", extensions=EXTENSIONS, export=artifacts) as build_host:
        exported = build_host.compile(wanted).artifact
    with Engine(registry=registry, cache=tmp_path / "two", extensions=EXTENSIONS, artifacts=artifacts) as device_host:
        taken = device_host.compile(wanted).artifact
    assert exported is not None
    assert taken is not None
    assert (taken.digest, Path(taken.path).parent) == (exported.digest, artifacts / "doubles")
    assert len([line for line in lines_of(log) if line.startswith("compile")]) == 1


def test_what_is_missing_is_reported_before_anything_is_compiled(engine: Engine, tmp_path: Path, log: Path) -> None:
    elsewhere = target(tmp_path, "pass a")
    engine.check_available(elsewhere)
    with pytest.raises(UnavailableError, match="needs ios"):
        engine.check_available(replace(elsewhere, runtime=replace(elsewhere.runtime, host_os=("ios",))))
    with pytest.raises(RetargetError, match="'none'"):
        engine.check_available(replace(elsewhere, runtime=replace(elsewhere.runtime, driver="none")))
    assert not any(line.startswith("compile") for line in lines_of(log))
