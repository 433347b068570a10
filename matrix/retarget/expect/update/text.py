"""Rewrites the rules of one declaration file, and strings of lists; everything else in it stays byte for byte.

A rule is a `[[expectation]]` table. Its text reaches from its header to its last key; the comment lines right above
the header belong to it and go with it, but for those with which the file begins. Each table is edited by itself, so
that comments, order and formatting inside it survive too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import tomli
from msgspec import Struct

from retarget.model import Expectation
from retarget.support.errors import RetargetError
from retarget.support.toml import toml_list, toml_string

HEADER = """\
# What is known to fail here, and why. `pytest --retarget-update-expectations` keeps this file true to what a run shows;
# reasons, comments and the order of the rules are yours to change.
"""
"""The first lines of a file of rules that the updater creates."""

_TABLE = "expectation"


class RuleChange(Struct, frozen=True, kw_only=True):
    """The changes of the rule at `index` of its file. No `match`: it goes. No `cases`: these stay."""

    index: int
    match: tuple[str, ...]
    when: str
    cases: tuple[str, ...] = ()


def rewrite(text: str, changes: Sequence[RuleChange], new: Sequence[tuple[int | None, Expectation]]) -> str:
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
    is_less = any(not change.match for change in changes)
    comments = frozenset(_comment_lines(_root(text), text.encode()) if is_less else ())
    for index in sorted(by_index.keys() | {after for after in added if after is not None}):
        span, change = tables[index], by_index.get(index)
        kept = [text[span.start : span.end]]
        if change is not None and change.match:
            kept = [_changed(kept[0].replace("\r\n", "\n"), change).replace("\n", newline)]
        elif change is not None:
            kept, span = [], _with_comments(text, span, comments)
        follow = added.get(index, [])
        if not kept and not follow:
            span = _with_empty_lines(text, span)
        ended = [piece if piece.endswith("\n") else f"{piece}{newline}" for piece in kept]
        pieces.append((span, newline.join([*ended, *follow])))
    for span, piece in reversed(pieces):
        text = text[: span.start] + piece + text[span.end :]
    head = HEADER.replace("\n", newline)
    for piece in added.get(None, ()):
        text = f"{_one_end(text, newline)}{newline}{piece}" if text.strip() else f"{head}{newline}{piece}"
    return text


def rule_text(rule: Expectation) -> str:
    """Return the table of a new rule, ending in a newline."""
    keys = {
        "match": _one_or_more(rule.match),
        "when": rule.when and toml_string(rule.when),
        "case": rule.cases and _one_or_more(rule.cases),
        "stage": rule.stages and _one_or_more(rule.stages),
        "signature": rule.signature and toml_string(rule.signature),
        "outcome": "" if rule.outcome == "xfail" else toml_string(rule.outcome),
        "retries": rule.retries,
        "reason": toml_string(rule.reason),
        "issue": rule.issue and toml_string(rule.issue),
        "until": rule.until,
    }
    return "\n".join([f"[[{_TABLE}]]", *(f"{key} = {value}" for key, value in keys.items() if value), ""])


class _Span(Struct, frozen=True):
    """Characters `start` to `end` of a text; a line's end belongs to it."""

    start: int
    end: int


def _parsed(text: str) -> list[Any]:
    rules = tomli.loads(text).get(_TABLE, [])
    return rules if isinstance(rules, list) else []


def _root(text: str) -> Any:
    """The syntax tree of a file."""
    import tree_sitter
    import tree_sitter_toml

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language())).parse(text.encode()).root_node


def _nodes(text: str) -> list[Any]:
    """The syntax trees of the rules, in order."""
    tables = [node for node in _root(text).children if node.type == "table_array_element"]
    return [node for node in tables if _key(node.children[1]) == _TABLE]


def _comment_lines(node: Any, data: bytes) -> Iterator[int]:
    """The lines that are comments, 0-based; a string may have lines that only look like one."""
    if node.type == "comment" and not data[_line_start(data, node.start_byte) : node.start_byte].strip():
        yield node.start_point[0]
    for child in node.children:
        yield from _comment_lines(child, data)


def _tables(text: str) -> list[_Span]:
    data = text.encode()
    spans: list[_Span] = []
    for node in _nodes(text):
        last = [child for child in node.children if child.type in {"pair", "]]"}][-1]
        end = data.find(b"\n", last.end_byte)
        start = len(data[: _without_indent(data, node.start_byte)].decode())
        spans.append(_Span(start, len(data[: end + 1].decode()) if end >= 0 else len(text)))
    return spans


