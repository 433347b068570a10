"""The subcommands `worker` and `cluster`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import Command, hookimpl

__all__ = ["retarget_commands"]


@hookimpl
def retarget_commands() -> Iterable[Command]:
    """None yet."""
    return ()
