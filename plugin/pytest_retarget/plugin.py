"""The pytest plugin, as the entry point `retarget` of the group `pytest11` names it.

What stands here is all that a project without matrix files ever loads: options, the fixed marks, and a look at the
name of each file. The rest is imported when a `suite.toml` is met.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .options import SETTINGS, Settings, add_options, register_markers

if TYPE_CHECKING:
    from retarget.targets.pytest_selection import FoundFiles, Selection, SelectionRequest

__all__ = ["find_declarations", "select_targets"]

SUITE_FILE = "suite.toml"
MATRIX_FILE = "matrix.toml"
EXPECTATIONS_FILE = "expectations.toml"

Collectors = list[pytest.Collector]

_DOCTESTS = frozenset({".rst", ".txt"})
"""Suffixes of files that pytest's doctest plugin collects where they are named on the command line."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SETTINGS] = settings = Settings.of(config)
    register_markers(config)
    if settings.require:
        from pytest_retarget.collect.requirements import NAME, Requirements

        config.pluginmanager.register(Requirements(config), NAME)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Collectors, Collectors]:
    """Collect suite files; and, where it or its folder is named, a module through the suite that declares it."""
    collectors = yield
    if file_path.name == SUITE_FILE:
        from pytest_retarget.collect.suite_files import SuiteFile

        collectors.append(SuiteFile.from_parent(parent, path=file_path))
    elif (not collectors or file_path.suffix in _DOCTESTS) and parent.session.isinitpath(file_path):
        if file_path.name in {MATRIX_FILE, EXPECTATIONS_FILE}:
            from pytest_retarget.collect.suite_files import MatrixFile

            collectors.append(MatrixFile.from_parent(parent, path=file_path))
        elif any((folder / SUITE_FILE).is_file() for folder in file_path.parents):
            from pytest_retarget.collect.suite_files import ModuleFile, is_declared

            if not collectors or is_declared(parent.config, file_path):
                collectors[:] = [ModuleFile.from_parent(parent, path=file_path)]
    elif not collectors and any(_leads_to(folder, file_path) for folder in _folders_in_suites(parent.config)):
        from pytest_retarget.collect.suite_files import ModuleFile, is_declared

        if is_declared(parent.config, file_path, as_source=True):
            collectors.append(ModuleFile.from_parent(parent, path=file_path))
    return collectors


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, Any]:
    """Collect a `suite.toml` that is no regular file, to report it: pytest passes over links to nothing and pipes."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed:
        path = collector.path / SUITE_FILE
        if os.path.lexists(path) and not path.is_file() and not _ignored(collector, path):
            from pytest_retarget.collect.suite_files import SuiteFile

            report.result.append(SuiteFile.from_parent(collector, path=path))
    return report


def _ignored(collector: pytest.Directory, path: Path) -> bool:
    return bool(collector.ihook.pytest_ignore_collect(collection_path=path, config=collector.config))


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
    """Under xdist only the workers collect: bring in the reporting when they have found a suite, or an invalid one."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]  # xdist's WorkerController, not ours to import
    terminal: Any = config.pluginmanager.getplugin("terminalreporter")
    errors = terminal.stats.get("error", ()) if terminal is not None else ()
    if any(f"{SUITE_FILE}::" in nodeid for nodeid in ids) or any(one.nodeid.endswith(SUITE_FILE) for one in errors):
        from pytest_retarget.report.hooks import activate

        activate(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Give xdist's workers one folder to share where the user wants no lasting one."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]
    if config.stash[SETTINGS].no_cache:
        from .cachedir import WORKER_KEY, cache_dir

        node.workerinput[WORKER_KEY] = str(cache_dir(config))  # type: ignore[attr-defined]


def select_targets(request: SelectionRequest) -> Selection:
    """Return what pytest selects, for the command `retarget`: see `retarget.targets.pytest_selection`."""
    from pytest_retarget.collect.selecting import select

    return select(request)


def find_declarations(request: SelectionRequest) -> FoundFiles:
    """Return the declaration files that pytest meets, for `retarget check`."""
    from pytest_retarget.collect.selecting import find

    return find(request)
