"""A store that a web server serves: read only, from a server that need not know ranges nor tell the truth."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from faulty_proxy import FaultyProxy
from retarget.session.cache.key import digest_of
from retarget.session.cache.remote_objects import RemoteSettings, remote_settings
from retarget.session.cache.remote_store import RemoteStore
from retarget.session.cache.store import Store

KEY = digest_of(b"key")
ARTIFACT = b"ARTIFACT" * 2000


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[FaultyProxy]:
    """Serve a store that another machine has filled, through a proxy."""
    share = tmp_path / "share"
    share.mkdir()
    remote = RemoteStore(RemoteSettings(url=str(share), folder=share))
    Store(tmp_path / "first", remote=remote).put_artifact(KEY, ARTIFACT, suffix=".up", seconds=1, diagnostics="")
    remote.flush(60)
    remote.close()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(share))) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with FaultyProxy(f"http://127.0.0.1:{server.server_port}") as proxy:
            yield proxy
        server.shutdown()


@pytest.fixture
def store(tmp_path: Path, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("RETARGET_REMOTE_STORE", f"{proxy.url}/?token=secret")
    settings = remote_settings()
    assert settings is not None
    remote = RemoteStore(settings)
    yield Store(tmp_path / "second", remote=remote)
    remote.close()


def test_what_a_web_server_has_is_taken_over_and_nothing_is_sent(store: Store, proxy: FaultyProxy) -> None:
    found = store.lookup(KEY)
    assert found is not None
    assert found.artifact is not None
    assert Path(found.artifact.path).read_bytes() == ARTIFACT

    other = digest_of(b"other")
    assert store.lookup(other) is None
    store.put_artifact(other, ARTIFACT, suffix=".up", seconds=1, diagnostics="")
    assert proxy.requests == ["GET"] * 3
    assert store.notes == ()
