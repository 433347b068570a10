"""The subcommand `fuzz`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_FUZZ = CommandModule(
    name="fuzz",
    module="retarget_fuzz.command",
    help="make programs, run them on the selected configs, and keep each way to fail once, reduced",
    examples=(
        ('retarget fuzz -m "opencl or vulkan" --for 10m -o found', "what fails goes to found, as suites"),
        ("retarget fuzz -m cpu --seed 7 --most 200", "200 programs, the same each time"),
        ("retarget fuzz --type f16 --type bf16 --corpus corpus", "keep what covers something new, too"),
    ),
    statuses=(
        (0, "no new finding"),
        (1, "new findings, or an error in declarations, extensions, or on this machine: a config that gave no verdict"),
        (2, "wrong usage: an unknown option, nothing selected, an expression that is none"),
        (130, "interrupted; what was found is kept"),
    ),
    takes_extensions=True,
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`fuzz`."""
    return (_FUZZ,)
