"""The declarations that a session has read: suites, targets, rules, extensions.

Marks from tags: each tag is a mark, and the fields of a target are keyword marks.

A mark is made once per session and shared by all items that carry it.

The folder that holds compiled artifacts during this session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from retarget.model import Module, Suite, Target, Toolchain
from retarget.session import (
    Assignment,
    CacheChoice,
    DeclarationLoader,
    FileName,
    Registry,
    RuleSet,
    RuleUsage,
    Store,
    expand_suite,
    load_extensions,
)
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, ScratchFolder, display_path, grouped

from pytest_retarget.options import OF_ONE_ID, SETTINGS, usage_errors


class NotCollectedError(pytest.Collector.CollectError):
    """A collect error of ours, whose first line the short summary shows."""


class Declared:
    """The declarations read so far in this session: declarations, extensions, marks. Every error is reported once."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = config.stash[SETTINGS]
        self._in_full = config.get_verbosity() > 1
        self._loader: DeclarationLoader | None = None
        self._suites: dict[Path, tuple[Suite, ...]] = {}
        self._targets: dict[tuple[Path, str], tuple[Target, ...]] = {}
        self._assignments: dict[tuple[Path, str], Assignment] = {}
        self._reported: dict[str, Path] = {}
        self._invalid: set[Path] = set()
        self.marks = Marks(config)
        self.usage = RuleUsage()
        self.suite_files: list[Path] = []
        self.by_module = False

    @cached_property
    def registry(self) -> Registry:
        """Compilers, drivers and case loaders. Raises `RetargetError` for an extension that does not load."""
        checked = self._config.stash.get(OF_ONE_ID, False) and not self._settings.extensions
        return load_extensions(self._settings.extensions, folders=[self._config.rootpath], checked=checked)

    def _store(self) -> Store | None:
        """The cache, once a session has kept something there: collecting creates none."""
        try:
            store = Store(cache_dir(self._config))
        except RetargetError:  # the size of its bound is written wrong; the session's first target reports it
            return None
        return store if store.exists else None

    @property
    def files(self) -> tuple[Path, ...]:
        """The declaration files read, those of the configs first."""
        return (*(self._loader.matrix_files if self._loader is not None else ()), *self.suite_files)

    @property
    def toolchains(self) -> tuple[Toolchain, ...]:
        """The toolchains of the files read."""
        return self._loader.toolchains if self._loader is not None else ()

    def check_toolchains(self) -> None:
        """Raise `pytest.UsageError` for a `--retarget-toolchain` whose name no file declares."""
        if self._loader is not None:
            with usage_errors():
                self._loader.check_redirections()

    def suites(self, path: Path) -> tuple[Suite, ...]:
        """Read one `suite.toml`. Raises `pytest.Collector.CollectError` with the errors and nothing else."""
        if path not in self._suites:
            try:
                if self._loader is None:
                    self._loader = DeclarationLoader(self.registry, self._settings.toolchains, self._store())
                self._suites[path] = self._loader.load_suite_file(path)
            except RetargetError as error:
                raise self.collect_error(error, path) from error
            self.suite_files.append(path)
        return self._suites[path]

    def may_declare(self, path: Path, module: Path, *, as_source: bool = False) -> bool:
        """Return whether a `suite.toml` declares a module or a file of its cases, or has errors. The errors are
        reported later.

        `as_source` asks for the module's own file alone.
        """
        reported = dict(self._reported)
        try:
            modules = [one for suite in self.suites(path) for one in suite.modules]
            return any(one.path == module if as_source else is_of(one, module) for one in modules)
        except NotCollectedError:
            self._reported = reported
            is_first = path not in self._invalid
            self._invalid.add(path)
            return is_first or not as_source  # one of a folder's files is enough

    def targets(self, suite: Suite, path: Path) -> tuple[Target, ...]:
        """Expand one suite, once. Raises `pytest.Collector.CollectError`."""
        key = path, suite.name
        if key not in self._targets:
            try:
                self._targets[key] = expand_suite(suite, self.registry)
            except RetargetError as error:
                raise self.collect_error(error, path) from error
        return self._targets[key]

    def assignment(self, suite: Suite, targets: Sequence[Target], path: Path) -> Assignment:
        """Find the rules in force for a suite's targets, all of them, once.

        Raises `pytest.Collector.CollectError` for contradictions.
        """
        if self._settings.ignore_expectations or not (suite.expectations or suite.goldens):
            return Assignment()
        key = path, suite.name
        if key in self._assignments:
            return self._assignments[key]
        assignment = RuleSet.of(suite, self.registry).assign(targets)
        if contradictions := assignment.diagnostics:
            raise self.collect_error(DiagnosticsError(contradictions), path)
        self.usage.add(suite, assignment, targets)
        self._assignments[key] = assignment
        return assignment

    def findings(self, config: pytest.Config) -> dict[str, Any]:
        """Return the errors of expectations that only a session can detect: those that expired or have no effect; and
        the rules that name cases, of those that this session can judge once the cases are known."""
        errors = self._lines(self.usage.diagnostics(self._suites, whole=is_whole(config)))
        return {"errors": errors, "case_uses": self.usage.case_uses(self._suites)}

    def collect_error(self, error: RetargetError, path: Path) -> pytest.Collector.CollectError:
        """Word an error for pytest, without what an earlier one reported."""
        found = error.diagnostics if isinstance(error, DiagnosticsError) else ()
        texts = list(map(str, found)) or [str(error)]
        earlier = sorted({display_path(self._reported[text]) for text in texts if text in self._reported})
        new = [text for text in texts if text not in self._reported]
        if not new:
            why = f"not collected, because of the errors listed at {', '.join(earlier)}"
            return NotCollectedError(f"{display_path(path)}: {why}")
        lines = self._lines([diagnostic for diagnostic in found if str(diagnostic) not in self._reported]) or new
        self._reported.update(dict.fromkeys(new, path))
        return NotCollectedError("\n".join(lines))

    def _lines(self, diagnostics: Sequence[Diagnostic]) -> list[str]:
        """A line for each error; with less than `-vv`, one for many that are alike."""
        return list(map(str, diagnostics)) if self._in_full else grouped(diagnostics)


