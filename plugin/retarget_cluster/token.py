"""Connections without TLS: both sides prove that they have the same token before Dask gets a byte.

Dask's messages hold pickles, and every user of a machine reaches its loopback addresses. The token is in a file that
only its user can read, or in the variable `RETARGET_CLUSTER_TOKEN`; `local:N` makes one for its session. Each side
sends a random number, and then HMAC-SHA256 with the token of both and of the address of the listener: the token itself
is never sent, and what listens in the place of a scheduler cannot pass proofs on to what listens elsewhere.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from typing import Any

from distributed.comm.core import FatalCommClosedError
from distributed.comm.registry import backends
from distributed.comm.tcp import TCPBackend, TCPConnector, TCPListener
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import user_path
from tornado.iostream import IOStream, StreamClosedError

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
