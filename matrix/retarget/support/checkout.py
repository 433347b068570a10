"""The git state of a folder: its commit, and the commits and contents of its files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from msgspec import Struct

_DIGITS = 12
_SECONDS = 60.0
"""How long git may take."""


class FileCommit(Struct, frozen=True, kw_only=True):
    """A commit that changed a file: 40 hex digits, the day (`2026-07-22`), and the first line of its message."""

    revision: str
    date: str
    subject: str


class Checkout:
    """The git state of a folder. Where git knows nothing of it, or fails, there is nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @staticmethod
    def short(revision: str) -> str:
        """Return a revision as people read it: 12 digits of its commit, and its `+`."""
        return revision[:_DIGITS] + "+" * (revision.endswith("+") and len(revision) > _DIGITS)

    @property
    def revision(self) -> str:
        """Its commit (40 hex digits), with `+` where its files differ; empty where it is no checkout."""
        return self._git("describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*").strip()

    def commits(self, name: str, limit: int) -> tuple[FileCommit, ...]:
        """Return the last commits that changed a file of the folder, the newest first."""
        lines = self._git("log", f"--max-count={limit}", "--format=%H%x00%cs%x00%s", "--", name).splitlines()
        parts = (line.split("\0", 2) for line in lines)
        return tuple(FileCommit(revision=one[0], date=one[1], subject=one[2]) for one in parts)

    def content(self, name: str, revision: str) -> str | None:
        """Return what a file of the folder held at a revision; None where it was not there, or empty."""
        return self._git("show", f"{revision}:./{name}") or None

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._folder), *arguments]
        try:
            ran = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return "" if ran.returncode else os.fsdecode(ran.stdout)
