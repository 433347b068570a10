"""A session's connection: events of the scheduler, attempts that end or are forgotten, content that is given. Dask's
client and the scheduler are doubles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")
import distributed
from retarget.support import RetargetError
from retarget_cluster import link as links
from retarget_cluster.jobs import Answer, encoded
from retarget_cluster.link import Declined, GoneError, Link, Lost, Worker
from retarget_cluster.relay import VERSION

ANSWER = Answer(worker="a", value="")
INFO = {
    "id": "id-a",
    "name": "a",
    "address": "tcp://a",
    "host": "h",
    "system": "linux",
    "architecture": "x86_64",
    "cores": 4,
    "draining": False,
    "resources": {"driver:d": 1},
    "running": [],
    "queued": 0,
}


class Scheduler:
    """Answers calls with what is in `answers`; an error is raised once, then the next answer is given."""

    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, list[Any]] = {}

    def __getattr__(self, name: str) -> Any:
        async def call(**given: Any) -> Any:
            self.called.append((name.removeprefix("retarget_"), given))
            left = self.answers.get(name.removeprefix("retarget_"), [None])
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return call


class Task:
    """A future of Dask's client."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given, self.released, self.status = given, 0, "pending"
        self.ended: list[Callable[[Task], None]] = []

    def add_done_callback(self, call: Callable[[Task], None]) -> None:
        self.ended.append(call)

    def release(self) -> None:
        self.released += 1

    def end(self, status: str) -> None:
        self.status = status
        for call in self.ended:
            call(self)

    def exception(self) -> Exception:
        return ValueError("it does not unpickle")


class Bench:
    """A connection without Dask."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scheduler = Scheduler()
        self.tasks: list[Task] = []
        self.link = Link.__new__(Link)
        self.link.address, self.link.id, self.link.gone = "tcp://1", "s", ""
        self.link.workers, self.link.seen, self.link.running = (), {}, {}
        self.link._files, self.link._taken, self.link._giving, self.link._attempts = {}, [], set(), {}
        client: Any = SimpleNamespace(scheduler=self.scheduler, submit=self._submit, close=lambda **_: None)
        self.link._client = client
        self.slept: list[float] = []
        sleep = asyncio.sleep

        async def at_once(seconds: float) -> None:
            self.slept.append(seconds)
            await sleep(0)

        self.sleep = sleep
        monkeypatch.setattr(links.asyncio, "sleep", at_once)

    def _submit(self, *given: Any, **more: Any) -> Task:
        self.tasks.append(Task({"payload": given[4], "attempt": given[1], **more}))
        return self.tasks[-1]

    def start(self) -> Link:
        """Connect to the loop that runs."""
        self.link._loop = asyncio.get_running_loop()
        self.link.changed, self.link.without_workers = asyncio.Event(), 0.0
        return self.link

    async def attempt(self, *events: Any, urgent: bool = False) -> Any:
        """Dispatch an attempt, to which this happens: an event of the scheduler, or how Dask ends the task."""
        trying = asyncio.ensure_future(
            self.start().attempt(b"p", title="t", among=["tcp://a", "tcp://b"], resources={"compile": 1}, urgent=urgent)
        )
        for event in events:
            await self.sleep(0)
            await self.sleep(0)
            await self.sleep(0)
            name = self.tasks[-1].given["attempt"]
            if isinstance(event, str):
                self.tasks[-1].end(event)
            else:
                await self.link._handle(event[0], name, *event[1:])
        return await trying


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


# ---------------------------------------------------------------- attempts


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        (("done", encoded(ANSWER)), ANSWER),
        (("lost", "a"), Lost(worker="a")),
        (("declined", "id-a", "full"), Declined(worker="id-a", reason="full")),
        ("error", Declined(worker="", reason="it does not unpickle")),
    ],
)
async def test_an_attempt_ends_as_the_scheduler_says(event: Any, outcome: Any, bench: Bench) -> None:
    assert await bench.attempt(event) == outcome
    (task,) = bench.tasks
    assert (task.released, bench.link._attempts, bench.link.running) == (1, {}, {})
    given = {name: task.given[name] for name in ("payload", "workers", "allow_other_workers", "resources", "priority")}
    assert given == {
        "payload": b"p",
        "workers": ["tcp://a", "tcp://b"],
        "allow_other_workers": False,
        "resources": {"compile": 1},
        "priority": 0,
    }
    assert (task.given["pure"], task.given["retries"]) == (False, 0)


async def test_an_urgent_attempt_goes_first(bench: Bench) -> None:
    await bench.attempt(("lost", "a"), urgent=True)
    assert bench.tasks[0].given["priority"] == 1


@pytest.mark.parametrize("status", ["cancelled", "lost"])
async def test_a_task_that_dask_forgets_is_submitted_again_as_the_same_attempt(status: str, bench: Bench) -> None:
    assert await bench.attempt(status, ("done", encoded(ANSWER))) == ANSWER
    first, second = bench.tasks
    assert first.given["attempt"] == second.given["attempt"]
    assert first.given["key"] != second.given["key"]
    assert (first.released, second.released, bench.slept) == (1, 1, [1.0])


async def test_a_task_that_ended_well_says_nothing(bench: Bench) -> None:
    """Its result comes from the scheduler's plugin."""
    assert await bench.attempt("finished", ("lost", "a")) == Lost(worker="a")
    assert len(bench.tasks) == 1


