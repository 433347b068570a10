"""Says where declarations stand, with their lines."""

from __future__ import annotations

from pathlib import Path

from retarget.model.declared import Origin
from retarget.support.errors import display_path
from retarget.support.toml.keypaths import parse_key_path

__all__ = ["Places"]


class Places:
    """The lines of declarations; each file is read once."""

    def __init__(self) -> None:
        self._locators: dict[Path, object] = {}

    def place(self, origin: Origin, *steps: str | int) -> str:
        """Return `file:line` of a declaration, or of a key below it."""
        line = self.line(origin, *steps)
        return f"{display_path(origin.file)}:{line}" if line else display_path(origin.file)

    def line(self, origin: Origin, *steps: str | int) -> int:
        """Return the 1-based line of a declaration, or of a key below it; 0 if the file cannot be read any more."""
        from retarget.support.toml.locate import Locator  # only who is told a place pays for the parser

        if origin.file not in self._locators:
            try:
                self._locators[origin.file] = Locator(origin.file.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                self._locators[origin.file] = None
        locator = self._locators[origin.file]
        return locator.line((*parse_key_path(origin.key_path), *steps)) if isinstance(locator, Locator) else 0
