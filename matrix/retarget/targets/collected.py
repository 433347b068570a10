"""The targets that pytest collects from paths below a folder, with their ids, and those that it selects of them."""

from __future__ import annotations

import argparse
import importlib.metadata
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct, field

from retarget.extension.registry import Registry
from retarget.model import CompileTarget, Suite, Target, Toolchain
from retarget.support.errors import RetargetError


class DeclaredTarget(Struct, frozen=True, kw_only=True):
    """A target with its suite. `suite_id` is what the suite's ids start with: `suites/linalg/suite.toml::linalg`."""

    suite_id: str
    suite: Suite
    target: Target

    @property
    def id(self) -> str:
        """Its id: the node id that pytest gives it, relative to the folder that they were collected for."""
        return f"{self.suite_id}::{self.target.name}"

    @property
    def compiled(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one that it runs."""
        return self.target if isinstance(self.target, CompileTarget) else self.target.compile

    @property
    def compile_id(self) -> str:
        """The id of the compile target of its module and compiler config."""
        return f"{self.suite_id}::{self.compiled.item}"


class Declared(Struct, frozen=True, kw_only=True):
    """All targets, in the order of collection. `registry` has the extensions that provided their words, `files` are
    those of the suites. `notes` say what was not collected."""

    registry: Registry
    targets: Sequence[DeclaredTarget]
    files: Sequence[Path] = ()
    notes: Sequence[str] = ()

    @classmethod
    def collect(cls, folder: Path, paths: Sequence[str], extensions: Sequence[str] = (), *, mark: str = "") -> Declared:
        """Collect what pytest collects from paths below a folder; with `mark`, what `-m` selects of that.

        Raises `DiagnosticsError` and `RetargetError` for what pytest reports.
        """
        request = SelectionRequest(
            paths=tuple(str(folder / path) for path in paths), extensions=tuple(extensions), mark=mark
        )
        selection = pytest_plugin().select_targets(request)
        suite_ids = [f"{_relative(one.suite.origin.file, folder)}::{one.suite.name}" for one in selection.suites]
        found = [
            DeclaredTarget(suite_id=suite_id, suite=one.suite, target=target)
            for suite_id, one in zip(suite_ids, selection.suites, strict=True)
            for target in one.selected
        ]
        files = {one.suite.origin.file for one in selection.suites}
        return cls(registry=selection.registry, targets=found, files=tuple(files), notes=selection.notes)


def _relative(file: Path, folder: Path) -> str:
    for one, above in ((file, folder), (file.resolve(), folder.resolve())):
        if one.is_relative_to(above):
            return one.relative_to(above).as_posix()
    msg = f"found the suite file {file} outside {folder}; expected all suites below that folder"
    raise RetargetError(msg)


_GROUP, _NAME = "pytest11", "retarget"


class SelectionRequest(Struct, frozen=True, kw_only=True):
    """A selection, in the words of pytest's command line. `paths` may be node ids, `toolchains` are `NAME=PATH`.

    The rest is about a session that runs it. `names` select among what the paths hold: names of targets, globs, or the
    front of one name; all are selected if there are none. With `is_ids`, every path is the id of a target, and no other
    plugin is loaded. `requires` are expressions of what may not be skipped: each of these is to select a target that
    runs, and each of the project's unless targets are named. `artifact` is run instead of what would be compiled.
    `options` are others that pytest gets as they are.
    """

    paths: tuple[str, ...] = (".",)
    mark: str = ""
    keyword: str = ""
    ignore: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    is_ids: bool = False
    requires: tuple[str, ...] = ()
    artifact: Path | None = None
    options: tuple[str, ...] = ()


class CollectedSuite(Struct, frozen=True, kw_only=True):
    """A suite with all targets that the paths hold, and those of them that the expressions select."""

    suite: Suite
    targets: tuple[Target, ...]
    selected: tuple[Target, ...]


class Selection(Struct, frozen=True, kw_only=True):
    """The collected targets: suites, the toolchains of all files read, and the extensions that gave the targets' words.
    `notes` say why nothing is selected, words of `-m` that no target has, and what was not collected.

    The rest is what a session with these paths is configured with: pytest's `root` folder, the cache, the names of
    extensions, and time limits in seconds.
    """

    registry: Registry
    root: Path
    cache: Path
    extensions: tuple[str, ...] = ()
    compile_timeout: float
    run_timeout: float
    suites: tuple[CollectedSuite, ...] = ()
    toolchains: tuple[Toolchain, ...] = ()
    notes: tuple[str, ...] = ()


class FoundFiles(Struct, frozen=True, kw_only=True):
    """The declaration files in the folders that pytest enters and those of named modules, sorted; and what pytest
    reports in addition to what is in them. `notes` name files in folders that it does not enter."""

    files: tuple[Path, ...]
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class PytestConfiguration(Struct, frozen=True, kw_only=True):
    """The configuration of each session of pytest in a folder.

    `root` is pytest's rootdir. `file` is the ini file with its `values`, None and nothing where there is none.
    `options` are the words of `addopts` and of `PYTEST_ADDOPTS`, by where they are written; what comes last holds.
    """

    root: Path
    file: Path | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def given(self, option: str) -> list[tuple[str, str]]:
        """Return the values that an option is given, in order, each with the option and where it is written."""
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
        parser.add_argument(option, dest="found", action="append", default=[])
        given: list[tuple[str, str]] = []
        for where, words in self.options.items():
            with suppress(argparse.ArgumentError):  # pytest will refuse it
                given += [(text, f"{option} in {where}") for text in parser.parse_known_args(words)[0].found]
        return given

    def switched_on(self, option: str) -> str:
        """Return an option without a value and where it is written; empty where it is not."""
        return next((f"{option} in {where}" for where, words in self.options.items() if option in words), "")


class SelectionUsageError(RetargetError):
    """pytest refuses the arguments: a path that is not there, an expression that is none."""

    def __str__(self) -> str:
        undeclared = r"not found: ([^:\n]+)\n\(no match in any of .*\)"  # pytest's words for a file without tests
        return re.sub(undeclared, r"no suite declares \1; `retarget init` writes one for a folder", super().__str__())


class PytestPlugin(Protocol):
    """The plugin's functions for the commands."""

    def select_targets(self, request: SelectionRequest) -> Selection:
        """Return what pytest selects.

        Raises `DiagnosticsError` for errors of declarations, `SelectionUsageError`, and `RetargetError` for other
        errors that pytest reports while it collects.
        """
        ...

    def run_targets(self, request: SelectionRequest) -> int:
        """Run what is requested in a session of pytest in this process, and print how each target ends.

        Returns the exit status of `retarget run`. Raises as `select_targets` does, and `KeyboardInterrupt`.
        """
        ...

    def find_declarations(self, request: SelectionRequest) -> FoundFiles:
        """Return the declaration files that pytest meets; no suite is expanded. Raises `SelectionUsageError`."""
        ...

    def find_configuration(self, folder: Path) -> PytestConfiguration:
        """Return what pytest is configured with in a folder. A damaged ini file counts as none."""
        ...


def pytest_plugin() -> PytestPlugin:
    """Load the plugin, by its entry point. Raises `RetargetError` where it is not installed."""
    points: Sequence[importlib.metadata.EntryPoint] = ()
    with suppress(importlib.metadata.PackageNotFoundError):  # of this distribution alone: to read all takes longer
        points = tuple(importlib.metadata.distribution(_NAME).entry_points.select(group=_GROUP, name=_NAME))
    if not points:
        msg = f"found no pytest plugin {_NAME!r}; is retarget installed in this environment? try: pip install -e ."
        raise RetargetError(msg)
    return cast("PytestPlugin", points[0].load())
