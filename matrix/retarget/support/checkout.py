"""The git state of a folder: its commit, and what the last commit has of its files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_DIGITS = 12
_SECONDS = 60.0
"""How long git may take."""


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

    def content(self, name: str) -> str | None:
        """Return what the last commit has of a file of the folder; None where it has none, or an empty one."""
        return self._git("show", f"HEAD:./{name}") or None

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._folder), *arguments]
        try:
            ran = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return "" if ran.returncode else os.fsdecode(ran.stdout)
