"""From `suite.toml` to pytest items: files, suites, targets.

Node ids read `suites/linalg/suite.toml::linalg::matmul_llvm-cpu_local-task`. Collection is pure: nothing is compiled,
no worker is started, and what is installed here neither adds, drops nor renames an item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

import pytest
from _pytest._code.code import ExceptionInfo, TerminalRepr
from retarget.declare.load import DeclarationLoader
from retarget.expect.cases import TargetRules
from retarget.expect.diagnostics import contradiction_diagnostics
from retarget.expect.matching import Assignment, RuleBook
from retarget.expect.usage import CaseUse, Ledger
from retarget.extension import ChecksArtifacts
from retarget.extension.registry import Registry, load_extensions
from retarget.model import CompileTarget, Module, RunTarget, Suite, Target
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path, grouped
from retarget.targets.expansion import expand

from pytest_retarget.collect.marks import Marks
from pytest_retarget.items.targets import CompileItem, MatrixItem, RunItem
from pytest_retarget.options import SETTINGS
from pytest_retarget.plugin import MATRIX_FILE, SUITE_FILE
from pytest_retarget.report.failures import text_repr
from pytest_retarget.report.hooks import activate

__all__ = ["Declared", "MatrixFile", "ModuleFile", "SuiteCollector", "SuiteFile", "declared", "is_declared"]

_TABLE = re.compile(r"\s*\[\[\s*(?:module_test_suite|\"module_test_suite\"|'module_test_suite')\s*\]\]")


class Declared:
    """What was read so far in this session: declarations, extensions, marks. Every error is told once."""

    def __init__(self, config: pytest.Config) -> None:
        self._settings = config.stash[SETTINGS]
        self._rootdir = config.rootpath
        self._in_full = config.get_verbosity() > 1
        self._loader: DeclarationLoader | None = None
        self._registry: Registry | None = None
        self._suites: dict[Path, tuple[Suite, ...]] = {}
        self._targets: dict[tuple[Path, str], tuple[Target, ...]] = {}
        self._assignments: dict[tuple[Path, str], Assignment] = {}
        self._told: dict[str, Path] = {}
        self._invalid: set[Path] = set()
        self.marks = Marks(config)
        self.ledger = Ledger()
        self.suite_files: list[Path] = []
        self.by_module = False

    @property
    def registry(self) -> Registry:
        """Compilers, drivers and case loaders. Raises `RetargetError` for an extension that does not load."""
        if self._registry is None:
            self._registry = load_extensions(self._settings.extensions, folders=[self._rootdir])
        return self._registry

    @property
    def files(self) -> tuple[Path, ...]:
        """The declaration files read, those of the configs first."""
        return (*(self._loader.matrix_files if self._loader is not None else ()), *self.suite_files)

    def suites(self, path: Path) -> tuple[Suite, ...]:
        """Read one `suite.toml`. Raises `pytest.Collector.CollectError` with the errors and nothing else."""
        if path not in self._suites:
            try:
                if self._loader is None:
                    self._loader = DeclarationLoader(self.registry)
                self._suites[path] = self._loader.load_suite_file(path)
            except RetargetError as error:
                raise self.collect_error(error, path) from error
            self.suite_files.append(path)
        return self._suites[path]

    def may_declare(self, path: Path, module: Path, *, as_source: bool = False) -> bool:
        """Tell whether a `suite.toml` declares a module or a file of its cases, or has errors. Leaves these to tell.

        `as_source` asks for the module's own file alone.
        """
        told = dict(self._told)
        try:
            modules = [one for suite in self.suites(path) for one in suite.modules]
            return any(one.path == module if as_source else _is_of(one, module) for one in modules)
        except _NotCollected:
            self._told = told
            is_first = path not in self._invalid
            self._invalid.add(path)
            return is_first or not as_source  # of a folder's files one is enough to tell

    def targets(self, suite: Suite, path: Path) -> tuple[Target, ...]:
        """Expand one suite, once. Raises `pytest.Collector.CollectError`."""
        key = path, suite.name
        if key not in self._targets:
            try:
                self._targets[key] = expand(suite, self.registry)
            except RetargetError as error:
                raise self.collect_error(error, path) from error
        return self._targets[key]

    def assignment(self, suite: Suite, targets: Sequence[Target], path: Path) -> Assignment:
        """Find the rules in force for a suite's targets, all of them, once.

        Raises `pytest.Collector.CollectError` for contradictions.
        """
        if not suite.expectations or self._settings.ignore_expectations:
            return Assignment()
        key = path, suite.name
        if key in self._assignments:
            return self._assignments[key]
        checks = isinstance(self.registry.case_loaders.get(suite.kind), ChecksArtifacts)
        assignment = RuleBook(suite.expectations, checks_artifacts=checks).assign(targets)
        if assignment.contradictions:
            error = DiagnosticsError(contradiction_diagnostics(assignment.contradictions))
            raise self.collect_error(error, path)
        self.ledger.add(suite, assignment, targets)
        self._assignments[key] = assignment
        return assignment

    def expectation_diagnostics(self, config: pytest.Config) -> list[str]:
        """Return the errors of expectations that only a session can tell: those that expired or have no effect."""
        return self._lines(self.ledger.diagnostics(self._suites, whole=_is_whole(config)))

    def case_uses(self, config: pytest.Config) -> tuple[CaseUse, ...]:
        """Return the rules that name cases, of those that this session can judge once the cases are known."""
        return self.ledger.case_uses(self._suites, whole=_is_whole(config))

    def collect_error(self, error: RetargetError, path: Path) -> pytest.Collector.CollectError:
        """Word an error for pytest, leaving out what an earlier one has said."""
        found = error.diagnostics if isinstance(error, DiagnosticsError) else ()
        texts = list(map(str, found)) or [str(error)]
        earlier = sorted({display_path(self._told[text]) for text in texts if text in self._told})
        new = [text for text in texts if text not in self._told]
        if not new:
            why = f"not collected, because of the errors listed at {', '.join(earlier)}"
            return _NotCollected(f"{display_path(path)}: {why}")
        lines = self._lines([diagnostic for diagnostic in found if str(diagnostic) not in self._told]) or new
        self._told.update(dict.fromkeys(new, path))
        return _NotCollected("\n".join(lines))

    def _lines(self, diagnostics: Sequence[Diagnostic]) -> list[str]:
        """A line for each error; with less than `-vv`, one for many that are alike."""
        return list(map(str, diagnostics)) if self._in_full else grouped(diagnostics)


def _is_whole(config: pytest.Config) -> bool:
    """Whether folders only were asked for."""
    named = [config.invocation_params.dir / str(argument).partition("::")[0] for argument in config.args]
    return all(path.is_dir() for path in named) and not any("::" in str(argument) for argument in config.args)


_DECLARED = pytest.StashKey[Declared]()


def declared(config: pytest.Config) -> Declared:
    """The session's declarations, made when first asked for."""
    if _DECLARED not in config.stash:
        config.stash[_DECLARED] = Declared(config)
        activate(config)
    return config.stash[_DECLARED]


