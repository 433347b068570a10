"""The pytest plugin, as the entry point `retarget` of the group `pytest11` names it.

This module and `options` are all that a project without matrix files ever loads: options, the fixed marks, and a look
at the name of each file. The rest is imported when a `suite.toml` is met.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_retarget.options import MARKERS, MISNAMED, NOT_ENTERED, OF_ONE_ID, SETTINGS, Settings, add_options

if TYPE_CHECKING:
    from retarget.session import FoundFiles, PytestConfiguration, Selection, SelectionRequest
    from retarget.worker import SpareWorker

SUITE_FILE = "suite.toml"
MATRIX_FILE = "matrix.toml"
EXPECTATIONS_FILE = "expectations.toml"

NAME = "retarget-matrix"
REQUIREMENTS = "retarget-requirements"
"""The names under which hooks are registered."""

Collectors = list[pytest.Collector]

_DOCTESTS = frozenset({".rst", ".txt"})
"""Suffixes of files that pytest's doctest plugin collects where they are named on the command line."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SETTINGS] = settings = Settings.of(config)
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if settings.require:
        from pytest_retarget.collect.requirements import Requirements

        config.pluginmanager.register(Requirements(config), REQUIREMENTS)
    leg = None
    if settings.plan is not None:
        from pytest_retarget.collect.requirements import PlannedLeg

        config.pluginmanager.register(leg := PlannedLeg(config, settings.plan), "retarget-plan")
    if hasattr(config, "workerinput"):  # of xdist: its controller reports
        return
    results, page = settings.results, None
    if settings.report is not None:
        from pytest_retarget.report.bundles import Page

        page = Page(config, settings.report, results)
        results = page.results
    if results is not None:
        from pytest_retarget.results import Results

        config.pluginmanager.register(Results(config, results, leg), "retarget-results")
    if settings.repro is not None:
        from pytest_retarget.report.bundles import Bundles

        config.pluginmanager.register(Bundles(config, settings.repro), "retarget-repro")
    if page is not None:  # after the results: so its end comes after theirs
        config.pluginmanager.register(page, "retarget-page")


