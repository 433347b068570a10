"""`retarget schema`."""

from __future__ import annotations

import argparse
import sys

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget schema`."""
    parser.add_argument(
        "--format",
        choices=("json", "markdown"),
        default="json",
        help="JSON Schema for editors, Markdown for people (json)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the schema. Returns 0."""
    from .schema_export import json_schema, reference

    sys.stdout.write(json_schema() if arguments.format == "json" else reference())
    return 0