def is_whole(config: pytest.Config) -> bool:
    """Whether only folders were requested."""
    named = [config.invocation_params.dir / str(argument).partition("::")[0] for argument in config.args]
    return all(path.is_dir() for path in named) and not any("::" in str(argument) for argument in config.args)


_DECLARED = pytest.StashKey[Declared]()


def declared(config: pytest.Config) -> Declared:
    """The session's declarations, created on first use."""
    if _DECLARED not in config.stash:
        config.stash[_DECLARED] = Declared(config)
    return config.stash[_DECLARED]


def is_declared(config: pytest.Config, path: Path, *, as_source: bool = False) -> bool:
    """Return whether a file is a module of a suite above it or holds cases of one; or may, where a suite has errors."""
    files = [folder / FileName.SUITE for folder in path.parents if (folder / FileName.SUITE).is_file()]
    return any(declared(config).may_declare(file, path, as_source=as_source) for file in files)


def is_of(module: Module, path: Path) -> bool:
    """Whether a file named on the command line is a module's own or holds its cases."""
    return path == module.path or path in module.data


class _FieldName(str):
    """The name of a keyword mark, which `-k` does not match.

    `-k compile` means compile targets; but each target has the mark `compiler(name=…)`, and pytest's `-k` looks for a
    part of any mark's name, in lower case.
    """

    __slots__ = ()

    def lower(self) -> str:
        """Return what `-k` compares with: nothing."""
        return ""


class Marks:
    """The marks of this session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.targets: list[Target] = []
        """All of the suites that are collected, selected or not."""
        self._known: set[str] = {line.partition(":")[0].partition("(")[0] for line in config.getini("markers")}
        self._words: dict[str, pytest.Mark] = {}
        self._fields: dict[tuple[str, tuple[tuple[str, str], ...]], pytest.Mark] = {}
        self._lists: dict[tuple[int, int], tuple[list[pytest.Mark], object]] = {}
        """The marks by the ids of what they are made of, which is kept: so that an id stays one object's."""

    def register(self, targets: Iterable[Target]) -> None:
        """Make the tags of these targets known to pytest, so that `--strict-markers` passes."""
        self.targets += targets
        for tag in sorted({tag for tags in {target.tags for target in targets} for tag in tags} - self._known):
            self._known.add(tag)
            if ":" not in tag:
                self._config.addinivalue_line("markers", f"{tag}: retarget: a tag of declared targets")

    def register_used(self, words: Iterable[str]) -> None:
        """Make words known that other suites below the root folder use, which `--strict-markers` would refuse."""
        is_strict = self._config.getini("strict_markers")
        if not (self._config.getini("strict") if is_strict is None else is_strict):
            return
        unknown = set(words) - self._known
        names = (FileName.SUITE, FileName.MATRIX) if unknown else ()
        files = [file for name in names for file in name.below([self._config.rootpath])]
        text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())
        for word in sorted(word for word in unknown if re.search(rf"""(['"]){re.escape(word)}\1""", text)):
            self._config.addinivalue_line("markers", f"{word}: retarget: a word of suites that are not collected")

    def of(self, target: Target) -> list[pytest.Mark]:
        """The marks of one target, its tags first. The list is shared: copy it before changing it.

        Targets that differ in their module only share their tags and configs, and so their marks.
        """
        parts = (target.tags, target.runtime or target.compiled.compiler)
        key = (id(parts[0]), id(parts[1]))
        known = self._lists.get(key)
        if known is None:
            words = [self._word(tag) for tag in target.tags]
            fields = [self._field(name, values) for name, values in target.marks]
            known = self._lists[key] = words + fields, parts
        return known[0]

    def _word(self, tag: str) -> pytest.Mark:
        if tag not in self._words:
            # pytest takes a registered mark's name to end at the first colon, and so never knows `vulkan://0`.
            known = ":" not in tag
            self._words[tag] = getattr(pytest.mark, tag).mark if known else pytest.Mark(tag, (), {}, _ispytest=True)
        return self._words[tag]

    def _field(self, name: str, values: tuple[tuple[str, str], ...]) -> pytest.Mark:
        if (name, values) not in self._fields:
            self._fields[name, values] = pytest.Mark(_FieldName(name), (), dict(values), _ispytest=True)
        return self._fields[name, values]


WORKER_KEY = "retarget_cache_dir"
"""The key under which the controller of xdist passes its workers a folder that it created for them."""

_CACHE_DIR = pytest.StashKey[Path]()


def cache_dir(config: pytest.Config) -> Path:
    """Return the folder; with `--retarget-no-cache` a new one, which is removed when the session ends."""
    if _CACHE_DIR not in config.stash:
        config.stash[_CACHE_DIR] = _choose(config)
    return config.stash[_CACHE_DIR]


def _choose(config: pytest.Config) -> Path:
    settings = config.stash[SETTINGS]
    if WORKER_KEY in (given := getattr(config, "workerinput", {})):
        return Path(given[WORKER_KEY])
    if settings.no_cache:
        folder = ScratchFolder("cache")
        config.add_cleanup(folder.close)
        return folder.path
    return CacheChoice.of(
        option=str(config.getoption("retarget_cache_dir") or ""),
        ini=str(config.getini("retarget_cache_dir") or ""),
        ini_file=config.inipath,
        folder=config.invocation_params.dir,
    ).folder
