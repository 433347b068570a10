"""The subcommand `report`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_REPORT = CommandModule(
    name="report",
    module="retarget_report.command",
    help="write results as a page: the matrix, failures by signature, history",
    examples=(("retarget report results -o site", "of all results in a folder; open site/index.html"),),
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`report`."""
    return (_REPORT,)
