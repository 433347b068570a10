"""Mutations of real files: bytes, tokens, lines and values of JSON, each from a seeded generator."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence

__all__ = ["mutated", "mutated_json"]

_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_STRING = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")

_NUMBERS = (
    b"-1",
    b"0",
    b"1e999",
    b"-0.0",
    b"nan",
    b"inf",
    b"2147483648",
    b"18446744073709551616",
    b"9" * 5000,
    b"0x7f",
)
_VALUES = (b"true", b"[]", b"{}", b'""', b"1979-05-27", b"null", b"[[]]", b"3.5", b"'x'", b"[1, 'x']", b"{a = 1}")
_PATHS = (
    "../../../../etc/passwd", "/etc/passwd", "~root/x", "~nobody-there/x", "a/../../b", "/proc/self/mem", "/dev/stdin",
    "C:\\\\x", ".", "..", "", "a\\u0000b", "x" * 5000, "a/" * 3000, "\\n", "*", "**/*", "[", "file:///etc/passwd", "-o",
)  # fmt: skip
_BYTES = (b"\x00", b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\x1b[31m", b"\x7f",
          "\u202e".encode(), "\u0661".encode(), "\u00b2".encode(), "\U0001f600".encode(), b"\\ud800",
          b"%s%n{0}")  # fmt: skip
_BRACKETS = (b"[", b"{", b"(", b"[[", b'{"a":', b"[{", b"a.", b"not ", b"<")


def mutated(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return `data` after one to four mutations; `others` are files of the same kind to take parts of."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        data = chance.choice(_MUTATIONS)(data, others, chance)
    return data


def mutated_json(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return JSON with one to three of its values replaced, removed, moved or repeated; other bytes as `mutated`."""
    try:
        document = json.loads(data)
    except ValueError:
        return mutated(data, others, chance)
    if chance.random() < 0.2:
        return mutated(data, others, chance)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = _places(document)
        if not places:
            break
        holder, key = chance.choice(places)
        action = chance.randrange(6)
        if action == 0:
            del holder[key]
        elif action == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif action == 2:
            source, at = chance.choice(places)
            holder[key] = json.loads(json.dumps(source[at])) if key in _keys(holder) and at in _keys(source) else None
        elif action == 3 and isinstance(holder, dict):
            holder[chance.choice(("", "x", "a\nb", "..", "format", "version"))] = holder[key]
        else:
            holder[key] = _odd_value(holder[key], chance)
    return json.dumps(document, separators=(",", ":")).encode()


def _keys(holder: object) -> Sequence[object]:
    return list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()


def _places(document: object) -> list[tuple[object, object]]:
    found: list[tuple[object, object]] = []
    left = [document]
    while left:
        holder = left.pop()
        for key in _keys(holder):
            found.append((holder, key))
            left.append(holder[key])  # type: ignore[index]
    return found


def _odd_value(value: object, chance: random.Random) -> object:
    if isinstance(value, str) and chance.random() < 0.5:
        at = chance.randrange(len(value) + 1)
        return value[:at] + chance.choice((*_PATHS, "\x00", "\ud800", "\n", "\x1b[31m", "é", "\u202e")) + value[at:]
    deep: object = 0
    for _ in range(chance.choice((1, 10, 400))):
        deep = [deep]
    numbers = (-1, 0, 1, 2**31, 2**63, 2**64, 10**30, -(10**30), 1e308, float("inf"), float("nan"), 0.5)
    return chance.choice((*numbers, None, True, "", "x", [], {}, [[]], {"x": 1}, [None], deep, *_PATHS))


def _flip(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] if chance.random() < 0.4 else data[:start] + data[end:]


def _repeat(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 1, 2, 50)) + data[end:]


def _splice(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(others)
    start, end = _span(other, chance)
    at, to = _span(data, chance)
    return data[:at] + other[start:end] + data[to if chance.random() < 0.5 else at :]


def _insert(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_BYTES) + data[at:]


def _nest(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_BRACKETS) * chance.choice((2, 50, 500, 5000)) + data[at:]


def _token(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    tokens = _TOKEN.findall(data)
    if not tokens:
        return data
    at = chance.randrange(len(tokens))
    pool = tokens if chance.random() < 0.5 else _TOKEN.findall(chance.choice(others)) or tokens
    tokens[at] = chance.choice(pool)
    return b"".join(tokens)


def _replaced(pattern: re.Pattern[bytes], words: Sequence[bytes]) -> Callable[..., bytes]:
    def mutation(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
        found = list(pattern.finditer(data))
        if not found:
            return data
        one = chance.choice(found)
        return data[: one.start()] + chance.choice(words) + data[one.end() :]

    return mutation


def _lines(data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    here, there = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[here]
        case 1:
            lines.insert(there, lines[here])
        case 2:
            lines[here], lines[there] = lines[there], lines[here]
        case _:
            lines.insert(here, chance.choice(chance.choice(others).splitlines(keepends=True) or [b"\n"]))
    return b"".join(lines)


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice((1, 4, 16, 64, 1024)))


_MUTATIONS: tuple[Callable[..., bytes], ...] = (
    _flip, _cut, _repeat, _splice, _insert, _nest, _token, _token, _lines, _lines,
    _replaced(_NUMBER, _NUMBERS),
    _replaced(_STRING, [*_VALUES, *(b'"%s"' % path.encode() for path in _PATHS)]),
    _replaced(_STRING, [b'"%s"' % path.encode() for path in _PATHS]),
    _replaced(_TOKEN, [path.encode() for path in _PATHS]),
)  # fmt: skip
