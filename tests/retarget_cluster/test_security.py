"""Addresses: other machines with the certificates of Dask's configuration, this one with a user's own; who is heard."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from retarget.cli import main
from retarget.support import RetargetError

pytest.importorskip("distributed")
import dask.config
import distributed
from distributed.comm.core import FatalCommClosedError, connect, listen
from retarget_cluster import security
from retarget_cluster.extension import connect_to
from retarget_cluster.link import Link
from retarget_cluster.security import (
    expect_distributed,
    new_certificate,
    security_at,
    security_for,
    security_of,
    worker_host,
)

HOW = (
    "give certificates to Dask on all sides, in its configuration (distributed.comm.tls: ca-file, scheduler.cert, "
    "scheduler.key, worker.cert, …; see https://distributed.dask.org/en/stable/tls.html), and use tls://"
)


@pytest.fixture(scope="module")
def certificate() -> str:
    return new_certificate()


@pytest.fixture(autouse=True)
def config_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificate: str) -> Path:
    """Return the folder of this user's configuration, which has the certificate."""
    path = tmp_path / "config" / "retarget" / "cluster.pem"
    path.parent.mkdir(parents=True)
    path.touch(0o600)
    path.write_text(certificate)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def _heard(talk: Callable[[str], Any]) -> list[str]:
    """Return the messages that a listener with a certificate of its own receives while `talk` uses its address."""
    heard: list[str] = []

    async def hear(comm: Any) -> None:
        heard.append(await comm.read())
        await comm.close()

    async def both() -> None:
        arguments = security_of(new_certificate()).get_listen_args("scheduler")
        async with listen("tls://127.0.0.1:0", hear, **arguments) as listener:
            await talk(listener.contact_address)
            await asyncio.sleep(0.05)

    asyncio.run(both())
    return heard


def test_a_program_without_a_certificate_or_with_another_one_is_not_heard(certificate: str) -> None:
    async def talk(address: str) -> None:
        with pytest.raises(FatalCommClosedError):
            await connect(address, timeout=5, **security_of(certificate).get_connection_args("client"))
        with pytest.raises(OSError, match="tcp://"):
            await connect(address.replace("tls://", "tcp://"), timeout=2)

    assert _heard(talk) == []


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:65535"])
def test_loopback_is_used_with_the_certificate_of_this_user(address: str, certificate: str) -> None:
    security = security_for(address, "client")
    assert (security.require_encryption, security.tls_ca_file, security.tls_worker_key) == (True, *[certificate] * 2)


def test_a_user_without_a_home_is_told_to_set_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda text: text)
    with pytest.raises(RetargetError, match="no home folder for the certificate of clusters; set XDG_CONFIG_HOME to"):
        security_at("tcp", "127.0.0.1", "scheduler")


def test_the_certificate_of_a_user_is_written_once_and_anew_before_it_expires(config_home: Path) -> None:
    path = config_home / "retarget" / "cluster.pem"
    path.unlink()
    found = {security_at("tcp", "localhost", "scheduler").tls_ca_file for _ in range(2)}
    assert (found, path.stat().st_mode & 0o777, len(list(path.parent.iterdir()))) == ({path.read_text()}, 0o600, 1)
    assert all(f"BEGIN {part}" in path.read_text() for part in ("CERTIFICATE", "PRIVATE KEY"))
    os.utime(path, (0, 0))
    assert security_at("tcp", "localhost", "scheduler").tls_ca_file not in found


@pytest.mark.parametrize(("text", "mode"), [(None, 0o644), ("", 0o600)], ids=["others can read it", "empty"])
def test_a_file_that_is_no_private_certificate_is_refused(config_home: Path, text: str | None, mode: int) -> None:
    path = config_home / "retarget" / "cluster.pem"
    path.write_text(path.read_text() if text is None else text)
    path.chmod(mode)
    with pytest.raises(RetargetError) as caught:
        security_at("tcp", "127.0.0.1", "scheduler")
    found = f"found {len(path.read_text())} characters, mode {mode:o}, user {path.stat().st_uid}; it is to be a file of"
    assert found in str(caught.value)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(
        RetargetError, match=r"cluster\.pem: cannot be used as the certificate of clusters: Not a directory;"
    ):
        security_at("tcp", "127.0.0.1", "scheduler")


