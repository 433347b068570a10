"""A cluster of 50 hosts with 500 devices, simulated: Dask's real scheduler and retarget's real plugin in virtual time.

Real are `distributed.scheduler.Scheduler` (task graphs as a client sends them, placement, resources, stealing, its
messages, serialised), the plugin `retarget_cluster.relay.Relay` (claims, results, events) and the messages of jobs.
Simulated are the workers and the session, by what they send: a compile or a run takes as long as one that was recorded
(data/recorded.json; `--record DIR` makes it from results of `pytest --retarget-results`). The CPU time that the
scheduler takes for each message passes in virtual time; so do CPU of the session per target, a network's latency, and
what a call costs the scheduler besides its handler, which is measured here with a real scheduler and TCP.

A module has 4 compile targets, each with 4 run targets; runs are dispatched when their compile is done, as many at a
time as the session's executor does. What is printed is per target, so that it can be held against 10 million of them;
with several `--targets` the growth shows whether that may be done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import multiprocessing
import resource
import statistics
import time
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Scheduler
from retarget_cluster.relay import Relay
from simulated_cluster import RUNS, Recorded, Simulation

RECORDED = Path(__file__).parent / "data" / "recorded.json"
SESSION_SECONDS = 0.0015
"""CPU of a session per target: the bound for warm sessions."""
MANY = 10**7


# ---------------------------------------------------------------- what a call costs


def _serve_scheduler(pipe: Any) -> None:
    async def serve() -> None:
        async with Scheduler(dashboard=False, dashboard_address="127.0.0.1:0", host="127.0.0.1", port=0) as scheduler:
            await scheduler.register_scheduler_plugin(plugin=Relay(), idempotent=True)
            pipe.send(scheduler.address)
            loop = asyncio.get_running_loop()
            while True:
                await loop.run_in_executor(None, pipe.recv)
                pipe.send(time.process_time())

    logging.disable(logging.CRITICAL)
    asyncio.run(serve())


def rpc_seconds(calls: int = 1000) -> float:
    """CPU that a call over TCP costs a real scheduler, besides its handler, in seconds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve_scheduler, args=(theirs,), daemon=True)
    process.start()
    address = ours.recv()

    async def ask() -> float:
        async with Client(address, asynchronous=True, set_as_default=False) as client:
            ours.send(None)
            before = ours.recv()
            for _ in range(calls):
                await client.scheduler.retarget_hello()
            ours.send(None)
            return float((ours.recv() - before) / calls)

    try:
        return asyncio.run(ask())
    finally:
        process.terminate()
        process.join()


# ---------------------------------------------------------------- main


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, nargs="+", default=[2_000, 8_000])
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--devices", type=int, default=500)
    parser.add_argument("--cores", type=int, default=32, help="of each host")
    parser.add_argument("--spare", type=int, default=0, help="runs that a host takes beyond its devices")
    parser.add_argument("--longer", type=float, default=1.0, help="factor on the recorded durations")
    parser.add_argument("--session-seconds", type=float, default=SESSION_SECONDS, help="CPU of the session per target")
    parser.add_argument(
        "--scheduler-factor", type=float, default=1.0, help="of the scheduler's CPU; 0: it costs nothing"
    )
    parser.add_argument("--rpc-seconds", type=float, default=None, help="measured if it is not given")
    parser.add_argument("--record", type=Path, help="write data/recorded.json from the results in this folder, and end")
    parser.add_argument("--cache", type=Path, help="with --record: the cache folder that has the artifacts")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if options.record is not None:
        from recorded_durations import record

        record(options.record, options.cache, RECORDED)
        return
    recorded = Recorded(**json.loads(RECORDED.read_text()))
    if options.rpc_seconds is None:
        options.rpc_seconds = rpc_seconds()
    mean_compile, mean_run = statistics.mean(recorded.compile_seconds), statistics.mean(recorded.run_seconds)
    print(
        f"{options.hosts} hosts with {options.cores} cores, {options.devices} devices; a compile takes "
        f"{mean_compile * options.longer:.3f} s, a run {mean_run * options.longer:.4f} s in the mean; "
        f"a call costs the scheduler {1000 * options.rpc_seconds:.2f} ms besides its handler"
    )
    for targets in options.targets:
        one(options, recorded, targets)


def one(options: argparse.Namespace, recorded: Recorded, targets: int) -> None:
    """Simulate one session, and print what was seen."""
    simulation = Simulation(options, recorded, targets)
    seconds = asyncio.run(simulation.run())
    meter, count = simulation.meter, simulation.targets
    devices = sum(busy for name, busy in meter.busy.items() if name != "compile") / options.devices / seconds
    cores = meter.busy["compile"] / (options.hosts * options.cores) / seconds
    rate, spent = count / seconds, meter.scheduler * options.scheduler_factor
    print(f"{count} targets in {seconds:.1f} s: {rate:.0f} a second, {MANY / rate / 3600:.1f} h for 10 million")
    print(f"  busy: devices {devices:.1%}, cores {cores:.1%}", end="")
    print(f", scheduler {spent / seconds:.0%}, session {meter.session / seconds:.0%}")
    print(
        f"  scheduler: {1000 * meter.scheduler / count:.2f} ms of CPU and {meter.sent / count:.0f} bytes a target",
        end="",
    )
    print(f", at most {meter.most_tasks} tasks at once")
    for name, all_spent in sorted(meter.by_call.items(), key=lambda item: -sum(item[1])):
        middle, last = (1000 * statistics.mean(half) for half in (all_spent[: len(all_spent) // 4], all_spent[-1000:]))
        print(f"    {name:14} {1000 * sum(all_spent) / count:6.3f} ms a target; first {middle:.3f}, last {last:.3f}")
    each = 1 + RUNS
    alone = {
        "session": count / meter.session if meter.session else float("inf"),
        "scheduler": count / spent if spent else float("inf"),
        "cores": options.hosts * options.cores * each / (statistics.mean(recorded.compile_seconds) * options.longer),
        "devices": options.devices * each / RUNS / (statistics.mean(recorded.run_seconds) * options.longer),
    }
    print(
        "  targets a second that each could do alone: "
        + ", ".join(f"{what} {most:.0f}" for what, most in alone.items())
    )
    stored = meter.stored / count
    print(f"  store: {stored:.0f} bytes a target, {stored * MANY / 1024**3:.0f} GiB for 10 million")
    print(f"  memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB", flush=True)


if __name__ == "__main__":
    dask.config.set({"distributed.scheduler.work-stealing": True})
    main()
