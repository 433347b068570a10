"""A real scheduler and real workers on this machine: what comes of compiles and runs, whoever dies."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from retarget.model import RunTarget
from retarget.session import Engine, ExecutorSession, load_extensions
from retarget.support import RetargetError
from retarget_cluster import link
from retarget_cluster.executor import ClusterExecutor
from running_cluster import Cluster, running_cluster
from targets_of_doubles import EXTENSIONS, compile_target, has_ended, lines_of, run_target, runtime_config, wait_until


class Session(NamedTuple):
    """A session of this process on a cluster."""

    engine: Engine
    executor: ClusterExecutor
    cluster: Cluster


@contextmanager
def session_on_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DOUBLE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    registry = load_extensions(EXTENSIONS)
    with running_cluster(tmp_path, extensions=EXTENSIONS) as found:
        executor = ExecutorSession(extensions=EXTENSIONS, jobs=None).connect(found.address)
        assert isinstance(executor, ClusterExecutor)
        with Engine(registry=registry, cache=tmp_path / "cache", extensions=EXTENSIONS, executor=executor) as engine:
            yield Session(engine, executor, found)


def target(folder: Path, name: str, text: str) -> RunTarget:
    compiled = compile_target(folder, name, text)
    return replace(run_target(folder, runtime_config()), name=f"{name}_run", compile=compiled)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def listening(pid: int) -> set[str]:
    """The addresses at which a process listens, in the hexadecimal form of the kernel."""
    mine = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine}


@pytest.mark.slow
def test_workers_compile_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [target(tmp_path, f"module{number}", f"eq a{number} 1 1") for number in range(4)]
    targets.append(target(tmp_path, "wrong", "eq a 1 2"))
    refused = compile_target(tmp_path, "refused", "@refuse no such op")
    with session_on_cluster(tmp_path, monkeypatch) as (engine, _, found):
        engine.submit([*(one.compile for one in targets), refused])
        outcomes = [engine.compile(one.compile) for one in targets]
        assert {one.host for one in outcomes} <= {"worker-0", "worker-1"}
        assert [info.name for info in engine.devices(targets[0].runtime)] == ["Double Device"]
        runs = [engine.run(one, made.artifact) for one, made in zip(targets, outcomes, strict=True) if made.artifact]
        assert [run.failure is None for run in runs] == [True] * 4 + [False]
        assert all(run.host for run in runs)
        failure = engine.compile(refused).failure
        assert failure is not None
        assert failure.summary == "no such op"
        assert engine.notes == ()
        processes = [one.pid for one in (found.scheduler, *found.workers)]
        assert {address for pid in processes for address in listening(pid)} == {"0100007F"}  # 127.0.0.1
        workers = {int(line.split()[-1]) for line in lines_of(tmp_path / "log") if line.startswith("compile")}
        assert {parent(pid) for pid in workers if Path(f"/proc/{pid}").exists()} <= set(processes[1:])
    calls = [line.split()[1] for line in lines_of(tmp_path / "log") if line.startswith("call")]
    assert sorted(calls) == ["a", "a0", "a1", "a2", "a3"]
    assert all(wait_until(lambda pid=pid: has_ended(pid)) for pid in (*processes, *workers))


@pytest.mark.slow
def test_a_worker_that_dies_in_a_run_costs_one_more_try_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = target(tmp_path, "held", "sleep a 4\neq b 1 1")
    with session_on_cluster(tmp_path, monkeypatch) as session:
        engine = session.engine
        compiled = engine.compile(held.compile)
        assert compiled.artifact is not None
        engine.devices(held.runtime)
        killer = threading.Thread(target=kill_who_runs, args=(session, tmp_path / "log"))
        killer.start()
        outcome = engine.run(held, compiled.artifact)
        killer.join()
        assert outcome.failure is None
        assert any("was lost; what it did is tried once more" in note for note in engine.notes)
    assert len(begun(tmp_path / "log", "call a")) == 2


def kill_who_runs(session: Session, log: Path) -> None:
    """Kill the worker that the scheduler knows to run something, once it does."""
    assert wait_until(lambda: bool(begun(log, "call a")))
    status = session.executor._link.submit(session.executor._link._call("status")).result()
    (name,) = [one["name"] for one in status["workers"] if one["running"]]
    session.cluster.workers[int(name.removeprefix("worker-"))].kill()


def begun(log: Path, word: str) -> list[str]:
    return [line for line in lines_of(log) if line.startswith(word)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_without_its_scheduler_a_session_ends_its_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr(link, "_POLL", 1.0)
    monkeypatch.setattr(link, "_PATIENCE", 3.0)
    held = compile_target(tmp_path, "held", "@sleep 3600\npass a")
    with session_on_cluster(tmp_path, monkeypatch) as (engine, executor, found):
        engine.submit([held])
        assert wait_until(lambda: bool(begun(tmp_path / "log", "compile held")))
        os.kill(found.scheduler.pid, number)
        asked = executor._link.submit(executor._link._call("hello"))
        with pytest.raises(RetargetError, match=r"the scheduler at tcp://.* does not answer any more"):
            engine.compile(held)
        with pytest.raises(RetargetError, match=r"the scheduler at tcp://.* does not answer any more"):
            asked.result(timeout=20)
