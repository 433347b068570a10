"""`retarget cluster`: what it starts, and what it says of a scheduler. The scheduler and what calls it are doubles."""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")
from retarget.support import RetargetError
from retarget_cluster import command, jobs, relay, security
from retarget_cluster.jobs import decoded, encoded


class Scheduler:
    """What calls the handlers of a scheduler, or is one."""

    def __init__(self, version: int = relay.VERSION, status: Any = None) -> None:
        self.version, self.status, self.address = version, status, "tcp://127.0.0.1:7"
        self.done: list[Any] = []

    async def register_scheduler_plugin(self, *plugins: object, **known: Any) -> None:
        known.pop("plugin", None)
        self.done.append(("plugin", len(plugins), known))

    async def retarget_hello(self) -> int:
        return self.version

    async def retarget_status(self) -> Any:
        return self.status

    async def close(self) -> None:
        self.done.append("closed")

    async def close_rpc(self) -> None:
        self.done.append("rpc closed")

    def __await__(self) -> Any:
        yield
        return self


def serve(monkeypatch: pytest.MonkeyPatch, made: object) -> tuple[int, str]:
    """Serve until a signal comes, as it does at once."""
    given: list[Any] = []

    def scheduler(**known: Any) -> Any:
        given.append(known)
        if isinstance(made, Exception):
            raise made
        return made

    class Said(io.StringIO):
        def write(self, text: str) -> int:
            signal.raise_signal(signal.SIGTERM)
            return super().write(text)

    monkeypatch.setattr("distributed.Scheduler", scheduler)
    said = Said()
    monkeypatch.setattr("sys.stderr", said)
    status = asyncio.run(command.serve_scheduler("tls", "host", 7, "security"))
    assert [(one["host"], one["port"], one["protocol"], one["security"]) for one in given] == [
        ("host", 7, "tls://", "security")
    ]
    return status, said.getvalue()


def test_a_scheduler_has_the_plugin_and_ends_by_a_signal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scheduler = Scheduler()
    status, said = serve(monkeypatch, scheduler)
    assert (status, capsys.readouterr().out) == (0, "tcp://127.0.0.1:7\n")
    assert said == "workers: retarget worker tcp://127.0.0.1:7\nsessions: pytest --retarget-cluster tcp://127.0.0.1:7\n"
    assert scheduler.done == [("plugin", 1, {"idempotent": True}), "closed"]


def cause_of(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(98, "Address in use"), "Address in use"),
        (cause_of(RuntimeError("Dask"), OSError("no such host")), "no such host"),
    ],
)
def test_where_it_cannot_listen_the_system_says_why(
    monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    with pytest.raises(RetargetError) as caught:
        serve(monkeypatch, error)
    assert str(caught.value) == f"cannot listen at tls://host:7: {why}; --port 0 takes any port that is free"


def test_another_error_of_dask_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        serve(monkeypatch, cause_of(RuntimeError("a bug"), ValueError("x")))


STATUS = {"workers": [], "sessions": 1, "waiting": 2}


def test_status_asks_the_scheduler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    @asynccontextmanager
    async def at_scheduler(address: str, security: object) -> AsyncIterator[Scheduler]:
        assert (address, security) == ("tcp://a:1", ("tcp://a:1", "client"))
        yield Scheduler(status=STATUS)

    monkeypatch.setattr(security, "at_scheduler", at_scheduler)
    monkeypatch.setattr(command, "security_for", lambda *known: known)
    assert command.run(argparse.Namespace(action="status", address="tcp://a:1")) == 0
    assert capsys.readouterr().out == (
        "tcp://a:1: workers 0, sessions 1, waiting for a worker 2\n`retarget worker tcp://a:1` starts a worker\n"
    )


@pytest.mark.parametrize("text", ["-1", "65536", "x", "", "²", "1.5"])
def test_a_port_is_a_number_below_65536(text: str) -> None:
    assert (command._port("0"), command._port("65535")) == (0, 65535)
    with pytest.raises(argparse.ArgumentTypeError, match=r"^found .*, expected a port from 0 to 65535$"):
        command._port(text)


# ---------------------------------------------------------------- what is said to a scheduler


@pytest.mark.parametrize(
    ("version", "error", "kind", "message"),
    [
        (relay.VERSION, None, None, ""),
        (relay.VERSION + 1, None, RetargetError, "the scheduler at tcp://a:1 works for another version of retarget"),
        (relay.VERSION, OSError("lost"), security.SilentError, "no scheduler answers at tcp://a:1; `retarget clust"),
        (relay.VERSION, TimeoutError(), security.SilentError, "no scheduler answers at tcp://a:1; `retarget clust"),
    ],
)
def test_a_scheduler_answers_with_the_plugin_of_this_version(
    monkeypatch: pytest.MonkeyPatch, version: int, error: Exception | None, kind: type[Exception] | None, message: str
) -> None:
    scheduler = Scheduler(version)

    async def ask() -> None:
        async with security.at_scheduler("tcp://a:1", SimpleNamespace(get_connection_args=lambda role: role)) as found:
            assert found is scheduler
            if error is not None:
                raise error

    monkeypatch.setattr("distributed.core.rpc", lambda *_, **__: scheduler)
    if kind is None:
        asyncio.run(ask())
    else:
        with pytest.raises(kind) as caught:
            asyncio.run(ask())
        assert str(caught.value).startswith(message)
        assert type(caught.value) is kind
    assert scheduler.done == [("plugin", 0, {"name": relay.Relay.name, "idempotent": True}), "rpc closed"]


@pytest.mark.parametrize("is_ours", [False, True])
def test_a_task_is_done_by_a_worker_of_ours(monkeypatch: pytest.MonkeyPatch, is_ours: bool) -> None:
    done: list[object] = []

    async def perform(*known: object) -> None:
        done.append(known)

    worker = SimpleNamespace(name="w", **({"retarget_worker": SimpleNamespace(perform=perform)} if is_ours else {}))
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    if is_ours:
        asyncio.run(jobs.perform("a", "s", "t", b"p"))
        assert done == [("a", "s", "t", b"p")]
    else:
        with pytest.raises(RuntimeError, match=r"^the worker w is not one of `retarget worker`$"):
            asyncio.run(jobs.perform("a", "s", "t", b"p"))


def test_processes_of_one_machine_see_the_same_files(monkeypatch: pytest.MonkeyPatch) -> None:
    view = jobs.file_view.__wrapped__
    assert view() == view()
    assert len(view().split()) == 3
    monkeypatch.setattr("pathlib.Path.read_text", lambda *_, **__: (_ for _ in ()).throw(OSError))
    assert view() == ""
    assert decoded(encoded({"pid": os.getpid()})) == {"pid": os.getpid()}  # type: ignore[arg-type]
