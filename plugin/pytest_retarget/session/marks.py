"""Marks from tags: each tag is a mark, and the fields of a target are keyword marks.

A mark is made once per session and shared by all items that carry it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from retarget.model import Target
from retarget.session import MATRIX_FILE, SUITE_FILE, discover_suites
from retarget.session import marks_of as keyword_marks


class _FieldName(str):
    """The name of a keyword mark, which `-k` does not match.

    `-k compile` means compile targets; but each target has the mark `compiler(name=…)`, and pytest's `-k` looks for a
    part of any mark's name, in lower case.
    """

    __slots__ = ()

    def lower(self) -> str:
        """Return what `-k` compares with: nothing."""
        return ""


class Marks:
    """The marks of this session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._known: set[str] = {line.partition(":")[0].partition("(")[0] for line in config.getini("markers")}
        self._words: dict[str, pytest.Mark] = {}
        self._fields: dict[tuple[str, tuple[tuple[str, str], ...]], pytest.Mark] = {}
        self._lists: dict[tuple[int, int], tuple[list[pytest.Mark], object]] = {}
        """The marks by the ids of what they are made of, which is kept: so that an id stays one object's."""

    def register(self, targets: Iterable[Target]) -> None:
        """Make the tags of these targets known to pytest, so that `--strict-markers` passes."""
        for tag in sorted({tag for tags in {target.tags for target in targets} for tag in tags} - self._known):
            self._known.add(tag)
            if ":" not in tag:
                self._config.addinivalue_line("markers", f"{tag}: retarget: a tag of declared targets")

    def register_used(self, words: Iterable[str]) -> None:
        """Make words known that other suites below the root folder use, which `--strict-markers` would refuse."""
        is_strict = self._config.getini("strict_markers")
        if not (self._config.getini("strict") if is_strict is None else is_strict):
            return
        unknown = set(words) - self._known
        names = (SUITE_FILE, MATRIX_FILE) if unknown else ()
        files = [file for name in names for file in discover_suites([self._config.rootpath], name=name)]
        text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())
        for word in sorted(word for word in unknown if re.search(rf"""(['"]){re.escape(word)}\1""", text)):
            self._config.addinivalue_line("markers", f"{word}: retarget: a word of suites that are not collected")

    def of(self, target: Target) -> list[pytest.Mark]:
        """The marks of one target, its tags first. The list is shared: copy it before changing it.

        Targets that differ in their module only share their tags and configs, and so their marks.
        """
        parts = (target.tags, target.runtime or target.compiled.compiler)
        key = (id(parts[0]), id(parts[1]))
        known = self._lists.get(key)
        if known is None:
            words = [self._word(tag) for tag in target.tags]
            fields = [self._field(name, values) for name, values in keyword_marks(target)]
            known = self._lists[key] = words + fields, parts
        return known[0]

    def _word(self, tag: str) -> pytest.Mark:
        if tag not in self._words:
            # pytest takes a registered mark's name to end at the first colon, and so never knows `vulkan://0`.
            known = ":" not in tag
            self._words[tag] = getattr(pytest.mark, tag).mark if known else pytest.Mark(tag, (), {}, _ispytest=True)
        return self._words[tag]

    def _field(self, name: str, values: tuple[tuple[str, str], ...]) -> pytest.Mark:
        if (name, values) not in self._fields:
            self._fields[name, values] = pytest.Mark(_FieldName(name), (), dict(values), _ispytest=True)
        return self._fields[name, values]
