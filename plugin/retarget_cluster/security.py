"""Which addresses are used how: TLS with certificates by Dask's own configuration, or loopback with this user's token.

Dask's messages hold pickles: any sender can run code here. Certificates or the token on both sides authenticate
senders.

Dask's messages hold pickles, and every user of a machine reaches its loopback addresses. The token is in a file that
only its user can read, or in the variable `RETARGET_CLUSTER_TOKEN`; `local:N` makes one for its session. Each side
sends a random number, and then HMAC-SHA256 with the token of both and of the address of the listener: the token itself
is never sent, and what listens in the place of a scheduler cannot pass proofs on to what listens elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import importlib.util
import ipaddress
import os
import re
import secrets
from contextlib import suppress
from typing import Any

from distributed.comm.core import FatalCommClosedError
from distributed.comm.registry import backends
from distributed.comm.tcp import TCPBackend, TCPConnector, TCPListener
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import user_path
from retarget.support.installing import install_hint
from tornado.iostream import IOStream, StreamClosedError

TOKEN_VARIABLE = "RETARGET_CLUSTER_TOKEN"  # noqa: S105  (a name)
_ADDRESS = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>\[[0-9a-fA-F:.]+\]|[\w.-]+):(?P<port>\d+)")
_FILES = ("ca-file", "{role}.cert", "{role}.key")
_HOW = (
    "give certificates to Dask on all sides, in its configuration (distributed.comm.tls: ca-file, scheduler.cert, "
    "scheduler.key, worker.cert, …; see https://distributed.dask.org/en/stable/tls.html), and use tls://"
)

_UNWATCHED = {
    "distributed": {
        "admin": {"tick": {"interval": "1 s"}, "system-monitor": {"interval": "10 s"}},
        "worker": {"profile": {"enabled": False}},
    }
}
"""Dask's own metrics are for its dashboard, which our processes do not serve. It took 20 to 30 ms of CPU a second in
each process, idle ones too. A user's configuration of Dask takes precedence."""


class _AddressError(RetargetError, argparse.ArgumentTypeError):
    """Not the address of a scheduler, in an option or an argument."""


def expect_distributed(what: str, *, imports: bool = True) -> None:
    """Raise `RetargetError` where Dask distributed is not installed, which `what` needs.

    If it `imports` it, its log is left out unless Dask's configuration says otherwise: what a user is to know, we say.
    """
    if importlib.util.find_spec("distributed") is None:
        msg = f"{what} needs the package distributed, which is not installed; {install_hint('cluster')}"
        raise RetargetError(msg)
    if not imports:
        return
    import dask.config

    dask.config.update(dask.config.config, _UNWATCHED, priority="old")
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "4 GiB"})  # a front end's output may be large
    if not dask.config.get("logging", None):
        quiet = (
            "distributed",
            "distributed.client",
            "distributed.worker",
            "distributed.scheduler",
            "tornado.application",
        )
        dask.config.set(logging=dict.fromkeys(quiet, "critical"))


def security_for(address: str, role: str, token: str = "") -> Any:
    """Return the `distributed.Security` for an address, which is that of a scheduler; `role` is client, scheduler or
    worker. Without TLS, connections are made with the `token`; if there is none, with that of `TOKEN_VARIABLE` or
    of this user. Raises `RetargetError` for what is no address, is not loopback without TLS, or lacks certificates."""
    scheme, _, place = address_of(address).partition("://")
    return _security(scheme, place.rpartition(":")[0], role, address, token)


def address_of(text: str) -> str:
    """Return the address of an argument. Raises `RetargetError` for what is none, wrong usage in an argument."""
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 65536:
        msg = f"found {text!r}, expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
        raise _AddressError(msg)
    return text


def dialled(address: str) -> str:
    """Return what Dask is to dial for the address of a scheduler; `security_for` has checked it."""
    return address.replace("tcp://", "tcp+token://", 1)


def shown(address: str) -> str:
    """Return an address of Dask's as people write it."""
    return address.replace("tcp+token://", "tcp://", 1)


def worker_host(address: str) -> str | None:
    """Return where a worker of the scheduler at an address listens, as Dask's workers do: without TLS on loopback only.
    None for anywhere."""
    found = _ADDRESS.fullmatch(address)
    return found["host"].strip("[]") if found is not None and found["scheme"] == "tcp" else None


def check_listener(scheme: str, host: str) -> Any:
    """Return the `distributed.Security` of a scheduler that listens at a host. Raises as `security_for` does."""
    return _security(scheme, host, "scheduler", f"{scheme}://{host}")


