"""Rewriting the rules of one declaration file; everything else in it stays byte for byte.

A rule is a `[[expectation]]` table. Its text reaches from its header to its last key; the comment lines right above
the header belong to it and go with it, but for those with which the file begins. Each table is edited by itself, so
that comments, order and formatting inside it survive too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from .errors import RetargetError

__all__ = ["HEADER", "NewRule", "RuleChange", "rewrite", "rule_text", "toml_list", "toml_string"]

HEADER = """\
# What is known to fail here, and why. `pytest --retarget-update-expectations` keeps this file true to what a run shows;
# reasons, comments and the order of the rules are yours to change.
"""
"""What a file of rules begins with that the updater makes."""

_TABLE = "expectation"
_WIDTH = 100
"""Characters up to which a list of modules stands on one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRule:
    """A rule to write. `stages` and what follows are as in `retarget.model.Expectation`."""

    match: tuple[str, ...]
    when: str = ""
    stages: tuple[str, ...]
    signature: str = ""
    outcome: str = "xfail"
    retries: int = 0
    reason: str = ""
    issue: str = ""
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChange:
    """What is to be different about the rule at `index` of its file. No `match`: it goes."""

    index: int
    match: tuple[str, ...]
    when: str


def rewrite(text: str, changes: Sequence[RuleChange], new: Sequence[tuple[int | None, NewRule]]) -> str:
    """Return the text with some rules changed or gone, and new ones after the rule at an index, or at the end (None).

    Raises `RetargetError` where the rules are not tables of their own (`expectation = [{…}]`).
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    tables = _tables(text)
    if len(tables) != len(_parsed(text)):
        msg = f"found rules written as a value, expected [[{_TABLE}]] tables; only these can be rewritten"
        raise RetargetError(msg)
    pieces: list[tuple[_Span, str]] = []
    added: dict[int | None, list[str]] = {}
    for after, rule in new:
        added.setdefault(after, []).append(rule_text(rule).replace("\n", newline))
    by_index = {change.index: change for change in changes}
    for index in sorted(by_index.keys() | {after for after in added if after is not None}):
        span, change = tables[index], by_index.get(index)
        kept = [text[span.start : span.end]]
        if change is not None and change.match:
            kept = [_changed(kept[0].replace("\r\n", "\n"), change).replace("\n", newline)]
        elif change is not None:
            kept, span = [], _with_comments(text, span)
        follow = added.get(index, [])
        if not kept and not follow:
            span = _with_empty_lines(text, span)
        ended = [piece if piece.endswith("\n") else f"{piece}{newline}" for piece in kept]
        pieces.append((span, newline.join([*ended, *follow])))
    for span, piece in reversed(pieces):
        text = text[: span.start] + piece + text[span.end :]
    for piece in added.get(None, ()):
        text = f"{_one_end(text, newline)}{newline}{piece}" if text.strip() else f"{HEADER}\n{piece}"
    return text


def rule_text(rule: NewRule) -> str:
    """Return the table of a new rule, ending in a newline."""
    lines = [f"[[{_TABLE}]]", f"match = {_one_or_more(rule.match)}"]
    if rule.when:
        lines.append(f"when = {toml_string(rule.when)}")
    if rule.stages:
        lines.append(f"stage = {_one_or_more(rule.stages)}")
    if rule.signature:
        lines.append(f"signature = {toml_string(rule.signature)}")
    if rule.outcome != "xfail":
        lines.append(f"outcome = {toml_string(rule.outcome)}")
    if rule.retries:
        lines.append(f"retries = {rule.retries}")
    lines.append(f"reason = {toml_string(rule.reason)}")
    if rule.issue:
        lines.append(f"issue = {toml_string(rule.issue)}")
    if rule.until is not None:
        lines.append(f"until = {rule.until.isoformat()}")
    return "\n".join([*lines, ""])


@dataclass(frozen=True, slots=True)
class _Span:
    """Characters `start` to `end` of a text; a line's end belongs to it."""

    start: int
    end: int


def _parsed(text: str) -> list[Any]:
    rules = tomllib.loads(text).get(_TABLE, [])
    return rules if isinstance(rules, list) else []


