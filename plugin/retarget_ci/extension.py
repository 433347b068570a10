"""The subcommand `ci`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_CI = CommandModule(
    name="ci",
    module="retarget_ci.command",
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
