"""A worker: what it refuses to do."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed")
from retarget.extension import CompileRequest, Resolved
from retarget.model import DeviceInfo
from retarget.session import CompileJob
from retarget.worker.messages import CompileModule
from retarget_cluster.jobs import Answer, Job, encoded
from retarget_cluster.worker.cluster_worker import ClusterWorker, WorkerOptions, _DeclinedError
from targets_of_doubles import EXTENSIONS, compile_target


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[ClusterWorker]:
    options = WorkerOptions(
        address="tcp://127.0.0.1:1",
        name="gpu-1",
        cores=1,
        cache=tmp_path,
        extensions=EXTENSIONS,
        toolchains={},
        patience=1.0,
    )
    worker = ClusterWorker(options)
    yield worker
    worker.close()


def test_a_draining_worker_takes_no_more(worker: ClusterWorker) -> None:
    worker._expect_not_draining()
    worker.draining = True
    with pytest.raises(_DeclinedError, match="it is draining"):
        worker._expect_not_draining()


def test_a_worker_names_the_builds_of_its_compilers(worker: ClusterWorker) -> None:
    assert "double (double 1)" in worker._compilers()


def device(physical_id: str) -> DeviceInfo:
    return DeviceInfo(driver="double", uri="double://0", name="a device", physical_id=physical_id, ordinal=0)


def test_a_driver_has_a_slot_for_each_of_its_devices(worker: ClusterWorker) -> None:
    assert worker._runs_at_a_time(()) == 1  # behind `run_under`
    assert worker._runs_at_a_time((device("gpu-1"), device("gpu-2"))) == 2


def test_compiles_wait_in_the_worker_which_claims_as_many_as_it_has_cores(
    worker: ClusterWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = CompileRequest(
        source=b"", source_name="m", source_path=tmp_path / "m", resolved=Resolved(build_id="1", flags=())
    )
    config = compile_target(tmp_path, "module", "").compiler
    message = CompileModule(compiler="double", request=request)
    work = CompileJob(title="t", config=config, fingerprint="", env=(), message=message, inputs=(), timeout=1.0)
    payload = encoded(Job(work=work, extensions=(), folder=tmp_path))
    told: list[str] = []
    may_end = threading.Event()

    async def ask(name: str, *, attempt: str, **_: object) -> bool:
        told.append(f"{name} {attempt}")
        return True

    def answer(*_: object) -> Answer:
        may_end.wait(600)
        return Answer(worker="gpu-1", value="")

    monkeypatch.setattr(worker, "_ask", ask)
    monkeypatch.setattr(worker, "_answer", answer)

    async def three() -> None:
        tasks = [asyncio.ensure_future(worker._perform(name, "s", "t", payload)) for name in "abc"]
        deadline = time.monotonic() + 600
        while not told and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert [one.split()[0] for one in told] == ["claim"]
        may_end.set()
        await asyncio.wait(tasks, timeout=600)

    asyncio.run(three())
    assert sorted(told) == sorted(f"{what} {name}" for what in ("claim", "deliver") for name in "abc")
