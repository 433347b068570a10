"""The subcommand `report`."""

from __future__ import annotations

import argparse
import gc
import importlib.util
from pathlib import Path

from retarget.support import RetargetError, install_hint

from retarget_report.read import read_report
from retarget_report.site import write_site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what it takes."""
    parser.add_argument("results", nargs="+", metavar="DIR", help="folders or files of `pytest --retarget-results`")
    parser.add_argument("-o", dest="site", required=True, metavar="SITE", help="the folder to write the page to")
    parser.add_argument(
        "--plan",
        action="append",
        default=[],
        metavar="FILE",
        help="a plan of `retarget ci plan`: the page shows which of its targets have no result (repeatable)",
    )
    parser.add_argument("--history", default="", metavar="FOLDER|URL", help="a history of `retarget history add`")
    parser.add_argument(
        "--bringup",
        action="append",
        default=[],
        metavar="FILE",
        help="what `retarget bringup NAME --json` printed: the page shows the bring-up of the backend (repeatable)",
    )
    parser.add_argument("--title", default="", help="what the page is called (default: retarget)")


def run(arguments: argparse.Namespace) -> int:
    """Write the page; print where it is."""
    if importlib.util.find_spec("jinja2") is None:
        msg = f"retarget report needs the package jinja2, which is not installed; {install_hint('report')}"
        raise RetargetError(msg)
    gc.disable()  # all that is read is kept until the page is written: looking for garbage doubles the time
    try:
        report = read_report(
            map(Path, arguments.results),
            map(Path, arguments.plan),
            title=arguments.title,
            history=arguments.history,
            bringups=map(Path, arguments.bringup),
        )
        index = write_site(report, Path(arguments.site))
    finally:
        gc.enable()
    print(index.resolve().as_uri())
    return 0
