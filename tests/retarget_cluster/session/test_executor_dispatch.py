"""Which workers the executor gives work to, and what it makes of what comes of it. The connection is a double."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.session import CompileJob, ExecutorSession, InputDigests, RunJob

pytest.importorskip("distributed")
from retarget.extension import CompileRequest, Resolved, UnavailableError
from retarget.model import DeviceInfo, RunOutcome
from retarget.support import RetargetError
from retarget.worker import CompiledModule, Refused
from retarget.worker.messages import CompileModule, RunModule
from retarget_cluster import executor as executors
from retarget_cluster.executor import ClusterExecutor, _Turns
from retarget_cluster.jobs import Answer, AskBuild, AskCode, AskDevices, Failed, Job, decoded
from retarget_cluster.link import Declined, GoneError, Lost, Worker
from targets_of_doubles import compile_target, run_target, runtime_config

DONE = CompiledModule(artifact=b"a", diagnostics="", seconds=1.0, resident=0)
DEVICE = DeviceInfo(driver="double", uri="double://0", ordinal=0, name="Double", physical_id="gpu")
DIGEST = "0" * 64


def worker(name: str, **fields: Any) -> Worker:
    known = {"id": f"id-{name}", "name": name, "address": f"tcp://{name}", "host": f"host-{name}", "cores": 4}
    known |= {"system": "linux", "architecture": "x86_64", "draining": False, "probing": False, "drivers": None}
    return Worker(**{**known, "resources": {}, **fields})


class Link:
    """Answers attempts with what is left of `answers`, and what workers are asked with what they say."""

    address = "tcp://1"

    def __init__(self, *workers: Worker) -> None:
        self.workers = workers
        self.seen = {one.id: one for one in workers}
        self.changed = asyncio.Event()
        self.running: dict[str, tuple[str, str, float]] = {}
        self.without_workers = time.monotonic()
        self.gone = ""
        self.answers: list[Any] = []
        self.builds: dict[str, Any] = {}
        self.devices: dict[str, Any] = {}
        self.codes: dict[str, Any] = {}
        self.asked: list[str] = []
        self.attempts: list[tuple[str, list[str], dict[str, float], bool]] = []
        self.jobs: list[Job] = []
        self.offered: dict[str, Path] = {}
        self.closed = self.looked = 0

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(asyncio.run(work))
        except Exception as error:
            future.set_exception(error)
        return future

    def expect_there(self) -> None:
        self.looked += 1
        assert self.looked < 99, "it looks for ever"
        if self.gone:
            raise GoneError(self.gone)

    def offer(self, files: Mapping[str, Path]) -> None:
        self.offered.update(files)

    async def attempt(
        self, payload: bytes, *, title: str, among: Sequence[str], resources: Mapping[str, float], urgent: bool = False
    ) -> Any:
        job = decoded(payload)
        name = among[0].removeprefix("tcp://")
        if isinstance(job.work, AskCode):
            return Answer(worker=name, value=self.codes.get(name, ""))
        if isinstance(job.work, AskBuild | AskDevices):
            self.asked.append(f"{name}: {title}")
            values = self.builds if isinstance(job.work, AskBuild) else self.devices
            value = values.get(name, "" if isinstance(job.work, AskBuild) else (DEVICE,))
            return value if isinstance(value, Lost | Declined) else Answer(worker=name, value=value)
        self.attempts.append((title, [one.removeprefix("tcp://") for one in among], dict(resources), urgent))
        self.jobs.append(job)
        return self.answers.pop(0)

    def close(self) -> None:
        self.closed += 1


def executor_of(link: Link, *, jobs: int | None = None) -> ClusterExecutor:
    made = ClusterExecutor.__new__(ClusterExecutor)
    made._session = ExecutorSession(extensions=("e",), jobs=jobs)
    made._folder = Path("/folder")
    made._digests = InputDigests()
    made._notes, made._asked, made._turns, made._had, made._missing = {}, {}, {}, set(), {}
    made._alone, made._link = asyncio.Lock(), link  # type: ignore[assignment]
    return made


@pytest.fixture
def link() -> Link:
    return Link(worker("a"), worker("b"))


@pytest.fixture
def executor(link: Link) -> ClusterExecutor:
    return executor_of(link)


def compile_job(folder: Path, source: bytes = b"source", inputs: Any = ()) -> CompileJob:
    request = CompileRequest(
        source=source, source_name="m", source_path=folder / "m", resolved=Resolved(build_id="1", flags=())
    )
    message = CompileModule(compiler="double", request=request)
    config = replace(compile_target(folder, "module", "").compiler, name="conf")
    return CompileJob(title="t", config=config, fingerprint="f", env=(), message=message, inputs=inputs, timeout=1.0)


def run_job(folder: Path, **fields: Any) -> RunJob:
    (folder / "artifact").write_bytes(b"artifact")
    target = replace(run_target(folder, runtime_config()), name="m_run")
    record, references = fields.pop("record", None), fields.pop("references", ())
    message = RunModule(target=target, artifact=folder / "artifact", digest="", record=record, references=references)
    return RunJob(message=message, files=(), timeout=1.0, **fields)


def ran(worker: str = "a", **fields: Any) -> Answer:
    return Answer(worker=worker, value=RunOutcome(devices=(DEVICE,)), **fields)


# ---------------------------------------------------------------- compiles


async def test_a_worker_is_asked_for_its_build_once(executor: ClusterExecutor, link: Link, tmp_path: Path) -> None:
    for _ in range(2):
        link.answers = [Answer(worker="a", value=DONE)]
        await executor._compile(compile_job(tmp_path))
    assert link.asked == ["a: build of conf", "b: build of conf"]


async def test_a_worker_that_could_not_be_asked_is_asked_again(
    executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.builds = {"a": Declined(worker="id-a", reason="it is draining"), "b": Lost(worker="b")}
    assert await executor._compile(compile_job(tmp_path)) is None
    link.builds, link.answers = {}, [Answer(worker="a", value=DONE)]
    assert await executor._compile(compile_job(tmp_path)) is not None
    assert len(link.asked) == 4


@pytest.mark.parametrize(
    ("builds", "answers", "outcome", "notes"),
    [
        (
            {"a": "other", "b": Failed(kind="error", text="bad")},
            [],
            None,
            (
                "a does not compile for conf: other",
                "b does not compile for conf: bad",
                "compiled by the session, not by a worker: conf: no worker that can do it is connected any more",
            ),
        ),
        (
            {},
            [Answer(worker="a", value=Failed(kind="error", text="no disk"))],
            None,
            ("compiled by the session: a could not compile t: no disk",),
        ),
        (
            {},
            [Lost(worker="a"), Lost(worker="b")],
            Refused.crashed("lost with its worker, 2 times (a, b)", host="a, b"),
            ("worker a was lost; what it did is tried once more", "worker b was lost; what it did is tried once more"),
        ),
        (
            {},
            [Lost(worker="a"), Answer(worker="b", value=DONE)],
            replace(DONE, host="b"),
            ("worker a was lost; what it did is tried once more",),
        ),
        (
            {},
            [Declined(worker="id-a", reason="full"), Declined(worker="id-b", reason="draining")],
            None,
            ("compiled by the session, not by a worker: conf: a: full; b: draining",),
        ),
        ({}, [Declined(worker="", reason="gone"), Answer(worker="b", value=DONE)], replace(DONE, host="b"), ()),
        ({}, [Answer(worker="a", value="?")], None, ()),
    ],
)
def test_what_came_of_a_compile_is_its_outcome_or_the_session_compiles(
    builds: Any, answers: Any, outcome: Any, notes: Any, tmp_path: Path
) -> None:
    link = Link(worker("a"), worker("b"))
    link.builds, link.answers = builds, list(answers)
    executor = executor_of(link)
    assert executor.compile(compile_job(tmp_path)) == outcome
    assert (executor.notes, link.answers) == (notes, [])


@pytest.mark.parametrize(("more", "travels"), [(0, False), (1, True)])
def test_a_large_source_travels_as_a_file(
    more: int, travels: bool, executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.answers = [Answer(worker="a", value=DONE)]
    executor.compile(compile_job(tmp_path, bytes(64 * 1024 + more)))
    (job,) = link.jobs
    assert job.source == (str(tmp_path / "m") if travels else "")
    assert isinstance(job.work, CompileJob)
    assert bool(job.work.message.request.source) is not travels
    assert list(link.offered.values()) == ([tmp_path / "m"] if travels else [])


def test_files_with_a_digest_are_offered_by_their_path_here(
    executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.answers = [Answer(worker="a", value=DONE)]
    executor.compile(compile_job(tmp_path, inputs=(("spec", DIGEST), ("folder", "none"))))
    assert link.offered == {DIGEST: Path("/folder/spec")}


# ---------------------------------------------------------------- runs


def test_a_run_goes_to_workers_with_its_devices(executor: ClusterExecutor, link: Link, tmp_path: Path) -> None:
    link.devices = {"a": Failed(kind="unavailable", text="none"), "b": (DEVICE,)}
    link.answers = [ran("b")]
    outcome = executor.run(run_job(tmp_path, urgent=True)).result()
    assert outcome == RunOutcome(devices=(DEVICE,), host="b")
    target = run_job(tmp_path).message.target
    assert link.attempts == [(f"{target.compile.suite}/m_run", ["b"], {"driver:double": 1}, True)]
    assert [path.name for path in link.offered.values()] == ["artifact"]


def test_what_a_run_recorded_is_written_where_it_is_wanted(
    executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.answers = [ran(recorded=(("f.npy", b"1"),)), ran(recorded=(("g.npy", b"1"),))]
    (tmp_path / "record").mkdir()
    executor.run(run_job(tmp_path, record=tmp_path / "record")).result()
    executor.run(run_job(tmp_path)).result()
    assert [path.name for path in tmp_path.rglob("*.npy")] == ["f.npy"]


def test_files_of_references_travel_with_a_run(executor: ClusterExecutor, link: Link, tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "f.npy").write_bytes(b"1")
    link.answers = [ran()]
    executor.run(run_job(tmp_path, references=(("other", tmp_path / "reference"),))).result()
    assert sorted(path.name for path in link.offered.values()) == ["artifact", "f.npy"]


def test_a_run_that_two_workers_were_lost_with_has_failed(
    executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.answers = [Lost(worker="a"), Lost(worker="b")]
    outcome = executor.run(run_job(tmp_path)).result()
    assert outcome.failure is not None
    assert (outcome.failure.summary, outcome.failure.signal, str(outcome.failure.stage), outcome.host) == (
        "lost with its worker, 2 times (a, b)",
        "worker lost",
        "run",
        "a, b",
    )
    assert outcome.devices == (DEVICE,)


@pytest.mark.parametrize(
    ("answers", "error", "said"),
    [
        (
            [Declined(worker="id-a", reason="busy"), Declined(worker="id-b", reason="draining")],
            UnavailableError,
            "a: busy; b: draining (lost)",
        ),
        ([Answer(worker="a", value=Failed(kind="error", text="bad"))], RetargetError, "bad"),
        ([Answer(worker="a", value=Failed(kind="unavailable", text="none"))], UnavailableError, "none"),
        ([Answer(worker="a", value="?")], RetargetError, "found no outcome"),
        (
            [Answer(worker=name, value=Failed(kind="sick", text=f"{name} is lost")) for name in "ab"],
            UnavailableError,
            "b is lost (lost)",
        ),
    ],
)
def test_a_run_without_an_outcome_is_an_error_that_says_why(
    executor: ClusterExecutor, link: Link, tmp_path: Path, *, answers: list[Any], error: type[Exception], said: str
) -> None:
    link.answers = answers
    with pytest.raises(error) as raised:
        executor.run(run_job(tmp_path)).result()
    assert f"{raised.value}{' (lost)' if getattr(raised.value, 'lost', False) else ''}" == said
    assert (type(raised.value), link.answers) == (error, [])


def test_a_run_whose_device_is_sick_is_done_by_another_worker(
    executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.answers = [Answer(worker="a", value=Failed(kind="sick", text="lost")), ran("b")]
    assert executor.run(run_job(tmp_path)).result().host == "b"
    assert [among for _, among, *_ in link.attempts] == [["a", "b"], ["b"]]


def test_a_run_goes_to_workers_that_judge_with_the_code_of_the_session(
    executor: ClusterExecutor, link: Link, tmp_path: Path
) -> None:
    link.codes, link.answers = {"a": "it has other code"}, [ran("b")]
    assert executor.run(run_job(tmp_path, code=(("kind.py", DIGEST),))).result().host == "b"
    (work,) = (job.work for job in link.jobs)
    assert isinstance(work, RunJob)
    assert ([among for _, among, *_ in link.attempts], work.code) == ([["b"]], ())
    executor._asked.clear()
    link.codes["b"] = Failed(kind="error", text="it is old")
    with pytest.raises(UnavailableError, match=r"^a: it has other code; b: it is old$") as raised:
        executor.run(run_job(tmp_path, code=(("kind.py", DIGEST),))).result()
    assert raised.value.lost


@pytest.mark.parametrize(
    ("host", "physical", "among"), [("host-b", "cpu", ["b"]), ("", "cpu", ["a", "b"]), ("host-b", "gpu", ["a", "b"])]
)
def test_code_for_the_cores_of_a_machine_runs_on_these_only(
    executor: ClusterExecutor, link: Link, tmp_path: Path, *, host: str, physical: str, among: list[str]
) -> None:
    link.devices = dict.fromkeys("ab", (dataclasses.replace(DEVICE, physical_id=physical),))
    link.answers = [ran("b")]
    executor.run(run_job(tmp_path, host=host)).result()
    assert link.attempts[0][1] == among


# ---------------------------------------------------------------- devices


def test_devices_are_those_of_most_cores_and_others_are_named() -> None:
    link = Link(worker("a"), worker("b"), worker("c", cores=9), worker("d"), worker("e", cores=1))
    other = dataclasses.replace(DEVICE, name="Other")
    link.devices = {"c": (other,), "e": (dataclasses.replace(DEVICE, driver_version="2"),)}
    executor = executor_of(link)
    assert executor.devices(runtime_config()) == (DEVICE,)
    assert executor.notes == (f"{runtime_config().name} runs on a, b, d; other devices of it, on c, e, are unused",)


def test_devices_of_another_runtime_are_others_wherever_its_folder_is() -> None:
    link = Link(worker("a"), worker("b"), worker("c", cores=1))
    builds = {"a": "rt 2 (build 1, /a)", "b": "rt 2 (build 1, /b)", "c": "rt 1 (build 0)"}
    link.devices = {name: (dataclasses.replace(DEVICE, runtime=build),) for name, build in builds.items()}
    executor = executor_of(link)
    assert executor.devices(runtime_config()) == link.devices["a"]
    assert executor.notes == (f"{runtime_config().name} runs on a, b; other devices of it, on c, are unused",)


def test_workers_that_drain_or_lack_the_driver_are_not_asked() -> None:
    link = Link(
        worker("a", draining=True),
        worker("b", drivers=("other",)),
        worker("c", drivers=("double", "other")),
        worker("d"),
    )
    executor = executor_of(link)
    executor.devices(runtime_config())
    assert [one[0] for one in link.asked] == ["c", "d"]


@pytest.mark.parametrize(
    ("devices", "error", "said"),
    [
        (
            {"a": Failed(kind="unavailable", text="none", hint="h"), "b": Failed(kind="unavailable", text="none")},
            UnavailableError,
            "none",
        ),
        (
            {"a": Failed(kind="unavailable", text="none"), "b": Failed(kind="error", text="bad")},
            RetargetError,
            "a: none; b: bad",
        ),
        ({"a": Failed(kind="sick", text="lost"), "b": Lost(worker="b")}, UnavailableError, "lost (lost)"),
    ],
)
def test_devices_that_no_worker_has_are_an_error_that_says_why(
    devices: dict[str, Any], error: type[Exception], said: str, executor: ClusterExecutor, link: Link
) -> None:
    link.devices = devices
    with pytest.raises(error) as raised:
        executor.devices(runtime_config())
    assert type(raised.value) is error
    assert f"{raised.value}{' (lost)' if getattr(raised.value, 'lost', False) else ''}" == said


def test_a_driver_that_no_worker_has_is_unavailable_and_says_where_to_look() -> None:
    gone = Link(worker("a", drivers=("other",)))
    gone.workers = ()
    with pytest.raises(UnavailableError, match=r"^no worker at tcp://1 has a device of double$") as raised:
        executor_of(gone).devices(runtime_config())
    assert not raised.value.lost
    assert raised.value.hint == "`retarget cluster status tcp://1` lists workers and devices"


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        (
            {"a": Declined(worker="id-a", reason="draining"), "b": Failed(kind="unavailable", text="none")},
            "a: draining; b: none",
        ),
        ({"a": Lost(worker="a"), "b": Lost(worker="b")}, "no worker at tcp://1 has a device of double"),
        ({}, "no worker at tcp://1 has a device of double"),
    ],
)
def test_workers_that_went_before_they_told_their_devices_are_no_skip(
    devices: dict[str, Any], said: str, executor: ClusterExecutor, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retarget_cluster.executor._NO_WORKER", 0.0)
    link.devices, runtime = devices, runtime_config()
    if not devices:
        link.workers = ()
    with pytest.raises(UnavailableError) as raised:
        executor.devices(runtime)
    assert raised.value.lost
    assert str(raised.value) == f"the workers that may have the devices of {runtime.name} are gone: {said}"


def test_workers_that_ask_their_drivers_are_waited_for(executor: ClusterExecutor, link: Link) -> None:
    link.workers = (worker("a", probing=True), worker("b"))

    async def both() -> Any:
        asking = asyncio.ensure_future(executor._drivers_known(runtime_config()))
        await asyncio.sleep(0)
        assert not asking.done()
        link.workers = (worker("a", drivers=("double",)),)
        link.changed.set()
        return await asking

    assert [one.name for one in asyncio.run(both())] == ["a"]


# ---------------------------------------------------------------- what there is


@pytest.mark.parametrize(
    ("workers", "jobs", "compiles"),
    [
        ([worker("a", cores=4), worker("b", cores=1)], None, 9),
        ([worker("a", cores=4), worker("b", cores=1, draining=True)], None, 6),
        ([worker("a", cores=4)], 2, 2),
        ([worker("a", cores=4)], 20, 6),
        ([], None, 1),
    ],
)
def test_each_worker_is_given_more_compiles_than_it_has_cores(
    workers: list[Worker], jobs: int | None, compiles: int
) -> None:
    assert executor_of(Link(*workers), jobs=jobs).compiles == compiles


def test_what_workers_do_is_named_the_longest_first(
    executor: ClusterExecutor, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "time", SimpleNamespace(monotonic=lambda: 100.0))
    link.running = {"1": ("short", "id-a", 99.0), "2": ("long", "id-b", 10.0), "3": ("other", "id-c", 50.0)}
    assert list(executor.working) == [("long on b", 90.0), ("other on a lost worker", 50.0), ("short on a", 1.0)]


def test_platforms_are_those_of_the_workers() -> None:
    link = Link(worker("a"), worker("b", system="darwin", architecture="arm64"))
    assert executor_of(link).platforms == {("linux", "x86_64"), ("darwin", "arm64")}


@pytest.mark.parametrize(("names", "text"), [("a", "a"), ("ab", "a, b"), ("abc", "a, b, c"), ("abcd", "4 workers")])
def test_up_to_three_workers_are_named(names: str, text: str) -> None:
    assert executors._names(map(worker, names)) == text


# ---------------------------------------------------------------- turns


def test_as_many_dispatch_as_there_are_slots_and_urgent_ones_first() -> None:
    order: list[str] = []

    async def whole() -> None:
        turns = _Turns(lambda: 1)
        going = asyncio.Event()

        async def one(name: str, *, urgent: bool) -> None:
            async with turns.turn(urgent=urgent):
                order.append(name)
                await going.wait()

        tasks = [asyncio.ensure_future(one(name, urgent=name.isupper())) for name in "abCD"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert order == ["a"]
        going.set()
        await asyncio.gather(*tasks)

    asyncio.run(whole())
    assert order == ["a", "C", "D", "b"]


def test_a_turn_that_is_given_up_is_the_next_ones() -> None:
    order: list[str] = []

    async def whole() -> None:
        turns = _Turns(lambda: 1)
        stop = asyncio.Event()

        async def one(name: str) -> None:
            async with turns.turn(urgent=False):
                order.append(name)
                await stop.wait()

        tasks = [asyncio.ensure_future(one(name)) for name in "abc"]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[1].cancel()  # it waits
        tasks[0].cancel()  # it has its turn
        for _ in range(5):
            await asyncio.sleep(0)
        assert order == ["a", "c"]
        stop.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert turns._taken == 0

    asyncio.run(whole())


def test_a_driver_has_one_slot_more_on_each_worker_than_runs_at_a_time() -> None:
    assert executor_of(Link())._slots("driver:d") == 1
    link = Link(worker("a", resources={"driver:d": 2}), worker("b", resources={"driver:e": 5}))
    assert executor_of(link)._slots("driver:d") == 4


# ---------------------------------------------------------------- no worker, and the end


def test_a_worker_is_waited_for_where_all_are_gone(executor: ClusterExecutor, link: Link, tmp_path: Path) -> None:
    link.workers = ()
    link.answers = [Answer(worker="a", value=DONE)]

    async def both() -> Any:
        compiling = asyncio.ensure_future(executor._compile(compile_job(tmp_path)))
        await asyncio.sleep(0)
        link.workers = (worker("a"),)
        link.changed.set()
        return await compiling

    assert asyncio.run(both()) == replace(DONE, host="a")
    link.workers, link.without_workers = (), time.monotonic() - 21
    assert executor.compile(compile_job(tmp_path)) is None


def test_a_scheduler_that_is_gone_is_an_error(executor: ClusterExecutor, link: Link, tmp_path: Path) -> None:
    link.gone = "the scheduler is gone"
    with pytest.raises(GoneError, match="the scheduler is gone"):
        executor.compile(compile_job(tmp_path))


def test_what_is_cancelled_by_the_end_says_so(executor: ClusterExecutor) -> None:
    future: Future[Any] = Future()
    future.cancel()
    with pytest.raises(GoneError, match="the session has ended"):
        executor._wait(future)


def test_the_end_closes_the_connection(link: Link) -> None:
    executor_of(link).close()
    assert link.closed == 1


def test_a_new_session_waits_for_its_first_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    class Starting(Link):
        @property
        def workers(self) -> tuple[Worker, ...]:
            return next(found)

        @workers.setter
        def workers(self, _: tuple[Worker, ...]) -> None:
            pass

    found = iter([(), (), *[(worker("a"),)] * 3])
    monkeypatch.setattr(executors, "Link", lambda *_: Starting())
    made = ClusterExecutor("tcp://127.0.0.1:1", ExecutorSession(extensions=(), jobs=None))
    assert [one.name for one in made._link.workers] == ["a"]
