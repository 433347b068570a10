"""The names of a file's configs; its toolchains and hosts, which compiler and runtime configs refer to.

The configs that a file sees by name, and the error for a reference that names none of them.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct, field

from retarget.declare.schema.kept import Declared, FileTables, fields_of
from retarget.declare.sources import FileName
from retarget.model import (
    CompilerConfig,
    Expectation,
    Golden,
    Host,
    Origin,
    RuntimeConfig,
    Suite,
    TargetConfig,
    Toolchain,
)
from retarget.model.names import is_glob, name_error, tag_error
from retarget.support.errors import Diagnostic, RetargetError, did_you_mean, display_path, known_words
from retarget.support.files import user_path
from retarget.support.toml import KeyPath, Problem, format_key_path
from retarget.targets.availability import HOST_KINDS, word_error

if TYPE_CHECKING:
    from retarget.declare.schema.tables import (
        CompilerConfigTable,
        ConfigTable,
        HostTable,
        RuntimeConfigTable,
        ToolchainTable,
    )


_ConfigT = TypeVar("_ConfigT", bound=Toolchain | Host | CompilerConfig | RuntimeConfig | TargetConfig)
_TableT = TypeVar("_TableT", bound="ConfigTable")


def word_problems(
    words: Sequence[str], path: KeyPath, error_of: Callable[[str], str | None] = tag_error
) -> Iterable[Problem]:
    """Yield what is wrong with each word of a list, of tags if nothing else is said."""
    for index, word in enumerate(words):
        if message := error_of(word):
            yield Problem((*path, index), message)


def env_problems(env: Mapping[str, str], path: KeyPath) -> Iterable[Problem]:
    for name in env:
        if not name or "=" in name:
            yield Problem((*path, name), f"found {name!r}, expected the name of an environment variable, without '='")


def new_names(
    above: Names[_ConfigT],
    declared: Sequence[Declared[_TableT]],
    name_error_of: Callable[[str], str | None],
    problems: list[Problem],
) -> tuple[dict[str, Declared[_TableT]], set[str]]:
    """Return the declarations with good, new names, and the names of the others."""
    good: dict[str, Declared[_TableT]] = {}
    bad: set[str] = set()
    for entry in declared:
        name = entry.table.name
        message = name_error_of(name)
        if message is not None:
            bad.add(name)
        elif name in good:
            first = format_key_path(good[name].path)
            message = f"found {name!r}, which {first} declares already; expected another name"
        elif name in above.configs:
            origin = above.configs[name].origin
            message = (
                f"found {name!r}, which {origin.key_path} of {display_path(origin.file)} declares already; "
                f"expected another name, because a nearer file never redefines one, or {FileName.MATRIX} with "
                "`root = true`, which sees no file above it"
            )
        else:
            good[name] = entry
        if message is not None:
            problems.append(Problem((*entry.path, "name"), message))
    return good, bad


def toolchains_of(
    above: Names[Toolchain], tables: FileTables, redirected: Redirections, problems: list[Problem]
) -> Names[Toolchain]:
    good, bad = new_names(above, tables.toolchains, name_error, problems)
    configs = dict(above.configs)
    for name, entry in good.items():
        problems += word_problems(entry.table.tags, (*entry.path, "tags"))
        if not entry.table.path.strip():
            problems.append(Problem((*entry.path, "path"), "found an empty path, expected a folder, or PATH"))
        if entry.table.run_with and (message := _tool_error(entry.table)):
            problems.append(Problem((*entry.path, "run_with"), message))
        folder = tables.file.parent / user_path(entry.table.path)
        path = None if entry.table.path == "PATH" else Path(os.path.abspath(folder))  # noqa: PTH100  (keeps symbolic links)
        known = {"path": redirected.get(name, path), "redirected": name in redirected}
        origin = Origin(file=tables.file, key_path=format_key_path(entry.path))
        configs[name] = Toolchain(**fields_of(entry.table, Toolchain) | known, origin=origin)
    return names_of(above, tables, configs, bad)


def hosts_of(above: Names[Host], tables: FileTables, problems: list[Problem]) -> Names[Host]:
    good, bad = new_names(above, tables.hosts, name_error, problems)
    configs = dict(above.configs)
    for name, entry in good.items():
        problems += word_problems(entry.table.tags, (*entry.path, "tags"))
        problems += _host_problems(entry.table, entry.path)
        problems += env_problems(entry.table.env, (*entry.path, "env"))
        origin = Origin(file=tables.file, key_path=format_key_path(entry.path))
        configs[name] = Host(**fields_of(entry.table, Host), origin=origin)
    return names_of(above, tables, configs, bad)


def names_of(
    above: Names[_ConfigT], tables: FileTables, configs: Mapping[str, _ConfigT], bad: set[str]
) -> Names[_ConfigT]:
    return Names(
        sort=above.sort,
        configs=configs,
        invalid=above.invalid | tables.invalid.get(above.sort, frozenset()) | bad,
        is_complete=above.is_complete and above.sort not in tables.hiding,
    )


def _tool_error(table: ToolchainTable) -> str:
    """Return what is wrong with `run_with`, which names a tool of the build."""
    if table.path == "PATH":
        return f"found {table.run_with!r} beside path = 'PATH', expected run_with where path is a folder"
    if Path(table.run_with).is_absolute() or Path(os.path.normpath(table.run_with)).parts[:1] in {(), ("..",)}:
        return f"found {table.run_with!r}, expected a file below path ({table.path!r}), relative to it"
    return ""


def reference_problems(
    names: Names[Toolchain] | Names[Host], reference: str | None, path: KeyPath
) -> Iterable[Problem]:
    if reference is not None and reference not in names.declared and names.is_complete:
        yield Problem((*path, names.sort), unknown_name(names.sort, reference, names.declared))


_NEEDED = {"ssh": ("address",), "adb": (), "command": ("push", "pull", "run")}
_TAKEN = {"ssh": ("address", "options"), "adb": ("address", "options"), "command": ("push", "pull", "run")}
_PLACEHOLDERS = {"push": ("{local}", "{remote}"), "pull": ("{local}", "{remote}"), "run": ("{command}",)}


def _host_problems(table: HostTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with a host: words, and keys that its kind needs or does not take."""
    if message := word_error(table.kind, HOST_KINDS):
        yield Problem((*path, "kind"), message)
        return
    given = {key: getattr(table, key) for key in ("address", "options", "push", "pull", "run")}
    for key, value in given.items():
        if not value and key in _NEEDED[table.kind]:
            yield Problem((*path, key), f"found no {key}, which a host of the kind {table.kind!r} needs")
        elif value and key not in _TAKEN[table.kind]:
            kinds = " or ".join(repr(kind) for kind in HOST_KINDS if key in _TAKEN[kind])
            yield Problem(
                (*path, key), f"found {key} in a host of the kind {table.kind!r}, expected it for {kinds} only"
            )
        elif value:
            missing = [word for word in _PLACEHOLDERS.get(key, ()) if not any(word in one for one in value)]
            if missing:
                yield Problem((*path, key), f"found no {' and no '.join(missing)} in the command, expected them in it")
    for key in ("folder", "lease_folder"):
        if "~" in getattr(table, key):
            expected = "expected an absolute path, or one relative to the home folder"
            yield Problem((*path, key), f"found {getattr(table, key)!r}, {expected}")


