"""`local:N`: a scheduler and N workers on this machine, which end with this process, whatever ends that."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from retarget.support.errors import RetargetError
from retarget.support.text import first_line
from retarget.worker.process import available_cores

from retarget_cluster.parent import PARENT_OPTION

__all__ = ["LocalCluster"]

_MOST = 256
_END_SECONDS = 3.0


class LocalCluster:
    """The processes. `address` is the scheduler's. To be closed."""

    def __init__(self, text: str, *, cache: Path, extensions: Sequence[str]) -> None:
        """`text` is the N of the address. Raises `RetargetError`."""
        if not re.fullmatch(r"[1-9]\d*", text, re.ASCII) or int(text) > _MOST:
            msg = f"found local:{text}, expected local:N with a number of workers from 1 to {_MOST}, such as local:2"
            raise RetargetError(msg)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.count = int(text)
        cores = max(1, available_cores() // self.count)
        try:
            self.address = self._scheduler()
            shared = [f"--cores={cores}", f"--cache-dir={cache}", "--no-probe"]
            shared += [f"--retarget-extension={one}" for one in extensions]
            for number in range(1, self.count + 1):
                self._start(["worker", self.address, f"--name=local-{number}", *shared])
        except BaseException:
            self.kill()
            raise

    @property
    def ended(self) -> int:
        """How many of its processes have ended."""
        return sum(one.poll() is not None for one in self._processes)

    def kill(self) -> None:
        """Kill all of it. Safe in a signal handler."""
        for one in self._processes:
            _kill(one)

    def close(self) -> None:
        """End all of it, and wait until it has ended."""
        for one in self._processes:
            if one.stdin is not None:
                one.stdin.close()
        deadline = time.monotonic() + _END_SECONDS
        for one in self._processes:
            try:
                one.wait(max(0.01, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _kill(one)
                one.wait()
            if one.stdout is not None:
                one.stdout.close()

    def _scheduler(self) -> str:
        process = self._start(["cluster", "start", "--port=0"], piped=True)
        assert process.stdout is not None  # noqa: S101  (for the type checker)
        line = process.stdout.readline().decode(errors="replace").strip()
        if not line.startswith("tcp://"):
            msg = f"the scheduler of local:{self.count} did not start: {first_line(line) or 'it printed nothing'}"
            raise RetargetError(msg)
        return line

    def _start(self, arguments: Sequence[str], *, piped: bool = False) -> subprocess.Popen[bytes]:
        """Start `retarget ARGUMENTS` in a process group of its own, so that Ctrl-C in a terminal does not reach it."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "retarget.cli", *arguments, PARENT_OPTION],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if piped else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        self._processes.append(process)
        return process


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
