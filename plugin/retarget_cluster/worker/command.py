"""`retarget worker`: a worker that compiles and runs for sessions, in the foreground, until a signal ends it."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.cli import add_toolchain_argument, seconds_above_0, whole_number
from retarget.session import CacheChoice
from retarget.support import RetargetError
from retarget.worker import available_cores

from retarget_cluster.security import address_of, expect_distributed, security_for

if TYPE_CHECKING:
    from retarget_cluster.worker.cluster_worker import WorkerOptions

_PATIENCE = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    help_text = "the scheduler: tls://HOST:PORT, or tcp:// on this machine"
    parser.add_argument("address", type=address_of, metavar="ADDRESS", help=help_text)
    parser.add_argument("--cores", type=whole_number, metavar="N", help="compiles at a time (all cores)")
    parser.add_argument("--name", default="", help="what it is called in reports (the name of this machine)")
    parser.add_argument(
        "--cache-dir", default="", metavar="DIR", help="where content is kept (the cache of pytest here)"
    )
    parser.add_argument(
        "--patience",
        type=seconds_above_0,
        default=_PATIENCE,
        metavar="SECONDS",
        help=f"how long to try to reach a scheduler that does not answer ({_PATIENCE:.0f})",
    )
    parser.add_argument(
        "--no-probe",
        action="store_true",
        help="do not ask all drivers for devices at the start, but when runs need them",
    )
    add_toolchain_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Work until SIGTERM or Ctrl-C: what runs is finished then. Returns 0; 130 where a second signal ended it at once.

    Raises `RetargetError` for an address that cannot be used, and for a scheduler that is gone.
    """
    expect_distributed("retarget worker")
    from retarget_cluster.worker.cluster_worker import WorkerOptions

    security = security_for(arguments.address, "worker")
    options = WorkerOptions(
        address=arguments.address,
        name=arguments.name or platform.node() or "worker",
        cores=arguments.cores or available_cores(),
        cache=CacheChoice.of_command(arguments.cache_dir).folder,
        extensions=tuple(arguments.retarget_extension),
        toolchains=_toolchains(arguments.retarget_toolchain),
        probes=not arguments.no_probe,
        patience=arguments.patience,
    )
    return asyncio.run(serve_worker(options, security))


async def serve_worker(options: WorkerOptions, security: object) -> int:
    """Work until a signal ends it. Returns 0. Raises as `ClusterWorker.serve` does."""
    from retarget_cluster.worker.cluster_worker import ClusterWorker

    worker = ClusterWorker(options)

    def signalled() -> None:
        if worker.draining:
            worker.close(kill=True)
            os._exit(130)
        worker.drain()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signalled)
    try:
        await worker.serve(security)
    finally:
        worker.close()
    sys.stderr.flush()
    return 0


def _toolchains(given: list[str]) -> Mapping[str, Path]:
    pairs = [one.partition("=") for one in given]
    for name, _, path in pairs:
        if not name or not path or not Path(path).is_dir():
            msg = f"found --retarget-toolchain {name}={path}, expected NAME=PATH with a folder"
            raise RetargetError(msg)
    return {name: Path(path).absolute() for name, _, path in pairs}
