"""The subcommand `ci`: one module per action."""

from __future__ import annotations

import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    parser.add_subparsers(dest="action", required=True, metavar="action")


def run(arguments: argparse.Namespace) -> int:
    """Run one of them."""
    status: int = arguments.act(arguments)
    return status
