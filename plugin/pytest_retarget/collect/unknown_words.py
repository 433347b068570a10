"""What `-m` says that cannot be meant: words that no target has."""

from __future__ import annotations

from collections.abc import Iterable

from _pytest.mark.expression import Expression
from retarget.support.errors import did_you_mean

__all__ = ["unknown_words"]


def unknown_words(text: str, known: Iterable[str]) -> list[str]:
    """Say of each word of a mark expression that it is none of `known`, with the nearest of those."""
    names = set(known)
    return [
        f"-m {text!r}: no target has the tag {word!r}{did_you_mean(word, sorted(names))}"
        for word in _words(text)
        if word not in names
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
