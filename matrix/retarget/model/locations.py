"""Where declarations are: their lines, and diagnostics of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.model.declared import Origin
from retarget.support.errors import Diagnostic, display_path
from retarget.support.toml import Problem, parse_key_path

if TYPE_CHECKING:
    from retarget.support.toml import Locator


class SourceLocations:
    """The lines of declarations; each file is read once."""

    def __init__(self) -> None:
        self._locators: dict[Path, Locator] = {}

    def location(self, origin: Origin, *steps: str | int) -> str:
        """Return `file:line` of a declaration, or of a key below it; the file alone if it cannot be read any more."""
        from retarget.support.toml import Locator  # only a caller that needs a location pays for the parser

        if origin.file not in self._locators:
            self._locators[origin.file] = Locator(_text(origin.file))
        line = self._locators[origin.file].line((*parse_key_path(origin.key_path), *steps))
        return f"{display_path(origin.file)}:{line}" if line else display_path(origin.file)

    @staticmethod
    def diagnostics(found: Iterable[tuple[Origin, Problem]]) -> tuple[Diagnostic, ...]:
        """Return errors with their lines, those of one file together. The key paths start at the declarations."""
        by_file: dict[Path, list[Problem]] = {}
        for origin, problem in found:
            path = (*parse_key_path(origin.key_path), *problem.path)
            by_file.setdefault(origin.file, []).append(Problem(path, problem.message))
        return tuple(one for file, problems in by_file.items() for one in Problem.locate(file, _text(file), problems))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
