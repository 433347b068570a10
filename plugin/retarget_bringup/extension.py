"""The subcommand `bringup`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_BRINGUP = CommandModule(
    name="bringup",
    module="retarget_bringup.command",
    help="bring up a backend: how far each target comes, what blocks the most, and a ladder that only rises",
    examples=(
        ("retarget bringup start npu --like vulkan", "write configs, a suite and a ladder for a new backend"),
        ("retarget bringup vulkan", "how far each target of bringup/vulkan.toml comes, and what blocks the most"),
        ("retarget bringup vulkan --next", "the one thing to do next, and why"),
        ("retarget bringup vulkan --check", "for CI: fail where a target is lower than bringup/vulkan.ladder says"),
    ),
    takes_extensions=True,
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`bringup`."""
    return (_BRINGUP,)
