"""Addresses: TLS with certificates, or this machine."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from retarget.cli.main import main
from retarget.support.errors import RetargetError

pytest.importorskip("distributed")
import dask.config
import distributed
from retarget_cluster import command, register
from retarget_cluster.security import check_listener, expect_distributed, security_for, worker_host
from retarget_cluster.session.link import Link

HOW = (
    "give certificates to Dask on all sides, in its configuration (distributed.comm.tls: ca-file, scheduler.cert, "
    "scheduler.key, worker.cert, …; see https://distributed.dask.org/en/stable/tls.html), and use tls://"
)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:65535"])
def test_loopback_needs_no_certificates(address: str) -> None:
    assert security_for(address, "client").require_encryption is False


@pytest.mark.parametrize("address", ["tcp://10.0.0.7:8786", "tcp://ci.example.com:8786", "tcp://0.0.0.0:8786"])
def test_other_machines_need_tls(address: str) -> None:
    with pytest.raises(RetargetError) as caught:
        security_for(address, "worker")
    reason = "without TLS: whoever reaches a scheduler or a worker can run code there"
    assert str(caught.value) == f"found {address}, which is not on this machine, {reason}; {HOW}"


def test_tls_without_certificates_says_which_are_missing() -> None:
    with dask.config.set({"distributed.comm.tls.ca-file": "ca.pem"}), pytest.raises(RetargetError) as caught:
        check_listener("tls", "ci.example.com")
    lacking = "distributed.comm.tls.scheduler.cert, distributed.comm.tls.scheduler.key"
    assert str(caught.value) == f"tls://ci.example.com: Dask's configuration does not say {lacking}; {HOW}"


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8786", "tcp://127.0.0.1", "tcp://127.0.0.1:0", "http://a:1", "tcp://a b:1"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(RetargetError) as caught:
        security_for(address, "client")
    expected = "expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
    assert str(caught.value) == f"found {address!r}, {expected}"


@pytest.mark.parametrize("words", [["worker"], ["cluster", "status"]], ids=" ".join)
def test_an_argument_that_is_no_address_is_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main([*words, "foo"])
    expected = "expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
    assert f"argument ADDRESS: found 'foo', {expected}\n" in capsys.readouterr().err


def test_what_listens_and_is_no_scheduler_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def look(address: str) -> None:
        async with register.at_scheduler(address, security_for(address, "client")):
            pass

    monkeypatch.setattr(register, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RetargetError) as caught:
            asyncio.run(look(address))
    assert str(caught.value) == f"no scheduler answers at {address}; `retarget cluster start` starts one"


def test_a_session_does_not_begin_with_what_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "_SECONDS", 0.2)
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("Dask's client would wait for ever"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(RetargetError, match=f"^no scheduler answers at {address}; "):
            Link(address, security_for(address, "client"))


def test_a_scheduler_that_starts_says_how_it_is_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def serve(scheme: str, host: str, port: int, _: object, announce: Callable[[str], None]) -> int:
        announce(f"{scheme}://{host}:{port}")
        return 0

    monkeypatch.setattr(command, "serve_scheduler", serve)
    assert main(["cluster", "start"]) == 0
    assert capsys.readouterr() == (
        "tcp://127.0.0.1:8786\n",
        "workers: retarget worker tcp://127.0.0.1:8786\nsessions: pytest --retarget-cluster tcp://127.0.0.1:8786\n",
    )


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
        "import sys, retarget_cluster.command, retarget_cluster.worker.command, retarget_cluster.session.executor; "
        "print({'dask', 'distributed', 'tornado'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("imports", "own", "logs"), [(True, None, True), (True, {"mine": "info"}, False), (False, None, False)]
)
def test_the_log_of_distributed_is_left_out_where_it_is_imported_and_nothing_else_was_said(
    imports: bool, own: object, logs: bool
) -> None:
    with dask.config.set({"logging": own, "distributed.admin.large-graph-warning-threshold": "1 B"}):
        expect_distributed("it", imports=imports)
        found = dask.config.get("logging")
        assert found == ({**found, "distributed": "critical"} if logs else own)
        is_set = dask.config.get("distributed.admin.large-graph-warning-threshold") == "4 GiB"
        assert is_set is imports
        dask.config.set({"logging": None})


@pytest.mark.parametrize("imports", [False, True])
def test_where_distributed_is_not_installed_it_is_said_what_needs_it(
    monkeypatch: pytest.MonkeyPatch, imports: bool
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(RetargetError, match=r"^it needs the package distributed, which is not installed; install it "):
        expect_distributed("it", imports=imports)
