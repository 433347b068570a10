"""Housekeeping: removes what killed sessions left in the cache and among the temporary files, and evicts what is over
the cache's size limit.

Done at the start of a session, once a day for each cache, by one process at a time.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from retarget.engine.cache.generated import unfinished_sets
from retarget.engine.cache.store import Store
from retarget.support.locks import hold
from retarget.support.scratch import abandoned_folders, sweep_scratch

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
        lock = hold(marker, wait=False)
        if lock is not None:
            with lock:
                sweep(store)
                store.trim()
                marker.touch()


def sweep(store: Store) -> int:
    """Remove what processes that were killed have left; return how many files and folders."""
    return store.remove_unfinished() + len(unfinished_sets(store.folder, remove=True)) + sweep_scratch()


def leftovers(store: Store) -> tuple[Path, ...]:
    """Return what `sweep` would remove."""
    return (*store.unfinished(), *unfinished_sets(store.folder), *abandoned_folders())