_SPARE = pytest.StashKey["SpareWorker | None"]()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Start a device worker before anything is collected, where a path on the command line has declarations; in what
    others have set up by then."""
    config = session.config
    for argument in config.args:
        path = Path(config.invocation_params.dir, argument.partition("::")[0])
        beside = (os.path.isfile(path / name) for name in (MATRIX_FILE, SUITE_FILE))  # noqa: PTH113  (it never raises)
        if path.name == SUITE_FILE or any(beside):
            _spare_of(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    if (spare := config.stash.get(_SPARE, None)) is not None:
        spare.close()


def _spare_of(config: pytest.Config) -> SpareWorker | None:
    if _SPARE not in config.stash:
        config.stash[_SPARE] = _spare_worker(config)
    return config.stash[_SPARE]


def _spare_worker(config: pytest.Config) -> SpareWorker | None:
    """Start a device worker, which imports while this process collects; None where nothing is run here, or extensions
    are named that it must find first."""
    settings, option = config.stash[SETTINGS], config.option
    if option.collectonly or getattr(option, "setuponly", False) or config.pluginmanager.has_plugin("dsession"):
        return None
    if settings.cluster or settings.extensions or config.stash.get(OF_ONE_ID, False):
        return None
    from retarget.worker import SpareWorker

    return SpareWorker()


def activate(config: pytest.Config) -> ModuleType:
    """Register the hooks that serve targets, once per session. Return the module that has the collectors."""
    spare = _spare_of(config)

    from pytest_retarget.collect import suite_files

    if not config.pluginmanager.has_plugin(NAME):
        from retarget.support import on_github

        from pytest_retarget.collect.hooks import CollectionHooks
        from pytest_retarget.items.hooks import ServiceHooks
        from pytest_retarget.report.equal_failures import FoldAlike
        from pytest_retarget.report.recording import Recorder, RememberBlocked
        from pytest_retarget.report.terminal import TerminalHooks

        adjustments = []
        if (requirements := config.pluginmanager.get_plugin(REQUIREMENTS)) is not None:
            adjustments.append(requirements.adjust)
        plugins: dict[str, object] = {
            "": (collection := CollectionHooks(config)),
            "-services": ServiceHooks(config, spare),
            "-recorder": Recorder(adjustments, with_digests=config.stash[SETTINGS].results is not None),
            "-terminal": (terminal := TerminalHooks(config, collection)),
            "-lastfailed": RememberBlocked(config),
        }
        if not hasattr(config, "workerinput"):
            if not config.pluginmanager.is_blocked(f"{NAME}-attribution"):
                from pytest_retarget.attribution.reports import AttributionHooks

                plugins["-attribution"] = AttributionHooks(config)
            plugins["-fold"] = FoldAlike(config)
            if on_github():
                from pytest_retarget.report.github import GitHub

                plugins["-github"] = GitHub(config, terminal)
        if config.stash[SETTINGS].update_expectations:
            from pytest_retarget.update import UpdateExpectations

            plugins["-update"] = update = UpdateExpectations(config)
            adjustments.append(update.adjust)
        if config.stash[SETTINGS].benchmark:
            from pytest_retarget.items.benchmark import Benchmark

            plugins["-benchmark"] = Benchmark(config)
        for name, plugin in plugins.items():
            config.pluginmanager.register(plugin, f"{NAME}{name}")
    return suite_files


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Collectors, Collectors]:
    """Collect suite files; and, where it or its folder is named, a module through the suite that declares it."""
    collectors = yield
    if (near := _NEAR.fullmatch(file_path.name)) is not None:
        _note_misnamed(parent.config, file_path, _MEANT[near[1].lower()])
    if file_path.name == SUITE_FILE:
        collectors.append(activate(parent.config).SuiteFile.from_parent(parent, path=file_path))
    elif (not collectors or file_path.suffix in _DOCTESTS) and parent.session.isinitpath(file_path):
        if file_path.name in {MATRIX_FILE, EXPECTATIONS_FILE}:
            collectors.append(activate(parent.config).MatrixFile.from_parent(parent, path=file_path))
        elif any((folder / SUITE_FILE).is_file() for folder in file_path.parents) and (
            not collectors or _is_declared(parent.config, file_path)
        ):
            collectors[:] = [activate(parent.config).ModuleFile.from_parent(parent, path=file_path)]
    elif (
        not collectors
        and any(_leads_to(folder, file_path) for folder in _folders_in_suites(parent.config))
        and _is_declared(parent.config, file_path, as_source=True)
    ):
        collectors.append(activate(parent.config).ModuleFile.from_parent(parent, path=file_path))
    return collectors


_MEANT = {"suit": SUITE_FILE, "matri": MATRIX_FILE, "expectation": EXPECTATIONS_FILE}
_NEAR = re.compile(r"(?!(?:suite|matrix|expectations)\.toml$)(?i:(suit|matri|expectation)(?:es?|x|ces|s)?\.toml)")
_TABLES = re.compile(rb"^\s*\[\[\s*(?:module_test_suite|\w+_config|expectation|golden)\b", re.MULTILINE)


def _note_misnamed(config: pytest.Config, path: Path, meant: str) -> None:
    """Remember a file with declarations whose name only resembles `meant`, where its folder has none of that name."""
    try:
        is_misnamed = meant not in os.listdir(path.parent) and bool(_TABLES.search(path.read_bytes()))  # noqa: PTH208
    except OSError:
        return
    if is_misnamed:
        activate(config)
        config.stash.setdefault(MISNAMED, {})[path] = meant


def _is_declared(config: pytest.Config, path: Path, *, as_source: bool = False) -> bool:
    from pytest_retarget.session.declared import is_declared

    activate(config)
    return is_declared(config, path, as_source=as_source)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, Any]:
    """Collect a `suite.toml` that is no regular file, to report it: pytest passes over links to nothing and pipes."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed:
        path = collector.path / SUITE_FILE
        hooks, config = collector.ihook, collector.config
        is_odd = os.path.lexists(path) and not path.is_file()
        if is_odd and not hooks.pytest_ignore_collect(collection_path=path, config=config):
            report.result.append(activate(collector.config).SuiteFile.from_parent(collector, path=path))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> Generator[None, bool | None, bool | None]:
    """Remember the folders that pytest does not enter, to say which suites are there."""
    is_ignored = yield
    if is_ignored and collection_path.is_dir():
        config.stash.setdefault(NOT_ENTERED, {})[collection_path] = None
    return is_ignored


