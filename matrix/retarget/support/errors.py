"""Errors a user can cause, and how they are worded.

Every message says what was found, where, what was expected, and what to do next.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fault", "FaultsError", "RetargetError", "did_you_mean", "display_path", "grouped"]

_FEW = 3
"""How many diagnostics of one file that are alike get a line each; of more, all but the first are counted."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_VARIABLE = re.compile(rf"{_QUOTED.pattern}|\d+")


class RetargetError(Exception):
    """A fault of input, environment or extension, worded for the user. Never shown with a traceback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault in one declaration file.

    `line` is 1-based; 0 means that the fault concerns the file as a whole. `key_path` is written as
    in `target_config[2].runtimes[0]` and is empty where no key is to blame. `column` is 1-based, in characters; 0
    means that the line as a whole is meant.
    """

    file: Path
    line: int
    key_path: str
    message: str
    column: int = 0

    def __str__(self) -> str:
        where = f"{display_path(self.file)}:{self.line}" if self.line else display_path(self.file)
        where = f"{where}:{self.column}" if self.line and self.column else where
        return f"{where}: {self.key_path}: {self.message}" if self.key_path else f"{where}: {self.message}"


class FaultsError(RetargetError):
    """All faults found, in file and line order."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(
            sorted(faults, key=lambda fault: (str(fault.file), fault.line, fault.column, fault.key_path))
        )
        super().__init__("\n".join(str(fault) for fault in self.faults))


def grouped(faults: Iterable[Fault]) -> list[str]:
    """Return a line for each diagnostic; one line for many of one file that differ only in what they found."""
    alike: dict[tuple[Path, str], list[Fault]] = {}
    for fault in faults:
        what, _, _ = _VARIABLE.sub("…", fault.message).partition("; ")
        alike.setdefault((fault.file, what), []).append(fault)
    lines: list[str] = []
    for first, *others in alike.values():
        if len(others) < _FEW:
            lines += map(str, (first, *others))
            continue
        found = (_QUOTED.search(fault.message) for fault in others)
        names = [one[0] if one else f"line {fault.line}" for one, fault in zip(found, others, strict=True)]
        names = [*dict.fromkeys(names)][:_FEW]
        lines.append(f"{first} (and {len(others)} more like it in this file: {', '.join(names)}, …; -vv shows all)")
    return lines


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest known word, or the empty string."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def display_path(path: Path) -> str:
    """Return `path` relative to the current folder where it lies below it, else as it is."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()
