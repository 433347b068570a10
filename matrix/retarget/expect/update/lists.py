"""Editing a list of strings that holds comments in TOML text: what stays keeps its line and its comments.

A list is `[`, elements, and what follows the last of them up to `]`. An element is what leads to it, the string, what
is between it and its comma, the comma if it has one, and its tail: the rest of its line, if only a comment is left
there. What leads to an element that goes stays as far as it has comments: these may be about what follows; its tail
goes with it, unless others are on its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import tomli

__all__ = ["edited_list"]

_TAIL = re.compile(r"[ \t]*#[^\n]*|[ \t]*(?=\n)")
_LAST_COMMENT = re.compile(r"(?s).*#[^\n]*")


@dataclass(slots=True, eq=False)
class _Element:
    """One string of a list, with everything around it. Texts, joined in this order, are the list's."""

    lead: str
    text: str
    gap: str = ""
    comma: str = ","
    tail: str = ""
    value: str = field(init=False)

    def __post_init__(self) -> None:
        self.value = tomli.loads(f"value = {self.text}")["value"]

    def __str__(self) -> str:
        return f"{self.lead}{self.text}{self.gap}{self.comma}{self.tail}"


def edited_list(node: Any, wanted: Sequence[str], quote: Any) -> str:
    """Return the text of a list of strings with the `wanted` ones in it and no others.

    `node` is its tree-sitter node, `quote` gives a string's TOML. What is new comes last. Lines must end in a newline
    alone.
    """
    elements, close = _elements(node)
    there = {element.value for element in elements}
    for word in wanted:
        if word not in there:
            _append(elements, quote(word))
    for element in [one for one in elements if one.value not in wanted]:
        close = _delete(elements, element, close)
    return "".join(["[", *map(str, elements), close, "]"])


def _elements(node: Any) -> tuple[list[_Element], str]:
    """Return the elements of a list, and the text between the last and the closing bracket."""
    data: bytes = node.text
    marks = [(one.type, one.start_byte - node.start_byte, one.end_byte - node.start_byte) for one in node.children]
    strings = [(start, end) for kind, start, end in marks if kind == "string"]
    at = 1
    elements: list[_Element] = []
    for number, (start, end) in enumerate(strings):
        limit = strings[number + 1][0] if number + 1 < len(strings) else len(data)
        comma = next((place for kind, place, _ in marks if kind == "," and end <= place < limit), None)
        element = _Element(lead=data[at:start].decode(), text=data[start:end].decode(), comma="")
        at = end
        if comma is not None:
            element.gap, element.comma = data[end:comma].decode(), ","
            at = comma + 1
        rest = _TAIL.match(data[at:limit].decode())
        if rest is not None:
            element.tail = rest.group()
            at += len(element.tail.encode())
        elements.append(element)
    return elements, data[at:-1].decode()


def _append(elements: list[_Element], text: str) -> None:
    """Put a string at the end, on a line of its own where the others are."""
    last = elements[-1]
    indent = last.lead.rpartition("\n")[2]
    is_listed = "\n" in last.lead or "#" in last.gap + last.tail
    elements.append(_Element(lead=f"\n{indent}" if is_listed else " ", text=text, comma=last.comma))
    last.comma = ","


def _delete(elements: list[_Element], element: _Element, close: str) -> str:
    """Remove an element. Return the text that is then before the closing bracket."""
    index = elements.index(element)
    before = elements[index - 1] if index else None
    if before is not None and "\n" not in element.lead and "#" not in before.tail:
        before.tail += element.tail  # it is about the line
    del elements[index]
    if index < len(elements):
        following = elements[index]
        following.lead = _joined(element.lead, following.lead, is_first=before is None)
        return close
    if before is not None and not element.comma and "\n" not in close:
        before.comma = ""
    if "#" in element.lead:
        return _joined(element.lead, close, is_first=False)
    is_open = before is not None and "#" in before.tail and not close.lstrip(" \t").startswith("\n")
    return f"\n{close}" if is_open else close


def _joined(lead: str, following: str, *, is_first: bool) -> str:
    """Return what leads to the element after one that goes, out of what led to both."""
    comments = _LAST_COMMENT.match(lead)
    if comments is None:
        return following if "#" in following or ("\n" in following and not is_first) else lead
    return comments.group() + (following if following.lstrip(" \t").startswith("\n") else lead[comments.end() :])
