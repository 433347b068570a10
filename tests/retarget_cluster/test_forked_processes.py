"""The processes of `local:N`: their arguments, and how they end. `os.fork` is replaced: no process starts."""

from __future__ import annotations

import argparse
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")
from retarget.support import RetargetError
from retarget_cluster import forked
from retarget_cluster.worker import command
from retarget_cluster.worker.cluster_worker import WorkerOptions


class EndedError(BaseException):
    """In place of the end of a process."""


OPTIONS = ["--workers=2", "--cores=3", "--cache-dir=cache"]


def arguments(monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    monkeypatch.setattr("sys.argv", ["forked", *OPTIONS, *more])
    monkeypatch.setattr(forked, "new_certificate", lambda: "PEM")


@pytest.mark.parametrize("without", OPTIONS)
def test_all_options_are_needed(monkeypatch: pytest.MonkeyPatch, without: str) -> None:
    monkeypatch.setattr("sys.argv", ["forked", *(one for one in OPTIONS if one != without)])
    with pytest.raises(SystemExit):
        forked.main()


def test_an_extension_that_cannot_be_loaded_is_said_and_nothing_is_forked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(names: list[str]) -> None:
        msg = f"no {' and no '.join(names)}"
        raise RetargetError(msg)

    arguments(monkeypatch, "--retarget-extension", "a", "--retarget-extension", "b")
    monkeypatch.setattr(forked, "load_extensions", load)
    monkeypatch.setattr(os, "fork", pytest.fail)
    assert forked.main() == 1
    assert capsys.readouterr().out == "no a and no b\n"


def test_workers_are_told_the_address_and_waited_for_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pids, told, waited = [41, 42], [], []
    asked: list[str] = []
    pipe, readers, before = os.pipe, [], len([*Path("/dev/fd").iterdir()])

    def kept() -> tuple[int, int]:
        reading, writing = pipe()
        readers.append(os.dup(reading))
        os.set_blocking(reading, False)
        return reading, writing

    async def serve(scheme: str, host: str, port: int, _: object, announce: Callable[[str], None]) -> int:
        announce(f"{scheme}://{host}:{port}")
        return 7

    def end_with_parent(clean_up: Callable[[], None]) -> None:
        clean_up()

    arguments(monkeypatch)
    monkeypatch.setattr(forked, "load_extensions", lambda _: None)
    monkeypatch.setattr(forked, "serve_scheduler", serve)
    monkeypatch.setattr(forked, "end_with_parent", end_with_parent)
    with monkeypatch.context() as changed:
        changed.setattr(os, "pipe", kept)
        changed.setattr(os, "fork", lambda: pids[len(readers) - 1])
        changed.setattr(os, "waitpid", lambda pid, options: waited.append((pid, options)))
        changed.setattr(forked, "expect_distributed", asked.append)
        assert forked.main() == 7
    assert (asked, len([*Path("/dev/fd").iterdir()])) == (["local:N"], before + len(readers))
    for reader in readers:
        told.append(os.read(reader, 100))
        told.append(os.read(reader, 100))  # the end: nobody has the other side open
        os.close(reader)
    assert told == [b"tcp://127.0.0.1:0", b""] * 2
    assert waited == [(41, 0), (42, 0)]
    assert json.loads(capsys.readouterr().out) == {
        "address": "tcp://127.0.0.1:0",
        "pids": [41, 42],
        "certificate": "PEM",
    }


def test_a_forked_process_is_a_worker_that_has_only_its_own_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, list[int]]] = []
    opened: list[int] = []
    pipe = os.pipe

    def kept() -> tuple[int, int]:
        pair = pipe()
        opened.append(pair[1])
        return pair

    def is_open(descriptor: int) -> bool:
        try:
            os.fstat(descriptor)
        except OSError:
            return False
        return True

    def work(_: object, name: str, reading: int, security: Any) -> None:
        assert security.tls_worker_key == "PEM"
        made.append((name, [one for one in opened if is_open(one)]))
        os.close(reading)
        raise EndedError

    arguments(monkeypatch)
    monkeypatch.setattr(forked, "load_extensions", lambda _: None)
    monkeypatch.setattr(forked, "_work", work)
    forks = iter([41, 0])
    with monkeypatch.context() as changed:
        changed.setattr(os, "pipe", kept)
        changed.setattr(os, "fork", lambda: next(forks))
        with pytest.raises(EndedError):
            forked.main()
    assert made == [("local-2", [])]


@pytest.mark.parametrize(("address", "status"), [(b"tcp://127.0.0.1:1", 5), (b"", 1)])
def test_a_worker_starts_when_it_has_an_address_and_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, address: bytes, status: int
) -> None:
    served: list[Any] = []

    async def serve(options: WorkerOptions, security: object, *, with_parent: bool) -> int:
        served.append((options, security, with_parent))
        return 5

    def end(found: int) -> None:
        raise EndedError(found)

    steps: list[Any] = []
    given = SimpleNamespace(
        setsid=lambda: steps.append("session"),
        dup2=lambda _, to: steps.append(to),
        devnull=os.devnull,
        read=lambda descriptor, _: address if descriptor == 9 else b"",
        _exit=end,
    )
    monkeypatch.setattr(forked, "os", given)
    monkeypatch.setattr(forked, "serve_worker", serve)
    chosen = argparse.Namespace(cores=3, cache_dir=Path("cache"), retarget_extension=["e"])
    with pytest.raises(EndedError) as ended:
        forked._work(chosen, "local-1", 9, "security")
    assert ended.value.args == (status,)
    assert steps == ["session", 1]
    options = WorkerOptions(
        address=address.decode(),
        name="local-1",
        cores=3,
        cache=Path("cache"),
        extensions=("e",),
        toolchains={},
        probes=False,
        patience=60.0,
    )
    assert served == ([(options, "security", True)] if address else [])


def test_a_process_cleans_up_and_ends_at_the_end_of_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Any] = []
    ended = threading.Event()
    parts = iter([b"x", b"y", b""])

    def end(status: int) -> None:
        steps.append(status)
        ended.set()

    def read(descriptor: int, _: int) -> bytes:
        steps.append(part := next(parts))
        assert descriptor == 0
        return part

    monkeypatch.setattr(command, "os", SimpleNamespace(read=read, _exit=end))
    command.end_with_parent(lambda: steps.append("clean"))
    assert ended.wait(10)
    assert steps == [b"x", b"y", b"", "clean", 0]
