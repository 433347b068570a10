"""The configs that a file sees by name, and the error for a reference that names none of them."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct, field

from retarget.model import CompilerConfig, Expectation, Golden, Host, RuntimeConfig, Suite, TargetConfig, Toolchain
from retarget.model.names import is_glob, known_words
from retarget.support.errors import Diagnostic, RetargetError, did_you_mean
from retarget.support.files import user_path
from retarget.support.toml import KeyPath, Problem

if TYPE_CHECKING:
    from retarget.declare.schema.tables import CompilerConfigTable, RuntimeConfigTable

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
                expected = f"expected a glob that matches the name of a {names.sort}; {known_words(names.declared)}"
                problems.append(Problem(where, f"found {reference!r}, {expected}"))
        elif reference in names.configs:
            found.setdefault(reference, names.configs[reference])
        elif reference not in names.invalid and names.is_complete:
            problems.append(Problem(where, unknown_name(names.sort, reference, names.declared)))
    return tuple(found.values()), tuple(problems)


def unknown_name(sort: str, reference: str, known: Iterable[str]) -> str:
    """Return the message for a reference that names no config of the sort."""
    names = list(known)
    hint = did_you_mean(reference, names) or f"; {known_words(names)}"
    return f"found {reference!r}, expected the name of a {sort} declared in this file or above{hint}"
