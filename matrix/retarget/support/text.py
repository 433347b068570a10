"""Small helpers for the text that tools print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MAX_STACK_FRAMES = 8
"""Frames kept of a stack dump."""

_MAX_FRAME = 160
"""Characters kept of a frame; names of template instances run to thousands."""

_FRAME = re.compile(r" *#\d+ (?:0x)?[0-9a-f]+ |\d+ +\S+ +0x[0-9a-f]{8,}(?: |$)")
_HANDLER_FRAME = re.compile(r"llvm::sys::(?:PrintStackTrace|RunSignalHandlers)\(| SignalHandler\(")
_NAMELESS_FRAME = re.compile(r" *#\d+ (?:0x)?[0-9a-f]+ \(")

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def strip_colour(text: str) -> str:
    """Return `text` without terminal escape sequences (ECMA-48 CSI, OSC and two-byte ones)."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def printable(text: str) -> str:
    """Return `text` with `?` for each character that a terminal would obey, or cannot show: controls, line ends, marks
    that turn the direction of writing, halves of surrogate pairs."""
    return text if text.isprintable() else "".join(one if one.isprintable() else "?" for one in text)


def counted(number: int, noun: str) -> str:
    """Return how many there are: `1 suite`, `2 suites`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return names as `a, b, c and 4 more`: at most so many of them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def first_line(text: str, default: str = "") -> str:
    """Return the first line of `text` that says anything, without colour; `default` if none does."""
    for line in strip_colour(text).splitlines():
        if line.strip():
            return line.strip()
    return default


def error_line(text: str) -> str:
    """Return the last line of `text` that speaks of an error (a stack may follow it), without colour; else nothing."""
    lines = [line.strip() for line in strip_colour(text).splitlines() if "error:" in line.lower()]
    return lines[-1] if lines else ""


def join_output(message: str, captured: str) -> str:
    """Join what a tool reported with what it wrote to its descriptors, without saying the same twice."""
    if not captured.strip() or captured.strip() in message:
        return message
    if not message.strip() or message.strip() in captured:
        return captured
    return message.rstrip("\n") + "\n" + captured


def shown(text: str, limit: int | None = 300) -> str:
    """Return at most `limit` characters of `text` for one line of a terminal, without colour."""
    text = strip_colour(text)
    return printable(text if limit is None or len(text) <= limit else f"{text[:limit]}…")


def clip(data: bytes, limit: int) -> str:
    """Decode `data` as UTF-8, its middle left out where it is longer than `limit` bytes."""
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    half = limit // 2
    head, tail = data[:half].decode("utf-8", "replace"), data[-half:].decode("utf-8", "replace")
    return f"{head}\n[… {len(data) - 2 * half} bytes left out …]\n{tail}"


def is_stack_frame(line: str) -> bool:
    """Return whether a line without colour is a frame as LLVM and glibc write it, on Linux or macOS."""
    return _FRAME.match(line) is not None


def cut_stacks(text: str) -> str:
    """Keep the `MAX_STACK_FRAMES` innermost frames of each stack dump in `text`, and add how many were cut.

    Frames of the signal handler that prints the dump are not counted among the innermost.
    """
    kept: list[str] = []
    frames: list[str] = []
    for line in text.splitlines(keepends=True):
        if is_stack_frame(strip_colour(line)):
            frames.append(line)
            continue
        kept += _innermost(frames)
        frames = []
        kept.append(line)
    return "".join([*kept, *_innermost(frames)])


def _innermost(frames: list[str]) -> list[str]:
    if len(frames) <= MAX_STACK_FRAMES + 1:
        return [_shortened(frame) for frame in frames]
    start = max((at + 1 for at, frame in enumerate(frames[:6]) if _HANDLER_FRAME.search(frame)), default=0)
    if start and _NAMELESS_FRAME.match(frames[start]):  # where the kernel entered the handler
        start += 1
    shown = frames[start : start + MAX_STACK_FRAMES]
    return [*map(_shortened, shown), f"    … {len(frames) - len(shown)} more stack frames cut\n"]


def _shortened(frame: str) -> str:
    bare = frame.rstrip("\n")
    return f"{bare[:_MAX_FRAME]} …\n" if len(bare) > _MAX_FRAME else frame


def decoded(content: bytes) -> str | None:
    """Return bytes as text; None where they are no UTF-8 or hold a NUL."""
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def size_text(count: float) -> str:
    """Return a number of bytes as people read it: `12.3 MiB`."""
    unit, *larger = ("B", "KiB", "MiB", "GiB", "TiB")
    while count >= 1024 and larger:
        count, unit = count / 1024, larger.pop(0)
    return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"


def cmake_text(text: str | Iterable[str]) -> str:
    """Return a text as an argument that nothing in it ends or changes; words as a list, of which a semicolon in a word
    ends none."""
    if not isinstance(text, str):
        text = ";".join(word.replace(";", r"\;") for word in text)
    equals = "="
    while f"]{equals}]" in f"{text}]":
        equals += "="
    return f"[{equals}[{text}]{equals}]"
