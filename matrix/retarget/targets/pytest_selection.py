"""What pytest selects, and which ini file it reads: the commands ask pytest itself.

The core imports no pytest. The plugin is found where pytest finds it, by its entry point, and does the collection:
paths, folders inside a suite's, node ids, mark and keyword expressions and ignored paths mean what they mean to pytest.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from retarget.extension.registry import Registry
from retarget.model import Suite, Target, Toolchain
from retarget.support.errors import RetargetError

__all__ = [
    "CollectedSuite",
    "FoundFiles",
    "PytestPlugin",
    "Selection",
    "SelectionRequest",
    "SelectionUsageError",
    "pytest_plugin",
]

_GROUP, _NAME = "pytest11", "retarget"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRequest:
    """What to select, in the words of pytest's command line. `paths` may be node ids, `toolchains` are `NAME=PATH`."""

    paths: tuple[str, ...] = (".",)
    mark: str = ""
    keyword: str = ""
    ignore: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedSuite:
    """A suite with all targets that the paths hold, and those of them that the expressions select."""

    suite: Suite
    targets: tuple[Target, ...]
    selected: tuple[Target, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was collected: suites, the toolchains of all files read, and the extensions that gave the targets' words."""

    registry: Registry
    suites: tuple[CollectedSuite, ...] = ()
    toolchains: tuple[Toolchain, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFiles:
    """The declaration files in the folders that pytest enters and those of named modules, sorted; and what pytest
    reports in addition to what is in them."""

    files: tuple[Path, ...]
    errors: tuple[str, ...] = ()


class SelectionUsageError(RetargetError):
    """pytest refuses the arguments: a path that is not there, an expression that is none."""


class PytestPlugin(Protocol):
    """What the plugin does for the commands."""

    def select_targets(self, request: SelectionRequest) -> Selection:
        """Return what pytest selects.

        Raises `DiagnosticsError` for errors of declarations, `SelectionUsageError`, and `RetargetError` for other
        errors that pytest reports while it collects.
        """
        ...

    def find_declarations(self, request: SelectionRequest) -> FoundFiles:
        """Return the declaration files that pytest meets; no suite is expanded. Raises `SelectionUsageError`."""
        ...

    def find_ini(self, folder: Path) -> tuple[Path | None, Mapping[str, object]]:
        """Return the ini file that pytest reads in a folder, and its values; None and nothing where there is none."""
        ...


def pytest_plugin() -> PytestPlugin:
    """Load the plugin, by its entry point. Raises `RetargetError` where it is not installed."""
    points = importlib.metadata.entry_points(group=_GROUP, name=_NAME)
    if not points:
        msg = f"found no pytest plugin {_NAME!r}; is retarget installed in this environment? try: pip install -e ."
        raise RetargetError(msg)
    return cast("PytestPlugin", next(iter(points)).load())
