"""The subcommand `bench`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_BENCH = CommandModule(
    name="bench",
    module="retarget_bench.command",
    help="compare what `pytest --retarget-benchmark` measured in two sets of results",
    examples=(
        ("retarget bench compare before after", "what changed, the most significant first"),
        ("retarget bench compare before after -m opencl --metric device-time --within '3 %'", "one metric"),
    ),
    statuses=(
        (0, "nothing is larger by more than the bound and the noise, and B has all runs that A has"),
        (1, "something is larger or ran in A alone, or results cannot be read or compared"),
        (2, "wrong usage: an unknown option, an expression or a percentage that is none"),
    ),
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`bench`."""
    return (_BENCH,)
