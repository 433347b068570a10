"""How a worker starts, connects again, gives up and ends. The scheduler and Dask's worker are doubles."""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")
from retarget.support import RetargetError
from retarget_cluster.security import SilentError
from retarget_cluster.worker import cluster_worker, command
from retarget_cluster.worker.cluster_worker import ClusterWorker, WorkerOptions

OPTIONS = WorkerOptions(
    address="tcp://127.0.0.1:1", name="gpu-1", cores=3, cache=Path("cache"), extensions=(), toolchains={}, patience=9.0
)


class Dask:
    """Workers of Dask that are made; `ends` says what ends the connection of each: `lost` or the drained worker."""

    def __init__(self, worker: ClusterWorker, ends: list[str], errors: list[Exception]) -> None:
        self.served, self.ends, self.errors = worker, ends, errors
        self.made: list[dict[str, Any]] = []
        self.closed = 0
        self.now = 0.0
        self.advertised = 0

    async def expect_scheduler(self, address: str, _: object) -> None:
        assert address == OPTIONS.address
        if self.errors:
            self.now += 5.0
            raise self.errors.pop(0)

    def worker(self, address: str, **given: Any) -> Any:
        self.made.append({"address": address, **given})
        return self._opened()

    async def _opened(self) -> Any:
        end = self.ends.pop(0)

        async def finished() -> None:
            if end != "lost":
                self.served._ended.set()
                await asyncio.Event().wait()

        async def close(**_: Any) -> None:
            self.closed += 1

        return SimpleNamespace(finished=finished, close=close)

    async def advertise(self) -> None:
        self.advertised += 1


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterWorker]:
    monkeypatch.setattr(cluster_worker, "Content", lambda *_: None)
    made = ClusterWorker(OPTIONS)
    monkeypatch.setattr(made, "_engine", lambda _: None)
    yield made
    made.close()


def served(worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch, *ends: str, errors: Any = ()) -> Dask:
    dask = Dask(worker, list(ends), list(errors))
    monkeypatch.setattr("distributed.Worker", dask.worker)
    monkeypatch.setattr(cluster_worker, "expect_scheduler", dask.expect_scheduler)
    monkeypatch.setattr(cluster_worker, "_AGAIN", 0)
    monkeypatch.setattr(cluster_worker, "time", SimpleNamespace(monotonic=lambda: dask.now))
    monkeypatch.setattr(worker, "_advertise", dask.advertise)

    async def whole() -> None:
        worker._ended = asyncio.Event()
        await asyncio.wait_for(worker.serve(None), 30)

    asyncio.run(whole())
    return dask


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.removeprefix("retarget worker gpu-1: ") for line in capsys.readouterr().err.splitlines()]


def test_a_worker_connects_works_and_ends(
    worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dask = served(worker, monkeypatch, "drained")
    assert said(capsys) == [
        "waiting for the scheduler at tcp://127.0.0.1:1, for 9 s at most",
        "connected to tcp://127.0.0.1:1, 3 compiles at a time",
    ]
    ((given),) = dask.made
    assert given["name"].startswith("gpu-1-")
    assert (
        given["nthreads"],
        given["resources"],
        given["memory_limit"],
        given["dashboard"],
        given["death_timeout"],
    ) == (44, {"compile": 5}, 0, False, 9.0)
    assert (dask.closed, dask.advertised, worker._worker.retarget_worker) == (1, 1, worker)


def test_a_worker_that_loses_its_connection_makes_another(
    worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dask = served(worker, monkeypatch, "lost", "drained")
    assert said(capsys)[2] == "lost the connection to tcp://127.0.0.1:1; trying again, for 9 s at most"
    assert (len(dask.made), dask.closed) == (2, 2)


def test_a_scheduler_that_does_not_answer_yet_is_waited_for(
    worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask = served(worker, monkeypatch, "drained", errors=[SilentError("none")])
    assert dask.made[0]["death_timeout"] == 4.0  # of nine seconds five have gone


def test_a_scheduler_that_never_answers_is_given_up(worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RetargetError) as raised:
        served(worker, monkeypatch, errors=[SilentError("none"), OSError("none"), SilentError("none")])
    assert str(raised.value) == (
        "no scheduler has answered at tcp://127.0.0.1:1 for 9 s; `retarget cluster start` starts one and prints its "
        "address"
    )


def test_a_scheduler_with_another_certificate_is_an_error_at_once(
    worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RetargetError, match=r"^another certificate$"):
        served(worker, monkeypatch, "drained", errors=[RetargetError("another certificate")])


def test_an_extension_that_cannot_be_loaded_is_an_error_before_anything_is_waited_for(
    worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: object) -> None:
        msg = "no such extension"
        raise RetargetError(msg)

    monkeypatch.setattr(worker, "_engine", refuse)
    with pytest.raises(RetargetError, match=r"^no such extension$"):
        served(worker, monkeypatch, "drained")
    assert said(capsys) == []


# ---------------------------------------------------------------- the command


def test_options_become_those_of_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    async def serve(options: WorkerOptions, security: object) -> int:
        given.append((options, security))
        return 0

    monkeypatch.setattr(command, "serve_worker", serve)
    monkeypatch.setattr(command, "security_for", lambda address, role: (address, role))
    parser = argparse.ArgumentParser()
    parser.add_argument("--retarget-extension", action="append", default=[])
    command.add_arguments(parser)
    words = ["tcp://127.0.0.1:1", "--cache-dir", str(tmp_path)]
    more = ["--cores", "2", "--name", "x", "--patience", "3", "--retarget-extension", "e"]
    assert command.run(parser.parse_args([*words, *more, "--retarget-toolchain", f"t={tmp_path}"])) == 0
    options, security = given[0]
    assert security == ("tcp://127.0.0.1:1", "worker")
    assert options == WorkerOptions(
        address="tcp://127.0.0.1:1",
        name="x",
        cores=2,
        cache=tmp_path,
        extensions=("e",),
        toolchains={"t": tmp_path},
        patience=3.0,
    )
    command.run(parser.parse_args(words))
    options, _ = given[1]
    assert (options.patience, options.cores) == (60.0, command.available_cores())
    assert options.name == command.platform.node()


@pytest.mark.parametrize("text", ["t", "t=", "=/tmp", "t=/nowhere/at/all"])
def test_a_toolchain_that_is_no_folder_is_refused(text: str) -> None:
    with pytest.raises(RetargetError, match="expected NAME=PATH with a folder"):
        command._toolchains([text])


def test_a_signal_drains_a_worker_and_a_second_one_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []

    class Served:
        draining = False

        def __init__(self, options: object) -> None:
            done.append(options)

        async def serve(self, security: object) -> None:
            done.append(security)
            for _ in range(2):
                signal.raise_signal(signal.SIGTERM)
                while "…" not in done:
                    await asyncio.sleep(0.001)
            while 130 not in done:
                await asyncio.sleep(0.001)

        def drain(self) -> None:
            self.draining = True
            done.extend(["drain", "…"])

        def close(self, *, kill: bool = False) -> None:
            done.append("killed" if kill else "closed")

    monkeypatch.setattr(cluster_worker, "ClusterWorker", Served)
    monkeypatch.setattr(command.os, "_exit", done.append)
    options: Any = "options"
    assert asyncio.run(command.serve_worker(options, "security")) == 0
    assert (done[:6], done[-1]) == (["options", "security", "drain", "…", "killed", 130], "closed")
