"""A real scheduler and real workers on this machine: what comes of compiles and runs, whoever dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.model import RunTarget
from retarget.session import Engine, ExecutorSession, load_extensions
from retarget.support import RetargetError
from retarget_cluster import link, local
from retarget_cluster.executor import ClusterExecutor
from targets_of_doubles import EXTENSIONS, compile_target, has_ended, lines_of, run_target, runtime_config, wait_until


@contextmanager
def cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str = "local:2"
) -> Iterator[tuple[Engine, ClusterExecutor]]:
    monkeypatch.setenv("DOUBLE_LOG", str(tmp_path / "log"))
    registry = load_extensions(EXTENSIONS)
    session = ExecutorSession(extensions=EXTENSIONS, cache=tmp_path / "cache", jobs=None)
    executor = session.connect(address)
    assert isinstance(executor, ClusterExecutor)
    with Engine(registry=registry, cache=tmp_path / "cache", extensions=EXTENSIONS, executor=executor) as engine:
        assert executor._link.workers
        yield engine, executor


def target(folder: Path, name: str, text: str) -> RunTarget:
    compiled = compile_target(folder, name, text)
    return replace(run_target(folder, runtime_config()), name=f"{name}_run", compile=compiled)


def pids(executor: ClusterExecutor) -> list[int]:
    """The scheduler's, then the workers'."""
    assert executor._local is not None
    return [*executor._local.pids]


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def listening(pid: int) -> set[str]:
    """The addresses at which a process listens, in the hexadecimal form of the kernel."""
    mine = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine}


@pytest.mark.slow
def test_workers_compile_and_run_and_end_with_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [target(tmp_path, f"module{number}", f"eq a{number} 1 1") for number in range(4)]
    targets.append(target(tmp_path, "wrong", "eq a 1 2"))
    refused = compile_target(tmp_path, "refused", "@refuse no such op")
    with cluster(tmp_path, monkeypatch) as (engine, executor):
        engine.submit([*(one.compile for one in targets), refused])
        outcomes = [engine.compile(one.compile) for one in targets]
        assert {one.host for one in outcomes} <= {"local-1", "local-2"}
        assert [info.name for info in engine.devices(targets[0].runtime)] == ["Double Device"]
        runs = [engine.run(one, found.artifact) for one, found in zip(targets, outcomes, strict=True) if found.artifact]
        assert [run.failure is None for run in runs] == [True] * 4 + [False]
        assert all(run.host for run in runs)
        failure = engine.compile(refused).failure
        assert failure is not None
        assert failure.summary == "no such op"
        assert engine.notes == ()
        processes = pids(executor)
        assert {address for pid in processes for address in listening(pid)} == {"0100007F"}  # 127.0.0.1
        workers = {int(line.split()[-1]) for line in lines_of(tmp_path / "log") if line.startswith("compile")}
        assert {parent(pid) for pid in workers if Path(f"/proc/{pid}").exists()} <= set(processes[1:])
    calls = [line.split()[1] for line in lines_of(tmp_path / "log") if line.startswith("call")]
    assert sorted(calls) == ["a", "a0", "a1", "a2", "a3"]
    assert all(wait_until(lambda pid=pid: has_ended(pid)) for pid in (*processes, *workers))


@pytest.mark.slow
def test_a_cluster_that_does_not_start_says_why_and_the_session_compiles_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('no such thing')\n")
    monkeypatch.setattr(local, "_START_SECONDS", 20.0)
    registry = load_extensions(EXTENSIONS)
    session = ExecutorSession(extensions=EXTENSIONS, cache=tmp_path / "cache", jobs=None)
    with monkeypatch.context() as changed:
        changed.syspath_prepend(tmp_path)
        executor = session.connect("local:2")
    with Engine(registry=registry, cache=tmp_path / "cache", extensions=EXTENSIONS, executor=executor) as engine:
        assert executor.compiles > 0
        with pytest.raises(RetargetError) as caught:
            engine.expect_executor(wait=True)
        assert executor.starting
        assert engine.compile(compile_target(tmp_path, "a", "f: pass")).artifact is not None
        with pytest.raises(RetargetError, match="did not start"):
            engine.expect_executor(wait=False)
    first, *last = str(caught.value).splitlines()
    assert first == f"{NOT_STARTED}it ended"
    assert last[0] == "  its last lines:"
    assert last[-1] == "  ImportError: no such thing"


STARTED = "print(json.dumps({'address': sys.argv[1:], 'pids': [os.getpid()], 'certificate': os.getsid(0)}), flush=True)"
NOT_STARTED = "the scheduler of local:2 did not start: "


@pytest.mark.parametrize(
    ("forked", "limits", "ends"),
    [
        (f"{STARTED}\nsys.stdin.read()", (30, 30), ("", 0)),
        (f"{STARTED}\ntime.sleep(30)", (30, 0.1), ("", -signal.SIGKILL)),
        ("print('no address', flush=True)\ntime.sleep(30)", (30, 30), ("no address", -signal.SIGKILL)),
        ("time.sleep(30)", (0.1, 30), ("nothing came in 0 s", -signal.SIGKILL)),
        ("sys.exit('\\n'.join('01234 5'))", (30, 30), ("it ended\n  its last lines:\n  1\n  2\n  3\n  4\n  5", 1)),
    ],
)
def test_a_scheduler_that_starts_prints_its_address_and_is_waited_for_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: str, limits: tuple[float, float], ends: tuple[str, int]
) -> None:
    (package := tmp_path / "retarget_cluster").mkdir()
    (package / "__init__.py").touch()
    (package / "forked.py").write_text(f"import json, os, sys, time\n{forked}\n")
    for name, value in zip(("_START_SECONDS", "_END_SECONDS", "available_cores"), (*limits, lambda: 9), strict=True):
        monkeypatch.setattr(local, name, value)
    with monkeypatch.context() as changed:
        changed.syspath_prepend(tmp_path)
        made = local.LocalCluster("2", cache=Path("c"), extensions=("e",))
    pid, (said, status) = made._process.pid, ends
    if not said:
        started: Any = made.start()
        options = ["--workers=2", "--cores=4", "--cache-dir=c", "--retarget-extension=e"]
        assert (started, made.pids) == ((options, pid), (pid, pid))
    else:
        with pytest.raises(RetargetError) as caught:
            made.start()
        assert str(caught.value) == f"{NOT_STARTED}{said}"
    assert wait_until(lambda: made.ended) if status == 1 else not made.ended
    made.close()
    made.kill()
    assert (made.ended, made._process.returncode) == (True, status)
    assert all(one is not None and one.closed for one in (made._process.stdin, made._process.stdout, made._errors))


@pytest.mark.parametrize(("text", "cores"), [("0", 0), ("+2", 0), ("257", 0), ("256", 1)])
def test_a_cluster_on_this_machine_has_1_to_256_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, cores: int
) -> None:
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: SimpleNamespace(pid=1))
    with nullcontext() if cores else pytest.raises(RetargetError, match=r"found local:.*, expected local:N with a "):
        made = local.LocalCluster(text, cache=tmp_path, extensions=())
        made._errors.close()
        assert made.cores == cores


@pytest.mark.slow
def test_a_worker_that_dies_in_a_run_costs_one_more_try_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = target(tmp_path, "held", "sleep a 4\neq b 1 1")
    with cluster(tmp_path, monkeypatch) as (engine, executor):
        compiled = engine.compile(held.compile)
        assert compiled.artifact is not None
        engine.devices(held.runtime)
        killer = threading.Thread(target=kill_who_runs, args=(executor, tmp_path / "log"))
        killer.start()
        outcome = engine.run(held, compiled.artifact)
        killer.join()
        assert outcome.failure is None
        assert any("was lost; what it did is tried once more" in note for note in engine.notes)
    assert len(begun(tmp_path / "log", "call a")) == 2


def kill_who_runs(executor: ClusterExecutor, log: Path) -> None:
    """Kill the Dask worker process that the scheduler knows to run something, once it does."""
    assert wait_until(lambda: bool(begun(log, "call a")))
    status = executor._link.submit(executor._link._call("status")).result()
    (name,) = [one["name"] for one in status["workers"] if one["running"]]
    os.killpg(pids(executor)[int(name.removeprefix("local-"))], signal.SIGKILL)


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
    with cluster(tmp_path, monkeypatch) as (engine, executor):
        engine.submit([held])
        assert wait_until(lambda: bool(begun(tmp_path / "log", "compile held")))
        os.kill(pids(executor)[0], number)
        asked = executor._link.submit(executor._link._call("hello"))
        with pytest.raises(RetargetError, match=r"the scheduler at tcp://.* does not answer any more"):
            engine.compile(held)
        with pytest.raises(RetargetError, match=r"the scheduler at tcp://.* does not answer any more"):
            asked.result(timeout=20)
        processes = pids(executor)
    assert all(wait_until(lambda pid=pid: has_ended(pid)) for pid in processes)
