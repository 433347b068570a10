"""Which addresses are used how: TLS with certificates by Dask's own configuration, or loopback with this user's token.

Dask's messages hold pickles: any sender can run code here. Certificates or the token on both sides authenticate
senders.
"""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import os
import re
from typing import Any

from retarget.support.errors import RetargetError
from retarget.support.installing import install_hint

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
        from retarget_cluster.token import add_backend

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
