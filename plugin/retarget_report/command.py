"""The subcommand `report`."""

from __future__ import annotations

import argparse
from pathlib import Path

from retarget.results.files import read_results

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    parser.add_argument("results", nargs="+", metavar="DIR", help="folders or files of `pytest --retarget-results`")
    parser.add_argument("-o", dest="site", required=True, metavar="SITE", help="the folder to write the page to")


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    read_results(Path(one) for one in arguments.results)
    return 0