Redirections = Mapping[str, Path | None]
"""Where toolchains are in place of their declared paths, by name; None for the tools on PATH."""


ConfigT = TypeVar("ConfigT", bound=Toolchain | Host | CompilerConfig | RuntimeConfig | TargetConfig)


class Names(Struct, Generic[ConfigT], frozen=True, kw_only=True):
    """The configs of one kind that a file can see.

    `invalid` are names whose declaration has an error. Where `is_complete` is False an error may hide further names.
    References to either are no errors: one cause, one error. `tables` are those that configs were built from, with what
    they inherit: others may extend them.
    """

    sort: str
    configs: Mapping[str, ConfigT] = field(default_factory=dict)
    tables: Mapping[str, CompilerConfigTable | RuntimeConfigTable] = field(default_factory=dict)
    invalid: frozenset[str] = frozenset()
    is_complete: bool = True

    @property
    def declared(self) -> tuple[str, ...]:
        """All names, those whose declaration has an error last."""
        return (*self.configs, *sorted(self.invalid - self.configs.keys()))


class Scope(Struct, frozen=True, kw_only=True):
    """All configs that a file can see."""

    toolchains: Names[Toolchain] = field(default_factory=lambda: Names(sort="toolchain"))
    hosts: Names[Host] = field(default_factory=lambda: Names(sort="host"))
    compilers: Names[CompilerConfig] = field(default_factory=lambda: Names(sort="compiler_config"))
    runtimes: Names[RuntimeConfig] = field(default_factory=lambda: Names(sort="runtime_config"))
    targets: Names[TargetConfig] = field(default_factory=lambda: Names(sort="target_config"))

    @property
    def is_sound(self) -> bool:
        """Whether no error hides a config or takes a part of one away."""
        sorts = (self.toolchains, self.hosts, self.compilers, self.runtimes, self.targets)
        return all(names.is_complete and not names.invalid for names in sorts)


