"""The source location of a key in a TOML text. Loaded only when there is something to report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import tomli
import tree_sitter
import tree_sitter_toml

from retarget.support.toml.keypaths import KeyPath

_KEY_TYPES = frozenset({"bare_key", "quoted_key", "dotted_key"})
_TRIVIA = frozenset({"comment", "[", "]", "{", "}", "[[", "]]", ",", "="})


class Locator:
    """The lines of all keys and array entries of one well-formed TOML text."""

    def __init__(self, text: str) -> None:
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
        self._lines: dict[KeyPath, int] = {}
        self._lengths: dict[KeyPath, int] = {}
        for node in parser.parse(text.encode()).root_node.children:
            with suppress(ValueError, StopIteration, RecursionError):  # the parser knows TOML 1.0, tomli more of it
                if node.type == "pair":
                    self._add_pair(node, ())
                elif node.type in {"table", "table_array_element"}:
                    self._add_table(node)

    def line(self, path: KeyPath) -> int:
        """Return the 1-based line of `path`, or of the nearest thing that encloses it; 0 if there is none."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._lines:
                return self._lines[path[:length]]
        return 0

    def shown(self, path: KeyPath) -> KeyPath:
        """Return the path as the text has it: without the index of a single value in place of a list."""
        return path[:-1] if path and isinstance(path[-1], int) and path not in self._lines else path

    def _add_table(self, node: tree_sitter.Node) -> None:
        is_entry = node.type == "table_array_element"
        key = next(child for child in node.children if child.type in _KEY_TYPES)
        keys = _keys(key)
        path: KeyPath = ()
        for position, step in enumerate(keys):
            path = (*path, step)
            self._lines.setdefault(path, _line(node))
            is_last = position == len(keys) - 1
            if is_last and is_entry:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        self._lines[path] = _line(node)
        for child in node.children:
            if child.type == "pair":
                self._add_pair(child, path)

    def _add_pair(self, node: tree_sitter.Node, prefix: KeyPath) -> None:
        key, value = (child for child in node.children if child.type not in _TRIVIA)
        path = prefix
        for step in _keys(key):
            path = (*path, step)
            self._lines.setdefault(path, _line(key))
        self._add_value(value, path)

    def _add_value(self, node: tree_sitter.Node, path: KeyPath) -> None:
        if node.type == "array":
            for index, entry in enumerate(_content(node)):
                self._lines[(*path, index)] = _line(entry)
                self._add_value(entry, (*path, index))
        elif node.type == "inline_table":
            for pair in _content(node):
                self._add_pair(pair, path)


def _content(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    return (child for child in node.children if child.type not in _TRIVIA)


def _line(node: tree_sitter.Node) -> int:
    return node.start_point[0] + 1


def _keys(node: tree_sitter.Node) -> tuple[str, ...]:
    """Return the steps of a bare, quoted or dotted key; TOML itself says what its text means."""
    text = (node.text or b"").decode()
    table: object = tomli.loads(f"{text} = 0")
    keys: list[str] = []
    while isinstance(table, dict):
        ((key, table),) = table.items()
        keys.append(key)
    return tuple(keys)
