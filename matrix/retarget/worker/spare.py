"""A device worker that is started before it is known for which device: it imports while targets are collected."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from retarget.support.errors import RetargetError
from retarget.worker.process import Spawner, WorkerProcess

__all__ = ["SpareWorker"]


class SpareWorker:
    """One worker process, for the first runtime config that needs no variables of its own. To be closed."""

    def __init__(self) -> None:
        self._spawner = Spawner()
        self._surroundings = _surroundings()
        self._worker: WorkerProcess | None = None
        with suppress(RetargetError):  # the worker that is started in its place says so
            self._worker = WorkerProcess(spawner=self._spawner, extensions=(), ahead=True)

    def take(self) -> WorkerProcess | None:
        """Return the worker, ready, which is the caller's to close; None if it is taken, or is not what would be
        started now."""
        worker, self._worker = self._worker, None
        if worker is None:
            return None
        if _surroundings() == self._surroundings:
            with suppress(RetargetError):
                worker.get_ready()
                return worker
        _end(worker)
        return None

    def kill(self) -> None:
        """Kill the process, taken or not. Safe in a signal handler."""
        self._spawner.kill()

    def close(self) -> None:
        """End the process if it was not taken. One that was must have been closed."""
        if self._worker is not None:
            _end(self._worker)
            self._worker = None
        self._spawner.close()


def _end(worker: WorkerProcess) -> None:
    worker.kill()
    worker.close()


def _surroundings() -> tuple[str, dict[str, str]]:
    """Return what a process takes over from this one when it starts."""
    return str(Path.cwd()), {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
