"""The subcommand `ci`: one module per action, which has `add(subparsers)` and sets `act`."""

from __future__ import annotations

import argparse

from retarget_ci import run as run_legs
from retarget_ci import schema, summary, verify
from retarget_ci.emit import command as emit
from retarget_ci.planning import command as plan
from retarget_ci.planning import fingerprints

_ACTIONS = (plan, emit, run_legs, summary, verify, fingerprints, schema)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    subparsers = parser.add_subparsers(dest="action", required=True, metavar="action")
    for action in _ACTIONS:
        action.add(subparsers)
