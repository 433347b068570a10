"""`local:N`: a scheduler and N workers on this machine, which end with this process, whatever ends that."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from retarget.support.errors import RetargetError
from retarget.support.text import first_line
from retarget.worker.process import available_cores

__all__ = ["LocalCluster"]

_MOST = 256
_END_SECONDS = 3.0


class LocalCluster:
    """The processes, started at once. `pids` are the scheduler's, then the workers'. To be closed."""

    def __init__(self, text: str, *, cache: Path, extensions: Sequence[str]) -> None:
        """`text` is the N of the address. Raises `RetargetError`."""
        if not re.fullmatch(r"[1-9]\d*", text, re.ASCII) or int(text) > _MOST:
            msg = f"found local:{text}, expected local:N with a number of workers from 1 to {_MOST}, such as local:2"
            raise RetargetError(msg)
        self.count = int(text)
        cores = max(1, available_cores() // self.count)
        options = [f"--workers={self.count}", f"--cores={cores}", f"--cache-dir={cache}"]
        options += [f"--retarget-extension={one}" for one in extensions]
        self._process = subprocess.Popen(  # in a process group of its own: Ctrl-C in a terminal does not reach it
            [sys.executable, "-P", "-m", "retarget_cluster.forked", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        self.pids: tuple[int, ...] = (self._process.pid,)

    def start(self) -> str:
        """Wait for the scheduler, and return its address. Raises `RetargetError`."""
        assert self._process.stdout is not None  # noqa: S101  (for the type checker)
        line = self._process.stdout.readline().decode(errors="replace").strip()
        address, *pids = line.split(" ")
        if not address.startswith("tcp://"):
            msg = f"the scheduler of local:{self.count} did not start: {first_line(line) or 'it printed nothing'}"
            raise RetargetError(msg)
        self.pids = (self._process.pid, *map(int, pids))
        return address

    @property
    def ended(self) -> bool:
        """Whether one of its processes has ended."""
        return not all(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in self.pids)

    def kill(self) -> None:
        """Kill all of it. Safe in a signal handler."""
        if self._process.returncode is None:  # it has not waited for its workers, whose ids are theirs until then
            for pid in self.pids:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)

    def close(self) -> None:
        """End all of it, and wait until it has ended."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
