"""The subcommands that retarget itself provides, through the hook that extensions use."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension.commands import Command, CommandModule
from retarget.extension.hooks import hookimpl

__all__ = ["retarget_commands"]

_COMMANDS = (
    CommandModule(
        name="init",
        module="retarget.cli.init",
        help="write matrix.toml and suite.toml for the modules in a folder and the devices of this machine",
        examples=(
            ("retarget init", "for the modules in the current folder and below"),
            ("retarget init kernels --dry-run", "print the files for the folder kernels, write nothing"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="list",
        module="retarget.cli.list",
        help="list targets, configs, suites or tags, as text or JSON",
        examples=(
            ("retarget list", "all targets below the current folder"),
            ("retarget list -m 'vulkan and run' -k matmul", "the targets that pytest selects with the same options"),
            ("retarget list compilers suites/linalg", "the compiler configs that the targets of a folder need"),
            ("retarget list runtimes --format json", "for a program that plans builds"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="check",
        module="retarget.cli.check",
        help="check all declarations, what they name and the data of cases, and run nothing",
        examples=(
            ("retarget check", "everything below the current folder"),
            ("retarget check suites --ignore suites/onnx", "leave a folder out"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="explain",
        module="retarget.cli.explain",
        help="show where everything about a target comes from",
        examples=(
            ("retarget explain squares_llvm-cpu_local-sync", "one target"),
            ("retarget explain -m vulkan -k squares", "all targets that the expressions select"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="compare",
        module="retarget.cli.compare",
        help="run a module with two configs and show how the outputs differ",
        examples=(
            ("retarget compare squares.mlir --configs llvm-cpu,vmvx", "two compiler configs"),
            ("retarget compare matmul --configs vmvx,vulkan/vulkan --rtol 1e-3", "a compiler and a runtime config"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="devices",
        module="retarget.cli.devices",
        help="list the devices that each driver finds on this machine",
        examples=(("retarget devices", "all drivers"), ("retarget devices vulkan cuda", "two of them")),
        takes_extensions=True,
    ),
    CommandModule(
        name="show",
        module="retarget.cli.show",
        help="print an artifact as text",
        examples=(
            ("retarget show squares_llvm-cpu", "of a target: from the cache, or compiled"),
            ("retarget show out/squares_llvm-cpu.vmfb", "a file that --retarget-export or iree-compile wrote"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="schema",
        module="retarget.cli.schema",
        help="print the JSON Schema of the files, for editors",
        examples=(
            ("retarget schema > retarget.schema.json", "of matrix.toml, suite.toml and expectations.toml"),
            ("retarget schema --for cases > cases.schema.json", "of *.cases.toml"),
        ),
        takes_extensions=True,
    ),
    CommandModule(
        name="cache",
        module="retarget.cli.cache",
        help="show, check or clear the store of artifacts",
        examples=(
            ("retarget cache info", "where it is, and how large"),
            ("retarget cache clear", "remove what is in it"),
        ),
    ),
)


@hookimpl
def retarget_commands() -> Iterable[Command]:
    """`init`, `list`, `check`, `explain`, `compare`, `devices`, `show`, `schema` and `cache`."""
    return _COMMANDS
