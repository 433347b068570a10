"""pytest's own selection for the command `retarget`: one collection in this process, without running anything.

Of the options that the project's ini file adds, those that bear on collection are kept (`-p`, `--ignore`, …) and those
that select, report or distribute are not: a listing shows what is declared, and writes no files.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from retarget.declare.files import EXPECTATIONS_FILE, MATRIX_FILE, SUITE_FILE
from retarget.engine.trial.session import plain_uses
from retarget.model import Suite, Target
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path
from retarget.targets.pytest_selection import (
    CollectedSuite,
    FoundFiles,
    Selection,
    SelectionRequest,
    SelectionUsageError,
)

from pytest_retarget.collect.hooks import CollectionHooks
from pytest_retarget.collect.suite_files import MatrixFile, SuiteCollector, SuiteFile
from pytest_retarget.internals import determine_setup
from pytest_retarget.items.base import MatrixItem
from pytest_retarget.session.declared import declared

__all__ = ["find", "select"]

_ADDOPTS = "PYTEST_ADDOPTS"
_KEPT = frozenset(
    {
        *("-p", "-o", "--override-ini", "--ignore", "--ignore-glob", "--deselect", "--import-mode", "--confcutdir"),
        *("--rootdir", "--retarget-extension", "--retarget-toolchain"),
    }
)
_DECLARATIONS = frozenset({SUITE_FILE, MATRIX_FILE, EXPECTATIONS_FILE})


def select(request: SelectionRequest) -> Selection:
    """Collect in this process. Raises as `PytestPlugin.select_targets` does."""
    collector = _Collector()
    config = _collect(request, collector)
    collector.raise_errors()
    found, hooks = declared(config), config.pluginmanager.get_plugin("retarget-matrix")
    return Selection(
        registry=found.registry,
        suites=tuple(collector.suites()),
        toolchains=found.toolchains,
        notes=tuple(hooks.notes) if isinstance(hooks, CollectionHooks) else (),
        rule_errors=tuple(found.expectation_diagnostics(config)) if request.judges_rules else (),
        named_cases=tuple(plain_uses(found.case_uses(config))) if request.judges_rules else (),
    )


def find(request: SelectionRequest) -> FoundFiles:
    """Collect files in this process. Raises as `PytestPlugin.find_declarations` does."""
    collector = _Collector(files_of=request.paths)
    _collect(request, collector)
    return FoundFiles(files=tuple(sorted(collector.files)), errors=tuple(collector.errors))


def _collect(request: SelectionRequest, collector: _Collector) -> pytest.Config:
    arguments = [
        *("-p", "retarget", "--collect-only", "--capture=no", "--assert=plain"),
        *("-p", "no:unraisableexception"),  # it collects garbage five times, for what only running tests leave behind
        *("-o", "addopts=", *_added_options(request.paths)),
        *("-m", request.mark, "-k", request.keyword),
        *(f"--ignore={path}" for path in request.ignore),
        *(f"--retarget-extension={module}" for module in request.extensions),
        *(f"--retarget-toolchain={toolchain}" for toolchain in request.toolchains),
        *("--", *request.paths),
    ]
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as environment,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        environment.delenv(_ADDOPTS, raising=False)
        status = pytest.main(arguments, plugins=[collector])
    if status == pytest.ExitCode.USAGE_ERROR:
        raise SelectionUsageError(_usage_error(stderr.getvalue()))
    if status == pytest.ExitCode.INTERRUPTED and not (collector.diagnostics or collector.errors):
        raise KeyboardInterrupt
    if status == pytest.ExitCode.INTERNAL_ERROR or collector.config is None:
        printed = [line for line in (stdout.getvalue() + stderr.getvalue()).splitlines() if line.strip()]
        internal = [line for line in printed if line.startswith("INTERNALERROR>")]
        last = "".join((internal or printed)[-1:])
        msg = f"pytest failed while it collected: {last}; `pytest --collect-only` shows more"
        raise RetargetError(msg)
    return collector.config


class _Collector:
    """A pytest plugin that notes what is collected; with `files_of`, only the declaration files at and below paths."""

    def __init__(self, files_of: Sequence[str] = ()) -> None:
        self.config: pytest.Config | None = None
        self.diagnostics: dict[Diagnostic, None] = {}
        self.errors: dict[str, None] = {}
        self.files: set[Path] = set()
        self._files_only = bool(files_of)
        self._roots = [Path(os.path.abspath(path.partition("::")[0])) for path in files_of]  # noqa: PTH100  links stay
        self._suites: dict[tuple[Path, str], Suite] = {}
        self._targets: dict[tuple[Path, str], dict[str, Target]] = {}
        self._selected: dict[tuple[Path, str], list[Target]] = {}

    def pytest_configure(self, config: pytest.Config) -> None:
        self.config = config

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out Python files, whose import takes time, and links to a folder above, which go round for ever."""
        is_python = collection_path.suffix == ".py" and collection_path.is_file()
        is_loop = False
        if collection_path.is_symlink():
            within = os.path.join(os.path.realpath(collection_path), "")  # noqa: PTH118  resolve raises for loops
            is_loop = os.path.realpath(collection_path.parent).startswith(within.rstrip(os.sep))
        return True if is_python or is_loop else None

    def pytest_collect_directory(self, path: Path) -> None:
        """Note the declarations of each folder that is entered, also links to nothing, which are no files to pytest."""
        if any(path.is_relative_to(root) for root in self._roots):  # pytest lists what is beside them, too
            self.files.update(path / name for name in _DECLARATIONS if os.path.lexists(path / name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        if not self._files_only or not isinstance(collector, SuiteFile | SuiteCollector | MatrixFile):
            return None
        self.files.add(collector.path)
        return pytest.CollectReport(collector.nodeid, "passed", None, [])

    def pytest_exception_interact(
        self, node: pytest.Collector, call: pytest.CallInfo[object], report: pytest.CollectReport
    ) -> None:
        raised = call.excinfo.value if call.excinfo is not None else None
        error = raised.__cause__ if raised is not None else None
        if isinstance(error, DiagnosticsError):
            self.diagnostics.update(dict.fromkeys(error.diagnostics))
            above = [folder / SUITE_FILE for folder in node.path.parents]
            self.files.update([path for path in above if path.is_file()][:1])
        elif isinstance(error, RetargetError):
            self.errors[str(error)] = None
        elif isinstance(raised, OSError) and raised.filename:  # pytest looks for a conftest.py in each folder
            self.errors[f"cannot read {display_path(Path(raised.filename))}: {raised.strerror}"] = None
        elif isinstance(report, pytest.CollectReport):
            self.errors[str(report.longrepr).strip()] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        for node in report.result or ():
            if isinstance(node, SuiteCollector):
                self._suites.setdefault(_key(node), node.suite)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        if isinstance(item, MatrixItem) and isinstance(item.parent, SuiteCollector):
            self._suites.setdefault(_key(item.parent), item.parent.suite)
            self._targets.setdefault(_key(item.parent), {})[item.name] = item.target

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, MatrixItem) and isinstance(item.parent, SuiteCollector):
                self._selected.setdefault(_key(item.parent), []).append(item.target)

    def suites(self) -> Iterator[CollectedSuite]:
        for key, suite in self._suites.items():
            targets = tuple(self._targets.get(key, {}).values())
            yield CollectedSuite(suite=suite, targets=targets, selected=tuple(self._selected.get(key, ())))

    def raise_errors(self) -> None:
        """Raise what went wrong. Raises `DiagnosticsError` or `RetargetError`."""
        if self.diagnostics and not self.errors:
            raise DiagnosticsError(tuple(self.diagnostics))
        if self.errors:
            texts = [str(DiagnosticsError(tuple(self.diagnostics)))] if self.diagnostics else []
            raise RetargetError("\n".join([*texts, *self.errors]))


def _key(node: SuiteCollector) -> tuple[Path, str]:
    return node.path, node.name


def _added_options(paths: Sequence[str]) -> list[str]:
    """Return those of the options in `PYTEST_ADDOPTS` and in the ini file's `addopts` that bear on collection."""
    with contextlib.suppress(pytest.UsageError):  # reported when pytest reads the file itself
        found = determine_setup(
            inifile=None, override_ini=None, args=list(paths), rootdir_cmd_arg=None, invocation_dir=Path.cwd()
        )
        written = found[2].get("addopts", "")
        value: object = getattr(written, "value", written)  # pytest 9 has it in a record
        words = shlex.split(value) if isinstance(value, str) else [*value] if isinstance(value, list) else []
        words += shlex.split(os.environ.get(_ADDOPTS, ""))
        return list(_kept(words))
    return []


def _kept(words: Sequence[str]) -> Iterator[str]:
    takes_next = False
    for word in words:
        name, equals, _ = word.partition("=")
        if takes_next:
            yield word
            takes_next = False
        elif word in _KEPT:
            yield word
            takes_next = True
        elif (equals and name in _KEPT) or (word[:2] in {"-p", "-o"} and len(word) > 2):
            yield word


def _usage_error(printed: str) -> str:
    lines = [line.removeprefix("ERROR: ").strip() for line in printed.splitlines() if line.strip()]
    return "\n".join(lines) or "pytest refuses the arguments"
