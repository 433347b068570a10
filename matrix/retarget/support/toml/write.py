"""Strings, lists of strings, and tables of them and of numbers as TOML text."""

from __future__ import annotations

import json
from collections.abc import Sequence

__all__ = ["toml_list", "toml_string", "toml_table"]

_WIDTH = 100
"""Characters up to which a list is on one line."""


def toml_list(words: Sequence[str], *, before: int = 0, is_split: bool = False) -> str:
    """Return a list of strings, one on each line where they are long together or `is_split` asks for it.

    `before` counts the characters before it on its line.
    """
    line = f"[{', '.join(map(toml_string, words))}]"
    if before + len(line) <= _WIDTH and not is_split:
        return line
    return "\n".join(["[", *(f"    {toml_string(word)}," for word in words), "]"])


def toml_string(text: str) -> str:
    """Return a string, in single quotes where that saves escapes."""
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # DEL is no escape of JSON's


def toml_table(header: str, **keys: str | Sequence[str] | float | None) -> str:
    """Return a table of an array, with the keys that are not None."""
    lines = [f"{key} = {_value(value, before=len(key) + 3)}" for key, value in keys.items() if value is not None]
    return "\n".join([f"[[{header}]]", *lines])


def _value(value: str | Sequence[str] | float, *, before: int) -> str:
    if isinstance(value, int | float):
        return json.dumps(value)
    return toml_string(value) if isinstance(value, str) else toml_list(value, before=before)
