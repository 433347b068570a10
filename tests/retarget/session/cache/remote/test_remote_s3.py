"""A real S3-compatible server behind the cache, in a process of its own, and what networks do to it.

Whatever happens, what is looked up is right or not there, and after a few failures no more requests are made.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty_proxy import FaultyProxy
from retarget.session.cache.key import digest_of
from retarget.session.cache.remote_objects import RemoteSettings
from retarget.session.cache.remote_store import RemoteStore
from retarget.session.cache.store import Store

ARTIFACTS = [bytes([number]) * 5000 for number in range(8)]
KEYS = [digest_of(b"key of " + artifact) for artifact in ARTIFACTS]
URL = "s3://bucket/retarget"

Machine = Callable[..., Store]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """Start moto's server, and make a bucket in it; yield its process id and its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("moto") / "log"
    start = "import sys; from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"
    with (
        log.open("wb") as output,
        subprocess.Popen([sys.executable, "-c", start, str(port)], stdout=output, stderr=output) as process,
    ):
        try:
            for _ in range(600):
                try:
                    bucket = urllib.request.Request(f"{url}/bucket", method="PUT")  # noqa: S310
                    urllib.request.urlopen(bucket, timeout=60).close()  # noqa: S310
                    break
                except OSError:
                    assert process.poll() is None, log.read_text()
                    time.sleep(0.1)
            yield process.pid, url
        finally:
            process.terminate()


@pytest.fixture
def server(running: tuple[int, str]) -> str:
    return running[1]


@pytest.fixture
def proxy(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    with FaultyProxy(server) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


@pytest.fixture
def machine(tmp_path: Path, proxy: FaultyProxy) -> Iterator[Machine]:
    remotes = []

    def make(name: str, *, seconds: float = 60.0, writes: bool = True) -> Store:
        url = f"{URL}/{digest_of(str(tmp_path).encode())}"  # of this test
        remotes.append(RemoteStore(RemoteSettings(url=url, seconds=seconds, writes=writes)))
        return Store(tmp_path / name, remote=remotes[-1])

    yield make
    for remote in remotes:
        remote.close()


def remote(store: Store) -> RemoteStore:
    assert store._remote is not None
    return store._remote


def fill(store: Store) -> None:
    for key, artifact in zip(KEYS, ARTIFACTS, strict=True):
        store.put_artifact(key, artifact, suffix=".up", seconds=1, diagnostics="")
    remote(store).flush(120)


def found(store: Store) -> int:
    """Look all up; return how many are there, each as it was stored."""
    count = 0
    for key, artifact in zip(KEYS, ARTIFACTS, strict=True):
        outcome = store.lookup(key)
        if outcome is not None:
            assert outcome.artifact is not None
            assert Path(outcome.artifact.path).read_bytes() == artifact
            count += 1
    return count


@pytest.mark.slow
def test_another_machine_takes_over_what_is_in_a_bucket(machine: Machine) -> None:
    first, second = machine("first"), machine("second", writes=False)
    assert found(first) == 0
    fill(first)
    assert first.notes == ()
    assert remote(first).statistics.uploaded == 8

    assert found(second) == 8
    assert second.notes == ()


FAULTS = {
    "500": ("no good answer came within 1.5 s", "Internal Server Error"),  # the client waits at random, and tries again
    "503": ("no good answer came within 1.5 s", "Service Unavailable"),
    "403": ("check the credentials",),
    "hang": ("no good answer came within 1.5 s",),
    "drip": ("no good answer came within 1.5 s",),
    "reset": ("",),
    "cut": ("",),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_store_that_fails_is_left_out(machine: Machine, proxy: FaultyProxy, fault: str) -> None:
    fill(machine("first"))
    store = machine("second", seconds=1.5)
    assert store.lookup(digest_of(b"warm up")) is None  # the client has been imported
    proxy.fault = fault

    assert found(store) == 0
    asked = len(proxy.requests)
    assert found(store) == 0
    assert len(proxy.requests) == asked
    fill(store)

    assert found(store) == 8
    assert len(store.notes) == 1
    note = store.notes[0]
    assert any(text in note for text in FAULTS[fault])
    lost = "" if fault in {"cut", "drip"} else "; 8 outcomes not uploaded"  # the answer to a put has no content
    assert note.endswith(f"; what it may have was made here{lost}; `retarget cache info` asks it again")


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["500", "403", "hang"])
def test_a_store_that_cannot_be_written_is_still_read(machine: Machine, proxy: FaultyProxy, fault: str) -> None:
    fill(machine("first"))
    store = machine("second", seconds=1.5)
    proxy.fault, proxy.applies = fault, lambda method, path: method == "PUT"
    for number in range(100, 103):
        store.write_result(digest_of(bytes([number])), {})
        remote(store).flush(120)

    assert found(store) == 8
    assert len(store.notes) == 1
    assert " was not written: " in store.notes[0]
    assert "; 3 outcomes not uploaded; to only read it, set RETARGET_REMOTE_STORE_MODE=read; " in store.notes[0]


@pytest.mark.slow
def test_a_bucket_that_is_not_there_is_no_empty_one(machine: Machine, proxy: FaultyProxy, tmp_path: Path) -> None:
    store = Store(tmp_path / "cache", remote=RemoteStore(RemoteSettings(url="s3://absent/x")))
    assert remote(store).ask() == "The specified bucket does not exist"
    assert found(store) == 0
    fill(store)

    assert len(store.notes) == 1
    assert (
        "not read: The specified bucket does not exist; what it may have was made here; 8 outcomes not up"
        in store.notes[0]
    )
    remote(store).close()
