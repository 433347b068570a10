"""How a worker process is started. Apart from its use: one starts before this process has imported the messages."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO

from retarget.support.errors import RetargetError

__all__ = ["Spawner", "StartedProcess", "kill_group"]


class Spawner:
    """Starts processes from one thread that lives as long as this object.

    Linux's parent-death signal is sent when the *thread* that started a process ends (prctl(2)), which must not be the
    caller's.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="retarget-spawner")
        self._started: list[subprocess.Popen[bytes]] = []

    def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], output: int, pass_fds: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        """Start `argv` in a process group of its own. Raises `OSError`."""
        process = self._executor.submit(
            subprocess.Popen,
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(env),
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        ).result()
        self._started = [*(one for one in self._started if one.returncode is None), process]
        return process

    def kill(self) -> None:
        """Kill all that was started and has not ended, with its process group. Safe in a signal handler: no locks."""
        for process in self._started:
            kill_group(process)

    def close(self) -> None:
        """End the thread. The workers must have been closed before."""
        self._executor.shutdown(wait=True)


class StartedProcess:
    """A worker's process as it starts: `log` is what it prints to, `progress` where it writes how far it is, `lifeline`
    the descriptor of the pipe whose end it watches, `socket` our end for the messages. `retarget.worker.process` uses
    it and closes all of them."""

    def __init__(
        self,
        *,
        spawner: Spawner,
        env: Sequence[tuple[str, str]] = (),
        starts_processes: bool = False,
        ahead: bool = False,
    ) -> None:
        """Start it, as `WorkerProcess` says; `ahead` of need, it imports at once what most work needs. Raises
        `RetargetError`."""
        self._spawner = spawner  # its thread must outlive the worker
        self.log = tempfile.TemporaryFile(prefix="retarget-worker-", mode="ab+", buffering=0)  # noqa: SIM115
        self.progress = _progress_file()
        for file in (self.log, self.progress):  # the mode above does not set it
            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
        ours, theirs = socket.socketpair()
        lifeline_read, self.lifeline = os.pipe()
        passed = (theirs.fileno(), lifeline_read, self.progress.fileno())
        argv = [sys.executable, "-P", "-m", "retarget.worker.child", *map(str, passed)]
        argv.append("0" if starts_processes else str(os.getpid()))
        argv += ["ahead"] if ahead else []
        try:
            self.process = spawner.start(
                argv, env={**os.environ, **dict(env)}, output=self.log.fileno(), pass_fds=passed
            )
        except OSError as error:
            ours.close()
            os.close(self.lifeline)
            self.log.close()
            self.progress.close()
            msg = f"cannot start a worker process ({sys.executable}): {error.strerror or error}"
            raise RetargetError(msg) from error
        finally:
            theirs.close()
            os.close(lifeline_read)
        self.socket = ours

    def close(self) -> None:
        """Wait until the process has ended, and close all of it, where nobody uses it."""
        self.process.wait()
        self.socket.close()
        os.close(self.lifeline)
        self.log.close()
        self.progress.close()


def _progress_file() -> IO[bytes]:
    """Return an unnamed file; in memory, where the system has such: a full disk must not hide where a worker died."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("retarget-progress"), "r+b", buffering=0)
    return tempfile.TemporaryFile(prefix="retarget-worker-", buffering=0)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads a group, with the group. Does nothing to one that has ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