def _security(scheme: str, host: str, role: str, address: str, token: str = "") -> Any:
    import dask.config
    from distributed import Security

    if scheme == "tcp":
        if not _is_loopback(host):
            msg = (
                f"found {address}, which is not on this machine, without TLS: whoever reaches a scheduler or a worker "
                f"can run code there; {_HOW}"
            )
            raise RetargetError(msg)

        add_backend(token or os.environ.get(TOKEN_VARIABLE, ""))
        return Security(require_encryption=False)
    names = [f"distributed.comm.tls.{name.format(role=role)}" for name in _FILES]
    lacking = [name for name in names if not dask.config.get(name, None)]
    if lacking:
        msg = f"{address}: Dask's configuration does not say {', '.join(lacking)}; {_HOW}"
        raise RetargetError(msg)
    return Security(require_encryption=True)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


SCHEME = "tcp+token"
"""The scheme of these connections in Dask: its own `tcp` is left as it is, for other users of Dask in this process."""
_MAGIC = b"retarget"
_SIZE = hashlib.sha256().digest_size
_SECONDS = 5.0


def add_backend(token: str = "") -> None:
    """Have Dask know the scheme, with this token, or else that of this user's file, which is made if it is not there.

    Raises `RetargetError`.
    """
    backends[SCHEME] = _Backend((token or _users_token()).encode())


def _users_token() -> str:
    path = user_path(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "retarget" / "cluster-token"
    how = "it is to be a file of this user that nobody else can read (chmod 600); or set RETARGET_CLUSTER_TOKEN"
    if not path.is_absolute():
        msg = "this user has no home folder for the token of clusters; set RETARGET_CLUSTER_TOKEN on all sides"
        raise RetargetError(msg)
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f"{path.name}.{os.getpid()}")
            beside.touch(0o600)
            beside.write_text(secrets.token_hex(_SIZE))
            with suppress(FileExistsError):  # another process was first
                os.link(beside, path)
            beside.unlink()
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            text = file.read(1000).decode(errors="replace").strip()
    except OSError as error:
        msg = f"{display_path(path)}: cannot be used as the token of clusters: {error.strerror}; {how}"
        raise RetargetError(msg) from error
    if about.st_uid != os.geteuid() or about.st_mode & 0o077 or len(text) < _SIZE:
        found = f"{len(text)} characters, mode {about.st_mode & 0o777:o}, user {about.st_uid}"
        msg = f"{display_path(path)}: found {found}; {how}"
        raise RetargetError(msg)
    return text


class _Connector(TCPConnector):  # type: ignore[misc]  # distributed has no types
    prefix = f"{SCHEME}://"

    def __init__(self, token: bytes) -> None:
        self._token = token

    async def connect(self, address: str, deserialize: bool = True, **more: Any) -> Any:
        comm = await super().connect(address, deserialize, **more)
        try:
            async with asyncio.timeout(_SECONDS):
                is_proven = await self._prove(comm.stream)
        except (TimeoutError, StreamClosedError):
            is_proven = False
        if not is_proven:
            comm.abort()
            msg = (
                "what listens there has another token than this process: it was started by another user or with "
                "another RETARGET_CLUSTER_TOKEN, or is not `retarget cluster start`"
            )
            raise FatalCommClosedError(msg)
        return comm

    async def _prove(self, stream: IOStream) -> bool:
        ours = secrets.token_bytes(_SIZE)
        await stream.write(_MAGIC + ours)
        theirs, proof = await stream.read_bytes(_SIZE), await stream.read_bytes(_SIZE)
        both = ours + theirs + _text(stream.socket.getpeername())
        if not hmac.compare_digest(proof, _proof(self._token, b"listener", both)):
            return False
        await stream.write(_proof(self._token, b"connector", both))
        return True


class _Listener(TCPListener):  # type: ignore[misc]
    prefix = f"{SCHEME}://"

    def __init__(self, token: bytes, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._token = token

    async def _prepare_stream(self, stream: IOStream, address: str) -> IOStream | None:  # noqa: ARG002
        with suppress(TimeoutError, StreamClosedError):
            async with asyncio.timeout(_SECONDS):
                if await stream.read_bytes(len(_MAGIC)) == _MAGIC:
                    theirs, ours = await stream.read_bytes(_SIZE), secrets.token_bytes(_SIZE)
                    both = theirs + ours + _text(stream.socket.getsockname())
                    await stream.write(ours + _proof(self._token, b"listener", both))
                    proof = await stream.read_bytes(_SIZE)
                    if hmac.compare_digest(proof, _proof(self._token, b"connector", both)):
                        return stream
        stream.close()
        return None


class _Backend(TCPBackend):  # type: ignore[misc]
    def __init__(self, token: bytes) -> None:
        self._token = token

    def get_connector(self) -> _Connector:
        return _Connector(self._token)

    def get_listener(self, *given: Any, **named: Any) -> _Listener:
        return _Listener(self._token, *given, **named)


def _proof(token: bytes, role: bytes, both: bytes) -> bytes:
    return hmac.digest(token, role + both, "sha256")


def _text(address: tuple[Any, ...]) -> bytes:
    return f"{address[0]} {address[1]}".encode()
