"""What a session of pytest in this folder would be configured with: the cache, time limits, extensions, …

pytest itself is asked only where PYTEST_ADDOPTS is set or an ini file says something of retarget: importing it takes as
long as everything else that is imported to run a target.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from retarget.cli.support import seconds_above_0, whole_number
from retarget.engine.cache.folder import cache_of_session, choose_cache
from retarget.engine.limits import COMPILE_TIMEOUT, RUN_TIMEOUT
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.targets.pytest_selection import PytestConfiguration

__all__ = ["SessionSettings", "session_settings"]

T = TypeVar("T")

_INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_MENTIONED = re.compile(
    rb"--retarget-|--runxfail|\bretarget_(?:cache_dir|jobs|compile_timeout|run_timeout|extensions)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """`root` is what node ids are relative to, None where pytest was not asked. Timeouts are in seconds; `jobs` is how
    many compiles run at a time, None for one per core."""

    cache: Path
    root: Path | None = None
    jobs: int | None = None
    compile_timeout: float = COMPILE_TIMEOUT
    run_timeout: float = RUN_TIMEOUT
    extensions: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    ignores_expectations: bool = False


def session_settings(*, in_full: bool = False) -> SessionSettings:
    """Return the settings in the current folder; `in_full` with the root, for which pytest is always asked.

    Raises `RetargetError` for a value that is none.
    """
    here = Path.cwd()
    if not in_full and not os.environ.get("PYTEST_ADDOPTS") and not _mentions_retarget(here):
        return SessionSettings(cache=choose_cache().folder)
    from retarget.targets.pytest_selection import pytest_plugin

    found = pytest_plugin().find_configuration(here)
    extensions = found.values.get("retarget_extensions", ())
    named = extensions if isinstance(extensions, list) else str(extensions or "").split()
    return SessionSettings(
        cache=cache_of_session(found).folder,
        root=found.root,
        jobs=_value(found, "jobs", whole_number, None),
        compile_timeout=_value(found, "compile_timeout", seconds_above_0, COMPILE_TIMEOUT),
        run_timeout=_value(found, "run_timeout", seconds_above_0, RUN_TIMEOUT),
        extensions=(*_texts(found, "extension"), *named),
        toolchains=_texts(found, "toolchain"),
        cases=_texts(found, "case"),
        required=_texts(found, "require"),
        ignores_expectations=any(map(found.switched_on, ("--retarget-ignore-expectations", "--runxfail"))),
    )


def _texts(found: PytestConfiguration, name: str) -> tuple[str, ...]:
    return tuple(text for text, _ in found.given(f"--retarget-{name}"))


def _value(found: PytestConfiguration, name: str, parse: Callable[[str], T], default: T | None) -> T:
    """Return the value of an option, or of the ini key of its name. Raises `RetargetError`."""
    key = f"retarget_{name}"
    given = found.given(f"--retarget-{name.replace('_', '-')}")
    text, where = given[-1] if given else (found.values.get(key), f"{key} in {found.file or 'PYTEST_ADDOPTS'}")
    if text is None or text == "":
        return default  # type: ignore[return-value]
    try:
        return parse(str(text))
    except Exception as error:
        msg = f"{where}: {error}"
        raise RetargetError(msg) from None


def _mentions_retarget(folder: Path) -> bool:
    for above in (folder, *folder.parents):
        for name in _INI_FILES:
            try:
                if _MENTIONED.search((above / name).read_bytes()):
                    return True
            except OSError:
                continue
    return False
