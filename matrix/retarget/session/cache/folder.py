"""Which folder is the cache, for pytest and for the command `retarget`, and what killed sessions left there.

The first of these holds: the option, RETARGET_CACHE_DIR, the ini key `retarget_cache_dir`, the user's cache folder. A
leading `~` is the home folder. Relative paths start at the current folder, those of an ini key at the ini file's.

Housekeeping is done at the start of a session, once a day for each cache, by one process at a time.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from retarget.session.cache.generated import unfinished_sets
from retarget.session.cache.store import Store
from retarget.support.files import user_path
from retarget.support.scratch import abandoned_folders, hold_lock, sweep_scratch
from retarget.worker.artifact import CACHE_DIR_VARIABLE, user_cache

if TYPE_CHECKING:
    from retarget.targets.collected import PytestConfiguration

OPTION = "--retarget-cache-dir"
NO_CACHE_OPTION = "--retarget-no-cache"
CACHE_INI_KEY = "retarget_cache_dir"


class CacheChoice(Struct, frozen=True, kw_only=True):
    """The cache folder and what chose it. `unused` names what has pytest keep nothing there; empty: nothing does."""

    folder: Path
    source: str
    unused: str = ""

    @classmethod
    def of(
        cls,
        *,
        option: str = "",
        named: str = OPTION,
        ini: str = "",
        ini_file: Path | None = None,
        folder: Path | None = None,
    ) -> CacheChoice:
        """Return the cache folder. `option` and `ini` are what was given, if anything.

        `named` is what the option is called, `ini_file` is the file of `ini`; None for one that is in no file.
        `folder` is the current folder.
        """
        folder = folder or Path.cwd()
        if option:
            return cls(folder=_absolute(folder, option), source=named)
        if text := os.environ.get(CACHE_DIR_VARIABLE):
            return cls(folder=_absolute(folder, text), source=CACHE_DIR_VARIABLE)
        if ini:
            base = ini_file.parent if ini_file is not None else folder
            where = f"{CACHE_INI_KEY} in {ini_file}" if ini_file is not None else CACHE_INI_KEY
            return cls(folder=_absolute(base, ini), source=where)
        return cls(folder=user_cache(), source="the user's cache folder")

    @classmethod
    def of_command(cls, option: str = "") -> CacheChoice:
        """Return the cache of a subcommand: that of pytest in the current folder. `option` is its own `--cache-dir`."""
        if option:
            return cls.of(option=option, named="--cache-dir")
        from retarget.targets.collected import pytest_plugin

        return cls.of_session(pytest_plugin().find_configuration(Path.cwd()))

    @classmethod
    def of_session(cls, configuration: PytestConfiguration) -> CacheChoice:
        """Return the cache of a session of pytest that no option of its own names one for."""
        folder, where = (configuration.given(OPTION) or [("", OPTION)])[-1]
        ini = str(configuration.values.get(CACHE_INI_KEY) or "")
        choice = cls.of(option=folder, named=where, ini=ini, ini_file=configuration.file)
        return replace(choice, unused=configuration.switched_on(NO_CACHE_OPTION))


def _absolute(base: Path, text: str) -> Path:
    return Path(os.path.abspath(base / user_path(text)))  # noqa: PTH100  (a symbolic link stays as the user wrote it)


_EVERY_SECONDS = 24 * 3600


def sweep_daily(store: Store) -> None:
    """Sweep, unless another session did so today or does so now. Never raises `OSError`: no caller depends on it."""
    marker = store.folder / "v1" / "swept"
    with suppress(OSError):
        try:
            if 0 <= time.time() - marker.stat().st_mtime < _EVERY_SECONDS:
                return
        except FileNotFoundError:
            if not store.folder.is_dir():  # nothing is written before there is something to keep
                sweep_scratch()
                return
            marker.parent.mkdir(exist_ok=True)
        lock = hold_lock(marker, wait=False)
        if lock is not None:
            with lock:
                sweep(store)
                store.trim()
                marker.touch()


def sweep(store: Store) -> int:
    """Remove what processes that were killed have left; return how many files and folders."""
    return len(store.unfinished(remove=True)) + len(unfinished_sets(store.folder, remove=True)) + sweep_scratch()


def leftovers(store: Store) -> tuple[Path, ...]:
    """Return what `sweep` would remove."""
    return (*store.unfinished(), *unfinished_sets(store.folder), *abandoned_folders())
