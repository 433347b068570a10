"""`local:N`: a scheduler and N workers on this machine, which end with this process, whatever ends that."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from retarget.support import RetargetError, first_line
from retarget.worker import available_cores

_MOST = 256
_START_SECONDS = 60.0
_LAST_LINES = 5
_END_SECONDS = 3.0


class LocalCluster:
    """The processes, started at once. `pids` are the scheduler's, then the workers'. To be closed."""

    def __init__(self, text: str, *, cache: Path, extensions: Sequence[str]) -> None:
        """`text` is the N of the address. Raises `RetargetError`."""
        if not re.fullmatch(r"[1-9]\d*", text, re.ASCII) or int(text) > _MOST:
            msg = f"found local:{text}, expected local:N with a number of workers from 1 to {_MOST}, such as local:2"
            raise RetargetError(msg)
        self.count = int(text)
        self.cores = max(1, available_cores() // self.count)
        options = [f"--workers={self.count}", f"--cores={self.cores}", f"--cache-dir={cache}"]
        options += [f"--retarget-extension={one}" for one in extensions]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (of all its processes)
        self._process = subprocess.Popen(  # in its own process group: Ctrl-C in a terminal does not reach it
            [sys.executable, "-P", "-m", "retarget_cluster.forked", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        self.pids: tuple[int, ...] = (self._process.pid,)

    def start(self) -> tuple[str, str]:
        """Wait for the scheduler, and return its address and certificate. Raises `RetargetError`."""
        assert self._process.stdout is not None  # noqa: S101  (for the type checker)
        deadline, line = time.monotonic() + _START_SECONDS, b""
        while not line.endswith(b"\n") and (left := deadline - time.monotonic()) > 0:
            if select.select([self._process.stdout], [], [], left)[0]:
                if not (piece := os.read(self._process.stdout.fileno(), select.PIPE_BUF)):
                    break
                line += piece
        if not line.startswith(b"{") or not line.endswith(b"\n"):
            late = f"nothing came in {_START_SECONDS:.0f} s" if time.monotonic() > deadline else "it ended"
            why = first_line(line.decode(errors="replace")) or late
            msg = f"the scheduler of local:{self.count} did not start: {why}{self.last_lines}"
            raise RetargetError(msg)
        started = json.loads(line)
        self.pids = (self._process.pid, *started["pids"])
        return started["address"], started["certificate"]

    @property
    def last_lines(self) -> str:
        """The last lines that its processes wrote to standard error, to be appended to a message."""
        size = os.fstat(self._errors.fileno()).st_size
        text = os.pread(self._errors.fileno(), 4096, max(0, size - 4096)).decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
        return "".join(f"\n  {line}" for line in (["its last lines:", *lines] if lines else ()))

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
        if len(self.pids) == 1:  # it is about to start; its workers, if there are some, end with it
            self.kill()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
