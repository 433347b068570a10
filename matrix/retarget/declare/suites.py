"""Suite tables → suites: modules found, target configs resolved, overrides checked against both."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.declare.named_configs import Scope, find_named, word_problems
from retarget.declare.resolved_configs import requirements, target_error
from retarget.declare.schema.kept import Declared, FileTables, fields_of
from retarget.declare.sources import find_modules, select_modules
from retarget.extension import CaseLoader
from retarget.model import Module, ModuleOverride, Origin, Suite, TargetConfig
from retarget.model.names import MAJORITY, is_glob, name_error
from retarget.profiles.requirements import requirement_error
from retarget.support.errors import Diagnostic, DiagnosticsError, did_you_mean, display_path
from retarget.support.toml import KeyPath, Problem, format_key_path
from retarget.targets.expansion import running_compilers, running_configs

if TYPE_CHECKING:
    from retarget.declare.schema.tables import ModuleTable, ModuleTestSuiteTable
    from retarget.extension.registry import Registry


def build_suites(
    tables: FileTables, scope: Scope, taken: Mapping[str, Path], registry: Registry | None = None
) -> tuple[tuple[Suite, ...], tuple[Problem, ...], tuple[Diagnostic, ...]]:
    """Return the suites of one file, what is wrong with the others, and what is wrong with files that they name.

    `taken` are the names of the suites of other files; `registry` has the kinds that find modules in their own way.
    """
    elsewhere: list[Diagnostic] = []
    problems: list[Problem] = []
    suites: list[Suite] = []
    first: dict[str, KeyPath] = {}
    for entry in tables.suites:
        name = entry.table.name
        where = (*entry.path, "name")
        message = name_error(name)
        other = format_key_path(first[name]) if name in first else ""
        if not other and taken.get(name, tables.file) != tables.file:
            other = display_path(taken[name])
        if other and message is None:
            message = f"found {name!r}, which {other} declares already; expected another name"
        if message is not None:
            problems.append(Problem(where, message))
        first.setdefault(name, entry.path)
        loader = registry.case_loaders.get(entry.table.kind) if registry is not None else None
        try:
            suite, diagnostics = _build(tables.file, entry, scope, loader)
        except DiagnosticsError as error:
            elsewhere += error.diagnostics
            continue
        diagnostics = (*diagnostics, *_flag_problems(registry, suite, entry.path))
        problems.extend(diagnostics)
        if not diagnostics and (not problems or problems[-1].path != where):
            suites.append(suite)
    return tuple(suites), tuple(problems), tuple(elsewhere)


def _build(
    file: Path, entry: Declared[ModuleTestSuiteTable], scope: Scope, loader: CaseLoader | None
) -> tuple[Suite, tuple[Problem, ...]]:
    table, path = entry.table, entry.path
    finder = loader if loader is not None and loader.overrides("find_modules") else None
    modules, source_problems = find_modules(
        file.parent, table.srcs, table.exclude, allow_empty=table.allow_empty, finder=finder
    )
    modules, selection_problems = select_modules(modules, table.only, table.without)
    source_problems = (*source_problems, *selection_problems)
    targets, target_problems = find_named(scope.targets, table.targets, (*path, "targets"))
    problems = [Problem((*path, *problem.path), problem.message) for problem in source_problems]
    problems += target_problems
    problems += word_problems(table.tags, (*path, "tags"))
    problems += word_problems(table.requires, (*path, "requires"), requirement_error)
    # An override can only be checked once all modules and targets are known.
    checked_modules = modules if not source_problems and (modules or not table.allow_empty) else None
    checked_targets = targets if not target_problems and len(targets) >= _least(table.targets) else None
    for index, override in enumerate(table.module):
        problems += _override_problems(override, (*path, "module", index), checked_modules, checked_targets)
    values = fields_of(table, Suite) | {"modules": modules, "targets": targets}
    values["requires"] = requirements(table.requires, file, (*path, "requires"))
    suite = Suite(
        **values,
        folder=file.parent,
        overrides=tuple(
            ModuleOverride(
                **fields_of(override, ModuleOverride)
                | {"requires": requirements(override.requires, file, (*path, "module", index, "requires"))}
            )
            for index, override in enumerate(table.module)
        ),
        known_compilers=tuple(scope.compilers.configs) if scope.is_sound else (),
        origin=Origin(file=file, key_path=format_key_path(path)),
    )
    if not problems and scope.is_sound and loader is not None:
        if suite.agree and (message := _agree_problem(suite, loader)):
            return suite, (Problem((*path, "agree"), message),)
        diagnostics = loader.suite_diagnostics(suite, running_compilers(suite))
        if diagnostics:
            raise DiagnosticsError(diagnostics)
    return suite, tuple(problems)


def _agree_problem(suite: Suite, loader: CaseLoader) -> str:
    """Return why the modules of a suite cannot agree as it says; empty where they can."""
    if not loader.overrides("references"):
        return f"found it with kind {suite.kind!r}, expected a kind whose cases can agree: cases or onnx"
    for module, runs in running_configs(suite).items():
        names = list(dict.fromkeys(name for name, _ in runs))
        if suite.agree != MAJORITY and names and suite.agree not in names:
            hint = did_you_mean(suite.agree, [*names, MAJORITY], lists=True)
            found = f"found {suite.agree!r}, which does not run module {module!r}"
            return f"{found}; expected {MAJORITY!r} or a compiler config that does{hint}"
        if len(runs if suite.agree == MAJORITY else names) == 1:
            what, only = ("target", "/".join(runs[0])) if suite.agree == MAJORITY else ("compiler config", names[0])
            return f"found nothing to compare: only {only} runs module {module!r}; expected another {what} that does"
    return ""


def _flag_problems(registry: Registry | None, suite: Suite, path: KeyPath) -> Iterable[Problem]:
    """Yield where flags of a suite or of its modules contradict the profiles of a compiler config."""
    written = [((*path, "compiler_flags"), suite.compiler_flags)]
    written += [((*path, "module", at, "flags"), override.flags) for at, override in enumerate(suite.overrides)]
    compilers = dict.fromkeys(compiler for target in suite.targets for compiler in target.compilers)
    for where, flags in written:
        for compiler in compilers if flags else ():
            if message := target_error(registry, compiler, (*compiler.flags, *flags)):
                yield Problem(where, f"compiler config {compiler.name!r}: {message}")
                break


def _least(references: Sequence[str]) -> int:
    """Return how many target configs the references must have found, if none of them was hidden by an error."""
    return sum(not is_glob(reference) for reference in references) or 1


def _override_problems(
    override: ModuleTable, path: KeyPath, modules: Sequence[Module] | None, targets: Sequence[TargetConfig] | None
) -> Iterable[Problem]:
    if not (override.exclude_targets or override.tags or override.flags or override.requires):
        yield Problem(path, "found nothing to do, expected exclude_targets, tags, flags or requires")
    if override.exclude_targets and not override.reason.strip():
        yield Problem((*path, "reason"), "found no reason, expected one: a hole in the matrix says why it is there")
    yield from word_problems(override.tags, (*path, "tags"))
    yield from word_problems(override.requires, (*path, "requires"), requirement_error)
    if modules is not None:
        names = [module.name for module in modules]
        yield from _unmatched(override.match, names, (*path, "match"), "a glob that matches a module's name")
    if targets is not None:
        expected = "a target, compiler or runtime config of this suite, or a glob that matches one"
        yield from _unmatched(override.exclude_targets, _names_of(targets), (*path, "exclude_targets"), expected)


def _unmatched(globs: Sequence[str], names: Sequence[str], path: KeyPath, expected: str) -> Iterable[Problem]:
    """Yield an error for each glob that matches none of the names."""
    for index, glob in enumerate(globs):
        if not fnmatch.filter(names, glob):
            hint = did_you_mean(glob, names, lists=True)
            yield Problem((*path, index), f"found {glob!r}, expected {expected}{hint}")


def _names_of(targets: Sequence[TargetConfig]) -> tuple[str, ...]:
    names = [target.name for target in targets]
    names += [compiler.name for target in targets for compiler in target.compilers]
    names += [runtime.name for target in targets for runtime in target.runtimes]
    return tuple(dict.fromkeys(names))
