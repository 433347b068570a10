"""The hooks of the extension `profiles`: its subcommand."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """The subcommand `profile`."""
    return (
        CommandModule(
            name="profile",
            takes_extensions=True,
            module="retarget_profiles.command",
            help="list, show and import device profiles, and print what is compiled for them",
            examples=(
                ("retarget profile list", "the profiles that ship"),
                ("retarget profile show lavapipe", "what a device can do, and where that is from"),
                ("retarget profile target vulkan-h200", "the flags that compile for it"),
                ("retarget profile import vulkaninfo.json -o phone.toml", "of a device that is not here"),
            ),
        ),
    )
