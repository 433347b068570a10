"""How a worker process is started. Apart from its use, so that one can start before the messages are imported."""

from __future__ import annotations

import fcntl
import gc
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Protocol

from retarget.support.dependencies import installed_extensions
from retarget.support.errors import RetargetError

_MODULE = "retarget.worker.child"
_POLL = 0.005
"""Seconds between two checks whether a fork has ended, which takes a few milliseconds."""


class ChildProcess(Protocol):
    """The part of `subprocess.Popen` that is used."""

    pid: int

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class Spawner:
    """Starts processes from one thread that lives as long as this object.

    Linux's parent-death signal is sent when the *thread* that started a process ends (prctl(2)), which must not be the
    caller's.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="retarget-spawner")
        self._started: list[ChildProcess] = []

    def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], output: int, pass_fds: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        """Start `argv` in its own process group. Raises `OSError`."""
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
        self._keep(process)
        return process

    def fork(self, arguments: Sequence[str], *, output: int, pass_fds: Sequence[int]) -> ChildProcess:
        """Run the module of worker processes in a fork of this process, in its own process group: it has what is
        imported here. No other thread may run. Raises `OSError`."""
        sys.stdout.flush()
        sys.stderr.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if pid == 0:
                _run_fork(arguments, output, pass_fds, before)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with suppress(OSError):  # both set it: neither goes on before it is set
            os.setpgid(pid, pid)
        process = _Fork(pid)
        self._keep(process)
        return process

    def _keep(self, process: ChildProcess) -> None:
        self._started = [*(one for one in self._started if one.returncode is None), process]

    def kill(self) -> None:
        """Kill all that was started and has not ended, with its process group. Safe in a signal handler: no locks."""
        for process in self._started:
            kill_group(process)

    def close(self) -> None:
        """End the thread. The workers must have been closed before."""
        self._executor.shutdown(wait=True)


class StartedProcess:
    """A worker's process that starts: `log` has its output, `progress` its progress, `lifeline` is the end of
    the pipe that it watches, `socket` our end for the messages. `retarget.worker.process` uses it and closes all
    of them."""

    def __init__(
        self,
        *,
        spawner: Spawner,
        env: Sequence[tuple[str, str]] = (),
        starts_processes: bool = False,
        ahead: bool = False,
        forks: bool = False,
    ) -> None:
        """Start it, as `WorkerProcess` does; `ahead` of need, it imports at once what most work needs. With `forks`, it
        is a fork of this process where that is safe, without an `env`. Raises `RetargetError`."""
        self._spawner = spawner  # its thread must outlive the worker
        self.log = tempfile.TemporaryFile(prefix="retarget-worker-", mode="ab+", buffering=0)  # noqa: SIM115
        self.progress = _progress_file()
        for file in (self.log, self.progress):  # the mode above does not set it
            fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
        self.socket, theirs = socket.socketpair()
        lifeline_read, lifeline = os.pipe()
        self.lifeline = os.fdopen(lifeline, "wb", buffering=0)
        passed = (theirs.fileno(), lifeline_read, self.progress.fileno())
        installed = ("=".join(point) for point in installed_extensions())
        arguments = [*map(str, passed), "0" if starts_processes else str(os.getpid()), "ahead" * ahead, *installed]
        self.process: ChildProcess
        try:
            if forks and _is_fork_safe():
                self.process = spawner.fork(arguments, output=self.log.fileno(), pass_fds=passed)
            else:
                argv = [sys.executable, "-P", "-m", _MODULE, *arguments]
                environment = {**os.environ, **dict(env)}
                self.process = spawner.start(argv, env=environment, output=self.log.fileno(), pass_fds=passed)
        except OSError as error:
            self.close_files()
            msg = f"cannot start a worker process ({sys.executable}): {error.strerror or error}"
            raise RetargetError(msg) from error
        finally:
            theirs.close()
            os.close(lifeline_read)

    def close(self) -> None:
        """Wait until the process has ended, and close its files, if nobody uses it."""
        self.process.wait()
        self.close_files()

    def close_files(self) -> None:
        """Close its files, but for the socket where that is detached."""
        for one in (self.socket, self.lifeline, self.log, self.progress):
            one.close()


def _is_fork_safe() -> bool:
    """Return whether this process has one thread, those of native code counted, and its streams are 0, 1 and 2."""
    try:
        streams = [one.fileno() for one in (sys.stdin, sys.stdout, sys.stderr)]
        return streams == [0, 1, 2] and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  (pathlib is an import more)
    except (AttributeError, OSError, ValueError):  # a stream that is closed or replaced; no Linux
        return False


class _Fork:
    """A fork, with the interface of `subprocess.Popen`. One thread may use it at a time."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # the system has reaped it: SIGCHLD is ignored here
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired([_MODULE], timeout or 0.0)
            time.sleep(_POLL)
        return status


def _run_fork(arguments: Sequence[str], output: int, pass_fds: Sequence[int], mask: Iterable[int]) -> None:
    """Run a worker process in a fork whose signals are blocked; those of `mask` stay blocked. Does not return."""
    try:
        os.setpgid(0, 0)
        for number in signal.valid_signals():  # without the parent's handlers
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
            if descriptor > 2 and descriptor not in pass_fds:  # the parent's lifeline among them
                with suppress(OSError):  # that of the listing is closed
                    os.close(descriptor)
        gc.freeze()  # the parent's objects, whose descriptors are closed, are never collected here
        if not sys.flags.safe_path:  # as with `-P`, a module in the folder of the program hides no other
            sys.path.append(sys.path.pop(0))
        sys.argv = [_MODULE, *arguments]
        runpy.run_module(_MODULE, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def _progress_file() -> IO[bytes]:
    """Return an unnamed file; in memory where possible: a full disk must not hide where a worker died."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("retarget-progress"), "r+b", buffering=0)
    return tempfile.TemporaryFile(prefix="retarget-worker-", buffering=0)


def kill_group(process: ChildProcess) -> None:
    """Kill a process that leads a group, with the group. Does nothing to one that has ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


class SpareWorker:
    """One worker process, for the first runtime config without its own variables: it imports while targets are
    collected. To be closed."""

    def __init__(self, *, forks: bool = False) -> None:
        """With `forks`, the worker is a fork where that is safe: it starts later, and takes less CPU time."""
        self._spawner = Spawner()
        self._surroundings = _surroundings()
        self._started: StartedProcess | None = None
        with suppress(RetargetError):  # the worker that is started in its place reports it
            self._started = StartedProcess(spawner=self._spawner, ahead=True, forks=forks)

    def take(self) -> StartedProcess | None:
        """Return the process, which a `WorkerProcess` of the caller's is to use; None if it is taken, or is not what
        would be started now."""
        if self._started is not None and _surroundings() != self._surroundings:
            self._end()
        started, self._started = self._started, None
        return started

    def kill(self) -> None:
        """Kill the process, taken or not. Safe in a signal handler."""
        self._spawner.kill()

    def close(self) -> None:
        """End the process if it was not taken. One that was must have been closed."""
        self._end()
        self._spawner.close()

    def _end(self) -> None:
        if self._started is not None:
            kill_group(self._started.process)
            self._started.close()
            self._started = None


def _surroundings() -> tuple[object, ...]:
    """Return what a process takes over from this one when it starts: its folder, variables and CPUs."""
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return os.getcwd(), env, os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()  # noqa: PTH109
