"""The end of the compiles of a process; workers and threads are doubles."""

from __future__ import annotations

from threading import Condition
from types import SimpleNamespace
from typing import Any

from retarget.session.compile.service import BuildService


def test_closing_ends_running_compiles_first_and_what_was_started_meanwhile() -> None:
    workers, at_join = {"running"}, []

    def join() -> None:
        at_join.append(set(workers))
        workers.add("started meanwhile")

    service: Any = BuildService.__new__(BuildService)
    service._changed, service._pending, service._closed = Condition(), {}, False
    service._pool = SimpleNamespace(stop=workers.clear, close=workers.clear)
    service._threads = [SimpleNamespace(join=join)]

    service.close()

    assert at_join == [set()]  # a thread would wait for what runs
    assert workers == set()
