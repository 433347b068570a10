"""`bringup/NAME.ladder`: a line for each target, `ID RUNG DIGEST`, sorted by id, between comment lines.

`fails CASE,CASE` follows where cases fail, and `lowered from RUNG: REASON` in the line of a target that `--lower` let
fall. The first line says which ladder it is and its version, those after it on which devices it was recorded, the last
that the file is complete. Two branches that change different lines merge without a conflict. Of several lines of a
target, as a merge may leave them, the highest counts; `--raise` writes each once and in order.

`bringup/NAME.toml`: which targets a ladder is about.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from retarget.model import Rung, name_error
from retarget.session import ExpressionError, Selector, schema_problems
from retarget.support import (
    Checkout,
    Diagnostic,
    DiagnosticsError,
    Problem,
    RetargetError,
    below_error,
    did_you_mean,
    display_path,
    read_regular,
    read_toml,
    write_atomically,
)

VERSION = 1
DIGITS = 12
"""The length of a digest, in hex digits."""

_MOST = 20
"""How many errors of one file are reported."""

_FIRST = re.compile(r"# retarget ladder (\d+): (\S+)")
_DEVICE = re.compile(r"# on (\S.*)")
_LAST = "# end"
_LINE = re.compile(r"(\S.*?) (\S+) ([0-9a-f]{12})(?: fails (\S+))?(?: lowered from (\S+): (\S.*))?")


class Line(Struct, frozen=True, kw_only=True):
    """A target's rung, and the digest of what was tried; `number` is that of the line, 0 where it is in no file.

    `failing` are the cases that do not match, empty where nothing says. With `lowered_from` it was on that rung before
    `--lower`, for a `reason` of one line.
    """

    target: str
    rung: Rung
    digest: str
    failing: tuple[str, ...] = ()
    number: int = 0
    lowered_from: Rung | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        """The line as it is written."""
        fails = f" fails {','.join(quote(case) for case in self.failing)}" if self.failing else ""
        lowered = f" lowered from {self.lowered_from.word}: {self.reason}" if self.lowered_from is not None else ""
        return f"{self.target} {self.rung.word} {self.digest}{fails}{lowered}"


class Ladder(Struct, frozen=True, kw_only=True):
    """The lines of a file, as they are there. `devices` are those on which it was recorded, as
    `retarget_bringup.ladder.states` names them, or globs over these names."""

    file: Path
    lines: tuple[Line, ...] = ()
    devices: tuple[str, ...] = ()

    def line_of(self, digests: dict[str, str]) -> dict[str, Line]:
        """Return the line of each target: of several, the highest; of equally high ones, that with the fewest cases
        that fail, then that with today's digest."""

        def rank(line: Line) -> tuple[Rung, bool, int, bool]:
            return line.rung, bool(line.failing), -len(line.failing), line.digest == digests.get(line.target, "")

        found: dict[str, Line] = {}
        for line in self.lines:
            found[line.target] = max(found.get(line.target, line), line, key=rank)
        return found


def ladder_text(name: str, lines: Iterable[Line], devices: Iterable[str] = ()) -> str:
    """Return the text of a file."""
    ordered = sorted(lines, key=lambda one: one.target)
    rows = [*(f"# on {one}" for one in sorted(set(devices)))]
    rows += [one.text for one in ordered]
    return "\n".join([f"# retarget ladder {VERSION}: {name}", *rows, _LAST, ""])


def write_ladder(file: Path, lines: Iterable[Line], devices: Iterable[str] = ()) -> bool:
    """Write a file; return whether that changed it. Raises `RetargetError` where it cannot be written."""
    content = ladder_text(file.stem, lines, devices).encode()
    try:
        changed = not file.exists() or read_regular(file) != content
        if changed:
            write_atomically(file, content)
    except OSError as error:
        msg = f"{display_path(file)}: cannot be written: {error.strerror or error}"
        raise RetargetError(msg) from error
    return changed


def read_ladder(file: Path) -> Ladder:
    """Read a file; one that is not there is empty.

    Raises `DiagnosticsError` with every error: another ladder, another version, a cut file, an invalid line, an unknown
    rung.
    """
    if not file.exists() and not file.is_symlink():
        return Ladder(file=file)
    try:
        text = read_regular(file).decode()
    except OSError as error:
        msg = f"{display_path(file)}: cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
    except UnicodeDecodeError:
        msg = f"{display_path(file)}: found bytes that are no UTF-8 text, expected a ladder"
        raise RetargetError(msg) from None
    return parse_ladder(file, text)