NO_ADDRESS = ["127.0.0.1:8786", "tcp://127.0.0.1", "tcp://127.0.0.1:0", "http://a:1", "tcp://a b:1"]
FAR = ["tcp://10.0.0.7:8786", "tcp://ci.example.com:8786", "tcp://0.0.0.0:8786"]


@pytest.mark.parametrize("address", [*FAR, *NO_ADDRESS])
def test_other_machines_need_tls_and_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(RetargetError) as caught:
        security_for(address, "client" if address in NO_ADDRESS else "worker")
    form = f"{address!r}, expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
    said = form if address in NO_ADDRESS else f"{address}, which is not on this machine; between machines {HOW}"
    assert str(caught.value) == f"found {said}"


def test_tls_without_certificates_says_which_are_missing() -> None:
    with dask.config.set({"distributed.comm.tls.ca-file": "ca.pem"}), pytest.raises(RetargetError) as caught:
        security_at("tls", "ci.example.com", "scheduler")
    lacking = "distributed.comm.tls.scheduler.cert, distributed.comm.tls.scheduler.key"
    assert str(caught.value) == f"tls://ci.example.com: Dask's configuration does not say {lacking}; {HOW}"


@pytest.mark.parametrize("words", [["worker"], ["cluster", "status"]], ids=" ".join)
def test_an_argument_that_is_no_address_is_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main([*words, "foo"])
    expected = "expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
    assert f"argument ADDRESS: found 'foo', {expected}\n" in capsys.readouterr().err


def test_what_listens_and_is_no_scheduler_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def look(address: str) -> None:
        async with security.at_scheduler(address, security_for(address, "client")):
            pass

    monkeypatch.setattr(security, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RetargetError) as caught:
            asyncio.run(look(address))
    assert str(caught.value) == f"no scheduler answers at {address}; `retarget cluster start` starts one"


def test_a_session_does_not_begin_with_what_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "_SECONDS", 0.2)
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("Dask's client would wait for ever"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RetargetError, match=f"^no scheduler answers at {address}; "):
            Link(address, security_for(address, "client"))


@pytest.mark.slow  # a process of its own: Dask leaves sockets behind
def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        argv = [sys.executable, "-m", "retarget.cli", "cluster", "start", "--port", str(port)]
        ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    expected = f"cannot listen at tcp://127.0.0.1:{port}: Address already in use; --port 0 takes any port that is free"
    assert expected in ended.stderr.splitlines()


@pytest.mark.parametrize(
    ("address", "host"),
    [("tcp://127.0.0.1:8786", "127.0.0.1"), ("tcp://[::1]:1", "::1"), ("tls://ci.example.com:1", None), ("here", None)],
)
def test_a_worker_without_tls_listens_where_its_scheduler_does(address: str, host: str | None) -> None:
    assert worker_host(address) == host


def test_distributed_is_not_imported_before_it_is_looked_for_and_its_log_is_quiet() -> None:
    program = (
        "import sys, retarget_cluster.command, retarget_cluster.worker.command, retarget_cluster.executor; "
        "print({'dask', 'distributed', 'tornado'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("own", [None, {"mine": "info"}])
def test_the_log_of_distributed_is_left_out_where_nothing_else_was_said(own: object) -> None:
    with dask.config.set({"logging": own, "distributed.admin.large-graph-warning-threshold": "1 B"}):
        expect_distributed("it")
        found = dask.config.get("logging")
        assert found == (own or {**found, "distributed": "critical"})
        assert dask.config.get("distributed.admin.large-graph-warning-threshold") == "4 GiB"
        dask.config.set({"logging": None})


@pytest.mark.parametrize("missing", ["distributed", "cryptography"])
def test_where_a_package_is_not_installed_it_is_said_what_needs_it(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else name)
    with pytest.raises(RetargetError, match=rf"^it needs the package {missing}, which is not installed; install it "):
        expect_distributed("it")


def test_dask_is_expected_before_an_executor_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(security, "expect_distributed", asked.append)
    monkeypatch.setattr("retarget_cluster.executor.ClusterExecutor", lambda *known: known)
    assert connect_to("tcp://127.0.0.1:1", "session") == ("tcp://127.0.0.1:1", "session")
    assert asked == ["--retarget-cluster"]
