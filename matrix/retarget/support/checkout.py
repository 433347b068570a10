"""The git state of a folder: its commit, and whether all files that belong to it are there.

A module that was removed and one that was not checked out look alike. Where git tracks every module and every file
that it tracks is there, what is missing was removed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from retarget.support.errors import display_path

_SUBMODULE = "160000"
"""The mode that git's index gives a submodule."""

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

    def incomplete(self, sources: Iterable[Path]) -> str:
        """Return why files that belong to the folder may be missing; empty if git knows that none is.

        `sources` are files that its suites found: if git does not track them, others like them may be missing.
        """
        listed = self._listed()
        if not listed:
            return f"git does not know which files belong to {display_path(self._folder)}"
        missing = [path for path, mode in listed.items() if not _is_there(path, mode)]
        if missing:
            count = f"{len(missing)} tracked files are" if len(missing) > 1 else "1 tracked file is"
            return f"{count} not checked out, such as {display_path(missing[0])}"
        untracked = next((source for source in sources if source not in listed), None)
        if untracked is not None:
            return f"git does not track all modules, such as {display_path(untracked)}"
        return ""

    def _listed(self) -> dict[Path, str]:
        """Return the files of the folder that git tracks, with their modes."""
        entries = (entry.partition("\t") for entry in self._git("ls-files", "--stage", "-z").split("\0") if entry)
        return {self._folder / path: about.partition(" ")[0] for about, _, path in entries}

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._folder), *arguments]
        try:
            ran = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return "" if ran.returncode else os.fsdecode(ran.stdout)


def _is_there(path: Path, mode: str) -> bool:
    if mode == _SUBMODULE:
        return path.is_dir() and any(path.iterdir())
    return os.path.lexists(path)
