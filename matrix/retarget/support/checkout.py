"""The git state of a folder: its commit, and whether all files that belong to it are there.

A module that was removed and one that was not checked out look alike. Where git tracks every module and every file
that it tracks is there, what is missing was removed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from retarget.support.errors import display_path

_SUBMODULE = "160000"
"""The mode that git's index gives a submodule."""

_DIGITS = 12
_SECONDS = 60.0
"""How long git may take."""


def revision(folder: Path) -> str:
    """Return the commit of a checkout (40 hex digits), with `+` where its files differ; empty where it is none."""
    return _git(folder, "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*").strip()


def short_revision(revision: str) -> str:
    """Return a revision as people read it: 12 digits of its commit, and its `+`."""
    return revision[:_DIGITS] + "+" * (revision.endswith("+") and len(revision) > _DIGITS)


class FileCommit(Struct, frozen=True, kw_only=True):
    """A commit that changed a file: 40 hex digits, the day (`2026-07-22`), and the first line of its message."""

    revision: str
    date: str
    subject: str


def commits_of(file: Path, limit: int) -> tuple[FileCommit, ...]:
    """Return the last commits that changed a file, the newest first; none where git knows none."""
    form = ("log", f"--max-count={limit}", "--format=%H%x00%cs%x00%s")
    lines = _git(file.parent, *form, "--", file.name).splitlines()
    parts = (line.split("\0", 2) for line in lines)
    return tuple(FileCommit(revision=one[0], date=one[1], subject=one[2]) for one in parts)


def content_at(file: Path, revision: str) -> str | None:
    """Return what a file held at a revision; None where git has no such file there, or it was empty."""
    return _git(file.parent, "show", f"{revision}:./{file.name}") or None


def incomplete(folder: Path, sources: Iterable[Path]) -> str:
    """Return why files that belong to a folder may be missing; empty if git knows that none is.

    `sources` are files that suites of the folder found: if git does not track them, others like them may be missing.
    """
    listed = _listed(folder)
    if not listed:
        return f"git does not know which files belong to {display_path(folder)}"
    missing = [path for path, mode in listed.items() if not _is_there(path, mode)]
    if missing:
        count = f"{len(missing)} tracked files are" if len(missing) > 1 else "1 tracked file is"
        return f"{count} not checked out, such as {display_path(missing[0])}"
    untracked = next((source for source in sources if source not in listed), None)
    if untracked is not None:
        return f"git does not track all modules, such as {display_path(untracked)}"
    return ""


def _listed(folder: Path) -> dict[Path, str]:
    """Return the files of a folder that git tracks, with their modes; none where git does not know."""
    entries = (entry.partition("\t") for entry in _git(folder, "ls-files", "--stage", "-z").split("\0") if entry)
    return {folder / path: about.partition(" ")[0] for about, _, path in entries}


def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints; nothing where it fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if ran.returncode else os.fsdecode(ran.stdout)


def _is_there(path: Path, mode: str) -> bool:
    if mode == _SUBMODULE:
        return path.is_dir() and any(path.iterdir())
    return os.path.lexists(path)
