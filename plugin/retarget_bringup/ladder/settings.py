"""`bringup/NAME.toml`: which targets a ladder is about."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from retarget.model import name_error
from retarget.session import ExpressionError, compile_selector, schema_problems
from retarget.support import (
    Diagnostic,
    DiagnosticsError,
    Problem,
    RetargetError,
    diagnostics_of,
    did_you_mean,
    display_path,
    is_there,
    read_toml,
)

ACTIONS = ("start", "driver", "status")
"""The words after `retarget bringup` that are no name of a ladder."""

FOLDER = "bringup"
"""The folder of all ladders of a project. Its parent is the project's root, to which paths and ids are relative."""


class _SettingsTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    paths: list[str] = ["."]
    select: str
    reference: str = ""
    stable: int = Field(default=3, ge=2)
    drivers: list[str] = []


class Settings(Struct, frozen=True, kw_only=True):
    """The content of a file. `paths` and ids are relative to `root`, the folder above `bringup/`. `text` is the file's.

    `reference` is a compiler config, or COMPILER/RUNTIME, empty for none. `stable` runs that match make a target
    stable. `drivers` are those whose conformance checks are in the ladder; none: those of the selected targets.
    """

    file: Path
    paths: tuple[str, ...]
    select: str
    reference: str
    stable: int
    drivers: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """The name of the ladder."""
        return self.file.stem

    @property
    def root(self) -> Path:
        """The project's root."""
        return self.file.parent.parent

    @property
    def ladder_file(self) -> Path:
        """The file of its rungs."""
        return self.file.with_suffix(".ladder")

    def diagnostics(self, problems: Sequence[Problem]) -> tuple[Diagnostic, ...]:
        """Return problems of the file as errors with lines."""
        return diagnostics_of(self.file, self.text, problems)


def find_settings(name: str, folder: Path) -> Path:
    """Return `bringup/NAME.toml` below a folder, or below the nearest one above it that has it, up to the checkout's.

    Raises `RetargetError` where there is none.
    """
    for one in _above(folder):
        if not name_error(name) and os.path.lexists(file := one / FOLDER / f"{name}.toml"):
            return file
    known = ladder_names(folder)
    hint = did_you_mean(name, known) or (f"; expected one of: {', '.join(known)}" if known else "")
    next_step = f"; write it (docs/bringup.md has an example), or let `retarget bringup start {name}` do it"
    msg = f"found no {FOLDER}/{name}.toml in {folder} or in the folders above it{hint or next_step}"
    raise RetargetError(msg)


def ladder_names(folder: Path) -> list[str]:
    """Return the names of the ladders that `find_settings` finds from a folder."""
    return sorted({path.stem for one in _above(folder) for path in (one / FOLDER).glob("*.toml")})


def _above(folder: Path) -> Iterator[Path]:
    for one in (folder, *folder.parents):
        yield one
        if (one / ".git").exists():
            return


def read_settings(file: Path) -> Settings:
    """Read a file. Raises `DiagnosticsError` with every error of it."""
    file = file.absolute()
    text, data, unreadable = read_toml(file)
    if unreadable:
        raise DiagnosticsError(unreadable)
    try:
        table = _SettingsTable.model_validate(data)
    except ValidationError as error:
        problems = schema_problems(error, data, model=_SettingsTable)
        raise DiagnosticsError(diagnostics_of(file, text, problems)) from None
    if found := [*_problems(file, table)]:
        raise DiagnosticsError(diagnostics_of(file, text, found))
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table}
    return Settings(file=file, text=text, **known)


def _problems(file: Path, table: _SettingsTable) -> Iterator[Problem]:
    root = file.parent.parent
    for at, path in enumerate(table.paths):
        written = PurePosixPath(path)
        if written.is_absolute() or ".." in written.parts:
            yield Problem(("paths", at), f"found {path!r}, expected a path below {display_path(root)}")
        elif not is_there(root / path.partition("::")[0]):
            yield Problem(("paths", at), f"found no file or folder {path!r} in {display_path(root)}")
    try:
        compile_selector(table.select)
    except ExpressionError as error:
        yield Problem(("select",), f"{table.select!r}: {error.diagnostic}")