_FOLDERS = pytest.StashKey[tuple[Path, ...]]()


def _leads_to(folder: Path, file: Path) -> bool:
    """Whether a file lies in a folder, and in no suite's folder on the way."""
    between = [above for above in file.parents if above.is_relative_to(folder)]
    return bool(between) and not any((above / SUITE_FILE).is_file() for above in between)


def _folders_in_suites(config: pytest.Config) -> tuple[Path, ...]:
    """Return the folders on the command line that lie below a suite's: their modules are collected as if named."""
    if _FOLDERS not in config.stash:
        named = [Path(config.invocation_params.dir, argument.partition("::")[0]).resolve() for argument in config.args]
        config.stash[_FOLDERS] = tuple(
            folder
            for folder in named
            if folder.is_dir() and any((above / SUITE_FILE).is_file() for above in folder.parents)
        )
    return config.stash[_FOLDERS]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: object, ids: Sequence[str]) -> None:
    """Under xdist only the workers collect: activate the reporting when they have found a suite, or an invalid one."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]  # xdist's WorkerController, not ours to import
    terminal: Any = config.pluginmanager.getplugin("terminalreporter")
    errors = terminal.stats.get("error", ()) if terminal is not None else ()
    if any(f"{SUITE_FILE}::" in nodeid for nodeid in ids) or any(one.nodeid.endswith(SUITE_FILE) for one in errors):
        activate(config)
        if not config.pluginmanager.has_plugin(f"{NAME}-workers"):
            from pytest_retarget.session.progress import InterruptedWorkers

            config.pluginmanager.register(InterruptedWorkers(config), f"{NAME}-workers")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Report what workers found in suites of which nothing was selected."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]
    if "retarget" in getattr(node, "workeroutput", {}) and not config.pluginmanager.has_plugin(NAME):
        activate(config)
        for name in (NAME, f"{NAME}-terminal"):
            config.pluginmanager.getplugin(name).pytest_testnodedown(node)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Give xdist's workers one folder to share where the user wants no lasting one."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]
    if config.stash[SETTINGS].no_cache:
        from pytest_retarget.session.declared import WORKER_KEY, cache_dir

        node.workerinput[WORKER_KEY] = str(cache_dir(config))  # type: ignore[attr-defined]


def find_configuration(folder: Path) -> PytestConfiguration:
    """Return what pytest is configured with in a folder, for the command `retarget`."""
    from pytest_retarget.collect.selecting import configuration_of

    return configuration_of(folder)


def select_targets(request: SelectionRequest) -> Selection:
    """Return what pytest selects, for the command `retarget`: see `retarget.targets.collected`."""
    from pytest_retarget.collect.selecting import select

    return select(request)


def run_targets(request: SelectionRequest) -> int:
    """Run targets in a session of this process, for `retarget run`."""
    from pytest_retarget.run import run

    return run(request)


def find_declarations(request: SelectionRequest) -> FoundFiles:
    """Return the declaration files that pytest meets, for `retarget check`."""
    from pytest_retarget.collect.selecting import find

    return find(request)