def is_declared(config: pytest.Config, path: Path, *, as_source: bool = False) -> bool:
    """Tell whether a file is a module of a suite above it or holds cases of one; or may, where a suite has errors."""
    files = [folder / SUITE_FILE for folder in path.parents if (folder / SUITE_FILE).is_file()]
    return any(declared(config).may_declare(file, path, as_source=as_source) for file in files)


class _NotCollected(pytest.Collector.CollectError):
    """A collect error of ours, whose first line the short summary shows."""


class _File(pytest.File):
    """A file of ours: what is wrong with it stands in pytest's short summary too."""

    def repr_failure(self, excinfo: ExceptionInfo[BaseException]) -> str | TerminalRepr:  # type: ignore[override]
        return _collect_repr(self, excinfo) or super().repr_failure(excinfo)


def _collect_repr(node: pytest.Collector, excinfo: ExceptionInfo[BaseException]) -> TerminalRepr | None:
    return text_repr(str(excinfo.value), node.path) if isinstance(excinfo.value, _NotCollected) else None


class SuiteFile(_File):
    """A `suite.toml`: one collector per module test suite."""

    def collect(self) -> Iterator[SuiteCollector]:
        for suite in declared(self.config).suites(self.path):
            yield SuiteCollector.from_parent(self, name=suite.name, suite=suite)


