"""Which queued compile is tried next, and how long is waited for one that may not be tried yet."""

from __future__ import annotations

from types import SimpleNamespace, TracebackType
from typing import Any

import pytest
from retarget.session.compile import service
from retarget.session.compile.service import BuildService


class Changed:
    """A condition whose waits end with the service."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.waited: list[float | None] = []

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def wait(self, seconds: float | None) -> None:
        self.waited.append(seconds)
        self.owner._closed = True


def test_what_another_session_stored_before_the_key_was_locked_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "key_of", lambda *_: "key")
    made: Any = BuildService.__new__(BuildService)
    made._store_error, made._inputs_of, released = None, lambda *_, fresh: (), []
    lock = SimpleNamespace(release=lambda: released.append(1))
    made._store = SimpleNamespace(try_lock=lambda _: lock, lookup={"key": "stored"}.get)
    assert (made._locked("target", "key", b"", None), released) == ("stored", [1])


@pytest.mark.parametrize(
    ("pending", "found", "waited"),
    [
        ({}, None, [None]),
        ({"a": 0.0}, "a", []),
        ({"a": 12.0, "b": 10.0, "c": 9.0}, "b", []),
        ({"a": 12.0}, None, [2.0]),
        ({"a": 13.0, "b": 11.0, "c": 15.0}, None, [1.0]),
    ],
)
def test_the_first_that_may_be_tried_is_taken_else_the_earliest_is_awaited(
    monkeypatch: pytest.MonkeyPatch, pending: dict[str, float], found: str | None, waited: list[float | None]
) -> None:
    monkeypatch.setattr(service, "time", SimpleNamespace(monotonic=lambda: 10.0))
    made: Any = BuildService.__new__(BuildService)
    made._closed = False
    made._changed = changed = Changed(made)
    jobs = {name: SimpleNamespace(name=name, not_before=at, started=0.0) for name, at in pending.items()}
    made._pending, made._running = dict(jobs), {}
    job = made._next()
    assert (job and job.name, changed.waited) == (found, waited)
    if found is not None:
        assert (job.started, made._running, [*made._pending]) == (
            10.0,
            {found: job},
            [name for name in pending if name != found],
        )
