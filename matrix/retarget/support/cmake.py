"""Texts and lists as CMake's language has them: cmake-language(7)."""

from __future__ import annotations

from collections.abc import Iterable


def bracketed(text: str) -> str:
    """Return a text as an argument that nothing in it ends or changes."""
    equals = "="
    while f"]{equals}]" in f"{text}]":
        equals += "="
    return f"[{equals}[{text}]{equals}]"


def listed(words: Iterable[str]) -> str:
    """Return a list as one text; a semicolon in a word would end the word."""
    return ";".join(word.replace(";", r"\;") for word in words)