class ModuleFile(_File):
    """A module named on the command line: its targets, under the node ids they always have."""

    def collect(self) -> Iterator[SuiteCollector]:
        found = declared(self.config)
        found.by_module = True
        asked = []
        for folder in self.path.parents:
            path = folder / SUITE_FILE
            if not path.is_file():
                continue
            asked.append(display_path(path))
            suites = [
                suite for suite in found.suites(path) if any(_is_of(module, self.path) for module in suite.modules)
            ]
            if suites:
                file = SuiteFile.from_parent(self.parent, path=path)
                for suite in suites:
                    yield SuiteCollector.from_parent(file, name=suite.name, suite=suite, only=self.path)
                return
        msg = f"{display_path(self.path)}: no suite declares this module; looked in {', '.join(asked)}"
        raise _NotCollected(msg)


class MatrixFile(_File):
    """A `matrix.toml` or `expectations.toml` named on the command line, which is a mistake."""

    def collect(self) -> Iterator[pytest.Item]:
        what = "configs" if self.path.name == MATRIX_FILE else "expectations"
        msg = (
            f"{display_path(self.path)}: holds {what} for the suites at and below its folder and no suites itself; "
            f"expected a folder, a {SUITE_FILE} or a module, such as: pytest {display_path(self.path.parent)}"
        )
        raise _NotCollected(msg)


class SuiteCollector(pytest.Collector):
    """A module test suite: one item per target. `only` narrows it to the targets of one module."""

    def __init__(self, *, suite: Suite, only: Path | None = None, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.suite = suite
        self._only = only
        self._assignment = Assignment()

    def repr_failure(self, excinfo: ExceptionInfo[BaseException]) -> str | TerminalRepr:  # type: ignore[override]
        return _collect_repr(self, excinfo) or super().repr_failure(excinfo)

    @cached_property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based."""
        number = re.fullmatch(r"module_test_suite\[(\d+)\]", self.suite.origin.key_path)
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError):
            return None
        starts = [at for at, text in enumerate(lines) if _TABLE.match(text)]
        return starts[int(number[1])] if number is not None and int(number[1]) < len(starts) else None

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

    def collect(self) -> list[MatrixItem]:
        found = declared(self.config)
        targets = found.targets(self.suite, self.path)
        assigned = found.assignment(self.suite, targets, self.path)
        self._assignment = assigned
        if self._only is None and not found.registry.unknown(self.suite):
            found.ledger.collected(self.path, self.suite)
        found.marks.register(targets)
        prefix = self.nodeid + "::"
        items: list[MatrixItem] = []
        selection = _Selection(self.config, self._only)
        for position, target in enumerate(targets):
            if selection.has(_module(target)):
                kind = CompileItem if isinstance(target, CompileTarget) else RunItem
                item = kind.from_parent(
                    self,
                    name=target.name,
                    nodeid=prefix + target.name,
                    target=target,
                    home=self,
                    position=position,
                    marks=found.marks.of(target),
                )
                if assigned.rules or assigned.by_case:
                    item.serve(assigned)
                items.append(item)
        return items


class _Selection:
    """Which modules of a suite are collected: the one that is named, or all that `--ignore` does not leave out."""

    def __init__(self, config: pytest.Config, only: Path | None) -> None:
        folder = config.invocation_params.dir
        self._only = only
        self._paths = {Path(folder, one).resolve() for one in config.getoption("ignore") or ()}
        self._globs = tuple(str(Path(folder, one)) for one in config.getoption("ignore_glob") or ())
        self._known: dict[Path, bool] = {}

    def has(self, module: Module) -> bool:
        if self._only is not None:
            return _is_of(module, self._only)
        if not self._paths and not self._globs:
            return True
        if module.path not in self._known:
            self._known[module.path] = not any(map(self._is_ignored, (module.path, *module.path.parents)))
        return self._known[module.path]

    def _is_ignored(self, path: Path) -> bool:
        return path in self._paths or any(fnmatch(str(path), pattern) for pattern in self._globs)


def _module(target: Target) -> Module:
    return (target.compile if isinstance(target, RunTarget) else target).module


def _is_of(module: Module, path: Path) -> bool:
    """Whether a file named on the command line is a module's own or holds its cases."""
    return path == module.path or path in module.data
