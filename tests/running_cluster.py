"""A scheduler and its workers on this machine, as a user starts them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple


class Cluster(NamedTuple):
    """A scheduler that listens at an address, and workers that are connected to it, `worker-0` and so on."""

    address: str
    scheduler: subprocess.Popen[str]
    workers: list[subprocess.Popen[str]]


@contextmanager
def running_cluster(folder: Path, *, workers: int = 2, extensions: Sequence[str] = ()) -> Iterator[Cluster]:
    """Yield a cluster whose files are below a folder; it is killed at the end."""
    options = [f"--retarget-extension={one}" for one in extensions]
    with ExitStack() as ending:

        def start(*arguments: str, said_in: str) -> subprocess.Popen[str]:
            argv = [sys.executable, "-m", "retarget.cli", *arguments]
            streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | {said_in: subprocess.PIPE}
            process = subprocess.Popen(argv, text=True, **streams)  # type: ignore[call-overload]
            ending.enter_context(process)
            ending.callback(process.kill)
            return process  # type: ignore[no-any-return]

        scheduler = start("cluster", "start", "--port=0", said_in="stdout")
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        started = []
        for number in range(workers):
            place = [f"--name=worker-{number}", f"--cache-dir={folder / f'worker-{number}'}", "--cores=1", "--no-probe"]
            started.append(start("worker", address, *place, *options, said_in="stderr"))
        for process in started:
            assert process.stderr is not None
            assert any("connected to" in line for line in process.stderr)
        yield Cluster(address, scheduler, started)
