"""Connections on loopback: who has the token is let in, before anything that it sends is unpickled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from retarget.support.errors import RetargetError

pytest.importorskip("distributed")
from distributed.comm.core import FatalCommClosedError, connect
from distributed.comm.registry import backends
from distributed.core import rpc
from retarget_cluster.token import SCHEME, add_backend


def served(talk: Callable[[str], Any]) -> list[str]:
    """Return the messages that a listener with the token `ours` receives while `talk` uses its address."""
    heard: list[str] = []

    async def hear(comm: Any) -> None:
        heard.append(await comm.read())
        await comm.close()

    async def both() -> None:
        add_backend("ours")
        listener = backends[SCHEME].get_listener("127.0.0.1:0", hear, deserialize=True)
        await listener.start()
        try:
            await talk(listener.contact_address)
            await asyncio.sleep(0.05)
        finally:
            listener.stop()

    asyncio.run(both())
    return heard


def test_who_has_the_token_is_heard() -> None:
    async def talk(address: str) -> None:
        comm = await connect(address, timeout=5)
        await comm.write("hello")
        await comm.close()

    assert served(talk) == ["hello"]


def test_who_has_another_token_is_told_and_is_not_heard() -> None:
    async def talk(address: str) -> None:
        add_backend("theirs")
        with pytest.raises(FatalCommClosedError, match="what listens there has another token than this process"):
            await connect(address, timeout=5)

    assert served(talk) == []


def test_a_program_without_the_token_is_not_heard() -> None:
    async def talk(address: str) -> None:
        plain = rpc(address.replace(f"{SCHEME}://", "tcp://"), timeout=2)
        with pytest.raises(OSError, match="identity"):
            await plain.identity()
        await plain.close_rpc()

    assert served(talk) == []


def test_proofs_that_somebody_passes_on_from_another_port_do_not_count() -> None:
    async def talk(address: str) -> None:
        port = int(address.rpartition(":")[2])

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)

            async def move(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
                while data := await source.read(4096):
                    sink.write(data)
                sink.close()

            with suppress(ConnectionError):
                await asyncio.gather(move(reader, to_writer), move(to_reader, writer))

        async with await asyncio.start_server(pass_on, "127.0.0.1", 0) as between:
            between_port = between.sockets[0].getsockname()[1]
            with pytest.raises(FatalCommClosedError, match="has another token"):
                await connect(f"{SCHEME}://127.0.0.1:{between_port}", timeout=5)

    assert served(talk) == []


def test_a_user_without_a_home_is_told_to_set_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda text: text)
    with pytest.raises(RetargetError, match="no home folder for the token of clusters; set RETARGET_CLUSTER_TOKEN on"):
        add_backend()


def test_the_token_of_a_user_is_made_once_and_only_the_user_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    add_backend()
    path = tmp_path / "retarget" / "cluster-token"
    token = path.read_text()
    add_backend()
    assert path.read_text() == token
    assert (len(token), path.stat().st_mode & 0o777, len(list(path.parent.iterdir()))) == (64, 0o600, 1)


def test_a_token_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "retarget" / "cluster-token"
    path.parent.mkdir()
    path.write_text("x" * 64)
    path.chmod(0o644)
    with pytest.raises(RetargetError) as caught:
        add_backend()
    how = "it is to be a file of this user that nobody else can read (chmod 600); or set RETARGET_CLUSTER_TOKEN"
    assert f"found 64 characters, mode 644, user {path.stat().st_uid}; {how}" in str(caught.value)
