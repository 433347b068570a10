"""The subcommands `worker` and `cluster`, and the executors of `--retarget-cluster`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from retarget.extension import CommandModule, hookimpl

_WORKER = CommandModule(
    name="worker",
    module="retarget_cluster.worker.command",
    help="compile and run for sessions of pytest --retarget-cluster, on this machine and its devices",
    examples=(
        ("retarget worker tcp://127.0.0.1:8786", "for a scheduler on this machine"),
        ("retarget worker tls://ci.example.com:8786 --cores 16", "with the certificates of Dask's configuration"),
    ),
    takes_extensions=True,
)
_CLUSTER = CommandModule(
    name="cluster",
    module="retarget_cluster.command",
    help="start a scheduler for workers and sessions, or say what its workers do",
    examples=(
        ("retarget cluster start", "a scheduler at tcp://127.0.0.1:8786"),
        ("retarget cluster status tcp://127.0.0.1:8786", "its workers, their devices, what runs"),
    ),
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`worker` and `cluster`."""
    return (_WORKER, _CLUSTER)


def connect_to(address: str, session: Any) -> Any:
    """Return the executor at an address: an entry point of the group `retarget.executors`."""
    from retarget_cluster.security import expect_distributed

    expect_distributed("--retarget-cluster")
    from retarget_cluster.executor import ClusterExecutor

    return ClusterExecutor(address, session)
