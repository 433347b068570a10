"""One worker process: how it is started, used, watched, and always ended.

Compile and device workers are the same kind of process, `python3 -m retarget.worker.child`. The parent holds one end of
a socket pair for the messages and the write end of a pipe, the lifeline; the descriptors 1 and 2 of the worker go to an
unnamed log file that the parent reads when the worker dies. Another unnamed file takes the progress of a request, which
the parent reads when the worker dies or refuses: it is not woken for each step. A worker leads a process group of its
own, so that a terminal's Ctrl-C does not reach it and a kill ends its child processes too.

A worker never outlives its parent: at the end of the lifeline it kills its process group, and on Linux the kernel ends
it even while native code holds the interpreter.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from typing import TypeVar

from retarget.support.errors import RetargetError
from retarget.support.text import clip, error_line, first_line
from retarget.worker.messages import Done, KeepOpen, Progress, Refusal, Refused, Setup
from retarget.worker.started import Spawner, StartedProcess, kill_group

AnswerT = TypeVar("AnswerT")

START_LIMIT = 120.0
"""Seconds a worker gets to import its extensions."""

OUTPUT_LIMIT = 64 * 1024
"""Bytes of a dead worker's last output that are shown."""

_LONGEST_WAIT = 3600.0
"""The longest single wait, in seconds: poll(2) has milliseconds in 32 bits, and a timeout may be any number."""

_CLOSE_LIMIT = 2.0
"""Seconds a worker gets to release its device when it must end."""


