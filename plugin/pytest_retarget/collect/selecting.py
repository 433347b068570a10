"""pytest's own selection for the command `retarget`: one collection in this process, without running anything.

Of the options that the project's ini file adds, those that bear on collection are kept (`-p`, `--ignore`, …), with the
cache and the time limits, and those that select, report or distribute are not: a listing shows what is declared, and
writes no files.

The configuration of each session of pytest in a folder, found as pytest finds it, without a session.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest
from retarget.model import Suite, Target
from retarget.session import (
    CollectedSuite,
    FileName,
    FoundFiles,
    PytestConfiguration,
    Selection,
    SelectionRequest,
    SelectionUsageError,
)
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, display_path

from pytest_retarget.collect.hooks import CollectionHooks
from pytest_retarget.collect.suite_files import MatrixFile, SuiteCollector, SuiteFile
from pytest_retarget.internals import determine_setup, parse_override_ini
from pytest_retarget.items.targets import MatrixItem
from pytest_retarget.options import SETTINGS
from pytest_retarget.session.declared import cache_dir, declared

_ADDOPTS = "PYTEST_ADDOPTS"
COLLECTING = frozenset(
    {
        *("-c", "--config-file", "-o", "--override-ini", "--rootdir", "--confcutdir", "--import-mode"),
        *("--ignore", "--ignore-glob", "--deselect", "--retarget-extension", "--retarget-toolchain"),
    }
)
LIMITS = frozenset({"--retarget-cache-dir", "--retarget-compile-timeout", "--retarget-run-timeout"})


def select(request: SelectionRequest) -> Selection:
    """Collect in this process. Raises as `PytestPlugin.select_targets` does."""
    collector = _Collector()
    config = _collect(request, collector)
    collector.raise_errors()
    found = declared(config)
    settings = config.stash[SETTINGS]
    return Selection(
        registry=found.registry,
        root=config.rootpath,
        cache=cache_dir(config),
        extensions=settings.extensions,
        compile_timeout=settings.compile_timeout,
        run_timeout=settings.run_timeout,
        suites=tuple(collector.suites()),
        toolchains=found.toolchains,
        notes=_notes(config),
    )


def _notes(config: pytest.Config) -> tuple[str, ...]:
    hooks = config.pluginmanager.get_plugin("retarget-matrix")
    return tuple(hooks.notes) if isinstance(hooks, CollectionHooks) else ()


def find(request: SelectionRequest) -> FoundFiles:
    """Collect files in this process. Raises as `PytestPlugin.find_declarations` does."""
    collector = _Collector(files_of=request.paths)
    config = _collect(request, collector)
    return FoundFiles(files=tuple(sorted(collector.files)), errors=tuple(collector.errors), notes=_notes(config))


def _collect(request: SelectionRequest, collector: _Collector) -> pytest.Config:
    arguments = [
        *("-p", "retarget", "--collect-only", "--capture=no", "--assert=plain"),
        *("-p", "no:unraisableexception"),  # it collects garbage five times, for what only running tests leave behind
        *request_options(request, kept={"-p", *COLLECTING, *LIMITS}),
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
        lines = [line.removeprefix("ERROR: ").strip() for line in stderr.getvalue().splitlines() if line.strip()]
        raise SelectionUsageError("\n".join(lines) or "pytest refuses the arguments")
    if status == pytest.ExitCode.INTERRUPTED and not (collector.diagnostics or collector.errors):
        raise KeyboardInterrupt
    if status == pytest.ExitCode.INTERNAL_ERROR or collector.config is None:
        printed = [line for line in (stdout.getvalue() + stderr.getvalue()).splitlines() if line.strip()]
        internal = [line for line in printed if line.startswith("INTERNALERROR>")]
        last = "".join((internal or printed)[-1:])
        msg = f"pytest failed while it collected: {last}; `pytest --collect-only` shows more"
        raise RetargetError(msg)
    return collector.config


def request_options(
    request: SelectionRequest, *, kept: Collection[str], switches: Collection[str] = ()
) -> Iterator[str]:
    """Yield the options that a request stands for. Of those that the project adds, only those that are `kept` hold, and
    among those without a value the `switches`."""
    yield from ("-o", "addopts=")
    for words in configuration_of(Path.cwd(), request.paths).options.values():
        yield from _kept(words, kept)
        yield from (word for word in words if word in switches)
    yield from ("-m", request.mark, "-k", request.keyword)
    yield from (f"--ignore={path}" for path in request.ignore)
    yield from (f"--retarget-extension={module}" for module in request.extensions)
    yield from (f"--retarget-toolchain={toolchain}" for toolchain in request.toolchains)


class Errors:
    """A pytest plugin that notes errors of collection, and has no Python files collected."""

    def __init__(self) -> None:
        self.config: pytest.Config | None = None
        self.diagnostics: dict[Diagnostic, None] = {}
        self.errors: dict[str, None] = {}
        self.files: set[Path] = set()

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

    def pytest_exception_interact(
        self, node: pytest.Collector, call: pytest.CallInfo[object], report: pytest.CollectReport | pytest.TestReport
    ) -> None:
        if not isinstance(report, pytest.CollectReport):
            return
        raised = call.excinfo.value if call.excinfo is not None else None
        error = raised.__cause__ if raised is not None else None
        if isinstance(error, DiagnosticsError):
            self.diagnostics.update(dict.fromkeys(error.diagnostics))
            above = [folder / FileName.SUITE for folder in node.path.parents]
            self.files.update([path for path in above if path.is_file()][:1])
        elif isinstance(error, RetargetError):
            self.errors[str(error)] = None
        elif isinstance(raised, OSError) and raised.filename:  # pytest looks for a conftest.py in each folder
            self.errors[f"cannot read {display_path(Path(raised.filename))}: {raised.strerror}"] = None
        else:
            self.errors[str(report.longrepr).strip()] = None

    def raise_errors(self) -> None:
        """Raise what went wrong. Raises `DiagnosticsError` or `RetargetError`."""
        if self.diagnostics and not self.errors:
            raise DiagnosticsError(tuple(self.diagnostics))
        if self.errors:
            texts = [str(DiagnosticsError(tuple(self.diagnostics)))] if self.diagnostics else []
            raise RetargetError("\n".join([*texts, *self.errors]))


class _Collector(Errors):
    """Notes what is collected; with `files_of`, only the declaration files at and below paths."""

    def __init__(self, files_of: Sequence[str] = ()) -> None:
        super().__init__()
        self._files_only = bool(files_of)
        self._roots = [Path(os.path.abspath(path.partition("::")[0])) for path in files_of]  # noqa: PTH100  links stay
        self._found: dict[tuple[Path, str], tuple[Suite, dict[str, Target], list[Target]]] = {}
        """The suites, each with all its targets by name and with those that are selected."""

    def pytest_collect_directory(self, path: Path) -> None:
        """Note the declarations of each folder that is entered, also links to nothing, which are no files to pytest."""
        if any(path.is_relative_to(root) for root in self._roots):  # pytest lists what is beside them, too
            self.files.update(path / name for name in FileName if os.path.lexists(path / name))

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        if not self._files_only or not isinstance(collector, SuiteFile | SuiteCollector | MatrixFile):
            return None
        self.files.add(collector.path)
        return pytest.CollectReport(collector.nodeid, "passed", None, [])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        for node in report.result or ():
            if isinstance(node, SuiteCollector):
                self._of(node)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        if isinstance(item, MatrixItem) and isinstance(item.parent, SuiteCollector):
            self._of(item.parent)[1][item.name] = item.target

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, MatrixItem) and isinstance(item.parent, SuiteCollector):
                self._of(item.parent)[2].append(item.target)

    def _of(self, node: SuiteCollector) -> tuple[Suite, dict[str, Target], list[Target]]:
        return self._found.setdefault((node.path, node.name), (node.suite, {}, []))

    def suites(self) -> Iterator[CollectedSuite]:
        for suite, targets, selected in self._found.values():
            yield CollectedSuite(suite=suite, targets=tuple(targets.values()), selected=tuple(selected))


def _kept(words: Sequence[str], kept: Collection[str]) -> Iterator[str]:
    """Yield those of some words that are options among `kept`, with their values."""
    takes_next = False
    for word in words:
        name, equals, _ = word.partition("=")
        if takes_next:
            yield word
            takes_next = False
        elif word in kept:
            yield word
            takes_next = True
        elif (equals and name in kept) or (word[:2] in {"-p", "-o"} & {*kept} and len(word) > 2):
            yield word


_VARIABLE = "PYTEST_ADDOPTS"


def configuration_of(folder: Path, paths: Sequence[str] = ()) -> PytestConfiguration:
    """Return the root, the ini file, its values and the options of a session that starts in a folder and is given these
    paths, or else the folder. Values that pytest will refuse count as none."""
    variable = _words(os.environ.get(_VARIABLE, ""))
    try:
        known = _known(variable)
        root, file, values, _ = determine_setup(
            inifile=known.file,
            override_ini=known.overrides,
            args=list(paths) or [str(folder)],
            rootdir_cmd_arg=known.root,
            invocation_dir=folder,
        )
        addopts = getattr(values.get("addopts"), "value", "")
        words = tuple(map(str, addopts)) if isinstance(addopts, list) else _words(str(addopts))
        values |= parse_override_ini([*_known(words).overrides, *known.overrides])
    except (Exception, pytest.fail.Exception):  # pytest reports it
        return PytestConfiguration(root=folder, options={_VARIABLE: variable})
    return PytestConfiguration(
        root=root,
        file=file,
        values={key: found.value for key, found in values.items()},
        options={f"addopts in {file or _VARIABLE}": words, _VARIABLE: variable},
    )


def _known(words: Sequence[str]) -> argparse.Namespace:
    """Return those options that change what pytest reads. Raises `argparse.ArgumentError`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-c", "--config-file", dest="file")
    parser.add_argument("-o", "--override-ini", dest="overrides", action="append", default=[])
    parser.add_argument("--rootdir", dest="root")
    return parser.parse_known_args(words)[0]


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:  # pytest will refuse it
        return ()
