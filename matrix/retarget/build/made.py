"""Modules that are made when they are needed: kept in the cache, made once, also where several processes want them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import filelock

from ..errors import RetargetError
from ..extension import MakesModules
from ..model import CompileTarget
from ..regular import read_regular
from .key import digest_of

__all__ = ["MADE_FOLDER", "MadeModules", "clear_made", "made_folders"]

MADE_FOLDER = "made"
"""The folder of the cache in which they lie."""

Make = Callable[[str, Path, Path], None]
"""Takes a kind, the file that describes its modules, and an empty folder to write them to."""


def made_folders(cache: Path) -> tuple[tuple[Path, int], ...]:
    """Return the folders of made modules in a cache, with their sizes in bytes."""
    folder = cache / MADE_FOLDER
    if not folder.is_dir():
        return ()
    return tuple((path, _size(path)) for path in sorted(folder.iterdir()) if path.is_dir())


def clear_made(cache: Path) -> int:
    """Remove all made modules of a cache; return the bytes freed. Raises `RetargetError` if something cannot be."""
    freed = 0
    for path, size in made_folders(cache):
        try:
            shutil.rmtree(path)
        except OSError as error:
            msg = f"{path} cannot be removed: {error.strerror or error}"
            raise RetargetError(msg) from error
        freed += size
    return freed


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class MadeModules:
    """Finds the files of modules that a kind makes below `folder`; has them made by `make` if they are not there.

    What is there was written whole: it is made in a folder beside and renamed.
    """

    def __init__(self, folder: Path, make: Make) -> None:
        self._folder = folder
        self._make = make
        self._made: dict[tuple[str, Path], Path] = {}

    def resolve(self, target: CompileTarget, loader: MakesModules) -> CompileTarget:
        """Return `target` with its module's files, which lie in the cache, and their folder as its own.

        Raises `RetargetError` for modules that cannot be made, `UnavailableError` where what makes them is missing.
        """
        description = target.module.path
        folder = self._made.get((target.kind, description))
        if folder is None:
            folder = self._made[target.kind, description] = self._ensure(target.kind, description, loader)
        return replace(target, module=loader.made(target.module, folder), folder=folder)

    def _ensure(self, kind: str, description: Path, loader: MakesModules) -> Path:
        try:
            content = read_regular(description)
        except OSError as error:
            msg = f"{description} cannot be read: {error.strerror or error}"
            raise RetargetError(msg) from error
        digest = digest_of(b"\0".join((kind.encode(), loader.version().encode(), content)))
        folder = self._folder / f"{kind}-{digest[:24]}"
        if folder.is_dir():
            return folder
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._folder / f".{folder.name}.lock"):
                if not folder.is_dir():
                    self._fill(kind, description, folder)
        except OSError as error:
            msg = f"modules cannot be kept in {self._folder}: {error.strerror or error}; see --retarget-cache-dir"
            raise RetargetError(msg) from error
        return folder

    def _fill(self, kind: str, description: Path, folder: Path) -> None:
        beside = Path(tempfile.mkdtemp(prefix=".new-", dir=self._folder))
        try:
            self._make(kind, description, beside)
            beside.chmod(0o755)
            beside.rename(folder)
        except BaseException:
            with suppress(OSError):
                shutil.rmtree(beside)
            raise
