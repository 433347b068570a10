"""`retarget ci schema`, and the option that names a `ci.toml`.

The declarations of `ci.toml` as types; pydantic, which they need, is imported where a file is read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retarget.support import RetargetError

from retarget_ci import CI_FILE


def add(subparsers: Any) -> None:
    """Declare the action."""
    parser = subparsers.add_parser("schema", help=f"print the JSON Schema of {CI_FILE}, for editors")
    parser.set_defaults(act=_print)


def _print(_: argparse.Namespace) -> int:
    from retarget_ci.files import ci_schema

    sys.stdout.write(ci_schema())
    return 0


def add_file_argument(parser: argparse.ArgumentParser) -> None:
    """Declare how an action takes a `ci.toml`."""
    parser.add_argument(
        "--ci", type=Path, metavar="FILE", help=f"the {CI_FILE} (that of this folder, or of the nearest one above)"
    )


def declared_ci(arguments: argparse.Namespace) -> CiConfig:
    """Read the `ci.toml` that is meant. Raises `RetargetError` where there is none, and for what is wrong in it."""
    from retarget_ci.files import find_ci, read_ci  # imports pydantic only where it is needed

    if arguments.ci is not None and not arguments.ci.is_file():
        msg = f"--ci: found no file {arguments.ci}"
        raise RetargetError(msg)
    return read_ci(arguments.ci or find_ci(Path.cwd()))


if TYPE_CHECKING:
    from retarget_ci import files

    CiConfig = files.CiConfig
    Event = files.EventTable
    Runner = files.RunnerTable
    Waiver = files.WaiverTable
else:
    CiConfig = Event = Runner = Waiver = Any
