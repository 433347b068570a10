"""The subcommand `ci`: one module per action, which has `add(subparsers)` and sets `act`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from retarget.extension import CommandModule, hookimpl

if TYPE_CHECKING:
    import argparse

_CI = CommandModule(
    name="ci",
    module=__name__,
    help="plan the legs of a CI run, emit its workflow, run a leg, verify that no target is lost",
    examples=(
        ("retarget ci plan --event pr -o plan.json", "which leg runs which targets"),
        ("retarget ci emit", "write the workflow of each event, and ci.lock"),
        ("retarget ci run plan.json LEG", "the commands of a leg, on this machine"),
        ("retarget ci verify", "declarations, ci.toml and emitted files agree, and every target is run somewhere"),
    ),
    takes_extensions=True,
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`ci`."""
    return (_CI,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    from retarget_ci import run, schema, verify
    from retarget_ci.emit import command as emit
    from retarget_ci.planning import command as plan

    subparsers = parser.add_subparsers(dest="action", required=True, metavar="action")
    for action in (plan, emit, run, verify, schema):
        action.add(subparsers)
