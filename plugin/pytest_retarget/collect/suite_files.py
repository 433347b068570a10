"""From `suite.toml` to pytest items: files, suites, targets.

Node ids read `suites/linalg/suite.toml::linalg::matmul_llvm-cpu_local-task`. Collection is pure: nothing is compiled,
no worker is started, and what is installed here neither adds, drops nor renames an item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

import pytest
from retarget.model import CompileTarget, Module, Origin, RunTarget, Suite, Target
from retarget.session import Assignment, FileName, TargetRules
from retarget.support import display_path

from pytest_retarget.collect.preselection import Indices, preselection
from pytest_retarget.internals import TerminalRepr
from pytest_retarget.items.targets import CompileItem, MatrixItem, RunItem, text_repr
from pytest_retarget.session.declared import NotCollectedError, declared, is_of


class _Collecting(pytest.Collector):
    """A collector of ours: what is wrong with its declarations is in pytest's short summary too."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str | TerminalRepr:  # type: ignore[override]
        if isinstance(excinfo.value, NotCollectedError):
            return text_repr(str(excinfo.value), self.path)
        return super().repr_failure(excinfo)


class SuiteFile(_Collecting, pytest.File):
    """A `suite.toml`: one collector per module test suite."""

    def collect(self) -> Iterator[SuiteCollector]:
        for suite in declared(self.config).suites(self.path):
            yield SuiteCollector.from_parent(self, name=suite.name, suite=suite)


class ModuleFile(_Collecting, pytest.File):
    """A module named on the command line: its targets, under the node ids they always have."""

    def collect(self) -> Iterator[SuiteCollector]:
        found = declared(self.config)
        found.by_module = True
        searched = []
        for folder in self.path.parents:
            path = folder / FileName.SUITE
            if not path.is_file():
                continue
            searched.append(display_path(path))
            suites = [
                suite for suite in found.suites(path) if any(is_of(module, self.path) for module in suite.modules)
            ]
            if suites:
                file = SuiteFile.from_parent(self.parent, path=path)
                for suite in suites:
                    yield SuiteCollector.from_parent(file, name=suite.name, suite=suite, only=self.path)
                return
        msg = f"{display_path(self.path)}: no suite declares this module; looked in {', '.join(searched)}"
        raise NotCollectedError(msg)


class MatrixFile(_Collecting, pytest.File):
    """A `matrix.toml` or `expectations.toml` named on the command line, which is a mistake."""

    def collect(self) -> Iterator[pytest.Item]:
        what = "configs" if self.path.name == FileName.MATRIX else "expectations"
        msg = (
            f"{display_path(self.path)}: holds {what} for the suites at and below its folder and no suites itself; "
            f"expected a folder, a {FileName.SUITE} or a module, such as: pytest {display_path(self.path.parent)}"
        )
        raise NotCollectedError(msg)


class SuiteCollector(_Collecting):
    """A module test suite: one item per target. `only` narrows it to the targets of one module."""

    def __init__(self, *, suite: Suite, only: Path | None = None, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.suite = suite
        self._only = only
        self._assignment = Assignment()

    @cached_property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based."""
        return suite_line(self.suite.origin)

    def rules(self, target: str) -> TargetRules:
        """The expectations in force for one of the suite's targets, selected or not."""
        return self._assignment.of(target)

    def run_targets(self, module: str) -> Sequence[RunTarget]:
        """All run targets of a module, selected or not, in declared order."""
        return self._run_targets.get(module, ())

    @cached_property
    def _run_targets(self) -> dict[str, list[RunTarget]]:
        by_module: dict[str, list[RunTarget]] = {}
        for target in declared(self.config).targets(self.suite, self.path):
            if isinstance(target, RunTarget):
                by_module.setdefault(target.compile.module.name, []).append(target)
        return by_module

    def collect(self) -> list[pytest.Item]:
        found = declared(self.config)
        targets = found.targets(self.suite, self.path)
        assigned = found.assignment(self.suite, targets, self.path)
        self._assignment = assigned
        if not found.registry.unknown(self.suite):
            found.usage.collected(self.path, self.suite)
        found.marks.register(targets)
        selection = _Selection(self.config, self._only)
        indices: Indices = range(len(targets))
        if not selection.is_all:
            indices = [at for at in indices if selection.has(targets[at].compiled.module)]
        if self._only is None:
            indices = preselection(self.config).choose(
                self, targets, indices, marks=found.marks.of, complete=self.complete
            )
        return self.complete((), indices)

    def complete(self, made: Iterable[pytest.Item], indices: Indices) -> list[pytest.Item]:
        """Return the items of the targets with these indices; those in `made` are there already."""
        known = {item.position: item for item in made if isinstance(item, MatrixItem)}
        targets = declared(self.config).targets(self.suite, self.path)
        prefix = self.nodeid + "::"
        return [known[at] if at in known else self._item(prefix, at, targets[at]) for at in indices]

    def _item(self, prefix: str, position: int, target: Target) -> MatrixItem:
        kind = CompileItem if isinstance(target, CompileTarget) else RunItem
        item = kind.from_parent(
            self,
            name=target.name,
            nodeid=prefix + target.name,
            target=target,
            suite=self,
            position=position,
            marks=declared(self.config).marks.of(target),
        )
        if self._assignment.rules:
            item.in_force = self._assignment.in_force(target)
        return item


class _Selection:
    """Which modules of a suite are collected: the one that is named, or all that `--ignore` does not leave out."""

    def __init__(self, config: pytest.Config, only: Path | None) -> None:
        folder = config.invocation_params.dir
        self._only = only
        self._paths = {Path(folder, one).resolve() for one in config.getoption("ignore") or ()}
        self._globs = tuple(str(Path(folder, one)) for one in config.getoption("ignore_glob") or ())
        self._known: dict[Path, bool] = {}

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self._only is None and not self._paths and not self._globs

    def has(self, module: Module) -> bool:
        if self._only is not None:
            return is_of(module, self._only)
        if module.path not in self._known:
            self._known[module.path] = not any(map(self._is_ignored, (module.path, *module.path.parents)))
        return self._known[module.path]

    def _is_ignored(self, path: Path) -> bool:
        return path in self._paths or any(fnmatch(str(path), pattern) for pattern in self._globs)


_TABLE = re.compile(r"\s*\[\[\s*(?:module_test_suite|\"module_test_suite\"|'module_test_suite')\s*\]\]")


def suite_line(suite: Origin) -> int | None:
    """Return where a suite's table starts in its file, 0-based; None where that is unknown. It parses nothing."""
    number = re.fullmatch(r"module_test_suite\[(\d+)\]", suite.key_path)
    try:
        lines = suite.file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    starts = [at for at, text in enumerate(lines) if _TABLE.match(text)]
    return starts[int(number[1])] if number is not None and int(number[1]) < len(starts) else None
