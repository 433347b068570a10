"""The folder that holds compiled artifacts during this session."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.session import CACHE_INI_KEY, choose_cache
from retarget.support import ScratchFolder

from pytest_retarget.options.settings import SETTINGS

WORKER_KEY = "retarget_cache_dir"
"""The key under which the controller of xdist passes its workers a folder that it created for them."""

_CACHE_DIR = pytest.StashKey[Path]()


def cache_dir(config: pytest.Config) -> Path:
    """Return the folder; with `--retarget-no-cache` a new one, which is removed when the session ends."""
    if _CACHE_DIR not in config.stash:
        config.stash[_CACHE_DIR] = _choose(config)
    return config.stash[_CACHE_DIR]


def _choose(config: pytest.Config) -> Path:
    settings = config.stash[SETTINGS]
    if WORKER_KEY in (given := getattr(config, "workerinput", {})):
        return Path(given[WORKER_KEY])
    if settings.no_cache:
        folder = ScratchFolder("cache")
        config.add_cleanup(folder.close)
        return folder.path
    return choose_cache(
        option=str(config.getoption("retarget_cache_dir") or ""),
        ini=str(config.getini(CACHE_INI_KEY) or ""),
        ini_file=config.inipath,
        folder=config.invocation_params.dir,
    ).folder
