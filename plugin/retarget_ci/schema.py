"""`retarget ci schema`, and the `ci.toml` that is meant.

The declarations of `ci.toml` as types; pydantic, which they need, is imported where a file is read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retarget_ci import CI_FILE


def add(subparsers: Any) -> None:
    """Declare the action."""
    parser = subparsers.add_parser("schema", help=f"print the JSON Schema of {CI_FILE}, for editors")
    parser.set_defaults(act=_print)


def _print(_: argparse.Namespace) -> int:
    from retarget_ci.files import ci_schema

    sys.stdout.write(ci_schema())
    return 0


def declared_ci() -> CiConfig:
    """Read the `ci.toml` of this folder, or of the nearest one above.

    Raises `RetargetError` where there is none, and for what is wrong in it.
    """
    from retarget_ci.files import find_ci, read_ci  # imports pydantic only where it is needed

    return read_ci(find_ci(Path.cwd()))


if TYPE_CHECKING:
    from retarget_ci import files

    CiConfig = files.CiConfig
    Event = files.EventTable
    Runner = files.RunnerTable
    Waiver = files.WaiverTable
else:
    CiConfig = Event = Runner = Waiver = Any
