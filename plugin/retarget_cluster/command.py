"""`retarget cluster`: start a scheduler; say which workers it has, and what they do."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from retarget.cli import text_table
from retarget.support import RetargetError

from retarget_cluster.security import address_of, dialled, expect_distributed, security_at, security_for

_PORT = 8786
"""That of `dask scheduler`."""
_WORKER_SECONDS = "60 seconds"
"""A worker that says nothing for so long is gone; of `dask scheduler` it is five minutes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its subcommands."""
    commands = parser.add_subparsers(metavar="action", required=True, dest="action")
    start = commands.add_parser(
        "start", help="start a scheduler, in the foreground; with TLS a plain `dask scheduler` does, too"
    )
    start.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1; others need --tls)")
    start.add_argument("--port", type=_port, default=_PORT, help=f"the port; 0 for any that is free ({_PORT})")
    start.add_argument("--tls", action="store_true", help="with the certificates of Dask's configuration")
    status = commands.add_parser("status", help="workers, devices, queues")
    default = f"tcp://127.0.0.1:{_PORT}"
    status.add_argument(
        "address", nargs="?", type=address_of, default=default, metavar="ADDRESS", help=f"the scheduler ({default})"
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it. Returns 0. Raises `RetargetError` for addresses that cannot be used, or where nothing answers."""
    expect_distributed("retarget cluster")
    if arguments.action == "start":
        scheme = "tls" if arguments.tls else "tcp"
        security = security_at(scheme, arguments.host, "scheduler")
        return asyncio.run(serve_scheduler(scheme, arguments.host, arguments.port, security))
    status = asyncio.run(_status(arguments.address))
    print("\n".join(_lines(arguments.address, status)))
    return 0


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    msg = f"found {text!r}, expected a port from 0 to 65535"
    raise argparse.ArgumentTypeError(msg)


async def serve_scheduler(scheme: str, host: str, port: int, security: object) -> int:
    """Run a scheduler until SIGTERM or Ctrl-C, and print its address. Returns 0. Raises `RetargetError`."""
    import dask.config
    from distributed import Scheduler

    from retarget_cluster.relay import Relay

    dask.config.set({"distributed.scheduler.worker-ttl": _WORKER_SECONDS})
    try:
        started = await Scheduler(
            host=host,
            port=port,
            protocol=dialled(f"{scheme}://"),
            security=security,
            dashboard=False,
            dashboard_address="127.0.0.1:0",
        )
    except (OSError, RuntimeError) as error:  # Dask has an OSError as the cause of a RuntimeError
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            raise
        why = f"{cause.strerror or cause}; --port 0 takes any port that is free"
        msg = f"cannot listen at {scheme}://{host}:{port}: {why}"
        raise RetargetError(msg) from error
    await started.register_scheduler_plugin(Relay(), idempotent=True)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    address = started.address.replace("tls://", f"{scheme}://")
    print(address, flush=True)
    print(f"workers: retarget worker {address}", file=sys.stderr)
    print(f"sessions: pytest --retarget-cluster {address}", file=sys.stderr, flush=True)
    await ended.wait()
    with suppress(OSError):
        await started.close()
    return 0


async def _status(address: str) -> dict[str, Any]:
    from retarget_cluster.security import at_scheduler

    async with at_scheduler(address, security_for(address, "client")) as scheduler:
        status: dict[str, Any] = await scheduler.retarget_status()
    return status


def _lines(address: str, status: dict[str, Any]) -> Iterator[str]:
    workers = status["workers"]
    yield f"{address}: workers {len(workers)}, sessions {status['sessions']}, waiting for a worker {status['waiting']}"
    if not workers:
        yield f"`retarget worker {address}` starts a worker"
        return
    rows = []
    for one in workers:
        state = "draining" if one["draining"] else "ready"
        load = f"{len(one['running'])} + {one['queued']}"
        rows.append((one["name"], state, f"{one['system']} {one['architecture']}", str(one["cores"]), load))
    yield text_table(("worker", "state", "machine", "cores", "runs + queued"), rows)
    for one in workers:
        yield ""
        yield f"{one['name']} ({one['hostname']}, {one['address']})"
        yield f"  compilers: {', '.join(one['compilers']) or 'none'}"
        for info in one["devices"]:
            version = f", driver {info['driver_version']}" if info["driver_version"] else ""
            runs = one["resources"].get(f"driver:{info['driver']}", 0)
            yield f"  {info['uri']}  {info['name']}{version}, runs at a time {runs:g}"
        yield from (f"  runs {title} for {seconds:.1f} s" for title, seconds in one["running"])
