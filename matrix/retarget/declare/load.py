"""TOML files → frozen suites, with every error of every file at once.

`matrix.toml` holds configs and serves its folder and everything below. `suite.toml` holds suites, and configs of its
own. A file sees its own configs and those of each `matrix.toml` above it, up to one that says `root = true`, a folder
that holds `.git`, or the root of the file system. Expectations, which an `expectations.toml` in any of these folders
may hold as well, serve in the same way. Collecting is pure: files are read, the machine is not examined.

Each file takes one way: `declare.read` validates its tables, and here they become configs, suites and rules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from retarget.declare.expectations import build_expectations, build_goldens
from retarget.declare.named_configs import FileDeclarations, Redirections, Scope, unknown_name, word_problems
from retarget.declare.resolved_configs import extend_scope
from retarget.declare.schema.kept import FileTables, TableStore, find_tables, keep_tables
from retarget.declare.sources import FileName
from retarget.declare.suites import build_suites
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, Expectation, Golden, RuntimeConfig, Suite, Toolchain
from retarget.profiles.requirements import prefix_error
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError
from retarget.support.files import read_regular
from retarget.support.toml import KeyPath, Problem, read_toml

_ConfigT = TypeVar("_ConfigT", CompilerConfig, RuntimeConfig, Toolchain)


class DeclarationLoader:
    """Loads suite files; reads each `matrix.toml` once. One loader serves one session."""

    def __init__(
        self, registry: Registry | None = None, toolchains: Redirections | None = None, store: TableStore | None = None
    ) -> None:
        """`registry` has the kinds that find modules in a way of their own (without it each source is a module), and
        knows which drivers load what which compilers make. `toolchains` are where some are in this session. In the
        `store`, if there is one, are the tables of files that were read before."""
        self._registry = registry
        self._store = store
        self._redirected = toolchains or {}
        self._visible: dict[Path, FileDeclarations] = {}
        self.matrix_files: list[Path] = []
        """The `matrix.toml` and `expectations.toml` files read so far, in the order read."""
        self._suites: dict[str, Path] = {}
        self._scopes: list[Scope] = []
        self.expectations: list[Expectation] = []
        self.goldens: list[Golden] = []
        """All rules of the files read so far."""

    @property
    def compiler_configs(self) -> tuple[CompilerConfig, ...]:
        """All compiler configs of the files read so far, used or not."""
        return _distinct(config for scope in self._scopes for config in scope.compilers.configs.values())

    @property
    def runtime_configs(self) -> tuple[RuntimeConfig, ...]:
        """All runtime configs of the files read so far, used or not."""
        return _distinct(config for scope in self._scopes for config in scope.runtimes.configs.values())

    @property
    def toolchains(self) -> tuple[Toolchain, ...]:
        """All toolchains of the files read so far, used or not."""
        return _distinct(one for scope in self._scopes for one in scope.toolchains.configs.values())

    def check_redirections(self) -> None:
        """Raise `RetargetError` for a redirected toolchain that no file read so far declares."""
        known = dict.fromkeys(name for scope in self._scopes for name in scope.toolchains.declared)
        for name in self._redirected:
            if name not in known:
                error = unknown_name("toolchain", name, known).replace(
                    "declared in this file or above", "of these files"
                )
                msg = f"--retarget-toolchain: {error}"
                raise RetargetError(msg)

    def read_matrix_file(self, path: Path) -> tuple[Diagnostic, ...]:
        """Return all errors of a `matrix.toml` or `expectations.toml`, of the one beside it and of those above."""
        return self._visible_in(_absolute(path).parent).diagnostics

    def scope_of(self, folder: Path) -> Scope:
        """Return the configs that a file in `folder` sees. Raises `DiagnosticsError` for errors in their files."""
        visible = self._visible_in(_absolute(folder))
        if visible.diagnostics:
            raise DiagnosticsError(visible.diagnostics)
        return visible.scope

    def load_suite_file(self, path: Path) -> tuple[Suite, ...]:
        """Return the suites of one file in declared order.

        Raises `DiagnosticsError` with all errors of the file and of the `matrix.toml` files above it. The name of a
        suite that another file loaded before has declared is one of them.
        """
        suites, diagnostics = self.read_suite_file(path)
        if diagnostics:
            raise DiagnosticsError(diagnostics)
        return suites

    def read_suite_file(self, path: Path) -> tuple[tuple[Suite, ...], tuple[Diagnostic, ...]]:
        """Return the well-formed suites, and all errors of the file and of the `matrix.toml` files above it."""
        path = _absolute(path)
        found = self._read(path, FileName.SUITE, lambda _: self._visible_in(path.parent))
        self._suites.update((suite.name, path) for suite in found.suites)
        return found.suites, found.diagnostics

    def _visible_in(self, folder: Path) -> FileDeclarations:
        if folder not in self._visible:
            self._visible[folder] = self._look(folder)
        return self._visible[folder]

    def _look(self, folder: Path) -> FileDeclarations:
        is_last = folder.parent == folder or os.path.lexists(folder / ".git")

        def above(is_root: bool) -> FileDeclarations:
            return FileDeclarations() if is_last or is_root else self._visible_in(folder.parent)

        visible: FileDeclarations | None = None
        if os.path.lexists(folder / FileName.MATRIX):
            self.matrix_files.append(folder / FileName.MATRIX)
            visible = self._read(folder / FileName.MATRIX, FileName.MATRIX, above)
        if os.path.lexists(folder / FileName.EXPECTATIONS):
            self.matrix_files.append(folder / FileName.EXPECTATIONS)
            beside = visible or above(False)
            visible = self._read(folder / FileName.EXPECTATIONS, FileName.EXPECTATIONS, lambda _: beside)
        return visible or above(False)

    def _read(self, file: Path, role: str, above: Callable[[bool], FileDeclarations]) -> FileDeclarations:
        """Read one file in the role of the file name `role`. `above` says what it sees, given whether it is a root.

        The rules and the errors are those above as well.
        """
        tables = self._tables(file)
        outer = above(tables.root)
        found = self._resolved(tables, role, outer.scope)
        self._scopes.append(found.scope)
        self.expectations += found.expectations
        self.goldens += found.goldens
        rules, goldens = (*outer.expectations, *found.expectations), (*outer.goldens, *found.goldens)
        suites = tuple(replace(suite, expectations=rules, goldens=goldens) for suite in found.suites)
        diagnostics = (*outer.diagnostics, *found.diagnostics)
        return replace(found, suites=suites, expectations=rules, goldens=goldens, diagnostics=diagnostics)

    def _tables(self, file: Path) -> FileTables:
        """Read one file, or take its tables from the store if its text was read before. The errors are those of the
        text and of each table for itself, not of what names refer to."""
        if self._store is not None:
            with suppress(OSError, UnicodeDecodeError):  # read again below, and reported
                if (kept := find_tables(self._store, file, read_regular(file).decode())) is not None:
                    return kept
        from retarget.declare.read import tables_of  # only what is not kept needs pydantic

        tables = tables_of(file, *read_toml(file))
        if self._store is not None:
            keep_tables(self._store, tables)
        return tables

    def _resolved(self, tables: FileTables, role: str, above: Scope) -> FileDeclarations:
        """Resolve what a file declares, read in the role of the file name `role`; `above` are the configs of the files
        above."""
        problems = [*tables.problems, *_misplaced(tables, role)]
        scope = above
        suites: tuple[Suite, ...] = ()
        elsewhere: tuple[Diagnostic, ...] = ()
        if role != FileName.EXPECTATIONS:
            scope, found = extend_scope(above, tables, self._registry, self._redirected)
            problems += found
            problems += _unknown_prefixes(tables, scope, self._registry)
        if role == FileName.SUITE:
            suites, found, elsewhere = build_suites(tables, scope, self._suites, self._registry)
            problems += found
        expectations, found = build_expectations(tables)
        problems += found
        goldens, found = build_goldens(tables)
        problems += found
        diagnostics = (*tables.unreadable, *Problem.locate(tables.file, tables.text, problems), *elsewhere)
        return FileDeclarations(
            scope=scope, suites=suites, expectations=expectations, goldens=goldens, diagnostics=diagnostics
        )


def _unknown_prefixes(tables: FileTables, scope: Scope, registry: Registry | None) -> Iterable[Problem]:
    """Yield an error for each requirement whose prefix is that of no driver, installed or of a runtime config in
    scope: no device would ever be asked."""
    if registry is None:
        return
    drivers = {*registry.drivers, *(driver for one in scope.runtimes.configs.values() for driver in one.drivers)}
    written = [((*entry.path, "requires"), entry.table.requires) for entry in tables.runtimes]
    written += [((*entry.path, "requires"), entry.table.requires) for entry in tables.suites]
    written += [
        ((*entry.path, "module", at, "requires"), override.requires)
        for entry in tables.suites
        for at, override in enumerate(entry.table.module)
    ]
    for path, texts in written:
        yield from word_problems(texts, path, partial(prefix_error, drivers=drivers))


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are


def _distinct(configs: Iterable[_ConfigT]) -> tuple[_ConfigT, ...]:
    return tuple({id(config): config for config in configs}.values())


def _misplaced(tables: FileTables, role: str) -> list[Problem]:
    """Return what a file with this name must not hold, or lacks."""
    declared = (tables.toolchains, tables.hosts, tables.compilers, tables.runtimes, tables.targets, tables.suites)
    root: list[KeyPath] = [("root",)] if tables.root else []
    if role == FileName.EXPECTATIONS:
        expected = f"expected it in another file: {FileName.EXPECTATIONS} holds [[expectation]] and [[golden]] only"
        paths = [*root, *(entries[0].path for entries in declared if entries)]
        return [Problem(path, f"found {path[0]}, {expected}") for path in paths]
    if role == FileName.MATRIX:
        return [Problem(entry.path, f"found a suite, expected it in a {FileName.SUITE}") for entry in tables.suites[:1]]
    problems = [Problem(path, f"found root, expected it in a {FileName.MATRIX} only") for path in root]
    if not tables.suites and "module_test_suite" not in tables.hiding | tables.invalid.keys():
        problems.append(Problem((), "found no [[module_test_suite]], expected one"))
    return problems
