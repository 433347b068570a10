"""What several subcommands share: reading what is declared, tables, places in files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .declarations import load_all
from .errors import RetargetError, display_path
from .expansion import expand
from .extensions import Registry, load_extensions
from .model import Suite, Target
from .places import Places
from .selection import compile_selector

__all__ = ["Declared", "Places", "add_path_argument", "check_paths", "read_declared", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """All suites below the given paths with their targets, and the extensions that gave the words."""

    registry: Registry
    suites: tuple[tuple[Suite, tuple[Target, ...]], ...]

    def selected(self, expression: str) -> tuple[tuple[Suite, Target], ...]:
        """Return the targets that `-m expression` selects, with their suites.

        Raises `argparse.ArgumentError` for a faulty expression.
        """
        try:
            is_selected = compile_selector(expression)
        except RetargetError as error:
            raise argparse.ArgumentError(None, str(error)) from error
        return tuple((suite, target) for suite, targets in self.suites for target in targets if is_selected(target))


def add_path_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the paths that a subcommand looks for suites in."""
    parser.add_argument(
        "path", nargs="*", type=Path, default=[Path()], help="folders or suite files to look in (the current folder)"
    )


def read_declared(paths: Sequence[Path], extensions: Sequence[str], *, or_else: str = "") -> Declared:
    """Read the suites at and below `paths`. `or_else` names what else could have stood in a path's place.

    Raises `FaultsError` and `RetargetError`, `argparse.ArgumentError` for a path that does not exist.
    """
    check_paths(paths, or_else=or_else)
    registry = load_extensions(extensions)
    suites = load_all(paths, registry)
    return Declared(registry=registry, suites=tuple((suite, expand(suite, registry)) for suite in suites))


def check_paths(paths: Sequence[Path], *, or_else: str = "") -> None:
    """Raise `argparse.ArgumentError` for a path that does not exist."""
    for path in paths:
        if not path.exists() and not path.is_symlink():
            msg = f"found no file or folder {display_path(path)}{or_else}"
            raise argparse.ArgumentError(None, msg)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns with a header, the last column as wide as it is."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    lines = []
    for row in ([name.upper() for name in header], *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
