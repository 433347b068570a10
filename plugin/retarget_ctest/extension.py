"""The subcommand `emit`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_EMIT = CommandModule(
    name="emit",
    module="retarget_ctest.emit",
    help="write files with which another tool runs the targets, such as ctest",
    examples=(("retarget emit ctest -o build/matrix", "then: ctest --test-dir build/matrix -L vulkan -j 4"),),
    statuses=(
        (0, "the files are written"),
        (1, "an error in declarations, extensions or on this machine"),
        (2, "wrong usage: an unknown option, nothing selected, an expression that is none"),
    ),
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`emit`."""
    return (_EMIT,)
