"""TOML files → frozen suites, with every error of every file at once.

`matrix.toml` holds configs and serves its folder and everything below. `suite.toml` holds suites, and configs of its
own. A file sees its own configs and those of each `matrix.toml` above it, up to one that says `root = true`, a folder
that holds `.git`, or the root of the file system. Expectations, which an `expectations.toml` in any of these folders
may hold as well, serve in the same way. Collecting is pure: files are read, the machine is not asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, display_path

if TYPE_CHECKING:
    from retarget.extension.registry import Registry
    from retarget.model import CompilerConfig, Expectation, RuntimeConfig, Suite
    from retarget.targets.references import Scope

__all__ = ["EXPECTATIONS_FILE", "MATRIX_FILE", "SUITE_FILE", "DeclarationLoader", "discover", "load_all"]

# pydantic comes with the modules that this one imports inside its functions: a project without declarations does not
# pay for it.

MATRIX_FILE = "matrix.toml"
SUITE_FILE = "suite.toml"
EXPECTATIONS_FILE = "expectations.toml"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What a file in a folder sees, the rules that serve it, and the errors of the files that make both."""

    scope: Scope
    diagnostics: tuple[Diagnostic, ...] = ()
    expectations: tuple[Expectation, ...] = ()


class DeclarationLoader:
    """Loads suite files; reads each `matrix.toml` once. One loader serves one session."""

    def __init__(self, registry: Registry | None = None) -> None:
        """`registry` has the kinds that find modules in a way of their own (without it each source is a module), and
        knows which drivers load what which compilers make."""
        self._registry = registry
        self._seen: dict[Path, _Seen] = {}
        self._matrix_files: list[Path] = []
        self._suites: dict[str, Path] = {}
        self._scopes: list[Scope] = []
        self._expectations: list[Expectation] = []

    @property
    def matrix_files(self) -> tuple[Path, ...]:
        """The `matrix.toml` and `expectations.toml` files read so far, in the order read."""
        return tuple(self._matrix_files)

    @property
    def compiler_configs(self) -> tuple[CompilerConfig, ...]:
        """All compiler configs of the files read so far, used or not."""
        return tuple(
            {id(config): config for scope in self._scopes for config in scope.compilers.configs.values()}.values()
        )

    @property
    def runtime_configs(self) -> tuple[RuntimeConfig, ...]:
        """All runtime configs of the files read so far, used or not."""
        return tuple(
            {id(config): config for scope in self._scopes for config in scope.runtimes.configs.values()}.values()
        )

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        """All rules of the files read so far."""
        return tuple(self._expectations)

    def read_matrix_file(self, path: Path) -> tuple[Diagnostic, ...]:
        """Return all errors of a `matrix.toml` or `expectations.toml`, of the one beside it and of those above."""
        return self._see(Path(os.path.abspath(path)).parent).diagnostics  # noqa: PTH100  links stay as they are

    def scope_of(self, folder: Path) -> Scope:
        """Return the configs that a file in `folder` sees. Raises `DiagnosticsError` for errors in their files."""
        seen = self._see(Path(os.path.abspath(folder)))  # noqa: PTH100  links stay as they are
        if seen.diagnostics:
            raise DiagnosticsError(seen.diagnostics)
        return seen.scope

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
        from retarget.declare.configs import extend_scope
        from retarget.declare.expectations import build_expectations
        from retarget.declare.read import diagnostics_of, read_tables
        from retarget.declare.suites import build_suites
        from retarget.support.toml.keypaths import Problem

        path = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
        above = self._see(path.parent)
        tables, diagnostics = read_tables(path)
        scope, problems = extend_scope(above.scope, tables, self._registry)
        self._scopes.append(scope)
        suites, suite_problems, elsewhere = build_suites(tables, scope, self._suites, self._registry)
        self._suites.update((suite.name, path) for suite in suites)
        rules, rule_problems = build_expectations(tables)
        self._expectations += rules
        if rules := (*above.expectations, *rules):
            suites = tuple(replace(suite, expectations=rules) for suite in suites)
        problems = (*problems, *suite_problems, *rule_problems)
        if tables.root:
            problems = (*problems, Problem(("root",), f"found root, expected it in a {MATRIX_FILE} only"))
        if not tables.suites and "module_test_suite" not in tables.hiding | tables.invalid.keys():
            message = "found no [[module_test_suite]], expected one"
            diagnostics = (*diagnostics, Diagnostic(file=path, line=0, key_path="", message=message))
        return suites, (*above.diagnostics, *diagnostics, *diagnostics_of(path, tables.text, problems), *elsewhere)

    def _see(self, folder: Path) -> _Seen:
        if folder not in self._seen:
            self._seen[folder] = self._look(folder)
        return self._seen[folder]

    def _look(self, folder: Path) -> _Seen:
        from retarget.targets.references import Scope

        is_last = folder.parent == folder or os.path.lexists(folder / ".git")
        matrix, expectations = folder / MATRIX_FILE, folder / EXPECTATIONS_FILE
        if os.path.lexists(matrix):
            seen = self._matrix(matrix, is_last=is_last)
        else:
            seen = _Seen(scope=Scope()) if is_last else self._see(folder.parent)
        return self._with_rules_of(expectations, seen) if os.path.lexists(expectations) else seen

    def _matrix(self, file: Path, *, is_last: bool) -> _Seen:
        """Read a `matrix.toml` and those above it."""
        from retarget.declare.configs import extend_scope
        from retarget.declare.expectations import build_expectations
        from retarget.declare.read import diagnostics_of, read_tables
        from retarget.support.toml.keypaths import Problem
        from retarget.targets.references import Scope

        self._matrix_files.append(file)
        tables, diagnostics = read_tables(file)
        above = _Seen(scope=Scope()) if is_last or tables.root else self._see(file.parent.parent)
        scope, problems = extend_scope(above.scope, tables, self._registry)
        self._scopes.append(scope)
        rules, rule_problems = build_expectations(tables)
        self._expectations += rules
        problems = (*problems, *rule_problems)
        if tables.suites:
            message = f"found a suite, expected it in a {SUITE_FILE}"
            problems = (*problems, Problem((*tables.suites[0].path,), message))
        return _Seen(
            scope=scope,
            diagnostics=(*above.diagnostics, *diagnostics, *diagnostics_of(file, tables.text, problems)),
            expectations=(*above.expectations, *rules),
        )

    def _with_rules_of(self, file: Path, seen: _Seen) -> _Seen:
        """Read an `expectations.toml` beside or below what `seen` was made of."""
        from retarget.declare.expectations import build_expectations, foreign_problems
        from retarget.declare.read import diagnostics_of, read_tables

        self._matrix_files.append(file)
        tables, diagnostics = read_tables(file)
        rules, problems = build_expectations(tables)
        self._expectations += rules
        problems = (*problems, *foreign_problems(tables, EXPECTATIONS_FILE))
        return _Seen(
            scope=seen.scope,
            diagnostics=(*seen.diagnostics, *diagnostics, *diagnostics_of(file, tables.text, problems)),
            expectations=(*seen.expectations, *rules),
        )


