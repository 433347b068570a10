"""The subcommands `run` and `emit`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

RUN = CommandModule(
    name="run",
    module="retarget_ctest.run",
    help="compile and run targets, with a line for each: exit status 0 passed, 1 failed, 77 skipped",
    examples=(
        ("retarget run suites/linalg/suite.toml::linalg::matmul_vmvx_local-sync", "one target, by its id"),
        ("retarget run 'matmul_*' suites/linalg", "the targets in a folder whose names match"),
        ("retarget run -m 'vulkan and run' .", "those that pytest selects with the same expression"),
    ),
    takes_extensions=True,
    statuses=(
        (0, "no target failed; expected failures count as passed"),
        (1, "a target failed, or there is an error in declarations, rules, extensions or on this machine"),
        (2, "wrong usage: an unknown option, nothing selected, an expression that is none"),
        (77, "all targets were skipped"),
        (130, "interrupted"),
    ),
)
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
    """`run` and `emit`."""
    return RUN, _EMIT
