"""What a selection says that cannot be meant: words that no target has, requirements that no target meets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from _pytest.mark.expression import Expression
from retarget.errors import did_you_mean

from .options import Requirement

__all__ = ["idle_requirements", "unknown_words"]


def unknown_words(text: str, known: Iterable[str]) -> list[str]:
    """Say of each word of a mark expression that it is none of `known`, with the nearest of those."""
    names = set(known)
    return [
        f"-m {text!r}: no target has the tag {word!r}{did_you_mean(word, sorted(names))}"
        for word in _words(text)
        if word not in names
    ]


def idle_requirements(requirements: Sequence[Requirement], items: Sequence[pytest.Item]) -> list[str]:
    """Say of each requirement that it matches none of the targets collected, so that nothing is required by it."""
    return [
        f"--retarget-require {requirement.text!r} matches none of the {len(items)} targets here, so nothing is required"
        for requirement in requirements
        if not any(requirement.matches(item) for item in items)
    ]


def _words(text: str) -> list[str]:
    """The names in an expression; evaluated both ways, because evaluation stops where the answer is known."""
    found: dict[str, None] = {}

    def yes(name: str, /, **_fields: str | int | bool | None) -> bool:
        found[name] = None
        return True

    def no(name: str, /, **_fields: str | int | bool | None) -> bool:
        return not yes(name)

    expression = Expression.compile(text)
    expression.evaluate(yes)
    expression.evaluate(no)
    return list(found)
