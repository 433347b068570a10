"""The subcommands `repro` and `bisect`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CommandModule, hookimpl

_BISECT = CommandModule(
    name="bisect",
    module="retarget_repro.bisect",
    help="find the first release of a compiler or its runtime with which a target fails",
    examples=(
        ("retarget bisect squares_llvm-cpu --good 3.11.0 --bad 3.13.0", "compiler and runtime of these releases"),
        (
            "retarget bisect suites/linalg/suite.toml::linalg::squares_vmvx_local-sync --good 3.11.0 --only runtime",
            "up to the newest",
        ),
    ),
    takes_extensions=True,
)

_REPRO = CommandModule(
    name="repro",
    module="retarget_repro.command",
    help="pack a failure so that it reproduces elsewhere, or open such a bundle",
    examples=(
        ("retarget repro suites/onnx/suite.toml::onnx::TARGET -o bug.tar.zst", "write the bundle of a failing target"),
        ("retarget repro squares_llvm-cpu --reduce", "of the smallest module and case that fail in the same way"),
        ("retarget repro --open bug.tar.zst -o bug", "unpack a bundle; nothing in it is executed"),
    ),
    takes_extensions=True,
)


@hookimpl
def retarget_commands() -> Iterable[CommandModule]:
    """`repro` and `bisect`."""
    return (_REPRO, _BISECT)