class FileDeclarations(Struct, frozen=True, kw_only=True):
    """The declarations of one file, as far as they are well-formed. `scope` is what it sees, its own configs
    included."""

    scope: Scope = field(default_factory=Scope)
    suites: tuple[Suite, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    goldens: tuple[Golden, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def redirections(texts: Iterable[str], folder: Path) -> Redirections:
    """Return what `NAME=PATH` texts say, relative to `folder`. Raises `RetargetError` for one of another form, and for
    a name that is given twice."""
    found: dict[str, Path | None] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not name or not path or name in found:
            what = f"{name!r} a second time, expected it once" if name in found else f"{text!r}, expected NAME=PATH"
            msg = f"--retarget-toolchain: found {what}: the name of a [[toolchain]] and where it is in this session"
            raise RetargetError(msg)
        found[name] = None if path == "PATH" else Path(os.path.abspath(folder / user_path(path)))  # noqa: PTH100
    return found


def find_named(
    names: Names[ConfigT], references: Sequence[str], path: KeyPath
) -> tuple[tuple[ConfigT, ...], tuple[Problem, ...]]:
    """Return the configs that `references` name, in order and once each, and what is wrong with the references.

    A reference is a name or a glob over names. A glob finds them in declared order, those of the files above first.
    """
    found: dict[str, ConfigT] = {}
    problems: list[Problem] = []
    for index, reference in enumerate(references):
        where = (*path, index)
        if reference in references[:index]:
            problems.append(Problem(where, f"found {reference!r} a second time, expected it once"))
        elif is_glob(reference):
            matched = [name for name in names.configs if fnmatch.fnmatchcase(name, reference)]
            found.update((name, names.configs[name]) for name in matched if name not in found)
            hidden = any(fnmatch.fnmatchcase(name, reference) for name in names.invalid)
            if not matched and names.is_complete and not hidden:
                expected = f"expected a glob that matches the name of a {names.sort}; {known_words([*names.declared])}"
                problems.append(Problem(where, f"found {reference!r}, {expected}"))
        elif reference in names.configs:
            found.setdefault(reference, names.configs[reference])
        elif reference not in names.invalid and names.is_complete:
            problems.append(Problem(where, unknown_name(names.sort, reference, names.declared)))
    return tuple(found.values()), tuple(problems)


def unknown_name(sort: str, reference: str, known: Iterable[str]) -> str:
    """Return the message for a reference that names no config of the sort."""
    hint = did_you_mean(reference, known, lists=True)
    return f"found {reference!r}, expected the name of a {sort} declared in this file or above{hint}"
