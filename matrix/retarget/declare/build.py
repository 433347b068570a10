"""One file's validated tables → the configs, suites and rules that it declares, and all that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from retarget.declare.configs.resolve import extend_scope
from retarget.declare.expectations import build_expectations, build_goldens
from retarget.declare.files import EXPECTATIONS_FILE, MATRIX_FILE, SUITE_FILE
from retarget.declare.schema.kept import FileTables, TableStore, find_tables, keep_tables
from retarget.declare.scope import FileDeclarations, Redirections, Scope
from retarget.declare.suites import build_suites
from retarget.extension.registry import Registry
from retarget.model import Suite
from retarget.support.errors import Diagnostic
from retarget.support.files import read_regular
from retarget.support.toml.keypaths import KeyPath, Problem
from retarget.support.toml.read import diagnostics_of, read_toml

__all__ = ["build_declarations", "read_tables"]


def read_tables(file: Path, store: TableStore | None = None, *, anew: bool = False) -> FileTables:
    """Read one file, or take from the store what was read of its text before, unless it is to be read `anew`. The
    errors are those of the text and of each table for itself, not of what names refer to."""
    with suppress(OSError, UnicodeDecodeError):  # read again below, and reported
        if (
            store is not None
            and not anew
            and (kept := find_tables(store, file, read_regular(file).decode())) is not None
        ):
            return kept
    from retarget.declare.read import tables_of  # only what is not kept needs pydantic

    tables = tables_of(file, *read_toml(file))
    if store is not None:
        keep_tables(store, tables)
    return tables


def build_declarations(
    tables: FileTables,
    role: str,
    above: Scope,
    *,
    taken: Mapping[str, Path],
    registry: Registry | None,
    toolchains: Redirections,
) -> FileDeclarations:
    """Resolve what a file declares. `role` is the name of the file that it is read as; `above` are the configs of the
    files above, `taken` the names of the suites of other files, `toolchains` are where some are in this session."""
    problems = [*tables.problems, *_misplaced(tables, role)]
    scope = above
    suites: tuple[Suite, ...] = ()
    elsewhere: tuple[Diagnostic, ...] = ()
    if role != EXPECTATIONS_FILE:
        scope, found = extend_scope(above, tables, registry, toolchains)
        problems += found
    if role == SUITE_FILE:
        suites, found, elsewhere = build_suites(tables, scope, taken, registry)
        problems += found
    expectations, found = build_expectations(tables)
    problems += found
    goldens, found = build_goldens(tables)
    problems += found
    diagnostics = (*tables.unreadable, *diagnostics_of(tables.file, tables.text, problems), *elsewhere)
    return FileDeclarations(
        scope=scope, suites=suites, expectations=expectations, goldens=goldens, diagnostics=diagnostics
    )


def _misplaced(tables: FileTables, role: str) -> list[Problem]:
    """Return what a file with this name must not hold, or lacks."""
    declared = (tables.toolchains, tables.hosts, tables.compilers, tables.runtimes, tables.targets, tables.suites)
    root: list[KeyPath] = [("root",)] if tables.root else []
    if role == EXPECTATIONS_FILE:
        expected = f"expected it in another file: {EXPECTATIONS_FILE} holds [[expectation]] and [[golden]] only"
        paths = [*root, *(entries[0].path for entries in declared if entries)]
        return [Problem(path, f"found {path[0]}, {expected}") for path in paths]
    if role == MATRIX_FILE:
        return [Problem(entry.path, f"found a suite, expected it in a {SUITE_FILE}") for entry in tables.suites[:1]]
    problems = [Problem(path, f"found root, expected it in a {MATRIX_FILE} only") for path in root]
    if not tables.suites and "module_test_suite" not in tables.hiding | tables.invalid.keys():
        problems.append(Problem((), "found no [[module_test_suite]], expected one"))
    return problems
