"""Small helpers for the text that tools print."""

from __future__ import annotations

import re

__all__ = ["clip", "first_line", "join_output", "strip_colour"]

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def strip_colour(text: str) -> str:
    """Return `text` without terminal escape sequences (ECMA-48 CSI, OSC and two-byte ones)."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def first_line(text: str, default: str = "") -> str:
    """Return the first line of `text` that says anything, without colour; `default` if none does."""
    for line in strip_colour(text).splitlines():
        if line.strip():
            return line.strip()
    return default


def join_output(message: str, captured: str) -> str:
    """Join what a tool reported with what it wrote to its descriptors, without saying the same twice."""
    if not captured.strip() or captured.strip() in message:
        return message
    if not message.strip() or message.strip() in captured:
        return captured
    return message.rstrip("\n") + "\n" + captured


def clip(data: bytes, limit: int) -> str:
    """Decode `data` as UTF-8, its middle left out where it is longer than `limit` bytes."""
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    half = limit // 2
    head, tail = data[:half].decode("utf-8", "replace"), data[-half:].decode("utf-8", "replace")
    return f"{head}\n[… {len(data) - 2 * half} bytes left out …]\n{tail}"
