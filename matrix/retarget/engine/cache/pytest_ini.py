"""The ini file that pytest would read in a folder, without pytest: its values for the command `retarget`.

The files, their order and their tables are those of pytest 9 (`_pytest.config.findpaths`).
"""

from __future__ import annotations

import configparser
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomli

__all__ = ["PytestIni", "find_pytest_ini"]

_TABLES = {
    "pytest.toml": ("pytest",),
    ".pytest.toml": ("pytest",),
    "pytest.ini": ("pytest",),
    ".pytest.ini": ("pytest",),
    "pyproject.toml": ("tool", "pytest"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
_ALWAYS = frozenset({"pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"})
"""Files that are pytest's also where they hold nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestIni:
    """An ini file's values; none, and no file, where there is none."""

    file: Path | None = None
    values: Mapping[str, object] = field(default_factory=dict)

    def text(self, key: str) -> str:
        """Return a value as text; the empty string where there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def words(self, key: str) -> Sequence[str]:
        """Return a value's words."""
        value = self.values.get(key)
        if isinstance(value, list):
            return [str(word) for word in value]
        try:
            return shlex.split(self.text(key))
        except ValueError:
            return ()


def find_pytest_ini(folder: Path) -> PytestIni:
    """Return the ini file of `folder` or of the nearest folder above it that has one. One that is damaged is none."""
    folder = folder.absolute()
    for above in (folder, *folder.parents):
        for name in _TABLES:
            file = above / name
            values = _values(file) if file.is_file() else None
            if values is not None:
                return PytestIni(file=file, values=values)
    return PytestIni()


def _values(file: Path) -> Mapping[str, object] | None:
    """Return pytest's values in a file; None where it is none of pytest's."""
    tables = _TABLES[file.name]
    try:
        found = _toml(file, tables) if file.suffix == ".toml" else _sections(file, tables[0])
    except (OSError, ValueError, configparser.Error):
        found = None
    return {} if found is None and file.name in _ALWAYS else found


def _toml(file: Path, tables: Sequence[str]) -> Mapping[str, object] | None:
    table: object = tomli.loads(file.read_text(encoding="utf-8"))
    for name in tables:
        table = table.get(name) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return None
    inner = table.get("ini_options")
    if file.name == "pyproject.toml" and isinstance(inner, dict) and len(table) == 1:
        return inner
    return table


def _sections(file: Path, section: str) -> Mapping[str, object] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep case
    parser.read_string(file.read_text(encoding="utf-8"))
    return dict(parser[section]) if parser.has_section(section) else None