def _nodes(text: str) -> list[Any]:
    """The syntax trees of the rules, in order."""
    import tree_sitter
    import tree_sitter_toml

    root = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language())).parse(text.encode()).root_node
    return [node for node in root.children if node.type == "table_array_element" and _key(node.children[1]) == _TABLE]


def _tables(text: str) -> list[_Span]:
    data = text.encode()
    spans: list[_Span] = []
    for node in _nodes(text):
        last = [child for child in node.children if child.type in {"pair", "]]"}][-1]
        end = data.find(b"\n", last.end_byte)
        start = len(data[: node.start_byte].decode())
        spans.append(_Span(start, len(data[: end + 1].decode()) if end >= 0 else len(text)))
    return spans


def _key(node: Any) -> str:
    """A key of one part, its quotes taken off."""
    text: str = node.text.decode()
    return text.strip("\"'")


def _one_end(text: str, newline: str = "") -> str:
    """Return a text that ends with one line end, its own or the given one."""
    body = text.rstrip("\r\n")
    end = re.match(r"\r?\n", text[len(body) :])
    return body + (end.group() if end else newline)


def _with_comments(text: str, table: _Span) -> _Span:
    """Widen a table by the comment lines right above it, unless the file begins with them."""
    lines = text[: table.start].splitlines(keepends=True)
    first = len(lines)
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return _Span(len("".join(lines[:first])) if first else table.start, table.end)


def _with_empty_lines(text: str, table: _Span) -> _Span:
    """Widen what goes by the empty lines below it, or above it where the file ends with it."""
    below = re.compile(r"(?:[ \t]*\r?\n)*").match(text, table.end)
    end = below.end() if below else table.end
    if end < len(text):
        return _Span(table.start, end)
    above = _one_end(text[: table.start])
    return _Span(len(above) if above.strip() else table.start, end)


def _changed(text: str, change: RuleChange) -> str:
    """Edit one table's text, whose lines end in a newline alone."""
    import tomlkit
    from tomlkit.items import Array

    document = tomlkit.parse(text if text.endswith("\n") else f"{text}\n")
    table: Any = document[_TABLE][0]
    match = table["match"]
    now = tuple(match) if isinstance(match, Array) else (str(match),)
    if now != change.match:
        if isinstance(match, Array):
            _edit_list(match, change.match)
        else:
            table["match"] = tomlkit.value(_one_or_more(change.match))
    if "when" in table and table["when"] != change.when:
        if change.when:
            table["when"] = change.when
        else:
            del table["when"]
    result = tomlkit.dumps(document)
    if change.when and "when" not in table:
        result = _after_match(result, f"when = {toml_string(change.when)}\n")
    return result


def _after_match(text: str, line: str) -> str:
    """Put a line below the key `match` of a table."""
    (table,) = _nodes(text)
    (match,) = [child for child in table.children if child.type == "pair" and _key(child.children[0]) == "match"]
    data = text.encode()
    end = data.find(b"\n", match.end_byte) + 1
    return (data[:end] + line.encode() + data[end:]).decode()


def _edit_list(found: Any, wanted: Sequence[str]) -> None:
    """Make a list hold `wanted`; what stays keeps its place, its comments and its line."""
    for index in reversed(range(len(found))):
        if found[index] not in wanted:
            del found[index]
    for word in wanted:
        if word not in found:
            later = [index for index, other in enumerate(found) if other > word]
            if later and list(found) == sorted(found) and "#" not in found.as_string():
                found.insert(later[0], word)
            else:
                found.append(word)


def _one_or_more(words: Sequence[str]) -> str:
    return toml_string(words[0]) if len(words) == 1 else toml_list(words)


def toml_list(words: Sequence[str]) -> str:
    """Return a list of strings, one on each line where they are long together."""
    line = f"[{', '.join(map(toml_string, words))}]"
    if len(line) <= _WIDTH:
        return line
    return "\n".join(["[", *(f"    {toml_string(word)}," for word in words), "]"])


def toml_string(text: str) -> str:
    """Return a string, in single quotes where that saves escapes."""
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    import tomlkit

    return tomlkit.string(text).as_string()