class WorkerProcess:
    """A worker that runs. One thread may use it at a time; `kill` may come from any."""

    def __init__(
        self,
        *,
        spawner: Spawner,
        extensions: Sequence[str],
        env: Sequence[tuple[str, str]] = (),
        starts_processes: bool = False,
        started: StartedProcess | None = None,
    ) -> None:
        """Start a worker with `env` added to this process's environment, and wait until it is ready.

        A process `started` ahead of need has already imported what most work needs.

        `starts_processes` leaves out the kernel's parent-death signal, for a worker that starts processes of its own
        and must live long enough to end them; its lifeline does the same for it.

        Raises `RetargetError` if the worker does not come up: an extension that fails to import, most likely.
        """
        started = started or StartedProcess(spawner=spawner, env=env, starts_processes=starts_processes)
        self._started, self._process = started, started.process
        self._connection: Connection | None = Connection(started.socket.detach())
        self._extensions = tuple(extensions)
        self._is_paused = False
        self._get_ready()

    @property
    def pid(self) -> int:
        """The worker's process id, which is its process group's too."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True while the worker runs and takes requests."""
        return self._connection is not None and self._process.poll() is None

    def ask(
        self,
        message: object,
        expected: type[AnswerT],
        *,
        timeout: float,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> AnswerT | Refused:
        """Send `message` and return the answer, or a refusal. `timeout` is in seconds. `on_progress` gets all progress
        of a request that was refused, before this returns.

        A worker that has ended or was killed after `timeout` is gone, and the whole of its process group. An exception
        on the way (Ctrl-C) ends the worker too, since its answer would be read as the next one's. Raises
        `RetargetError` for an answer of another type than `expected`.
        """
        return self.answer(self.send(message), expected, timeout=timeout, on_progress=on_progress)

    def send(self, message: object, *, keep_open: Sequence[int] = ()) -> float:
        """Send the message of an `ask`, and return when (by the monotonic clock). `answer` must be called before the
        next message; it reports a worker that has ended. The worker has the descriptors `keep_open`, too, until it has
        answered or ended."""
        sent = time.monotonic()
        try:
            with suppress(EOFError, OSError):
                self._send(message, keep_open)
        except BaseException:
            self.kill()
            raise
        return sent

    def answer(
        self,
        sent: float,
        expected: type[AnswerT],
        *,
        timeout: float,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> AnswerT | Refused:
        """Receive the answer to a message that was `sent` then, when its `timeout` began."""
        try:
            answer = self._receive(sent + timeout)
        except (EOFError, OSError):
            self._report(on_progress)
            return self._death()
        except BaseException:
            self.kill()
            raise
        if answer is None or isinstance(answer, Refused):
            self._report(on_progress)
        if answer is None:
            cause = f"{timeout:g} s"
            summary = f"worker killed after {cause}"
            return Refused(refusal=Refusal.TIMED_OUT, summary=summary, cause=cause, text=self._ended_output())
        if isinstance(answer, expected | Refused):
            return answer
        msg = f"a worker answered {type(answer).__name__} where {expected.__name__} was expected"
        raise RetargetError(msg)

    def pause(self) -> None:
        """Stop the process, so that it takes no cycles. Only between requests; `resume` before the next."""
        if self._process.poll() is None:
            self._is_paused = True
            os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process go on after `pause`. Does nothing to one that was not paused or has ended."""
        if self._is_paused and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGCONT)
        self._is_paused = False

    def kill(self) -> None:
        """Kill the worker and all it has started, at once. Does nothing to one that has ended."""
        kill_group(self._process)

    def close(self) -> None:
        """Ask the worker to end, kill it if it does not, and reap it."""
        self.resume()
        self._reap()
        self._release()

    def _send(self, message: object, keep_open: Sequence[int]) -> None:
        """Raises `EOFError` or `OSError`."""
        connection = self._connection
        if connection is None:
            raise EOFError
        os.ftruncate(self._started.progress.fileno(), 0)
        if keep_open:
            connection.send(KeepOpen(count=len(keep_open)))
            with socket.socket(fileno=os.dup(connection.fileno())) as sending:
                socket.send_fds(sending, [b"\0"], list(keep_open))
        connection.send_bytes(pickle.dumps(message))

    def _receive(self, deadline: float) -> object | None:
        """Return the answer; None if there is none at `deadline`. Raises `EOFError` or `OSError`."""
        connection = self._connection
        if connection is None:
            raise EOFError
        while not connection.poll(max(0.0, min(deadline - time.monotonic(), _LONGEST_WAIT))):
            if time.monotonic() >= deadline:
                return None
        answer: object = connection.recv()
        return answer

    def _report(self, on_progress: Callable[[Progress], None] | None) -> None:
        if on_progress is not None and not self._started.progress.closed:
            for progress in self._read_progress():
                on_progress(progress)

    def _read_progress(self) -> Iterator[Progress]:
        """Yield the progress that the worker has written, without an incomplete last part."""
        descriptor = self._started.progress.fileno()
        stream = io.BytesIO(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                yield pickle.load(stream)  # noqa: S301  from the process that this one has started

    def _get_ready(self) -> None:
        """Make the worker load its extensions, with this process's import path, and wait for it. Raises
        `RetargetError`."""
        setup = Setup(extensions=self._extensions, sys_path=tuple(sys.path))
        with ExitStack() as failing:
            failing.callback(self.close)
            answer = self.ask(setup, Done, timeout=START_LIMIT)
            if isinstance(answer, Done):
                failing.pop_all()
                return
            if answer.worker_ended:
                last = first_line("\n".join(reversed(answer.text.splitlines())), "it printed nothing")
                msg = f"a worker process ended while it started ({answer.cause}): {error_line(answer.text) or last}"
            elif answer.refusal is Refusal.TIMED_OUT:
                msg = f"a worker process was not ready after {answer.cause}: an extension hangs while it is imported"
            else:
                msg = answer.summary
            raise RetargetError(msg)

    def _death(self) -> Refused:
        """Reap a worker whose connection broke, and return how it ended."""
        status, output = self._reap(), ""
        if not self._started.log.closed:  # as of a worker that was closed, or has been asked since it ended
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            output = self._output()
            self._release()
        refusal, cause = (
            (Refusal.CRASHED, signal_name(-status)) if status < 0 else (Refusal.ENDED, f"exit status {status}")
        )
        return Refused(refusal=refusal, summary=f"worker ended: {cause}", cause=cause, text=output)

    def _reap(self) -> int:
        """Close the socket and return the exit status of the worker, which is killed if it does not end."""
        self._disconnect()
        try:
            return self._process.wait(_CLOSE_LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    def _ended_output(self) -> str:
        self.kill()
        self._process.wait()
        output = self._output()
        self._release()
        return output

    def _output(self) -> str:
        log = self._started.log.fileno()
        size = os.fstat(log).st_size
        start = max(0, size - OUTPUT_LIMIT)
        return clip(os.pread(log, size - start, start), OUTPUT_LIMIT)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _release(self) -> None:
        self._disconnect()
        self._started.close_files()


def signal_name(number: int) -> str:
    """Return `SIGFPE` for 8; `signal 34` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
