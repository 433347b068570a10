"""What a worker does with an attempt, and what it says of itself. Scheduler, engine and content are doubles."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")
from retarget.extension import UnavailableError
from retarget.model import DeviceInfo, RunOutcome
from retarget.session import RunJob
from retarget.support import RetargetError
from retarget.worker.messages import RunModule
from retarget_cluster.jobs import Answer, AskDevices, Failed, Job, decoded, encoded
from retarget_cluster.worker import cluster_worker
from retarget_cluster.worker.cluster_worker import ClusterWorker, WorkerOptions
from targets_of_doubles import run_target, runtime_config

OPTIONS = WorkerOptions(
    address="tcp://127.0.0.1:1",
    name="gpu-1",
    cores=3,
    cache=Path("cache"),
    extensions=("own",),
    toolchains={},
    patience=1.0,
)


def device(physical_id: str, *, exclusive: bool = True) -> DeviceInfo:
    return DeviceInfo(
        driver="double",
        uri=f"double://{physical_id}",
        name="n",
        physical_id=physical_id,
        ordinal=0,
        exclusive=exclusive,
    )


class Bench:
    """A worker whose engine gives or raises `value`, and what it asked of the scheduler."""

    def __init__(self, worker: ClusterWorker, folder: Path) -> None:
        self.worker, self.folder = worker, folder
        self.value: Any = (device("gpu-1"),)
        self.claims = True
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.advertised: list[Any] = []
        self.engines: list[tuple[str, ...]] = []
        content: Any = SimpleNamespace(localised=self._localised)
        worker._content = content
        worker._ask, worker._engine = self._ask, self._engine  # type: ignore[method-assign,assignment]

    async def _ask(self, name: str, **given: Any) -> Any:
        self.asked.append((name, given))
        return self.claims if name == "claim" else None

    def _localised(self, job: Job, scratch: Path, _: object) -> Job:
        if isinstance(self.value, KeyError):
            raise self.value
        scratch.mkdir(exist_ok=True)
        return job

    def _engine(self, extensions: tuple[str, ...]) -> Any:
        self.engines.append(extensions)

        def done(*_: object) -> Any:
            if isinstance(self.value, Exception):
                raise self.value
            return self.value

        return SimpleNamespace(devices=done, run=lambda job: (done(job), (("f", b"1"),)))

    def job(self, *, runs: bool) -> Job:
        message = RunModule(target=run_target(self.folder, runtime_config()), artifact=self.folder / "a", digest="")
        work: Any = AskDevices(runtime=runtime_config())
        if runs:
            work = RunJob(message=message, files=(), timeout=1.0)
        return Job(work=work, extensions=("e",), folder=self.folder)

    def do(self, *, runs: bool = False, times: int = 1) -> list[str]:
        async def whole() -> None:
            for _ in range(times):
                await self.worker.perform("attempt", "s", "title", encoded(self.job(runs=runs)))

        asyncio.run(whole())
        return [name for name, _ in self.asked]

    @property
    def answer(self) -> Answer:
        """What was delivered last."""
        answer: Answer = decoded(self.asked[-1][1]["result"])
        return answer


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(cluster_worker, "Content", lambda *_: None)
    worker = ClusterWorker(OPTIONS)
    made = Bench(worker, tmp_path)

    async def advertise() -> None:
        worker._advertised = worker._news()
        made.advertised.append(worker._advertised)

    monkeypatch.setattr(worker, "_advertise", advertise)
    yield made
    worker.close()


def test_an_attempt_is_claimed_done_once_and_delivered(bench: Bench) -> None:
    assert bench.do(times=2) == ["claim", "deliver"]
    assert bench.asked[0][1] == {"attempt": "attempt", "session": "s", "worker": bench.worker.id, "title": "title"}
    assert bench.answer == Answer(worker="gpu-1", value=(device("gpu-1"),))
    assert bench.engines == [("e",)]
    assert not (bench.worker._scratch.path / "attempt").exists()


def test_an_attempt_that_another_worker_has_claimed_is_not_done(bench: Bench) -> None:
    bench.claims = False
    assert bench.do() == ["claim"]
    assert bench.engines == []


def test_a_run_is_answered_with_what_it_recorded(bench: Bench) -> None:
    bench.value = RunOutcome(devices=())
    assert bench.do(runs=True)[-1] == "deliver"
    assert (bench.answer.value, bench.answer.recorded) == (RunOutcome(devices=()), (("f", b"1"),))


@pytest.mark.parametrize("error", [KeyError("x"), "draining"])
def test_what_cannot_begin_is_declined(error: Any, bench: Bench) -> None:
    if error == "draining":
        bench.worker.draining = True
    else:
        bench.value = error
    assert bench.do() == ["decline"]
    reason = "it is draining" if error == "draining" else "KeyError: 'x'"
    given = {"attempt": "attempt", "session": "s", "worker": bench.worker.id, "reason": reason}
    assert bench.asked[0][1] == given


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        (UnavailableError("lost", lost=True), Failed(kind="sick", text="lost")),
        (UnavailableError("none", "plug it in"), Failed(kind="unavailable", text="none", hint="plug it in")),
        (RetargetError("bad"), Failed(kind="error", text="bad")),
        (ValueError("odd"), Failed(kind="error", text="ValueError: odd")),
    ],
)
def test_what_goes_wrong_is_the_answer(error: Exception, failed: Failed, bench: Bench) -> None:
    bench.value = error
    assert bench.do(runs=True)[-1] == "deliver"
    assert bench.answer == Answer(worker="gpu-1", value=failed)


def test_old_attempts_are_forgotten(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_worker, "_REMEMBERED", 2)
    bench.worker._begun = {"first": None, "second": None}
    bench.do()
    assert list(bench.worker._begun) == ["second", "attempt"]


# ---------------------------------------------------------------- draining, the end


async def test_a_worker_that_drains_ends_when_what_runs_is_done(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.worker._ended = asyncio.Event()
    going = asyncio.Event()
    task = asyncio.ensure_future(going.wait())
    bench.worker._tasks = {task}  # type: ignore[arg-type]
    task.add_done_callback(bench.worker._tasks.discard)  # type: ignore[arg-type]
    bench.worker.drain()
    bench.worker.drain()
    for _ in range(3):
        await asyncio.sleep(0)
    assert (bench.worker.draining, bench.worker._ended.is_set()) == (True, False)
    going.set()
    await asyncio.wait_for(bench.worker._ended.wait(), 30)
    said = "retarget worker gpu-1: draining: 1 to finish; once more ends at once\n"
    assert capsys.readouterr().err == said
    assert len(bench.advertised) == 1


@pytest.mark.parametrize(("kill", "done"), [(True, ["kill"]), (False, ["kill", "close"])])
def test_the_end_ends_all_engines_and_waits_unless_it_kills(kill: bool, done: list[str], bench: Bench) -> None:
    ended: list[str] = []
    engine: Any = SimpleNamespace(kill=lambda: ended.append("kill"), close=lambda: ended.append("close"))
    bench.worker._engines = {(): engine}
    going = threading.Event()
    runs = bench.worker._threads.submit(going.wait, 5)
    bench.worker.close(kill=kill)
    assert not runs.done()
    going.set()
    assert ended == done
    bench.worker._engines = {}


# ---------------------------------------------------------------- what it advertises


class Worker:
    """Dask's worker."""

    address = "tcp://w"

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.sent = list(errors), []
        self.state = SimpleNamespace(total_resources={"driver:double": 3}, available_resources={"driver:double": 1})
        self.scheduler = SimpleNamespace(retarget_advertise=self._advertise)

    async def _advertise(self, **given: Any) -> str:
        self.sent.append(given)
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterWorker]:
    monkeypatch.setattr(cluster_worker, "Content", lambda *_: None)
    made = ClusterWorker(OPTIONS)
    monkeypatch.setattr(made, "_compilers", lambda: ["comp 1"])
    made._worker = Worker()
    yield made
    made.close()


