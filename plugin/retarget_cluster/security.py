"""Who is let in: all connections have TLS, since Dask's messages hold pickles, with which any sender can run code here.

Between machines (`tls://`) with the certificates of Dask's configuration; on loopback (`tcp://`), which every user of
a machine reaches, with a certificate in a file that only this user can read.

How the scheduler's plugin gets to the scheduler: sent by value by whoever connects first.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import ipaddress
import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from retarget.support import RetargetError, display_path, install_hint, user_path

_ADDRESS = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>\[[0-9a-fA-F:.]+\]|[\w.-]+):(?P<port>\d+)")
_RENEWED = 300 * 86400
"""After so many seconds a user's certificate is replaced: Dask makes them for a year."""
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


def expect_distributed(what: str) -> None:
    """Raise `RetargetError` where Dask distributed is not installed, or what it makes certificates with, which `what`
    needs. Its log is left out unless Dask's configuration says otherwise: what a user is to know, we say.
    """
    for package in ("distributed", "cryptography"):
        if importlib.util.find_spec(package) is None:
            msg = f"{what} needs the package {package}, which is not installed; {install_hint('cluster')}"
            raise RetargetError(msg)
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


def security_for(address: str, role: str) -> Any:
    """Return the `distributed.Security` for an address, which is that of a scheduler; `role` is client, scheduler or
    worker. Raises `RetargetError` for what is no address, is `tcp://` and not loopback, or lacks certificates."""
    scheme, _, place = address_of(address).partition("://")
    return security_at(scheme, place.rpartition(":")[0], role, address)


def address_of(text: str) -> str:
    """Return the address of an argument. Raises `RetargetError` for what is none, wrong usage in an argument."""
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 65536:
        msg = f"found {text!r}, expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
        raise _AddressError(msg)
    return text


def dialled(address: str) -> str:
    """Return what Dask is to dial for the address of a scheduler; `security_for` has checked it."""
    return address.replace("tcp://", "tls://")


def worker_host(address: str) -> str | None:
    """Return where a worker of the scheduler at an address listens: if that is `tcp://`, on loopback only. None for
    anywhere."""
    found = _ADDRESS.fullmatch(address)
    return found["host"].strip("[]") if found is not None and found["scheme"] == "tcp" else None


def new_certificate() -> str:
    """Return a certificate and its key, as PEM."""
    from distributed import Security

    made = Security.temporary()
    return f"{made.tls_ca_file}{made.tls_client_key}"


def security_of(certificate: str) -> Any:
    """Return the `distributed.Security` of all that have this certificate and its key, whatever their role."""
    from distributed import Security

    sides = {
        f"tls_{role}_{part}": certificate for role in ("client", "scheduler", "worker") for part in ("cert", "key")
    }
    return Security(require_encryption=True, tls_ca_file=certificate, **sides)


def _users_certificate() -> str:
    path = user_path(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "retarget" / "cluster.pem"
    how = (
        "it is to be a file of this user that nobody else can read (chmod 600), which retarget writes where there is "
        "none; XDG_CONFIG_HOME names another folder"
    )
    if not path.is_absolute():
        msg = (
            "this user has no home folder for the certificate of clusters; set XDG_CONFIG_HOME to the same on all sides"
        )
        raise RetargetError(msg)
    try:
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _RENEWED:
                path.unlink()
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f"{path.name}.{os.getpid()}")
            beside.touch(0o600)
            beside.write_text(new_certificate())
            with suppress(FileExistsError):  # another process was first
                os.link(beside, path)
            beside.unlink()
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            text = file.read(20_000).decode(errors="replace")
    except OSError as error:
        msg = f"{display_path(path)}: cannot be used as the certificate of clusters: {error.strerror}; {how}"
        raise RetargetError(msg) from error
    if about.st_uid != os.geteuid() or about.st_mode & 0o077 or "PRIVATE KEY" not in text:
        found = f"{len(text)} characters, mode {about.st_mode & 0o777:o}, user {about.st_uid}"
        msg = f"{display_path(path)}: found {found}; {how}"
        raise RetargetError(msg)
    return text


def security_at(scheme: str, host: str, role: str, address: str = "") -> Any:
    """Return that of one who listens at a host, or dials it at an `address`. Raises as `security_for` does."""
    import dask.config
    from distributed import Security

    address = address or f"{scheme}://{host}"
    if scheme == "tcp":
        if not _is_loopback(host):
            msg = f"found {address}, which is not on this machine; between machines {_HOW}"
            raise RetargetError(msg)
        return security_of(_users_certificate())
    names = [f"distributed.comm.tls.{name.format(role=role)}" for name in _FILES]
    lacking = [name for name in names if not dask.config.get(name, None)]
    if lacking:
        msg = f"{address}: Dask's configuration does not say {', '.join(lacking)}; {_HOW}"
        raise RetargetError(msg)
    return Security(require_encryption=True)


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


_SECONDS = 10.0


class SilentError(RetargetError):
    """No scheduler answers."""


@asynccontextmanager
async def at_scheduler(address: str, security: Any) -> AsyncIterator[Any]:
    """Yield what calls the handlers of a scheduler that has the plugin; all of it may take 10 seconds at a time.

    Raises `SilentError` where nothing answers, also where something listens that is no scheduler; `RetargetError` where
    it has another certificate, or the plugin of another version.
    """
    from distributed.comm.core import FatalCommClosedError
    from distributed.core import rpc

    scheduler = rpc(dialled(address), timeout=_SECONDS, connection_args=security.get_connection_args("client"))
    try:
        await asyncio.wait_for(_register(scheduler, address), _SECONDS)
        async with asyncio.timeout(_SECONDS):
            yield scheduler
    except FatalCommClosedError as error:
        certificates = f"certificates do not fit: {error.__cause__ or error}"  # Dask wraps it
        is_ours = address.startswith("tcp://")
        why = "what listens there was started by another user or another program" if is_ours else certificates
        msg = f"{address}: {why}"
        raise RetargetError(msg) from error
    except OSError as error:  # TimeoutError is one
        msg = f"no scheduler answers at {address}; `retarget cluster start` starts one"
        raise SilentError(msg) from error
    finally:
        await scheduler.close_rpc()


async def expect_scheduler(address: str, security: Any) -> None:
    """See to it that a scheduler answers, and has the plugin. Raises as `at_scheduler` does."""
    async with at_scheduler(address, security):
        pass


async def _register(scheduler: Any, address: str) -> None:
    """See to it that a scheduler has the plugin. `scheduler` is what calls its handlers. Raises `RetargetError` where
    it has that of another version, `OSError` where it does not answer."""
    import cloudpickle

    from retarget_cluster import relay

    cloudpickle.register_pickle_by_value(relay)
    try:
        plugin = cloudpickle.dumps(relay.Relay())
    finally:
        cloudpickle.unregister_pickle_by_value(relay)
    await scheduler.register_scheduler_plugin(plugin=plugin, name=relay.Relay.name, idempotent=True)
    version = await scheduler.retarget_hello()
    if version != relay.VERSION:
        msg = (
            f"the scheduler at {address} works for another version of retarget (its plugin is {version}, not "
            f"{relay.VERSION}); start a new one, and update retarget where sessions and workers run"
        )
        raise RetargetError(msg)
