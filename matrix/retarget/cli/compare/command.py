"""The arguments of `retarget compare`, and which of its two comparisons they mean."""

from __future__ import annotations

import argparse

from retarget.cli.compare import configs, toolchains
from retarget.cli.support import add_expression_arguments, add_path_arguments, add_toolchain_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget compare`."""
    parser.add_argument("module", nargs="?", default="", help="a module: its file, or its name; none with --toolchains")
    add_path_arguments(parser)
    add_toolchain_argument(parser)
    pairs = parser.add_mutually_exclusive_group(required=True)
    pairs.add_argument(
        "--configs", metavar="A,B", help="two compiler configs, or compiler/runtime pairs such as vulkan/vulkan"
    )
    pairs.add_argument(
        "--toolchains",
        metavar="A,B",
        help="two toolchains, the older first, to compare all selected targets: names or paths (with a /), "
        "or `environment` for what is installed",
    )
    of_configs = parser.add_argument_group("with --configs")
    configs.add_arguments(of_configs)
    of_toolchains = parser.add_argument_group("with --toolchains")
    add_expression_arguments(of_toolchains)
    of_toolchains.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")


def run(arguments: argparse.Namespace) -> int:
    """Compare. Return 0 if nothing differs, or with toolchains if nothing regressed; else 1.

    Raises `argparse.ArgumentError` for wrong usage, `RetargetError` for invalid declarations and for what cannot run.
    """
    if arguments.toolchains is not None:
        return toolchains.run(arguments)
    if not arguments.module:
        msg = "expected a module with --configs, such as: retarget compare matmul.mlir --configs llvm-cpu,vmvx"
        raise argparse.ArgumentError(None, msg)
    if arguments.mark or arguments.keyword or arguments.format != "text":
        msg = "-m, -k and --format are for --toolchains; --configs compares one module"
        raise argparse.ArgumentError(None, msg)
    return configs.run(arguments)
