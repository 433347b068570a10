"""What several subcommands share: which targets they are about, tables, source locations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.extension.registry import Registry
from retarget.model import Suite, Target
from retarget.model.locations import SourceLocations
from retarget.support.errors import display_path
from retarget.targets.pytest_selection import CollectedSuite, SelectionRequest, SelectionUsageError, pytest_plugin

__all__ = [
    "Declared",
    "SourceLocations",
    "add_expression_arguments",
    "add_path_arguments",
    "check_paths",
    "read_declared",
    "request_of",
    "shortened",
    "table",
]

_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The suites that pytest collects with their targets, and the extensions that gave the words."""

    registry: Registry
    collected: tuple[CollectedSuite, ...]

    @property
    def suites(self) -> tuple[tuple[Suite, tuple[Target, ...]], ...]:
        """Each suite with all its targets that the paths hold."""
        return tuple((one.suite, one.targets) for one in self.collected)

    @property
    def selected(self) -> tuple[tuple[Suite, Target], ...]:
        """The targets that `-m` and `-k` select, with their suites."""
        return tuple((one.suite, target) for one in self.collected for target in one.selected)


def add_path_arguments(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    """Declare where a subcommand looks for suites."""
    if positional:
        parser.add_argument(
            "path",
            nargs="*",
            default=["."],
            help="what to look in, as pytest takes it: folders, suite files, modules (.)",
        )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="PATH", help="leave this file or folder out; may be repeated"
    )


def add_expression_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how a subcommand selects targets."""
    parser.add_argument(
        "-m",
        dest="mark",
        default="",
        metavar="EXPR",
        help="select by tags, as in pytest: \"vulkan and not driver(name='local-sync')\"",
    )
    parser.add_argument(
        "-k",
        dest="keyword",
        default="",
        metavar="EXPR",
        help="select by parts of names, as in pytest: 'matmul and f16'",
    )


def request_of(arguments: argparse.Namespace, paths: Sequence[str], *, or_else: str = "") -> SelectionRequest:
    """Return what is selected among `paths`. `or_else` names the alternatives to a path.

    Raises `argparse.ArgumentError` for a path that does not exist.
    """
    check_paths(paths, or_else=or_else)
    check_paths(arguments.ignore, after="--ignore: ")
    return SelectionRequest(
        paths=tuple(paths),
        mark=getattr(arguments, "mark", ""),
        keyword=getattr(arguments, "keyword", ""),
        ignore=tuple(arguments.ignore),
        extensions=tuple(arguments.retarget_extension),
    )


def read_declared(request: SelectionRequest) -> Declared:
    """Collect the suites.

    Raises `DiagnosticsError` and `RetargetError`, `argparse.ArgumentError` for what pytest refuses.
    """
    try:
        selection = pytest_plugin().select_targets(request)
    except SelectionUsageError as error:
        raise argparse.ArgumentError(None, str(error)) from error
    return Declared(registry=selection.registry, collected=selection.suites)


def check_paths(paths: Sequence[str], *, after: str = "", or_else: str = "") -> None:
    """Raise `argparse.ArgumentError` for a path that does not exist. What follows `::` is left to pytest.

    `after` is the option that the paths came after.
    """
    for written in paths:
        path = Path(written.partition("::")[0])
        try:
            is_there = path.exists() or path.is_symlink()
        except OSError as error:
            msg = f"{after}cannot read {shortened(str(path))!r}: {error.strerror or error}"
            raise argparse.ArgumentError(None, msg) from error
        if not is_there:
            msg = f"{after}found no file or folder {display_path(path)}{or_else}"
            raise argparse.ArgumentError(None, msg)


def shortened(text: str) -> str:
    """Return text that is not longer than a line."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns with a header, the last column as wide as it is."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    lines = []
    for row in ([name.upper() for name in header], *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
