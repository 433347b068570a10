"""Files of an import, written so that edits by hand survive the next one: a three-way merge with what was written last.

`import-bazel.lock` keeps that text. What both have changed gets conflict markers, as of git.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path
from retarget.support.files import read_regular, write_atomically
from retarget.support.installing import install_hint

__all__ = ["LOCK_FILE", "Lock", "Written", "read_lock", "write_files"]

LOCK_FILE = "import-bazel.lock"
_FORMAT = "import-bazel 1"
_START = "<<<<<<< edited by hand"
_END = ">>>>>>> imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What the last import read and wrote: paths of BUILD files, lines of declarations, digests of copied modules.

    All paths are relative to its folder.
    """

    sources: Sequence[str] = ()
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """Return what the last import wrote to a file, None where it wrote none of this name."""
        return "".join(f"{line}\n" for line in self.files[name]) if name in self.files else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of each file by its path: `written`, `unchanged`, `merged`, `kept`, `conflict` or `removed`."""

    states: Mapping[str, str]
    notes: Sequence[str] = ()


def read_lock(folder: Path) -> Lock:
    """Return what the last import kept in a folder. Raises `DiagnosticsError` for what is no such file."""
    path = folder / LOCK_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Lock])[_FORMAT]
    except FileNotFoundError:
        return Lock()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}; expected what the last import wrote, or no such file"
        raise DiagnosticsError([Diagnostic(file=path, message=message)]) from error
    except (msgspec.DecodeError, KeyError) as error:
        message = "cannot be read as what an import keeps; expected this version's file: remove it to import anew"
        raise DiagnosticsError([Diagnostic(file=path, message=message)]) from error


def write_files(
    folder: Path, texts: Mapping[str, str], copies: Mapping[str, Path], sources: Sequence[str], lock: Lock
) -> Written:
    """Write declarations and copies of modules, and what the next import has to know.

    Raises `RetargetError` for a file that no import has written; nothing is written then.
    """
    merged: dict[str, str | None] = {}
    states: dict[str, str] = {}
    foreign: list[Diagnostic] = []
    for name, new in texts.items():
        current = _current(folder / name)
        base = lock.text(name)
        if base is None and current is not None and current != new:
            message = "was not written by an import, expected no such file; move it away, or import into another folder"
            foreign.append(Diagnostic(file=folder / name, message=message))
            continue
        merged[name], states[name] = _merged(base, current, new)
    for name in lock.files.keys() - texts.keys():
        is_edited = _current(folder / name) not in (None, lock.text(name))
        states[name] = "kept" if is_edited else "removed"
        if not is_edited:
            merged[name] = None
    if foreign:
        raise DiagnosticsError(foreign)
    digests, notes = _copy(folder, copies, lock)
    for name, text in merged.items():
        _write(folder / name, None if text is None else text.encode())
    files = {name: text.splitlines() for name, text in sorted(texts.items())}
    kept = Lock(sources=sorted(sources), files=files, modules=dict(sorted(digests.items())))
    _write(folder / LOCK_FILE, msgspec.json.format(msgspec.json.encode({_FORMAT: kept}), indent=1) + b"\n")
    return Written(states=dict(sorted(states.items())), notes=notes)


def _merged(base: str | None, current: str | None, new: str) -> tuple[str | None, str]:
    """Return the text that a file gets, None where there is to be none, and a word for what became of it."""
    if current is None:
        return (None, "kept") if base == new else (new, "written")
    if current == new:
        return current, "unchanged"
    if base == new:
        return current, "kept"
    if base is None or current == base:
        return new, "written"
    merger = _merge3().Merge3(*(text.splitlines(keepends=True) for text in (base, current, new)))
    is_conflict = any(kind[0] == "conflict" for kind in merger.merge_regions())
    lines = merger.merge_lines(start_marker=_START, mid_marker="=======", end_marker=_END)
    return "".join(lines), "conflict" if is_conflict else "merged"


def _merge3() -> Any:
    try:
        return importlib.import_module("merge3")
    except ImportError as error:
        msg = f"the package merge3, which joins edits with a new import, is not installed; {install_hint('import')}"
        raise RetargetError(msg) from error


def _copy(folder: Path, copies: Mapping[str, Path], lock: Lock) -> tuple[dict[str, str], list[str]]:
    """Copy modules, but over none that was edited. Return the digests of what was copied, and notes."""
    digests: dict[str, str] = {}
    notes: list[str] = []
    for name, source in copies.items():
        content, there = _read(source), _read(folder / name)
        if there in (None, content) or _digest(there) == lock.modules.get(name):
            _write(folder / name, content)
            digests[name] = _digest(content)
        else:
            notes.append(f"{name} was edited by hand: it stays as it is")
            digests[name] = lock.modules.get(name, "")
    return digests, notes


def _digest(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()


def _current(path: Path) -> str | None:
    """Return the text of a file, None where there is none. Raises `RetargetError`."""
    content = _read(path)
    try:
        return None if content is None else content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        msg = f"{display_path(path)}: cannot be read: {error}"
        raise RetargetError(msg) from error


def _read(path: Path) -> bytes | None:
    """Return the content of a file, None where there is none. Raises `RetargetError`."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"{display_path(path)}: cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error


def _write(path: Path, content: bytes | None) -> None:
    try:
        if content is None:
            path.unlink(missing_ok=True)
        elif _read(path) != content:
            write_atomically(path, content)
    except OSError as error:
        msg = f"{display_path(path)}: cannot be written: {error.strerror or error}; expected a folder to write to"
        raise RetargetError(msg) from error