def discover(paths: Sequence[Path], *, name: str = SUITE_FILE) -> tuple[Path, ...]:
    """Return all `suite.toml` (or files called `name`) at and below `paths`, sorted and without repetition.

    A path that is a file itself counts, whatever its name, but only as a `suite.toml`. Hidden folders, `__pycache__`,
    `node_modules` and virtual environments are passed over. Raises `RetargetError` for a path that does not exist.
    """
    found: set[Path] = set()
    for path in paths:
        if not os.path.lexists(path):
            msg = f"{display_path(path)}: found no such file or folder, expected a folder with {SUITE_FILE} files"
            raise RetargetError(msg)
        absolute = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
        if absolute.is_dir() and absolute.name != name:
            found.update(_below(absolute, name))
        elif name in {SUITE_FILE, absolute.name}:
            found.add(absolute)
    return tuple(sorted(found))


def _below(folder: Path, name: str) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        # A folder of that name is found too, so that it is reported and not silently passed over.
        if name in files or name in folders:
            yield Path(at) / name
        folders[:] = [
            below
            for below in folders
            if not below.startswith(".") and below not in _SKIPPED_FOLDERS and below != name
            if not os.path.lexists(f"{at}/{below}/pyvenv.cfg")
        ]


def load_all(paths: Sequence[Path], registry: Registry | None = None) -> tuple[Suite, ...]:
    """Return the suites of all suite files at and below `paths`, in the order of the files.

    `registry` is as in `DeclarationLoader`.

    Raises `DiagnosticsError` with all errors of all files.
    """
    loader = DeclarationLoader(registry)
    suites: list[Suite] = []
    diagnostics: dict[Diagnostic, None] = {}  # a matrix.toml's errors come with each suite file below it
    for file in discover(paths):
        loaded, found = loader.read_suite_file(file)
        suites.extend(loaded)
        diagnostics.update(dict.fromkeys(found))
    if diagnostics:
        raise DiagnosticsError(tuple(diagnostics))
    return tuple(suites)