def test_a_worker_advertises_its_devices_and_as_many_runs_as_they_take(worker: ClusterWorker) -> None:
    worker._devices = {"other": (device("cpu", exclusive=False),), "double": (device("gpu-1"),)}
    asyncio.run(worker._advertise())
    ((sent),) = worker._worker.sent
    info = sent["info"]
    assert (sent["worker"], sent["resources"]) == ("tcp://w", {"driver:other": 3, "driver:double": 1})
    assert {name: info[name] for name in ("name", "cores", "compilers", "draining")} == {
        "name": "gpu-1",
        "cores": 3,
        "compilers": ["comp 1"],
        "draining": False,
    }
    assert [one["uri"] for one in info["devices"]] == ["double://cpu", "double://gpu-1"]
    assert worker._advertised == (2, 2)
    # of three runs two were going on; now there is a place for one, so one too many goes on
    assert worker._worker.state.total_resources == {"driver:double": 1, "driver:other": 3}
    assert worker._worker.state.available_resources == {"driver:double": -1, "driver:other": 3}


LOST = OSError("lost"), RuntimeError("ConnectionPool is closed")


def test_the_scheduler_is_asked_again_after_a_lost_connection(
    worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_worker, "_AGAIN", 0)
    worker._worker = Worker(*LOST)
    assert asyncio.run(worker._ask("advertise", x=1)) == "done"
    assert worker._worker.sent == [{"x": 1}] * 3
    worker._worker = Worker(RuntimeError("a bug"))
    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(worker._ask("advertise", x=1))


def test_a_worker_without_a_connection_advertises_when_it_connects(worker: ClusterWorker) -> None:
    for worker._worker in (*map(Worker, LOST), None):
        asyncio.run(worker._advertise())
