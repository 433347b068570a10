"""What `-m` says that cannot be meant: words that no target has."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.support.errors import did_you_mean
from retarget.targets.selection import terms

__all__ = ["unknown_words"]


def unknown_words(text: str, known: Iterable[str]) -> list[str]:
    """Say of each word of a mark expression that it is none of `known`, with the nearest of those."""
    names = set(known)
    return [
        f"-m {text!r}: no target has the tag {word!r}{did_you_mean(word, sorted(names))}"
        for word in dict.fromkeys(term.text.partition("(")[0].rstrip() for term in terms(text))
        if word not in names
    ]
