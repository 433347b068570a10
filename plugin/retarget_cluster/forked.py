"""The processes of `local:N`: a scheduler and workers, forked from one, so that Dask is imported once for all."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from retarget.session import load_extensions
from retarget.support import RetargetError

from retarget_cluster.command import serve_scheduler
from retarget_cluster.security import expect_distributed, new_certificate, security_of
from retarget_cluster.worker.cluster_worker import WorkerOptions
from retarget_cluster.worker.command import end_with_parent, serve_worker


def main() -> int:
    """Fork the workers, be the scheduler; print the address, the process ids of the workers and the certificate with
    which it is reached, as JSON. All end at the end of standard input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--cache-dir", type=Path, required=True)
    parser.add_argument("--retarget-extension", action="append", default=[])
    arguments = parser.parse_args()
    try:
        load_extensions(arguments.retarget_extension)
    except RetargetError as error:
        print(error)
        return 1
    expect_distributed("local:N")
    import distributed  # noqa: F401  (before the forks)

    import retarget_cluster.worker.cluster_worker  # noqa: F401

    certificate = new_certificate()
    security = security_of(certificate)
    pids: list[int] = []
    pipes: list[int] = []
    for number in range(1, arguments.workers + 1):
        reading, writing = os.pipe()
        if (pid := os.fork()) == 0:
            for one in (*pipes, writing):
                os.close(one)
            _work(arguments, f"local-{number}", reading, security)
        os.close(reading)
        pids.append(pid)
        pipes.append(writing)

    def wait_for_workers() -> None:
        for pid in pids:
            os.waitpid(pid, 0)

    def announce(address: str) -> None:
        for one in pipes:
            os.write(one, address.encode())
            os.close(one)
        print(json.dumps({"address": address, "pids": pids, "certificate": certificate}), flush=True)
        end_with_parent(wait_for_workers)

    return asyncio.run(serve_scheduler("tcp", "127.0.0.1", 0, security, announce))


def _work(arguments: argparse.Namespace, name: str, reading: int, security: Any) -> None:
    """Run a worker, in its own process group; never returns."""
    status = 1
    try:
        os.setsid()
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 1)
        if address := os.read(reading, 4096).decode():
            options = WorkerOptions(
                address=address,
                name=name,
                cores=arguments.cores,
                cache=arguments.cache_dir,
                extensions=tuple(arguments.retarget_extension),
                toolchains={},
                probes=False,
                patience=60.0,
            )
            status = asyncio.run(serve_worker(options, security, with_parent=True))
    finally:
        os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
