"""Which folder is the cache: one answer for pytest and for the command `retarget`.

What comes first holds: the option, RETARGET_CACHE_DIR, the ini key `retarget_cache_dir`, the user's cache folder. A
leading `~` is the home folder. Relative paths start at the current folder, those of an ini key at the ini file's.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.support.files import user_path
from retarget.targets.pytest_selection import pytest_plugin
from retarget.worker.kept_files import CACHE_DIR_VARIABLE

__all__ = ["CACHE_DIR_VARIABLE", "INI_KEY", "OPTION", "CacheChoice", "cache_of_command", "choose_cache"]

OPTION = "--retarget-cache-dir"
NO_CACHE_OPTION = "--retarget-no-cache"
INI_KEY = "retarget_cache_dir"
_ADDOPTS_VARIABLE = "PYTEST_ADDOPTS"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheChoice:
    """The cache folder and what chose it. `unused` names what has pytest keep nothing there; empty: nothing does."""

    folder: Path
    source: str
    unused: str = ""


def choose_cache(
    *, option: str = "", named: str = OPTION, ini: str = "", ini_file: Path | None = None, folder: Path | None = None
) -> CacheChoice:
    """Return the cache folder. `option` and `ini` are what was given, if anything.

    `named` is what the option is called, `ini_file` is the file of `ini`; None for one that is in no file.
    `folder` is the current folder.
    """
    folder = folder or Path.cwd()
    if option:
        return CacheChoice(folder=_absolute(folder, option), source=named)
    if text := os.environ.get(CACHE_DIR_VARIABLE):
        return CacheChoice(folder=_absolute(folder, text), source=CACHE_DIR_VARIABLE)
    if ini:
        base = ini_file.parent if ini_file is not None else folder
        where = f"{INI_KEY} in {ini_file}" if ini_file is not None else INI_KEY
        return CacheChoice(folder=_absolute(base, ini), source=where)
    from platformdirs import user_cache_path

    return CacheChoice(folder=user_cache_path("retarget"), source="the user's cache folder")


def cache_of_command(option: str = "") -> CacheChoice:
    """Return the cache of a subcommand: that of pytest in the current folder. `option` is its own `--cache-dir`."""
    if option:
        return choose_cache(option=option, named="--cache-dir")
    file, values = pytest_plugin().find_ini(Path.cwd())
    addopts = values.get("addopts", "")
    words = addopts if isinstance(addopts, list) else _words(str(addopts))
    given = [(f"addopts in {file}", str(word)) for word in words]
    given += [(_ADDOPTS_VARIABLE, word) for word in _words(os.environ.get(_ADDOPTS_VARIABLE, ""))]
    where, folder, unused = _from_options(given)
    choice = (
        choose_cache(option=folder, named=f"{OPTION} in {where}")
        if folder
        else choose_cache(ini=str(values.get(INI_KEY, "")), ini_file=file)
    )
    return CacheChoice(folder=choice.folder, source=choice.source, unused=unused)


def _from_options(given: Sequence[tuple[str, str]]) -> tuple[str, str, str]:
    """Return (where, folder) of the last option that names the folder, and where pytest is configured to keep
    nothing."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(OPTION, dest="folder", default="")
    parser.add_argument(NO_CACHE_OPTION, dest="no_cache", action="store_true")
    where = folder = unused = ""
    for source in dict.fromkeys(source for source, _ in given):
        try:
            found, _ = parser.parse_known_args([word for of, word in given if of == source])
        except argparse.ArgumentError:  # pytest will refuse it
            continue
        where, folder = (source, found.folder) if found.folder else (where, folder)
        unused = f"{NO_CACHE_OPTION} in {source}" if found.no_cache else unused
    return where, folder, unused


def _words(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:  # pytest will refuse it
        return ()


def _absolute(base: Path, text: str) -> Path:
    return Path(os.path.abspath(base / user_path(text)))  # noqa: PTH100  (a symbolic link stays as the user wrote it)
