"""The subcommands that retarget itself provides, through the hook that extensions use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from retarget.extension.products import Command, CommandModule
from retarget.extension.registry import hookimpl


def _own(name: str, does: str, *examples: tuple[str, str], module: str = "", **known: Any) -> Command:
    known = {"takes_extensions": True} | known
    return CommandModule(name=name, module=f"retarget.cli.{module or name}", help=does, examples=examples, **known)


_COMMANDS = (
    _own(
        "init",
        "write matrix.toml and suite.toml for the modules in a folder and the devices of this machine",
        ("retarget init", "for the modules in the current folder and below"),
        ("retarget init kernels --dry-run", "print the files for the folder kernels, write nothing"),
        module="files.init",
    ),
    _own(
        "list",
        "list targets, configs, suites or tags, as text or JSON",
        ("retarget list", "all targets below the current folder"),
        ("retarget list -m 'vulkan and run' -k matmul", "the targets that pytest selects with the same options"),
        ("retarget list compilers suites/linalg", "the compiler configs that the targets of a folder need"),
        ("retarget list runtimes --format json", "for a program that plans builds"),
        ("retarget list runtimes --format cmake", "the distinct builds, for `include()`; --format bazel for `load()`"),
    ),
    _own(
        "check",
        "check all declarations, what they name and the data of cases, and run nothing",
        ("retarget check", "everything below the current folder"),
        ("retarget check suites --ignore suites/onnx", "leave a folder out"),
    ),
    _own(
        "explain",
        "show where everything about a target comes from",
        ("retarget explain squares_llvm-cpu_local-sync", "one target"),
        ("retarget explain -m vulkan -k squares", "all targets that the expressions select"),
    ),
    _own(
        "run",
        "compile and run targets, with a line for each: exit status 0 passed, 1 failed, 77 skipped",
        ("retarget run suites/linalg/suite.toml::linalg::matmul_vmvx_local-sync", "one target, by its id"),
        ("retarget run 'matmul_*' suites/linalg", "the targets in a folder whose names match"),
        ("retarget run -m 'vulkan and run' .", "those that pytest selects with the same expression"),
        statuses=(
            (0, "no target failed; expected failures count as passed"),
            (1, "a target failed, or there is an error in declarations, rules, extensions or on this machine"),
            (2, "wrong usage: an unknown option, nothing selected, an expression that is none"),
            (77, "all targets were skipped"),
            (130, "interrupted"),
        ),
    ),
    _own(
        "compare",
        "run a module with two configs, or all targets with two toolchains, and show what differs",
        ("retarget compare squares.mlir --configs llvm-cpu,vmvx", "two compiler configs"),
        ("retarget compare matmul --configs vmvx,vulkan/vulkan --rtol 1e-3", "a compiler and a runtime config"),
        ("retarget compare --toolchains iree-3.12.0,environment suites -m llvm-cpu", "what a release changes"),
        module="compare.command",
    ),
    _own(
        "devices",
        "list the devices that each driver finds on this machine",
        ("retarget devices", "all drivers"),
        ("retarget devices vulkan cuda", "two of them"),
        ("retarget devices --profile vulkan://0 -o gpu.toml", "what a device can do, to compile for it elsewhere"),
    ),
    _own(
        "show",
        "print an artifact as text",
        ("retarget show squares_llvm-cpu", "of a target: from the cache, or compiled"),
        ("retarget show out/squares_llvm-cpu.vmfb", "a file that --retarget-export or iree-compile wrote"),
        module="artifacts.show",
    ),
    _own(
        "schema",
        "print the JSON Schema of the files, for editors",
        ("retarget schema > retarget.schema.json", "of matrix.toml, suite.toml and expectations.toml"),
        ("retarget schema --for cases > cases.schema.json", "of *.cases.toml"),
        module="files.schema",
    ),
    _own(
        "cache",
        "show, check or clear the store of artifacts",
        ("retarget cache info", "where it is, and how large"),
        ("retarget cache clear", "remove what is in it"),
        takes_extensions=False,
        module="artifacts.cache",
    ),
    _own(
        "results",
        "merge, show, compare and export what `pytest --retarget-results` wrote",
        ("retarget results show results", "outcomes by config, failures by signature"),
        ("retarget results merge leg-1 leg-2 -o all.jsonl", "one file of the results of all legs"),
        ("retarget results diff before after", "newly broken, newly mended, gone, new"),
        ("retarget results export trace results -o trace.json", "a timeline of workers and devices, for Perfetto"),
        takes_extensions=False,
        module="results.command",
    ),
    _own(
        "history",
        "keep the results of each run, and show since when a target is as it is",
        ("retarget history add results --to history", "one small file for this run"),
        ("retarget history list --from s3://bucket/history", "the runs, and what each broke and mended"),
        ("retarget history show squares_vmvx_local-sync --from history", "one target over all runs"),
        takes_extensions=False,
        module="results.history",
    ),
    _own(
        "bench",
        "compare what `pytest --retarget-benchmark` measured in two sets of results",
        ("retarget bench compare before after", "what changed, the most significant first"),
        ("retarget bench compare before after -m opencl --metric device-time --within '3 %'", "one metric"),
        takes_extensions=False,
        module="results.bench",
        statuses=(
            (0, "nothing is larger by more than the bound and the noise, and B has all runs that A has"),
            (1, "something is larger or ran in A alone, or results cannot be read or compared"),
            (2, "wrong usage: an unknown option, an expression or a percentage that is none"),
        ),
    ),
)


@hookimpl
def retarget_commands() -> Iterable[Command]:
    """All of them."""
    return _COMMANDS
