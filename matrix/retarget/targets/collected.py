"""The targets that pytest collects from paths below a folder, with their ids: what a project's own files are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.extension.registry import Registry
from retarget.model import CompileTarget, Suite, Target
from retarget.support.errors import RetargetError
from retarget.targets.pytest_selection import SelectionRequest, pytest_plugin

__all__ = ["Declared", "DeclaredTarget", "collect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTarget:
    """A target with its suite. `home` is what the suite's ids start with: `suites/linalg/suite.toml::linalg`."""

    home: str
    suite: Suite
    target: Target

    @property
    def id(self) -> str:
        """Its id: the node id that pytest gives it, relative to the folder that they were collected for."""
        return f"{self.home}::{self.target.name}"

    @property
    def compiled(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one that it runs."""
        return self.target if isinstance(self.target, CompileTarget) else self.target.compile

    @property
    def compile_id(self) -> str:
        """The id of the compile target of its module and compiler config."""
        return f"{self.home}::{self.compiled.item}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """All targets, in the order of collection. `registry` has the extensions that gave their words."""

    registry: Registry
    targets: Sequence[DeclaredTarget]


def collect(folder: Path, paths: Sequence[str], extensions: Sequence[str] = (), *, mark: str = "") -> Declared:
    """Collect what pytest collects from paths below a folder; with `mark`, what `-m` selects of that.

    Raises `DiagnosticsError` and `RetargetError` for what pytest reports.
    """
    request = SelectionRequest(
        paths=tuple(str(folder / path) for path in paths), extensions=tuple(extensions), mark=mark
    )
    selection = pytest_plugin().select_targets(request)
    homes = [f"{_relative(one.suite.origin.file, folder)}::{one.suite.name}" for one in selection.suites]
    found = [
        DeclaredTarget(home=home, suite=one.suite, target=target)
        for home, one in zip(homes, selection.suites, strict=True)
        for target in one.selected
    ]
    return Declared(registry=selection.registry, targets=found)


def _relative(file: Path, folder: Path) -> str:
    for one, above in ((file, folder), (file.resolve(), folder.resolve())):
        if one.is_relative_to(above):
            return one.relative_to(above).as_posix()
    msg = f"found the suite file {file} outside {folder}; expected all suites below that folder"
    raise RetargetError(msg)
