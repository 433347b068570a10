"""Which addresses are used how: TLS with certificates by Dask's own configuration, or loopback only.

Dask's messages hold pickles: whoever may send them runs code here. Certificates on both sides say who may.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import re
from typing import Any

from retarget.support.errors import RetargetError
from retarget.support.installing import install_hint

__all__ = ["check_listener", "expect_distributed", "security_for", "worker_host"]

_ADDRESS = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>\[[0-9a-fA-F:.]+\]|[\w.-]+):(?P<port>\d+)")
_FILES = ("ca-file", "{role}.cert", "{role}.key")
_HOW = (
    "give certificates to Dask on all sides, in its configuration (distributed.comm.tls: ca-file, scheduler.cert, "
    "scheduler.key, worker.cert, …; see https://distributed.dask.org/en/stable/tls.html), and use tls://"
)


def expect_distributed(what: str) -> None:
    """Raise `RetargetError` where Dask distributed is not installed, which `what` needs.

    Its log is left out unless Dask's configuration says otherwise: what a user is to know, we say.
    """
    if importlib.util.find_spec("distributed") is None:
        msg = f"{what} needs the package distributed, which is not installed; {install_hint('cluster')}"
        raise RetargetError(msg)
    import dask.config

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
    worker. Raises `RetargetError` for what is no address, is not loopback without TLS, or lacks certificates."""
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        msg = f"found {address!r}, expected tcp://HOST:PORT or tls://HOST:PORT, such as tcp://127.0.0.1:8786"
        raise RetargetError(msg)
    return _security(found["scheme"], found["host"], role, address)


def worker_host(address: str) -> str | None:
    """Return where a worker of the scheduler at an address listens, as Dask's workers do: without TLS on loopback only.
    None for anywhere."""
    found = _ADDRESS.fullmatch(address)
    return found["host"].strip("[]") if found is not None and found["scheme"] == "tcp" else None


def check_listener(scheme: str, host: str) -> Any:
    """Return the `distributed.Security` of a scheduler that listens at a host. Raises as `security_for` does."""
    return _security(scheme, host, "scheduler", f"{scheme}://{host}")


def _security(scheme: str, host: str, role: str, address: str) -> Any:
    import dask.config
    from distributed import Security

    if scheme == "tcp":
        if not _is_loopback(host):
            msg = (
                f"found {address}, which is not on this machine, without TLS: whoever reaches a scheduler or a worker "
                f"can run code there; {_HOW}"
            )
            raise RetargetError(msg)
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
