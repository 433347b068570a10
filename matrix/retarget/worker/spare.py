"""A device worker that is started before it is known for which device: it imports while targets are collected."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.support.errors import RetargetError
from retarget.worker.started import Spawner, StartedProcess, kill_group

if TYPE_CHECKING:
    from retarget.worker.process import WorkerProcess


class SpareWorker:
    """One worker process, for the first runtime config without its own variables. To be closed."""

    def __init__(self, *, forks: bool = False) -> None:
        """With `forks`, the worker is a fork where that is safe: it starts later, and takes less CPU time."""
        self._spawner = Spawner()
        self._surroundings = _surroundings()
        self._started: StartedProcess | None = None
        with suppress(RetargetError):  # the worker that is started in its place reports it
            self._started = StartedProcess(spawner=self._spawner, ahead=True, forks=forks)

    def take(self) -> WorkerProcess | None:
        """Return the worker, ready, which is the caller's to close; None if it is taken, or is not what would be
        started now."""
        if self._started is None:
            return None
        if _surroundings() != self._surroundings:
            self._end()
            return None
        from retarget.worker.process import WorkerProcess  # imported long after the process was started

        started, self._started = self._started, None
        with suppress(RetargetError):
            return WorkerProcess(spawner=self._spawner, extensions=(), started=started)
        return None

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


def _surroundings() -> tuple[str, dict[str, str]]:
    """Return what a process takes over from this one when it starts."""
    return str(Path.cwd()), {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
