"""Marks from tags: each tag is a mark, and the fields of a target are keyword marks.

A mark is made once per session and shared by all items that carry it.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from retarget.model import Target
from retarget.tags import marks as keyword_marks

__all__ = ["Marks"]


class Marks:
    """The marks of this session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._known: set[str] = {line.partition(":")[0].partition("(")[0] for line in config.getini("markers")}
        self._words: dict[str, pytest.Mark] = {}
        self._fields: dict[tuple[str, tuple[tuple[str, str], ...]], pytest.Mark] = {}
        self._lists: dict[tuple[object, ...], list[pytest.Mark]] = {}

    def register(self, targets: Iterable[Target]) -> None:
        """Make the tags of these targets known to pytest, so that `--strict-markers` passes."""
        for tag in sorted({tag for tags in {target.tags for target in targets} for tag in tags} - self._known):
            self._known.add(tag)
            self._config.addinivalue_line("markers", f"{tag}: retarget: a tag of declared targets")

    def of(self, target: Target) -> list[pytest.Mark]:
        """The marks of one target, its tags first. The list is shared: copy it before changing it."""
        fields = keyword_marks(target)
        key = (target.tags, fields)
        found = self._lists.get(key)
        if found is None:
            found = [self._word(tag) for tag in target.tags] + [self._field(name, values) for name, values in fields]
            self._lists[key] = found
        return found

    def _word(self, tag: str) -> pytest.Mark:
        if tag not in self._words:
            self._words[tag] = getattr(pytest.mark, tag).mark
        return self._words[tag]

    def _field(self, name: str, values: tuple[tuple[str, str], ...]) -> pytest.Mark:
        if (name, values) not in self._fields:
            self._fields[name, values] = getattr(pytest.mark, name).with_args(**dict(values)).mark
        return self._fields[name, values]