def committed_lines(file: Path) -> dict[str, Line]:
    """Return the lines that the last commit has; none where it has no such file, or one that cannot be read."""
    text = Checkout(file.parent).content(file.name)
    try:
        return parse_ladder(file, text).line_of({}) if text is not None else {}
    except RetargetError:  # of another version, or a conflict that was committed
        return {}


def parse_ladder(file: Path, text: str) -> Ladder:
    """Read the text of a file, such as that of another revision. Raises as `read_ladder` does."""
    reader = _Reader(file, text)
    if errors := reader.errors[:_MOST]:
        if more := len(reader.errors) - len(errors):
            errors[-1] = dataclasses.replace(errors[-1], message=f"{errors[-1].message}; {more} more lines are wrong")
        raise DiagnosticsError(errors)
    return Ladder(file=file, lines=tuple(reader.lines), devices=tuple(reader.devices))


class _Reader:
    """Reads the text of one file: `lines`, `devices` and `errors`."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self.lines: list[Line] = []
        self.devices: list[str] = []
        self.errors: list[Diagnostic] = []
        content = [(number, row) for number, row in enumerate(text.replace("\r\n", "\n").split("\n"), 1) if row]
        is_cut = bool(content) and (content[-1][1] != _LAST or not text.endswith("\n"))
        for number, row in content[: -1 if is_cut else None]:
            if row != _LAST:
                self._row(number, row)
        if not content or not _FIRST.fullmatch(content[0][1]):
            found = f"{content[0][1][:80]!r}" if content else "an empty file"
            expected = f"expected the first line of a ladder, `# retarget ladder {VERSION}: {file.stem}`"
            self._error(content[0][0] if content else 1, f"found {found}, {expected}")
        elif is_cut:
            self._error(content[-1][0], f"the file is cut here: expected its last line, `{_LAST}`; restore it with git")

    def _row(self, number: int, row: str) -> None:
        if first := _FIRST.fullmatch(row):
            version, name = first.groups()
            if version != str(VERSION):
                expected = f"expected {VERSION}; read it with the retarget that wrote it"
                self._error(number, f"found a ladder of version {version}, {expected}")
            elif name != self._file.stem:
                expected = f"expected that of {self._file.stem!r}; a ladder is in bringup/NAME.ladder"
                self._error(number, f"found the ladder of {name!r}, {expected}")
            return None
        if (device := _DEVICE.fullmatch(row)) and row.isprintable():
            return self.devices.append(device[1])
        if row.startswith("#"):
            return self._error(number, f"found {row[:80]!r}, expected no comment: --raise would not keep it")
        found = _LINE.fullmatch(row)
        if found is None or not row.isprintable():
            expected = f"expected TARGET RUNG DIGEST, the digest of {DIGITS} hex digits"
            if row.startswith(("<<<<<<<", "=======", ">>>>>>>")):
                expected += "; resolve the merge, or set `*.ladder merge=union` in .gitattributes"
            return self._error(number, f"found {row[:120]!r}, {expected}")
        target, word, digest, fails, before, reason = found.groups()
        rungs = [Rung.named(one) for one in filter(None, (word, before))]
        if None in rungs:
            unknown, words = (word, before)[rungs.index(None)], [one.word for one in Rung]
            hint = did_you_mean(unknown, words)
            return self._error(number, f"found the rung {unknown!r}, expected one of {', '.join(words)}{hint}")
        line = Line(target=target, rung=Rung[word.upper()], digest=digest, number=number)
        if fails:
            line = replace(line, failing=tuple(unquote(case) for case in fails.split(",")))
        if before:
            line = replace(line, lowered_from=Rung[before.upper()], reason=reason)
        self.lines.append(line)
        return None

    def _error(self, line: int, message: str) -> None:
        self.errors.append(Diagnostic(file=self._file, line=line, key_path="", message=message))


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


class Settings(_SettingsTable):
    """The content of a file. `paths` and ids are relative to `root`, the folder above `bringup/`. `text` is the file's.

    `reference` is a compiler config, or COMPILER/RUNTIME, empty for none. A target is stable after `stable` runs that
    match.
    """

    file: Path
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
        return Problem.locate(self.file, self.text, problems)


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
        raise DiagnosticsError(Problem.locate(file, text, problems)) from None
    if found := [*_problems(file, table)]:
        raise DiagnosticsError(Problem.locate(file, text, found))
    return Settings.model_construct(file=file, text=text, **dict(table))


def _problems(file: Path, table: _SettingsTable) -> Iterator[Problem]:
    root = file.parent.parent
    for at, path in enumerate(table.paths):
        if message := below_error(path, root):
            yield Problem(("paths", at), message)
    try:
        Selector(table.select)
    except ExpressionError as error:
        yield Problem(("select",), f"{table.select!r}: {error.diagnostic}")
