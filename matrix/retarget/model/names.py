"""The grammar of names and tags; which cases a name or a glob selects.

    name          [A-Za-z0-9][A-Za-z0-9._+-]*        suites and target configs
    config name   a name without "_"                 compiler and runtime configs
    tag           what pytest's -m takes as a word   letters, digits and _ : + - . [ ] / \\
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

TARGET_SORTS = ("compile", "run")

MAJORITY = "majority"
"""In place of a compiler config whose results are expected: what most targets of a module give."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_TAG = re.compile(r"[\w:+\-.\[\]\\/]+")

_MAGIC = re.compile(r"[*?\[]")

_PYTEST_MARKS = ("filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail")

RESERVED_WORDS = {
    **dict.fromkeys(("and", "or", "not", "True", "False", "None"), "which has a meaning of its own in -m"),
    **dict.fromkeys(TARGET_SORTS, "which distinguishes compile targets from run targets in -m"),
    **dict.fromkeys(_PYTEST_MARKS, "which is a mark of pytest's own"),
}
"""The words that have a meaning in `-m`, and which: no name or tag may be one."""


def is_tag(word: str) -> bool:
    """Return whether `word` can be used in `-m` and selects by itself."""
    return tag_error(word) is None


def tag_error(word: str) -> str | None:
    """Return what is wrong with `word` as a tag, or None."""
    if not _TAG.fullmatch(word):
        return f"found {word!r}, expected a word for -m: letters, digits and any of _ : + - . [ ] / \\"
    return _reserved_error(word)


def name_error(name: str) -> str | None:
    """Return what is wrong with `name` as the name of a suite or target config, or None."""
    if not _NAME.fullmatch(name):
        return (
            f"found {name!r}, expected a name: a letter or digit, then letters, digits and any of . _ + -"
            f"{_suggestion(_as_name(name, other='_'))}"
        )
    return _reserved_error(name)


def config_name_error(name: str) -> str | None:
    """Return what is wrong with `name` as the name of a compiler or runtime config, or None."""
    if "_" in name or not _NAME.fullmatch(name):
        return (
            f"found {name!r}, expected a name without '_', which separates the parts of a target's name: "
            f"a letter or digit, then letters, digits and any of . + -{_suggestion(as_config_name(name))}"
        )
    return _reserved_error(name)


def as_config_name(text: str) -> str:
    """Return the name of a compiler or runtime config that is nearest to a text: `sm_80` becomes `sm-80`. It is empty
    where a text has neither letters nor digits."""
    return _as_name(text)


def _as_name(text: str, *, other: str = "") -> str:
    return re.sub(rf"[^A-Za-z0-9.+{other}-]+", "-", text).strip("-._+")


def _suggestion(name: str) -> str:
    return f"; did you mean {name!r}?" if name else ""


def _reserved_error(word: str) -> str | None:
    return f"found {word!r}, {RESERVED_WORDS[word]}; expected another word" if word in RESERVED_WORDS else None


def is_glob(reference: str) -> bool:
    """Return whether a reference is a glob. No name is one."""
    return _MAGIC.search(reference) is not None


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_CaseT = TypeVar("_CaseT", bound=_Named)


def matches_case(pattern: str, name: str) -> bool:
    """Return whether `pattern` is a case's name, or a glob that matches it. A name may hold `[`, and is no glob
    then."""
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def is_one_of(name: str, patterns: Sequence[str]) -> bool:
    """Return whether one of some names and globs selects a case; none at all selects every case."""
    return not patterns or any(matches_case(pattern, name) for pattern in patterns)


def selected_cases(
    cases: Sequence[_CaseT], only: Sequence[str], skipping: Sequence[tuple[str, bool]] = ()
) -> list[_CaseT]:
    """Return the cases to run, in order: those that `only` selects and `skipping` does not skip.

    `skipping` are pairs of a name or glob and whether its cases are skipped; the first that matches a case decides.
    """

    def is_skipped(name: str) -> bool:
        return next((skips for pattern, skips in skipping if matches_case(pattern, name)), False)

    return [case for case in cases if is_one_of(case.name, only) and not is_skipped(case.name)]