def _without_indent(data: bytes, start: int) -> int:
    """Where the line of a header begins, if only spaces are before it."""
    line = _line_start(data, start)
    return start if data[line:start].strip() else line


def _key(node: Any) -> str:
    """A key of one part, its quotes taken off."""
    text: str = node.text.decode()
    return text.strip("\"'")


def _one_end(text: str, newline: str = "") -> str:
    """Return a text that ends with one line end, its own or the given one."""
    body = text.rstrip("\r\n")
    end = re.match(r"\r?\n", text[len(body) :])
    return body + (end.group() if end else newline)


def _with_comments(text: str, table: _Span, comments: frozenset[int]) -> _Span:
    """Widen a table by the lines right above it that are `comments`, unless the file begins with them."""
    lines = re.split(r"(?<=\n)", text[: table.start])[:-1]
    first = len(lines)
    while first - 1 in comments:
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
    text = text if text.endswith("\n") else f"{text}\n"
    (table,) = _nodes(text)
    pairs = {_key(child.children[0]): child for child in table.children if child.type == "pair"}
    match = _value(pairs["match"])
    rule = _parsed(text)[0]
    data = text.encode()
    edits = _edited_words(match, rule["match"], change.match)
    if "case" in pairs and change.cases:
        edits += _edited_words(_value(pairs["case"]), rule["case"], change.cases)
    elif change.cases:
        end = _line_end(data, _value(pairs.get("when", pairs["match"])).end_byte)
        edits.append((end, end, f"{_indent(data, match)}case = {_one_or_more(change.cases)}\n"))
    if "when" in pairs and rule["when"] != change.when:
        when = _value(pairs["when"])
        if change.when:
            edits.append((when.start_byte, when.end_byte, toml_string(change.when)))
        else:
            edits.append((_line_start(data, pairs["when"].start_byte), _line_end(data, when.end_byte), ""))
    elif change.when and "when" not in pairs:
        end = _line_end(data, match.end_byte)
        edits.append((end, end, f"{_indent(data, match)}when = {toml_string(change.when)}\n"))
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


def _edited_words(node: Any, now: str | list[str], wanted: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """The edit that makes a string or a list of strings the wanted ones; none if it is that.

    A list is written anew, in its own order and on several lines if it was.
    """
    if (tuple(now) if isinstance(now, list) else (now,)) == wanted:
        return []
    if not isinstance(now, list):
        new = _one_or_more(wanted)
    elif any(child.type == "comment" for child in node.children):
        new = _list_with_comments(node, wanted)
    else:
        kept = [word for word in now if word in wanted]
        words = [*kept, *(word for word in wanted if word not in kept)]
        new = toml_list(sorted(words) if kept and kept == sorted(kept) else words, is_split=b"\n" in node.text)
    return [(node.start_byte, node.end_byte, new)]


def _value(pair: Any) -> Any:
    """The node of a key's value; a comment behind it belongs to the pair too."""
    (value,) = [child for child in pair.children[2:] if child.type != "comment"]
    return value


def _line_start(data: bytes, at: int) -> int:
    """Where the line of a byte begins."""
    return data.rfind(b"\n", 0, at) + 1


def _line_end(data: bytes, at: int) -> int:
    """Where the next line begins."""
    return data.find(b"\n", at) + 1


def _indent(data: bytes, node: Any) -> str:
    """The indentation of the line on which a pair of this value begins."""
    start = node.parent.start_byte
    return data[_line_start(data, start) : start].decode()


def _one_or_more(words: Sequence[str]) -> str:
    return toml_string(words[0]) if len(words) == 1 else toml_list(words)


def _list_with_comments(node: Any, wanted: Sequence[str]) -> str:
    """Return a list with an entry or a comment on each line. What stands beside an entry that goes, goes with it."""
    lines, there = ["["], set[str]()
    row, is_kept = node.start_point[0], True
    for child in node.children:
        text = child.text.decode()
        if child.type == "string":
            value = tomli.loads(f"value = {text}")["value"]
            row, is_kept = child.end_point[0], value in wanted
            there.add(value)
            lines += [f"    {text},"] * is_kept
        elif child.type == "comment" and child.start_point[0] != row:
            lines.append(f"    {text}")
        elif child.type == "comment" and is_kept:
            lines[-1] += f"  {text}"
    return "\n".join([*lines, *(f"    {toml_string(word)}," for word in wanted if word not in there), "]"])
