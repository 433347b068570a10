"""The lines of flagfiles of `iree-run-module` as flags, with those of the flagfiles that they include.

`--flagfile=path` is replaced by the flags of that file. The tool, which is run in the folder of a case's
flagfile, looks for it there, whichever file names it; so does this. The tool ends with a crash where files include each
other in a cycle.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from retarget.support.errors import Diagnostic, DiagnosticsError, did_you_mean
from retarget.support.files import OutsideError, resolve_inside

from retarget_iree.flagfile.values import Location, Written, quoted

__all__ = ["Flag", "flags_of", "read_text", "split_flags"]

_INCLUDE = "flagfile"
_LITERAL = (_INCLUDE, "expected_output")
"""Flags of whose values the tool takes quotes for a part."""
_MOST_FILES = 256
"""Flagfiles that one may include, directly and by others: files that include others twice are many very soon."""
_MAX_TEXT = 64 << 20
"""Bytes of a flagfile. Larger values belong into data files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag. `value` is None where there is no `=`."""

    name: str
    location: Location
    value: Written | None


def read_text(path: Path) -> str:
    """Return a flagfile's text. Raises `DiagnosticsError` for one that cannot be read or is not text."""
    whole = Location(file=path, line=0, column=0)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            msg = "found no regular file, expected a flagfile of iree-run-module"
            raise whole.error(msg)
        size = status.st_size
        if size > _MAX_TEXT:
            msg = f"found a flagfile of {size} bytes, expected at most {_MAX_TEXT}; keep values in .npy or .bin files"
            raise whole.error(msg)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"cannot be read: {error.strerror or error}; expected a flagfile of iree-run-module"
        raise whole.error(msg) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        location = Location(file=path, line=before.count("\n") + 1, column=len(before) - before.rfind("\n"))
        found = f"found the byte 0x{error.object[error.start]:02x}, which is no UTF-8 text here"
        msg = f"{found}; expected a flagfile of iree-run-module"
        raise location.error(msg) from error


def split_flags(path: Path, text: str) -> tuple[tuple[Flag, ...], tuple[Diagnostic, ...]]:
    """Return the flags of a flagfile's text, and the lines that are none as errors."""
    flags: list[Flag] = []
    diagnostics: list[Diagnostic] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith(("#", "//")):
            continue
        location = Location(file=path, line=number, column=raw.index(line) + 1)
        if not line.startswith("--"):
            diagnostics.append(location.diagnostic(_no_flag(line)))
            continue
        name, equals, rest = line[2:].partition("=")
        value = None
        if equals:
            start = len(line) - len(rest.lstrip())
            value = Written(text=rest.strip(), location=location.after(start))
            if name.strip() not in _LITERAL and len(value.text) >= 2 and value.text[0] == value.text[-1] == '"':
                value = Written(text=value.text[1:-1], location=value.location.after(1))  # as a shell does
        flags.append(Flag(name=name.strip(), location=location, value=value))
    return tuple(flags), tuple(diagnostics)


def _no_flag(line: str) -> str:
    if line.startswith("\ufeff"):
        return "found a byte order mark, expected '--name=value'; save the file as UTF-8 without one"
    return f"found {quoted(line)}, expected a flag ('--name=value'), a comment ('#' or '//') or an empty line"


# ---------------------------------------------------------------- inclusion


def flags_of(path: Path, text: str, folder: Path) -> tuple[tuple[Flag, ...], tuple[Diagnostic, ...]]:
    """Return the flags of a flagfile's text and of the files that it includes, in the order that the tool reads them.

    What is wrong with their lines and with the inclusions are the errors. No file may lie outside `folder`.
    """
    inclusion = _Inclusion(base=path.parent, folder=folder)
    flags = tuple(inclusion.flags(path, text, (path,)))
    return flags, tuple(inclusion.diagnostics)


@dataclass(slots=True, kw_only=True)
class _Inclusion:
    """One flagfile about to be read. Paths start at `base`, its folder."""

    base: Path
    folder: Path
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _files: int = 0

    def flags(self, path: Path, text: str, trail: tuple[Path, ...]) -> Iterator[Flag]:
        """Yield the flags of a file. `trail` are the files that led to it, itself last."""
        flags, diagnostics = split_flags(path, text)
        self.diagnostics += diagnostics
        for flag in flags:
            if flag.name != _INCLUDE:
                yield flag
                continue
            self._files += 1
            if self._files > _MOST_FILES:  # reported once
                if self._files == _MOST_FILES + 1:
                    msg = f"found more than {_MOST_FILES} inclusions by {trail[0].name}, expected at most as many"
                    self.diagnostics.append(flag.location.diagnostic(msg))
                return
            try:
                included = self._included(flag, trail)
                text = read_text(included)
            except DiagnosticsError as error:
                self.diagnostics += error.diagnostics
            else:
                yield from self.flags(included, text, (*trail, included))

    def _included(self, flag: Flag, trail: tuple[Path, ...]) -> Path:
        """Return the file that a flag includes. Raises `DiagnosticsError`."""
        written = flag.value
        if written is None or not written.text:
            msg = f"found --{_INCLUDE} without a value, expected --{_INCLUDE}=common_flags.txt"
            raise flag.location.error(msg)
        location = written.location
        try:
            real = resolve_inside(self.base / written.text, self.folder)
            is_file = real.is_file()
            others = () if is_file else _neighbours(real.parent) - {other.name for other in trail}
        except OutsideError as error:
            found = f"found {quoted(written.text)}, which leads outside the suite's folder {self.folder}"
            msg = f"{found}; expected a flagfile inside it"
            raise location.error(msg) from error
        except OSError as error:
            msg = f"found {quoted(written.text)}, which is not a path that can be read: {error.strerror or error}"
            raise location.error(msg) from error
        if not is_file:
            at = "" if len(trail) == 1 else f" in the folder of {trail[0].name}, where the tool looks for it"
            near = did_you_mean(real.name, others)
            msg = f"found no file {quoted(written.text)}, expected a flagfile{at}{near}"
            raise location.error(msg)
        if any(other.resolve() == real for other in trail):
            shown = " → ".join(other.name for other in (*trail, real))
            msg = f"found flagfiles that include each other in a cycle, {shown}; expected a file that includes no more"
            raise location.error(msg)
        return self.folder / real.relative_to(self.folder.resolve())


def _neighbours(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir() if entry.is_file()} if folder.is_dir() else set()
