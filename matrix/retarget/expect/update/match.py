"""What the `match` of a rule names, and how modules are put into it and taken out."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from retarget.expect.matching import specificity
from retarget.model import Expectation
from retarget.model.names import is_glob

__all__ = ["names_module", "with_modules", "without_modules"]


def names_module(entry: str, module: str) -> bool:
    """Tell whether an entry of a `match` is a module's name, or a glob that it fits."""
    return fnmatch.fnmatchcase(module, entry) if is_glob(entry) else entry == module


def with_modules(match: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """Add modules to a `match`, in order if it is in order."""
    more = sorted({*names} - {*match})
    return tuple(sorted([*match, *more])) if list(match) == sorted(match) else (*match, *more)


def without_modules(rule: Expectation, kept: Iterable[str], dropped: Iterable[str]) -> tuple[str, ...]:
    """Return what a rule's `match` is for the kept modules alone.

    A glob that names a dropped module too gives way to names; so does one that would be less specific than before.
    """
    kept_names, dropped_names = sorted(kept), set(dropped)
    entries = [entry for entry in rule.match if not any(names_module(entry, name) for name in dropped_names)]
    entries = [entry for entry in entries if any(names_module(entry, name) for name in kept_names)]
    for name in kept_names:
        naming = [entry for entry in rule.match if names_module(entry, name)]
        if max(naming, key=lambda entry: specificity(rule, entry)) not in entries:
            entries.append(name)
    return tuple(dict.fromkeys(entries))
