"""Errors a user can cause, and how they are worded.

Every message says what was found, where, what was expected, and what to do next.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.support.text import listed

_FEW = 3
"""How many diagnostics of one file that are alike get a line each; of more, all but the first are counted."""

_NAMED = 8
"""How many known words a message has."""

_SHOWN = 100
"""How many diagnostics the text of one error has: a generated file may be wrong in each of its lines."""

_REUSE = "; in its place `--retarget-reuse-results` takes the results that still hold: docs/ci.md"
REPLACED = {
    "CiFileTable only_changed": _REUSE,
    "CiFileTable paths_ignore": _REUSE,
    "_SettingsTable drivers": "; in its place `retarget bringup driver` checks them",
    "retarget ci plan --since": _REUSE,
    "retarget ci fingerprints": _REUSE,
    "retarget ci summary": "; in its place `retarget results show` lists failures",
    "retarget ci emit --check": "; in its place `retarget ci verify` compares the files",
    "retarget profile check": "; in its place `retarget profile show FILE` reports every error",
    "retarget results show --format": "; in its place `retarget results export ctrf` writes each target",
    "retarget history list --format": "; in its place `History.read` of `retarget.results` reads it",
    "retarget history show --format": "; in its place `History.read` of `retarget.results` reads it",
    "retarget compare --format": "; in its place `retarget results diff --format json` compares two sessions",
    "retarget bringup --json": "; in its place the exit status of --check is for programs",
    "retarget report --bringup": "; in its place `retarget bringup NAME` prints it",
    "retarget compare --seed": "; in its place `retarget init` writes cases with generated inputs",
}
"""What takes the place of a key of a file's model, and of an action or option of a command, that is gone."""

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""The control characters of terminals, as escapes: files may be a stranger's."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_VARIABLE = re.compile(rf"{_QUOTED.pattern}|\d+")


class RetargetError(Exception):
    """An error of input, environment or extension, worded for the user. Never shown with a traceback.

    Its text holds no control characters but tabs and line ends. `location` is the line, 1-based, of a file that it is
    about, where it knows one.
    """

    location: tuple[Path, int] | None = None

    def __str__(self) -> str:
        return super().__str__().translate(_CONTROLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One error in one declaration file.

    `line` is 1-based; 0 means that the error concerns the file as a whole. `key_path` is written as
    in `target_config[2].runtimes[0]` and is empty where no key is to blame. `column` is 1-based, in characters; 0
    means that the line as a whole is meant.
    """

    file: Path
    line: int = 0
    key_path: str = ""
    message: str
    column: int = 0

    def __str__(self) -> str:
        where = f"{display_path(self.file)}:{self.line}" if self.line else display_path(self.file)
        where = f"{where}:{self.column}" if self.line and self.column else where
        text = f"{where}: {self.key_path}: {self.message}" if self.key_path else f"{where}: {self.message}"
        return text.translate(_CONTROLS)


class DiagnosticsError(RetargetError):
    """All errors found, in file and line order. Its text shows the first 100 and counts the others."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(
            sorted(
                diagnostics,
                key=lambda diagnostic: (str(diagnostic.file), diagnostic.line, diagnostic.column, diagnostic.key_path),
            )
        )
        lines = [str(diagnostic) for diagnostic in self.diagnostics[:_SHOWN]]
        if (more := len(self.diagnostics) - _SHOWN) > 0:
            lines.append(f"and {more} more")
        super().__init__("\n".join(lines))


def grouped(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Return a line for each diagnostic; one line for many of one file that differ only in what they found."""
    alike: dict[tuple[Path, str], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        what, _, _ = _VARIABLE.sub("…", diagnostic.message).partition("; ")
        alike.setdefault((diagnostic.file, what), []).append(diagnostic)
    lines: list[str] = []
    for first, *others in alike.values():
        if len(others) < _FEW:
            lines += map(str, (first, *others))
            continue
        found = (_QUOTED.search(diagnostic.message) for diagnostic in others)
        names = [one[0] if one else f"line {diagnostic.line}" for one, diagnostic in zip(found, others, strict=True)]
        names = [*dict.fromkeys(names)][:_FEW]
        lines.append(f"{first} (and {len(others)} more like it in this file: {', '.join(names)}, …; -vv shows all)")
    return lines


def did_you_mean(word: str, known: Iterable[str], *, lists: bool = False) -> str:
    """Return `; did you mean 'x'?` for the nearest known word, or the empty string; or what there is if it `lists`."""
    known = list(known)
    if near := nearest(word, known):
        return f"; did you mean {near!r}?"
    return f"; {known_words(known)}" if lists else ""


def known_words(known: Sequence[str]) -> str:
    """Return the known names as the end of a message."""
    return f"there is {listed(known, _NAMED) or 'none'}"


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known word that a word is most like, by difflib's ratio; empty where none is."""
    import difflib  # not in a process that makes no mistake

    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)), "")


def display_path(path: Path) -> str:
    """Return `path` relative to the current folder where it lies below it; else, or where that is gone, as it is."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except (FileNotFoundError, ValueError):
        return path.as_posix()


_DISTRIBUTION = "retarget"
_EXTRA = re.compile(r"(?:\s+and\s+)?extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"]")


def install_hint(extra: str, what: str = "it") -> str:
    """Return how to install an extra: "install it with `pip install -e '.[onnx]'`" where this runs from a checkout.

    Elsewhere the command names the packages of the extra, which is right wherever this project was installed from.
    """
    checkout = _checkout()
    if checkout is not None:
        folder = "." if checkout == Path.cwd() else str(checkout)
        return f"install {what} with `pip install -e {shlex.quote(f'{folder}[{extra}]')}`"
    packages = " ".join(map(shlex.quote, _packages(extra)))
    return f"install {what} with `pip install {packages}` (the extra [{extra}] of {_DISTRIBUTION})"


def _checkout() -> Path | None:
    """Return the folder of the checkout that this file lies in; None where it was installed elsewhere."""
    folder = Path(__file__).resolve().parents[3]
    return folder if (folder / "pyproject.toml").is_file() and (folder / "matrix").is_dir() else None


def _packages(extra: str) -> list[str]:
    """Return what an extra requires, as pip takes it: `onnx>=1.16`."""
    import importlib.metadata

    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    packages = []
    for line in required:
        found = _EXTRA.search(line)
        if found is not None and found["extra"] == extra:
            name, _, marker = line.replace(found[0], "").partition(";")
            packages.append(f"{name.strip()}; {marker.strip()}" if marker.strip() else name.strip())
    return packages or [f"{_DISTRIBUTION}[{extra}]"]
