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
from .keypaths import parse_key_path
from .model import Origin, Suite, Target
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


class Places:
    """Says where declarations stand, with their lines; reads each file once."""

    def __init__(self) -> None:
        self._locators: dict[Path, object] = {}

    def place(self, origin: Origin, *steps: str | int) -> str:
        """Return `file:line` of a declaration, or of a key below it."""
        line = self.line(origin, *steps)
        return f"{display_path(origin.file)}:{line}" if line else display_path(origin.file)

    def line(self, origin: Origin, *steps: str | int) -> int:
        """Return the 1-based line of a declaration, or of a key below it; 0 if the file cannot be read any more."""
        from .locate import Locator

        if origin.file not in self._locators:
            try:
                self._locators[origin.file] = Locator(origin.file.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                self._locators[origin.file] = None
        locator = self._locators[origin.file]
        return locator.line((*parse_key_path(origin.key_path), *steps)) if isinstance(locator, Locator) else 0


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns with a header, the last column as wide as it is."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    lines = []
    for row in ([name.upper() for name in header], *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