async def test_an_attempt_of_a_client_that_has_given_up_names_the_scheduler(bench: Bench) -> None:
    def submit(*_: Any, **__: Any) -> Task:
        raise distributed.client.ClosedClientError

    bench.link._client.submit = submit
    with pytest.raises(GoneError, match=r"^the scheduler at tcp://1 does not answer any more$"):
        await bench.attempt()


def test_a_scheduler_that_its_client_does_not_reach_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answers(*_: object) -> None: ...

    def client(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(links, "expect_scheduler", answers)
    monkeypatch.setattr(distributed, "Client", client)
    with pytest.raises(RetargetError, match=r"^no scheduler answers at tcp://127\.0\.0\.1:1; "):
        Link("tcp://127.0.0.1:1", None)


async def test_a_large_result_is_asked_for(bench: Bench) -> None:
    bench.scheduler.answers["take"] = [OSError("lost"), encoded(ANSWER)]
    assert await bench.attempt(("done", None)) == ANSWER
    assert [name for name, _ in bench.scheduler.called] == ["take", "take"]
    assert bench.link._taken == [bench.tasks[0].given["attempt"]]


async def test_a_result_that_is_not_kept_is_lost(bench: Bench) -> None:
    assert await bench.attempt(("done", None)) == Lost(worker="the scheduler")


async def test_attempts_that_run_are_known_with_their_worker(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "time", SimpleNamespace(monotonic=lambda: 5.0))
    trying = asyncio.ensure_future(bench.attempt())
    for _ in range(3):
        await bench.sleep(0)
    name = bench.tasks[-1].given["attempt"]
    await bench.link._handle("begun", name, "id-a", "t")
    await bench.link._handle("begun", "another session's", "id-a", "t")
    assert [*bench.link.running.values()] == [("t", "id-a", 5.0)]
    await bench.link._handle("lost", name, "a")
    assert (await trying, bench.link.running) == (Lost(worker="a"), {})


async def test_all_attempts_end_with_the_session(bench: Bench) -> None:
    link = bench.start()
    trying = asyncio.ensure_future(bench.attempt())
    await bench.sleep(0)
    await bench.sleep(0)
    link._give_up("the scheduler is gone")
    link._give_up("another reason")
    assert link.changed.is_set()
    with pytest.raises(GoneError, match=r"^the scheduler is gone$"):
        await trying
    with pytest.raises(GoneError, match=r"^the scheduler is gone$"):
        await bench.attempt()
    assert len(bench.tasks) == 1


async def test_who_closes_gives_up_and_leaves(bench: Bench) -> None:
    link = bench.start()
    link._listening = Future()
    await asyncio.to_thread(link.close)
    assert (link._listening.cancelled(), link.gone) == (True, "the session has ended")
    assert [name for name, _ in bench.scheduler.called] == ["leave"]


async def test_an_outcome_is_settled_once_and_only_for_the_future_it_is_for(bench: Bench) -> None:
    link = bench.start()
    first, second = (asyncio.get_running_loop().create_future() for _ in range(2))
    link._attempts["x"] = (first, ())
    link._settle("x", "late", second)
    assert not first.done()
    link._settle("x", "one", first)
    link._settle("x", "two")
    link._settle("unknown", "three")
    assert first.result() == "one"


# ---------------------------------------------------------------- workers


async def test_workers_are_those_that_the_scheduler_has(bench: Bench) -> None:
    bench.scheduler.answers["status"] = [{"workers": [INFO, {**INFO, "id": "id-b"}]}]
    link = bench.start()
    before = link.changed
    await link._handle("workers")
    assert (before.is_set(), link.changed.is_set()) == (True, False)
    first, second = bench.link.workers
    assert first == Worker(
        id="id-a",
        name="a",
        address="tcp://a",
        host="h",
        system="linux",
        architecture="x86_64",
        cores=4,
        draining=False,
        resources={"driver:d": 1},
    )
    assert second.id == "id-b"
    assert bench.link.without_workers == 0.0


async def test_when_the_last_worker_left_is_known(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.scheduler.answers["status"] = [{"workers": [INFO]}, {"workers": []}, {"workers": []}]
    clock = iter([7.0, 8.0])
    monkeypatch.setattr(links, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    link = bench.start()
    for _ in range(3):
        await link._refresh()
    assert bench.link.without_workers == 7.0
    assert (bench.link.workers, [*bench.link.seen]) == ((), [INFO["id"]])


@pytest.mark.parametrize("present", [True, False])
async def test_an_attempt_whose_workers_are_all_gone_is_given_up_after_a_while(
    present: bool, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_NOT_STARTED", 0.0)
    bench.scheduler.answers["status"] = [{"workers": [{**INFO, "address": "tcp://b" if present else "tcp://c"}]}]
    trying = asyncio.ensure_future(bench.attempt())
    await bench.sleep(0)
    await bench.sleep(0)
    await bench.link._refresh()
    await bench.sleep(0.01)
    if present:
        assert not trying.done()
        bench.link._give_up("the end")
        with pytest.raises(GoneError):
            await trying
    else:
        assert await trying == Declined(worker="", reason="the workers that might have done it are gone")


# ---------------------------------------------------------------- calls and content


async def test_a_call_is_repeated_after_a_lost_connection(bench: Bench) -> None:
    bench.scheduler.answers["take"] = [OSError("lost"), b"result"]
    assert await bench.start()._call("take", attempt="a") == b"result"
    assert bench.scheduler.called == [("take", {"attempt": "a"})] * 2
    assert bench.slept == [0.5]


async def test_a_call_without_a_connection_waits_for_one_and_ends_with_the_session(bench: Bench) -> None:
    bench.link._client.scheduler = None
    link = bench.start()
    asking = asyncio.ensure_future(link._call("hello"))
    await bench.sleep(0)
    assert not asking.done()
    link.gone = "the end"
    with pytest.raises(GoneError, match=r"^the end$"):
        await asking
    assert set(bench.slept) == {0.5}


async def test_files_that_were_offered_are_given_by_the_piece(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_PIECE", 3)
    (tmp_path / "f").write_bytes(b"0123456789")
    bench.link.offer({"d": tmp_path / "f", "gone": tmp_path / "none"})
    link = bench.start()
    for digest, offset in (("d", 0), ("d", 8), ("gone", 0), ("unknown", 0)):
        await link._give(digest, offset)
    assert [(given["digest"], given["offset"], given["data"]) for _, given in bench.scheduler.called] == [
        ("d", 0, b"012"),
        ("d", 8, b"89"),
        ("gone", 0, None),
        ("unknown", 0, None),
    ]


async def test_what_a_worker_wants_is_given(bench: Bench) -> None:
    link = bench.start()
    await link._handle("want", "unknown", 0)
    while not bench.scheduler.called:
        await bench.sleep(0.001)
    assert bench.scheduler.called[0][1]["session"] == "s"


# ---------------------------------------------------------------- events


async def test_events_are_taken_in_order_and_results_that_were_taken_are_said(bench: Bench) -> None:
    bench.scheduler.answers["events"] = [[(3, ["a", 1]), (4, ["b"])], ValueError("odd")]
    bench.link._taken = ["x", "y"]
    handled: list[Any] = []

    async def handle(*event: Any) -> None:
        handled.append(event)

    bench.link._handle = handle  # type: ignore[method-assign]
    await bench.start()._listen()
    assert handled == [("a", 1), ("b",)]
    asked = [(given["after"], given["taken"]) for _, given in bench.scheduler.called]
    assert asked == [(0, ["x", "y"]), (4, [])]
    assert bench.link.gone == "the scheduler at tcp://1 cannot be used any more: ValueError: odd"


async def test_a_scheduler_that_answers_again_is_kept_and_one_that_does_not_is_given_up(bench: Bench) -> None:
    bench.scheduler.answers["events"] = [OSError("lost"), [(1, ["a"])], OSError("lost")]
    answered = iter([True, False])

    async def answers() -> bool:
        return next(answered)

    async def handle(*_: Any) -> None:
        pass

    bench.link._answers, bench.link._handle = answers, handle  # type: ignore[method-assign]
    await bench.start()._listen()
    assert bench.link.gone == "the scheduler at tcp://1 does not answer any more"
    assert len(bench.scheduler.called) == 3


async def test_a_scheduler_answers_once_its_plugin_of_this_version_does(bench: Bench) -> None:
    bench.scheduler.answers["hello"] = [OSError("lost"), VERSION]
    assert await bench.start()._answers()
    bench.link.gone = "the end"
    assert not await bench.start()._answers()


def test_what_is_submitted_after_the_end_is_an_error(bench: Bench) -> None:
    async def work() -> None:
        pass

    loop = asyncio.new_event_loop()
    loop.close()
    bench.link._loop = loop
    with pytest.raises(GoneError, match=r"^the session has ended$"):
        bench.link.submit(work())
    bench.link.gone = "the scheduler is gone"
    with pytest.raises(GoneError, match=r"^the scheduler is gone$"):
        bench.link.submit(work())


async def test_a_scheduler_that_always_forgets_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "range", lambda count: range(2) if count == 1000 else range(count), raising=False)
    with pytest.raises(GoneError, match=r"^the scheduler at tcp://1 forgets tasks$"):
        await bench.attempt("lost", "lost")
    assert len(bench.tasks) == 2
    assert bench.link._attempts == {}
