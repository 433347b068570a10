"""The hooks of the extension `import`: its subcommand."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """The subcommand `import-bazel`."""
    return (
        CommandModule(
            name="import-bazel",
            module="retarget_import.command",
            help="turn check and lit test suites of BUILD.bazel files into declarations",
            examples=(("retarget import-bazel tests/e2e -o tests/e2e", "beside the BUILD files"),),
            takes_extensions=True,
            statuses=(
                (0, "the declarations are written"),
                (1, "other files are there already, or a file is in error"),
                (2, "wrong usage: an unknown option, a path that is not there or has no BUILD file"),
            ),
        ),
    )
