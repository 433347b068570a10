"""The simulation behind cluster_scale.py: Dask's scheduler and retarget's plugin in virtual time."""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import distributed.scheduler
import distributed.stealing
from dask._expr import LLGExpr
from dask._task_spec import Task
from distributed import Scheduler
from distributed.client import ToPickle
from distributed.core import Status
from distributed.protocol import dumps, loads, serialize
from distributed.protocol.serialize import Serialized, to_serialize
from distributed.scheduler import ClientState
from distributed.spans import SpanMetadata
from retarget_cluster.jobs import perform
from retarget_cluster.relay import Relay

__all__ = ["COMPILES", "RUNS", "Meter", "Recorded", "Simulation"]

DRIVERS = ("cuda", "hip", "vulkan", "opencl", "metal")
COMPILES, RUNS = 4, 4
"""Compile targets of a module, run targets of each."""
LATENCY = 0.0005
"""One way, in seconds: hosts of one site."""
STEALING_SECONDS = 1.0
SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What was recorded: quantiles of seconds and of bytes."""

    compile_seconds: Sequence[float]
    run_seconds: Sequence[float]
    artifact_bytes: Sequence[float]
    source_bytes: Sequence[float]
    run_job_bytes: int
    run_result_bytes: int


@dataclass(slots=True)
class Attempt:
    """One dispatch. Run targets of a compile have it as `compiled`."""

    name: str
    resource: str
    seconds: float
    payload: bytes
    result: bytes
    worker: str = ""
    compiled: bool = False


@dataclass(slots=True)
class Meter:
    """What was seen."""

    scheduler: float = 0.0
    session: float = 0.0
    by_call: dict[str, list[float]] = field(default_factory=dict)
    sent: int = 0
    stored: int = 0
    busy: dict[str, float] = field(default_factory=dict)
    most_tasks: int = 0
    done: int = 0


class Events:
    """Virtual time: what happens next."""

    def __init__(self) -> None:
        self.now = 1e9
        self._heap: list[tuple[float, int, Callable[[], Any]]] = []
        self._order = itertools.count()

    def at(self, when: float, what: Callable[[], Any]) -> None:
        heapq.heappush(self._heap, (when, next(self._order), what))

    def __bool__(self) -> bool:
        return bool(self._heap)

    async def step(self) -> None:
        when, _, what = heapq.heappop(self._heap)
        self.now = max(self.now, when)
        result = what()
        if result is not None:
            await result


class Unconnected(Scheduler):  # type: ignore[misc]  # distributed has no types
    """The scheduler, whose workers write nothing on connections."""

    async def handle_worker(self, comm: object, worker: str) -> None:
        """Return: what workers send is handed over by the simulation."""


class NoComm:
    """What a worker registers on."""

    name = "simulated"

    async def write(self, message: object) -> None:
        """Drop the answer."""


class Wire:
    """A stream from the scheduler: what is sent on it is serialised, and arrives later."""

    def __init__(self, simulation: Simulation, receive: Callable[[dict[str, Any]], None]) -> None:
        self._simulation, self._receive = simulation, receive

    def send(self, *messages: dict[str, Any]) -> None:
        """Send messages."""
        self._simulation.meter.sent += sum(map(len, dumps(messages)))
        self._simulation.outbox += [(self._receive, message) for message in messages]

    def abort(self) -> None:
        """Nothing is open."""


class Host:
    """A worker: what it has of resources, what waits for them."""

    def __init__(self, simulation: Simulation, number: int, resources: dict[str, float]) -> None:
        self.simulation = simulation
        self.address = f"tcp://10.0.{number // 250}.{number % 250 + 1}:40000"
        self.id = f"host-{number}"
        self.resources, self.free = resources, dict(resources)
        self._ready: dict[str, list[tuple[Any, int, dict[str, Any]]]] = {name: [] for name in resources}
        self._queued: dict[str, dict[str, Any]] = {}
        self._order = itertools.count()

    def receive(self, message: dict[str, Any]) -> None:
        """Take a message of the scheduler."""
        match message["op"]:
            case "compute-task":
                name = next(iter(message["resource_restrictions"]))
                self._queued[message["key"]] = message
                heapq.heappush(self._ready[name], (message["priority"], next(self._order), message))
                self._start(name)
            case "steal-request":
                state = "constrained" if self._queued.pop(message["key"], None) is not None else "executing"
                answer = {"key": message["key"], "state": state, "stimulus_id": message["stimulus_id"]}
                stealing = self.simulation.scheduler.extensions["stealing"]
                self.simulation.call("steal", lambda: stealing.move_task_confirm(**answer, worker=self.address))
            case _:
                pass

    def _start(self, name: str) -> None:
        ready = self._ready[name]
        while ready and self.free[name] >= 1:
            message = heapq.heappop(ready)[2]
            if self._queued.pop(message["key"], None) is None:
                continue  # stolen
            self.free[name] -= 1
            self._claim(name, message)

    def _claim(self, name: str, message: dict[str, Any]) -> None:
        simulation, attempt = self.simulation, self.simulation.attempts[message["key"]]
        attempt.worker = self.address

        def claim() -> None:
            granted = simulation.relay.claim(attempt.name, SESSION, self.id, attempt.name)
            simulation.outbox.append((begin, granted))

        def begin(granted: bool) -> None:
            if not granted:
                sys.exit("benchmark: an attempt was to be run twice")
            meter = simulation.meter
            meter.busy[name] = meter.busy.get(name, 0.0) + attempt.seconds
            simulation.events.at(simulation.events.now + attempt.seconds, done)

        def done() -> None:
            simulation.call("deliver", deliver, rpc=True)

        def deliver() -> None:
            simulation.relay.deliver(attempt.name, SESSION, attempt.result)
            simulation.outbox.append((ended, None))

        def ended(_: None) -> None:
            self.free[name] += 1
            self._start(name)
            simulation.call("task finished", lambda: finished(simulation.events.now))

        def finished(now: float) -> None:
            took = [{"action": "compute", "start": now - attempt.seconds, "stop": now}]
            simulation.scheduler.handle_task_finished(
                key=message["key"],
                worker=self.address,
                stimulus_id="done",
                run_id=message["run_id"],
                metadata={},
                nbytes=16,
                type=dumps(type(None)),
                typename="NoneType",
                startstops=took,
                thread=1,
            )

        simulation.call("claim", claim, rpc=True)


class Simulation:
    """The cluster, and one session that dispatches as the executor of `--retarget-cluster` does."""

    def __init__(self, options: argparse.Namespace, recorded: Recorded, targets: int) -> None:
        self.options, self.recorded = options, recorded
        self.events, self.meter, self.relay = Events(), Meter(), Relay()
        self.outbox: list[tuple[Callable[[Any], None], Any]] = []
        self.attempts: dict[str, Attempt] = {}
        self._random = random.Random(0)  # noqa: S311  a fixed choice
        self._scheduler_free = self._session_free = self.events.now
        self._to_compile = targets // (COMPILES * (1 + RUNS)) * COMPILES
        self.targets = self._to_compile * (1 + RUNS)
        self._compiling = 0
        self._runs: dict[str, deque[Attempt]] = {name: deque() for name in DRIVERS}
        self._dispatched = dict.fromkeys(DRIVERS, 0)
        self._hosts: list[Host] = []
        self._run_payload = self._random.randbytes(recorded.run_job_bytes)
        self._run_result = self._random.randbytes(recorded.run_result_bytes)

    async def start(self) -> None:
        """Make the scheduler and the workers."""
        distributed.scheduler.time = distributed.stealing.time = lambda: self.events.now
        self.scheduler = Unconnected(dashboard=False, dashboard_address="127.0.0.1:0", validate=False)
        await self.relay.start(self.scheduler)
        await self.relay.events(SESSION, 0, 0)
        each = self.options.devices // self.options.hosts
        for number in range(self.options.hosts):
            driver = f"driver:{DRIVERS[number % len(DRIVERS)]}"
            host = Host(self, number, {"compile": self.options.cores, driver: each + self.options.spare})
            self._hosts.append(host)
            await self.scheduler.add_worker(
                NoComm(), address=host.address, status=Status.running.name, server_id=host.id, resolve_address=False,
                nthreads=2 * self.options.cores + 32, name=host.id, now=self.events.now, resources=host.resources,
                memory_limit=0, metrics=METRICS, services={}, local_directory="", versions={}, nanny="", extra={},
                stimulus_id="add",
            )  # fmt: skip
            self.scheduler.stream_comms[host.address] = Wire(self, host.receive)
        self.scheduler.clients[SESSION] = ClientState(SESSION)
        self.scheduler.client_comms[SESSION] = Wire(self, lambda _: None)

    # ---------------------------------------------------------------- time that processes take

    def call(self, name: str, what: Callable[[], Awaitable[None] | None], *, rpc: bool = False) -> None:
        """Have the scheduler do something, after a message has come to it and when it has time."""
        self.events.at(self.events.now + LATENCY, lambda: self._serve(name, what, rpc=rpc))

    async def _serve(self, name: str, what: Callable[[], Awaitable[None] | None], *, rpc: bool) -> None:
        begins = max(self.events.now, self._scheduler_free)
        if begins > self.events.now:
            self.events.at(begins, lambda: self._serve(name, what, rpc=rpc))
            return
        start = time.process_time()
        result = what()
        if result is not None:
            await result
        spent = time.process_time() - start + (self.options.rpc_seconds if rpc else 0.0)
        self.meter.scheduler += spent
        self.meter.by_call.setdefault(name, []).append(spent)
        self.meter.most_tasks = max(self.meter.most_tasks, len(self.scheduler.tasks))
        self._scheduler_free = begins + spent * self.options.scheduler_factor
        events = self.relay.sessions[SESSION].events
        while events:
            _, (what_happened, attempt, *_) = events.popleft()
            if what_happened != "done":
                sys.exit(f"benchmark: found the event {what_happened}")
            self.outbox.append((self._take, attempt))
        for receive, message in self.outbox:
            self.events.at(self._scheduler_free + LATENCY, partial(receive, message))
        self.outbox.clear()

    def _busy(self, seconds: float) -> float:
        """Have the session spend CPU; return when that is done."""
        self.meter.session += seconds
        self._session_free = max(self._session_free, self.events.now) + seconds
        return self._session_free

    # ---------------------------------------------------------------- the session

    def fill(self) -> None:
        """Dispatch what may be: compiles up to one more for each host than it has cores, runs in the same way."""
        most = self.options.hosts * (self.options.cores + 1)
        while self._to_compile and self._compiling < most:
            self._to_compile -= 1
            self._compiling += 1
            payload = self._random.randbytes(int(self._pick(self.recorded.source_bytes)) + 4000)
            self.meter.stored += 2 * len(payload)
            result = bytes(int(self._pick(self.recorded.artifact_bytes)) + 1000)
            seconds = self._pick(self.recorded.compile_seconds) * self.options.longer
            self._dispatch(Attempt("", "compile", seconds, payload, result, compiled=True))
        for driver, waiting in self._runs.items():
            of_driver = sum(f"driver:{driver}" in host.resources for host in self._hosts)
            each = self.options.devices // self.options.hosts + self.options.spare + 1
            while waiting and self._dispatched[driver] < of_driver * each:
                self._dispatched[driver] += 1
                self._dispatch(waiting.popleft())

    def _pick(self, quantiles: Sequence[float]) -> float:
        return self._random.choice(quantiles)

    def _dispatch(self, attempt: Attempt) -> None:
        attempt.name = f"{self._random.getrandbits(128):032x}"
        key = f"retarget-{attempt.name}-0"
        self.attempts[key] = attempt
        expr = LLGExpr(
            {key: Task(key, perform, attempt.name, SESSION, "suite/target", attempt.payload)},
            _determ_token=attempt.name,
        )
        frames = serialize(to_serialize(expr), on_error="raise")
        among = [host.address for host in self._hosts if attempt.resource in host.resources]
        message = dumps(
            {
                "expr_ser": Serialized(*frames),
                "annotations": ToPickle({"workers": among, "resources": {attempt.resource: 1}}),
            }
        )
        place = {"digests": ["0" * 64], "among": among, "resource": attempt.resource}

        async def update() -> None:
            self.meter.sent += sum(map(len, message))
            got = loads(message, deserialize=False)
            await self.scheduler.update_graph(
                client=SESSION, expr_ser=got["expr_ser"], keys={key}, internal_priority={key: 0}, submitting_task=None,
                annotations={"workers": among, "resources": {attempt.resource: 1}},
                span_metadata=SpanMetadata(collections=[{"type": "Future"}]), stimulus_id="submit",
            )  # fmt: skip

        def sent() -> None:
            self.call("place", lambda: self.relay.place(**place) and None, rpc=True)
            self.call("update graph", update)

        self.events.at(self._busy(self.options.session_seconds), sent)

    def _take(self, name: str) -> None:
        """Take a result, release the task, go on."""
        key = f"retarget-{name}-0"
        attempt = self.attempts.pop(key)

        def take() -> None:
            result = self.relay.take(name)
            if result is None:
                sys.exit("benchmark: a result was lost")
            self.meter.sent += 2 * len(result)
            self.outbox.append((taken, None))

        def taken(_: None) -> None:
            release = [key]
            self.call(
                "release", lambda: self.scheduler.client_releases_keys(keys=release, client=SESSION, stimulus_id="r")
            )
            self.meter.done += 1
            if attempt.compiled:
                self._compiling -= 1
                self.meter.stored += len(attempt.result)
                for number in range(RUNS):
                    driver = DRIVERS[(self._random.randrange(len(DRIVERS)) + number) % len(DRIVERS)]
                    seconds = self._pick(self.recorded.run_seconds) * self.options.longer
                    run = Attempt("", f"driver:{driver}", seconds, self._run_payload, self._run_result)
                    self._runs[driver].append(run)
            else:
                self._dispatched[attempt.resource.removeprefix("driver:")] -= 1
            self.fill()

        self.call("take", take, rpc=True)

    async def run(self) -> float:
        """Run until all targets are done. Returns the virtual seconds."""
        await self.start()
        began = self.events.now
        stealing = self.scheduler.extensions["stealing"]

        def balance() -> None:
            if self.meter.done < self.targets:
                self.call("stealing", stealing.balance)
                self.events.at(self.events.now + STEALING_SECONDS, balance)

        self.events.at(began + STEALING_SECONDS, balance)
        self.fill()
        while self.meter.done < self.targets:
            if not self.events:
                sys.exit(f"benchmark: {self.targets - self.meter.done} targets are never done")
            await self.events.step()
        return self.events.now - began


METRICS: dict[str, Any] = {
    "cpu": 0, "memory": 0, "time": 0, "managed_bytes": 0, "spilled_bytes": {"memory": 0, "disk": 0},
    "task_counts": {}, "bandwidth": {"total": 10**8, "workers": {}, "types": {}}, "digests_total_since_heartbeat": {},
    "event_loop_interval": 0.02, "transfer": {}, "host_net_io": {}, "gil_contention": 0,
}  # fmt: skip
