"""What a session of pytest in this folder would be configured with: the cache, time limits, extensions.

pytest itself is asked only where an ini file says something of retarget: importing it takes as long as everything else
that is imported to run a target.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from retarget.cli.support import seconds_above_0, whole_number
from retarget.engine.cache.folder import cache_of_command, choose_cache
from retarget.engine.limits import COMPILE_TIMEOUT, RUN_TIMEOUT
from retarget.support.errors import RetargetError
from retarget.targets.pytest_selection import pytest_plugin

__all__ = ["SessionSettings", "session_settings"]

T = TypeVar("T")

_INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_KEYS = re.compile(rb"^\s*retarget_\w+\s*=|^[^#\n]*--retarget-", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """`root` is what node ids are relative to, None where no ini file says it. Timeouts are in seconds; `jobs` is how
    many compiles run at a time, None for one per core."""

    cache: Path
    root: Path | None = None
    jobs: int | None = None
    compile_timeout: float = COMPILE_TIMEOUT
    run_timeout: float = RUN_TIMEOUT
    extensions: tuple[str, ...] = ()


def session_settings(*, in_full: bool = False) -> SessionSettings:
    """Return the settings in the current folder; `in_full` with the root, for which pytest is always asked.

    Raises `RetargetError` for a value that is none.
    """
    here = Path.cwd()
    if not in_full and not _mentions_retarget(here) and "--retarget-" not in os.environ.get("PYTEST_ADDOPTS", ""):
        return SessionSettings(cache=choose_cache().folder)
    file, values = pytest_plugin().find_ini(here)
    extensions = values.get("retarget_extensions", ())
    return SessionSettings(
        cache=cache_of_command().folder,
        root=file.parent if file is not None else None,
        jobs=_value(file, values, "retarget_jobs", whole_number, None),
        compile_timeout=_value(file, values, "retarget_compile_timeout", seconds_above_0, COMPILE_TIMEOUT),
        run_timeout=_value(file, values, "retarget_run_timeout", seconds_above_0, RUN_TIMEOUT),
        extensions=tuple(extensions if isinstance(extensions, list) else str(extensions or "").split()),
    )


def _value(
    file: Path | None, values: Mapping[str, object], key: str, parse: Callable[[str], T], default: T | None
) -> T:
    text = values.get(key)
    if text is None or text == "":
        return default  # type: ignore[return-value]
    try:
        return parse(str(text))
    except Exception as error:
        msg = f"{key} in {file}: {error}"
        raise RetargetError(msg) from None


def _mentions_retarget(folder: Path) -> bool:
    for above in (folder, *folder.parents):
        for name in _INI_FILES:
            try:
                if _KEYS.search((above / name).read_bytes()):
                    return True
            except OSError:
                continue
    return False
